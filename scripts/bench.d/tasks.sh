# What `spool task next` and `spool task done` cost on a list of 5,000 tasks; used by `scripts/bench`.

# name, what it is, the most instructions, the most it may take at best against the C program
task_lists() {
    cat <<'TABLE'
tasks_lines	5,000 tasks, one line each	9700000	156
tasks_blocks	5,000 tasks with Do, Files, Verify	51000000	156
TABLE
}

# Half of the list is done: the next task is number 2501.
write_long_list() {
    awk -v form="$1" 'BEGIN {
        print "# Tasks: a long feature\n\n**Input**: design documents of the feature"
        for (task = 1; task <= 5000; task++) {
            if (task % 10 == 1) printf "\n## Phase %d: story %d\n\n", task / 10 + 1, task / 10 + 1
            printf "- [%s] T%04d %s[US%d] Implement part %d of the login service in src/services/module_%d.ts\n",
                task <= 2500 ? "x" : " ", task, task % 3 ? "" : "[P] ", task / 500 + 1, task, task
            if (form == "tasks_blocks") {
                printf "  - **Do**: what the contract of part %d says, in the manner of its neighbours\n", task
                printf "  - **Files**: `src/services/module_%d.ts`\n  - **Done when**: its tests are green\n", task
                printf "  - **Verify**: `npm test -- module_%d`\n  - **Commit**: `feat(login): part %d`\n\n", task, task
            }
        }
        print "\n## Notes\n\n```text\n- [ ] T9999 an example\n```"
    }'
}

measure_task_lists() {
    local name rest
    while IFS=$'\t' read -r name rest; do
        local folder=$work/$name
        mkdir -p "$folder"/{home,project/.specify,"project/specs/$feature"}
        echo "{\"feature_directory\":\"specs/$feature\"}" >"$folder/project/.specify/feature.json"
        write_long_list "$name" >"$folder/project/specs/$feature/tasks.md"
        : >"$folder/event.json"
        measure_command "$name" in_project 'T2501*Implement part 2501*' "$spool" task next
    done < <(task_lists)
}

# Counts and times a command in the folder of its name, and holds what it says each time against a pattern.
measure_command() {
    local name=$1 place=$2 folder=$work/$1 said=$3
    shift 3
    learn_what_is_written "$place" "$folder" "$@"
    count_instructions "$name" "$place" "$folder" "$@"
    says_what_was_meant counted
    measure_time "$name" "$runs" "$place" "$folder" "$@"
    says_what_was_meant timed
}

# With the variables of `measure_command`; the word says which run it was.
says_what_was_meant() {
    # shellcheck disable=SC2053 # It is a pattern.
    [[ $(<"$work/answer.$name") == *$said ]] || wrong "$name, $1: it does not say $said"
}

print_task_lists() {
    print_tasks '`spool task next`' task_lists
    print_tasks '`spool task done`' done_projects
}

print_tasks() {
    local name title rest
    printf '\n%-34s %13s' "$1" instructions
    printf ' %11s %11s %7s\n' 'wall time' 'at best' '÷ C'
    while IFS=$'\t' read -r name title rest; do
        printf '%-34s %13s %8.2f ms %8.2f ms %6.1f\n' "$title" "$(grouped "$(figure "$name" instructions)")" \
            "$(milliseconds "$name" us)" "$(milliseconds "$name" us_at_best)" "$(best_to_baseline "$name")"
    done < <("$2")
}

check_task_lists() {
    check_tasks task_lists
    check_tasks done_projects
}

check_tasks() {
    local name title instructions ratio
    while IFS=$'\t' read -r name title instructions ratio; do
        budget "$title: instructions" "$(figure "$name" instructions)" '<=' "$instructions"
        budget "$title: wall time at best against the C program" "$(best_to_baseline "$name")" '<=' "$ratio"
    done < <("$1")
}

# The columns are those of `task_lists`.
done_projects() {
    cat <<'TABLE'
done_git	5,000 tasks, 4,000 files, git	70000000	780
done_no_git	5,000 tasks, 4,000 files, no git	70000000	780
TABLE
}

# A loop that a person armed, in which the file of task number 2501 is written; without its Verify command.
lay_out_done() {
    local folder=$1 project=$1/project number list=specs/$feature/tasks.md
    mkdir -p "$project/.specify" "$project/specs/$feature" "$project/src/services"
    echo "{\"feature_directory\":\"specs/$feature\"}" >"$project/.specify/feature.json"
    write_long_list tasks_lines >"$project/$list"
    for number in {1..4000}; do
        echo "export const part = $number;" >"$project/src/services/module_$number.ts"
    done
    if [[ $2 == done_git ]]; then
        local git=(env GIT_CONFIG_NOSYSTEM=1 HOME="$folder" git -C "$project" -c user.name=A -c user.email=a@example.org)
        "${git[@]}" init -q && "${git[@]}" add -A && "${git[@]}" commit -qm start
    fi
    # Left alone for a while: a file that was written or touched a moment ago is read once more.
    sleep 3.1
    printf '{"session_id":"%s","cwd":"%s","hook_event_name":"UserPromptExpansion","expansion_type":"slash_command",%s}' \
        "$own_session" "$project" '"command_name":"speckit:implement","command_args":"","command_source":"plugin"' >"$folder/arm.json"
    in_session "$folder" "$spool" hook <"$folder/arm.json" | grep -q 'the loop is armed' ||
        { echo "bench: $2: the loop could not be armed" >&2 && exit 1; }
    echo 'export const more = true;' >>"$project/src/services/module_2501.ts"
    : >"$folder/event.json"
}

measure_done() {
    local name rest
    while IFS=$'\t' read -r name rest; do
        mkdir -p "$work/$name/home"
        lay_out_done "$work/$name" "$name"
        measure_command "$name" in_session 'T2501 is done*' "$spool" task done T2501
        grep -q '^- \[x\] T2501 ' "$work/$name/project/specs/$feature/tasks.md" || wrong "$name: the task is not ticked"
    done < <(done_projects)
}
