# What `spool task next` costs on a list of 5,000 tasks; used by `scripts/bench`.

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
    local name title rest
    printf '\n%-34s %13s' '`spool task next`' instructions
    [[ -n $quick ]] || printf ' %11s %11s' 'wall time' 'at best'
    echo
    while IFS=$'\t' read -r name title rest; do
        printf '%-34s %13s' "$title" "$(grouped "$(figure "$name" instructions)")"
        [[ -n $quick ]] || printf ' %8.2f ms %8.2f ms' "$(milliseconds "$name" us)" "$(milliseconds "$name" us_at_best)"
        echo
    done < <(task_lists)
}

check_task_lists() {
    local name title instructions limit
    while IFS=$'\t' read -r name title instructions limit; do
        budget "$title: instructions" "$(figure "$name" instructions)" '<=' "$instructions"
        budget "$title: wall time in µs" "$(figure "$name" us_at_best)" '<=' "$limit"
        grep -q 'T2501.*Implement part 2501' "$work/answer.$name" ||
            { echo "missed: $name: the next task was not shown" >&2 && missed=$((missed + 1)); }
    done < <(task_lists)
}
