# What the runner costs (`spool ralph`), used by `scripts/bench`.

# name, what it is, iterations, the most processor time of one against that of a C program: `baseline`, which is the agent, or
# `walk`, which asks the system about each file
runner_loops() {
    cat <<'TABLE'
runner_plain	an agent that leaves at once	1000	62	baseline
runner_git	the same in a git repository	1000	62	baseline
runner_tasks	the same with 5,000 tasks	200	94	baseline
runner_files	the same beside 50,000 files	200	2	walk
TABLE
}

# name, what the agent prints
runner_floods() {
    printf 'runner_lines\t1 GB in lines\nrunner_line\t1 GB in one line\n'
}

# A change with as many tasks as the second word says.
write_change() {
    mkdir -p "$1"/{home,project/.spool/changes/login}
    echo '# Log in' >"$1/project/.spool/changes/login/proposal.md"
    seq "$2" | awk '{ printf "- [ ] T%04d Implement part %d of the login service in src/services/module_%d.ts\n", $1, $1, $1 }' \
        >"$1/project/.spool/changes/login/tasks.md"
    : >"$1/event.json"
}

write_repository() {
    local git=(git -C "$1/project")
    "${git[@]}" init --quiet
    "${git[@]}" config user.name Nobody
    "${git[@]}" config user.email nobody@example.org
    "${git[@]}" add --all
    "${git[@]}" commit --quiet --message first
}

measure_runner() {
    gcc -O2 -o "$work/hundreds" scripts/bench.d/hundreds.c
    gcc -O2 -o "$work/walk" scripts/bench.d/walk.c
    # The disk still takes the files of the measurements before.
    sync
    local name title iterations most against rest
    while IFS=$'\t' read -r name title iterations most against; do
        case $name in
        runner_tasks) write_change "$work/$name" 5000 ;;
        *) write_change "$work/$name" 10 ;;
        esac
        [[ $name != runner_files ]] || lay_out_files "$work/$name" 50000
        [[ $name == runner_plain ]] || write_repository "$work/$name"
        measure_loop "$name" "$iterations"
        record "$name" against_us "$(processor_us "$against" "$work/$name/project/tree")"
    done < <(runner_loops)
    while IFS=$'\t' read -r name rest; do
        write_change "$work/$name" 10
        measure_flood "$name"
    done < <(runner_floods)
    measure_commits
    measure_status
}

# The processor time of a C program in a folder: the mean of a hundred runs.
processor_us() {
    if [[ $1 == baseline ]]; then figure "$name" agent_us; else (cd "$2" && "$work/hundreds" '' "$work/$1" true | sed -n 1p); fi
}

