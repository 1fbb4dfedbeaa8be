# What the runner costs (`spool ralph`), used by `scripts/bench`. Linux only: it reads /proc.

# How many iterations the loops have: the list in `loop-state.json` is full after two hundred.
runner_iterations() { if [[ -n $quick ]]; then echo 300; else echo 1000; fi; }

# name, what it is
runner_loops() {
    [[ -n $quick ]] || printf 'runner_plain\tan agent that leaves at once\n'
    printf 'runner_git\tthe same in a git repository\n'
}

# name, what the agent prints
runner_floods() {
    printf 'runner_lines\t1 GB in lines\n'
    [[ -n $quick ]] || printf 'runner_line\t1 GB in one line\n'
}

write_change() {
    mkdir -p "$1/project/.spool/changes/login"
    echo '# Log in' >"$1/project/.spool/changes/login/proposal.md"
    : >"$1/event.json"
}

write_repository() {
    local git=(git -C "$1/project" -c user.name=Nobody -c user.email=nobody@example.org)
    "${git[@]}" init --quiet
    "${git[@]}" add --all
    "${git[@]}" commit --quiet --message first
}

measure_runner() {
    [[ $(uname) == Linux ]] || return 0
    gcc -O2 -o "$work/hundreds" scripts/bench.d/hundreds.c
    local name rest
    while IFS=$'\t' read -r name rest; do
        write_change "$work/$name"
        [[ $name != runner_git ]] || write_repository "$work/$name"
        measure_loop "$name"
    done < <(runner_loops)
    while IFS=$'\t' read -r name rest; do
        write_change "$work/$name"
        measure_flood "$name"
    done < <(runner_floods)
    measure_status
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
        --max-iterations "$(runner_iterations)" --json --quiet 2>/dev/null)
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
    local folder=$work/runner_status state at_best median others
    write_change "$folder"
    in_project "$folder" "$spool" ralph 'do it' --change login --harness-command "$work/baseline" \
        --max-iterations 1 --quiet >/dev/null 2>&1 || true
    state=$folder/project/.spool/.state/ralph/login
    awk '{ for (number = 1; number <= 10000; number++) { line = $0; sub(/"n":1,/, "\"n\":" number ",", line); print line } }' \
        "$state/history.jsonl" >"$folder/history"
    cp "$folder/history" "$state/history.jsonl"
    in_project "$folder" valgrind --tool=callgrind --callgrind-out-file="$work/callgrind.runner_status" \
        "$spool" ralph --status --change login >"$work/answer.runner_status" 2>"$work/valgrind.runner_status"
    record runner_status instructions "$(sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p' "$work/valgrind.runner_status")"
    IFS=$'\t' read -r at_best median others < <(in_project "$folder" "$work/stopwatch" 20 "$folder/event.json" \
        -- "$work/baseline" -- "$spool" ralph --status --change login | tail -n 1)
    record runner_status us_at_best "$at_best"
    record runner_status us "$median"
}

print_runner() {
    [[ $(uname) == Linux ]] || return 0
    local name title hundred
    while IFS=$'\t' read -r name title; do
        printf '\n%-34s %9s %9s %9s %9s %9s\n' '`spool ralph`, one iteration' 'its own' median 'supervisor' 'wall time' memory
        echo "$title:"
        for hundred in $(seq -f %02g 1 "$(figure "$name" hundreds)"); do
            printf '%-34s %6.2f ms %6.2f ms %6.2f ms %6.2f ms\n' "  iterations $((10#$hundred * 100 - 99)) to $((10#$hundred * 100))" \
                "$(milliseconds "$name" "own_us_$hundred")" "$(milliseconds "$name" "own_us_median_$hundred")" \
                "$(awk -v time="$(supervisor_us "$name" "$hundred")" 'BEGIN { print time / 1000 }')" \
                "$(milliseconds "$name" "wall_us_$hundred")"
        done
        printf '%-34s %49d KiB\n' '  at most' "$(figure "$name" peak_kib)"
    done < <(runner_loops)
    printf '\n%-34s %9s %9s %9s\n' '`spool ralph`, an agent prints' runner supervisor 'wall time'
    while IFS=$'\t' read -r name title; do
        printf '%-34s %5d KiB %5d KiB %7.1f s\n' "$title" "$(figure "$name" runner_peak_kib)" \
            "$(figure "$name" supervisor_peak_kib)" "$(figure "$name" seconds)"
    done < <(runner_floods)
    printf '\n%-34s %13s %11s %11s\n' '`spool ralph --status`' instructions 'wall time' 'at best'
    printf '%-34s %13s %8.2f ms %8.2f ms\n' '10,000 iterations in its history' \
        "$(grouped "$(figure runner_status instructions)")" "$(milliseconds runner_status us)" "$(milliseconds runner_status us_at_best)"
}

# Processor time of all that an iteration started, but for the agent itself: the supervisor.
supervisor_us() { echo $(($(figure "$1" "children_us_$2") - $(figure "$1" agent_us))); }

check_runner() {
    [[ $(uname) == Linux ]] || return 0
    local name title hundred last ratio
    while IFS=$'\t' read -r name title; do
        for hundred in $(seq -f %02g 1 "$(figure "$name" hundreds)"); do
            budget "$title: processor time of an iteration in µs, hundred $hundred" \
                $(($(figure "$name" "own_us_$hundred") + $(supervisor_us "$name" "$hundred"))) '<=' 10000
        done
        last=$hundred
        # Other work on the machine moves each figure by half of it; a cost that grows with the history would double it.
        ratio=$(divided "$name" "own_us_median_$last" own_us_median_01)
        budget "$title: processor time in the last hundred against the first" "$ratio" '<=' 2
        budget "$title: hundreds of iterations" "$((10#$last * 100))" '>=' "$(runner_iterations)"
        budget "$title: peak memory in KiB" "$(figure "$name" peak_kib)" '<=' 65535
        # Its limit of iterations is the end of this loop.
        budget "$title: exit code" "$(figure "$name" exit_code)" '>=' 3
        budget "$title: exit code" "$(figure "$name" exit_code)" '<=' 3
    done < <(runner_loops)
    while IFS=$'\t' read -r name title; do
        budget "$title: peak memory of the runner in KiB" "$(figure "$name" runner_peak_kib)" '<=' 65535
        budget "$title: peak memory of the supervisor in KiB" "$(figure "$name" supervisor_peak_kib)" '<=' 65535
        budget "$title: bytes in the log" "$(figure "$name" log_bytes)" '>=' $((64 << 20))
    done < <(runner_floods)
    budget 'status with 10,000 iterations: wall time in µs' "$(figure runner_status us_at_best)" '<=' 50000
    budget 'status with 10,000 iterations: instructions' "$(figure runner_status instructions)" '<=' 20000000
    grep -q '10000 ' "$work/answer.runner_status" ||
        { echo "missed: the status does not show iteration 10,000" >&2 && missed=$((missed + 1)); }
}
