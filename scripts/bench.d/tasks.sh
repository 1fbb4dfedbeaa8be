# What `spool task next` and `spool task done` cost on a list of 5,000 tasks; used by `scripts/bench`.

# name, what it is, the most instructions, the most microseconds at best
task_lists() {
    cat <<'TABLE'
tasks_lines	5,000 tasks, one line each	10000000	10000
tasks_blocks	5,000 tasks with Do, Files, Verify	25000000	10000
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
    cargo build --quiet --release --bin spool
    spool=$(cargo build --quiet --release --bin spool --message-format json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    [[ -x $spool ]] || { echo "bench: cargo built no spool" >&2 && exit 1; }
    local name rest
    while IFS=$'\t' read -r name rest; do
        local folder=$work/$name
        mkdir -p "$folder/project/.specify" "$folder/project/specs/$feature"
        echo "{\"feature_directory\":\"specs/$feature\"}" >"$folder/project/.specify/feature.json"
        write_long_list "$name" >"$folder/project/specs/$feature/tasks.md"
        : >"$folder/event.json"
        in_project "$folder" valgrind --tool=callgrind --callgrind-out-file="$work/callgrind.$name" \
            "$spool" task next >"$work/answer.$name" 2>"$work/valgrind.$name"
        record "$name" instructions "$(sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p' "$work/valgrind.$name")"
        [[ -z $quick ]] || continue
        local at_best median others
        IFS=$'\t' read -r at_best median others < <(in_project "$folder" \
            "$work/stopwatch" "$runs" "$folder/event.json" -- "$work/baseline" -- "$spool" task next | tail -n 1)
        record "$name" us_at_best "$at_best"
        record "$name" us "$median"
    done < <(task_lists)
}

print_task_lists() {
    print_tasks '`spool task next`' task_lists
    print_tasks '`spool task done`' done_projects
}

print_tasks() {
    local name title rest
    printf '\n%-34s %13s' "$1" instructions
    [[ -n $quick ]] || printf ' %11s %11s' 'wall time' 'at best'
    echo
    while IFS=$'\t' read -r name title rest; do
        printf '%-34s %13s' "$title" "$(grouped "$(figure "$name" instructions)")"
        [[ -n $quick ]] || printf ' %8.2f ms %8.2f ms' "$(milliseconds "$name" us)" "$(milliseconds "$name" us_at_best)"
        echo
    done < <("$2")
}

check_task_lists() {
    check_tasks task_lists 'T2501.*Implement part 2501' 'the next task was not shown'
    check_tasks done_projects '^T2501 is done' 'the task was not ticked'
}

# The table, what the answer has to show, and what is said where it does not.
check_tasks() {
    local name title instructions limit
    while IFS=$'\t' read -r name title instructions limit; do
        budget "$title: instructions" "$(figure "$name" instructions)" '<=' "$instructions"
        budget "$title: wall time in µs" "$(figure "$name" us_at_best)" '<=' "$limit"
        grep -q "$2" "$work/answer.$name" ||
            { echo "missed: $name: $3" >&2 && missed=$((missed + 1)); }
    done < <("$1")
}

# name, what it is, the most instructions, the most microseconds at best
done_projects() {
    cat <<'TABLE'
done_git	5,000 tasks, 4,000 files, git	220000000	50000
done_no_git	5,000 tasks, 4,000 files, no git	220000000	50000
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
        local git=(env GIT_CONFIG_NOSYSTEM=1 HOME="$work" git -C "$project" -c user.name=A -c user.email=a@example.org)
        "${git[@]}" init -q && "${git[@]}" add -A && "${git[@]}" commit -qm start
    fi
    # Long left alone: a file that was written a moment ago is read once more.
    find "$project" -path '*/.git' -prune -o -type f -exec touch -t 202001010000 {} +
    [[ $2 != done_git ]] || "${git[@]}" update-index -q --refresh
    printf '{"session_id":"%s","cwd":"%s","hook_event_name":"UserPromptExpansion","expansion_type":"slash_command",%s}' \
        "$own_session" "$project" '"command_name":"speckit:implement","command_args":"","command_source":"plugin"' >"$folder/arm.json"
    in_session "$folder" "$hook" <"$folder/arm.json" | grep -q 'the loop is armed' ||
        { echo "bench: $2: the loop could not be armed" >&2 && exit 1; }
    echo 'export const more = true;' >>"$project/src/services/module_2501.ts"
    touch -t 202001020000 "$project/src/services/module_2501.ts"
    : >"$folder/event.json"
    # What the command writes is put back before each run; what it makes is emptied.
    local file
    mkdir "$folder/kept"
    while read -r file; do
        cp "$file" "$folder/kept/${file##*/}"
        printf '%s\n' -r "$file" "$folder/kept/${file##*/}"
    done < <(find "$folder/home" "$project/specs" -type f) >"$folder/reset"
    in_session "$folder" "$spool" task done T2501 >/dev/null
    while read -r file; do
        [[ -e $folder/kept/${file##*/} ]] || printf '%s\n' -r "$file" "$folder/event.json"
    done < <(find "$folder/home" "$project/specs" -type f) >>"$folder/reset"
}

in_session() {
    local folder=$1
    shift
    (cd "$folder/project" && env -i PATH="$PATH" HOME="$folder/home" CLAUDE_CODE_SESSION_ID="$own_session" \
        CLAUDECODE=1 "$@")
}

measure_done() {
    local name rest
    while IFS=$'\t' read -r name rest; do
        local folder=$work/$name
        mkdir -p "$folder/home"
        lay_out_done "$folder" "$name"
        reset_project "$folder"
        in_session "$folder" valgrind --tool=callgrind --callgrind-out-file="$work/callgrind.$name" \
            "$spool" task done T2501 >"$work/answer.$name" 2>"$work/valgrind.$name"
        record "$name" instructions "$(sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p' "$work/valgrind.$name")"
        [[ -z $quick ]] || continue
        local at_best median others words
        mapfile -t words <"$folder/reset"
        IFS=$'\t' read -r at_best median others < <(in_session "$folder" "$work/stopwatch" "$runs" \
            "$folder/event.json" "${words[@]}" -- "$work/baseline" -- "$spool" task done T2501 | tail -n 1)
        record "$name" us_at_best "$at_best"
        record "$name" us "$median"
    done < <(done_projects)
}