measure_loop() {
    local name=$1 line=0 fields hundred
    while IFS=$'\t' read -r -a fields; do
        if ((line == 0)); then
            record "$name" agent_us "${fields[0]}"
        elif ((${#fields[@]} == 5)); then
            hundred=$(printf '%02d' "$line")
            record "$name" "own_us_$hundred" "${fields[0]}"
            record "$name" "own_us_median_$hundred" "${fields[1]}"
            record "$name" "children_us_$hundred" "${fields[2]}"
            record "$name" "wall_us_$hundred" "${fields[3]}"
            record "$name" peak_kib "${fields[4]}"
            record "$name" hundreds "$line"
        else
            record "$name" exit_code "${fields[1]}"
        fi
        line=$((line + 1))
    done < <(in_project "$work/$name" "$work/hundreds" '"event":"iteration_end"' "$work/baseline" \
        "$spool" ralph 'do it' --change login --harness-command "$work/baseline" --no-progress 0 \
        --max-iterations "$2" --json --quiet 2>/dev/null)
    # Its limit of iterations is the end of this loop.
    [[ $(figure "$name" exit_code) == 3 && $((10#$(figure "$name" hundreds) * 100)) == "$2" ]] ||
        wrong "$name: it ended after $(figure "$name" hundreds) hundred iterations with code $(figure "$name" exit_code)"
}

# How often an iteration starts git that commits what its agent changed: twenty iterations, less the first ten.
measure_commits() {
    local folder=$work/runner_commits git
    git=$(command -v git)
    write_change "$folder" 10
    write_repository "$folder"
    mkdir "$folder/tools"
    printf '#!/bin/sh\necho >>"%s/starts"\nexec "%s" "$@"\n' "$folder" "$git" >"$folder/tools/git"
    printf 'echo more >>part.txt\necho >>"%s/agents"\nwc -l <"%s/starts" >>"%s/counts"\n' "$folder" "$folder" "$folder" >"$folder/agent.sh"
    chmod +x "$folder/tools/git"
    PATH=$folder/tools:$PATH in_project "$folder" "$spool" ralph 'do it' --change login --harness-command "sh $folder/agent.sh" \
        --no-progress 0 --max-iterations 21 --commit --quiet >/dev/null 2>&1 || true
    [[ $("$git" -C "$folder/project" rev-list --count HEAD) == 22 ]] || wrong "runner_commits: 21 iterations did not leave 21 commits"
    record runner_commits git_starts "$(awk 'NR == 11 { first = $1 } NR == 21 { print ($1 - first) / 10 }' "$folder/counts")"
}

# The agent tells at its end what its supervisor, and the runner above that, have had of memory.
measure_flood() {
    local name=$1 folder=$work/$1 flood memory
    flood="yes 'a line of output that goes on and on, as an agent prints it all day' | head -c 1000000000"
    [[ $name == runner_lines ]] || flood="head -c 1000000000 /dev/zero | tr '\\0' a"
    cat >"$folder/agent.sh" <<AGENT
$flood
runner=\$(sed -n 's/^PPid:[[:space:]]*//p' /proc/\$PPID/status)
for id in \$PPID \$runner; do sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/\$id/status; done >"$folder/memory"
AGENT
    local TIMEFORMAT='%3R %3U %3S'
    { time in_project "$folder" "$spool" ralph 'do it' --change login --harness-command "sh $folder/agent.sh" \
        --max-iterations 1 --quiet >/dev/null 2>&1 || true; } 2>"$folder/time"
    mapfile -t memory <"$folder/memory"
    record "$name" supervisor_peak_kib "${memory[0]}"
    record "$name" runner_peak_kib "${memory[1]}"
    read -r -a memory <"$folder/time"
    record "$name" seconds "${memory[0]}"
    record "$name" log_bytes "$(cat "$folder"/project/.spool/.state/ralph/login/logs/*.log | wc -c)"
}

measure_status() {
    local folder=$work/runner_status state
    write_change "$folder" 10
    in_project "$folder" "$spool" ralph 'do it' --change login --harness-command "$work/baseline" \
        --max-iterations 1 --quiet >/dev/null 2>&1 || true
    state=$folder/project/.spool/.state/ralph/login
    awk '{ for (number = 1; number <= 10000; number++) { line = $0; sub(/"n":1,/, "\"n\":" number ",", line); print line } }' \
        "$state/history.jsonl" >"$folder/history"
    cp "$folder/history" "$state/history.jsonl"
    measure_command runner_status in_project '10000 *' "$spool" ralph --status --change login
}

print_runner() {
    local name title hundred rest
    while IFS=$'\t' read -r name title rest; do
        printf '\n%-34s %9s %9s %9s %9s %7s %9s\n' '`spool ralph`, one iteration' 'its own' median 'supervisor' 'wall time' '÷ C' memory
        echo "$title:"
        for hundred in $(seq -f %02g 1 "$(figure "$name" hundreds)"); do
            printf '%-34s %6.2f ms %6.2f ms %6.2f ms %6.2f ms %6.1f\n' "  iterations $((10#$hundred * 100 - 99)) to $((10#$hundred * 100))" \
                "$(milliseconds "$name" "own_us_$hundred")" "$(milliseconds "$name" "own_us_median_$hundred")" \
                "$(awk -v time="$(supervisor_us "$name" "$hundred")" 'BEGIN { print time / 1000 }')" \
                "$(milliseconds "$name" "wall_us_$hundred")" "$(iteration_ratio "$name" "$hundred")"
        done
        printf '%-34s %57d KiB\n' '  at most' "$(figure "$name" peak_kib)"
    done < <(runner_loops)
    printf '\n%-34s %9s %9s %9s\n' '`spool ralph`, an agent prints' runner supervisor 'wall time'
    while IFS=$'\t' read -r name title; do
        printf '%-34s %5d KiB %5d KiB %7.1f s\n' "$title" "$(figure "$name" runner_peak_kib)" \
            "$(figure "$name" supervisor_peak_kib)" "$(figure "$name" seconds)"
    done < <(runner_floods)
    printf '\n`spool ralph --commit` starts git %s times an iteration.\n' "$(figure runner_commits git_starts)"
    printf '\n%-34s %13s %11s %11s\n' '`spool ralph --status`' instructions 'wall time' 'at best'
    printf '%-34s %13s %8.2f ms %8.2f ms\n' '10,000 iterations in its history' \
        "$(grouped "$(figure runner_status instructions)")" "$(milliseconds runner_status us)" "$(milliseconds runner_status us_at_best)"
}

# Processor time of all that an iteration started, but for the agent itself: the supervisor.
supervisor_us() { echo $(($(figure "$1" "children_us_$2") - $(figure "$1" agent_us))); }

# The processor time of an iteration, runner and supervisor, against that of its C program.
iteration_ratio() {
    awk -v own="$(figure "$1" "own_us_median_$2")" -v supervisor="$(supervisor_us "$1" "$2")" -v against="$(figure "$1" against_us)" \
        'BEGIN { printf "%.1f", (own + supervisor) / against }'
}

check_runner() {
    local name title hundred iterations most against ratio
    while IFS=$'\t' read -r name title iterations most against; do
        for hundred in $(seq -f %02g 1 "$(figure "$name" hundreds)"); do
            budget "$title: processor time of an iteration against the C program $against, hundred $hundred" \
                "$(iteration_ratio "$name" "$hundred")" '<=' "$most"
        done
        # Other work on the machine moves each figure by half of it; a cost that grows with the history would double it.
        ratio=$(divided "$name" "own_us_median_$hundred" own_us_median_01)
        budget "$title: processor time in the last hundred against the first" "$ratio" '<=' 2
        budget "$title: peak memory in KiB" "$(figure "$name" peak_kib)" '<=' 65535
    done < <(runner_loops)
    while IFS=$'\t' read -r name title; do
        budget "$title: peak memory of the runner in KiB" "$(figure "$name" runner_peak_kib)" '<=' 65535
        budget "$title: peak memory of the supervisor in KiB" "$(figure "$name" supervisor_peak_kib)" '<=' 65535
        budget "$title: bytes in the log" "$(figure "$name" log_bytes)" '>=' $((64 << 20))
    done < <(runner_floods)
    budget '--commit: starts of git an iteration' "$(figure runner_commits git_starts)" '<=' 4
    budget 'status with 10,000 iterations: wall time at best against the C program' "$(best_to_baseline runner_status)" '<=' 190
    budget 'status with 10,000 iterations: instructions' "$(figure runner_status instructions)" '<=' 6300000
}
