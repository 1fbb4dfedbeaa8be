# How `scripts/bench` counts, times, puts back what was written, and holds what came of it against what was meant.
#
# A project that is measured in is a folder with `project/`, `home/` (the person's own), `event.json` (standard input), and,
# once `learn_what_is_written` has run, `kept/` and `reset`.

figures=$work/figures
record() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$figures"; }
figure() { awk -F'\t' -v one="$1" -v two="$2" '$1 == one && $2 == two { value = $3 } END { print value }' "$figures"; }
divided() { awk -v one="$(figure "$1" "$2")" -v other="$(figure "$1" "$3")" 'BEGIN { printf "%.3f", one / other }'; }
best_to_baseline() { divided "$1" us_at_best baseline_us_at_best; }
over() { awk -v value="$1" -v limit="$2" 'BEGIN { exit !(value > limit) }'; }

# Runs the words after the folder in its project, with few variables: those that Claude Code sets for a hook among them.
in_project() {
    local folder=$1
    shift
    (cd "$folder/project" && env -i PATH="$PATH" HOME="$folder/home" CLAUDE_PROJECT_DIR="$folder/project" "$@")
}

# The same with the variables of a command that the agent starts.
in_session() {
    local folder=$1
    shift
    in_project "$folder" env CLAUDE_CODE_SESSION_ID="$own_session" CLAUDECODE=1 "$@"
}

# Runs the words after place and folder once, to see what they write. `reset` says how to put that back, one word a line, as the
# stopwatch reads it.
learn_what_is_written() {
    local place=$1 folder=$2 path
    shift 2
    rm -rf "$folder/kept" && mkdir -p "$folder/kept/project"
    for path in home project/.claude project/.specify project/specs; do
        [[ ! -e $folder/$path ]] || cp -a "$folder/$path" "$folder/kept/$path"
    done
    touch "$folder/before" "$folder/after"
    # The times of files have steps of some milliseconds.
    until [[ $folder/after -nt $folder/before ]]; do touch "$folder/after"; done
    "$place" "$folder" "$@" <"$folder/event.json" >/dev/null 2>&1 || true
    (cd "$folder" && find home project -newer before) | while read -r path; do
        case $path in
        home | project | project/.claude) ;;
        home/* | project/.claude/* | project/.specify/* | project/specs/*)
            if [[ ! -e $folder/kept/$path ]]; then
                printf '%s\n' -x "$folder/$path"
            elif [[ -f $folder/$path ]]; then
                printf '%s\n' -r "$folder/$path" "$folder/kept/$path"
            fi
            ;;
        *) echo "bench: ${folder##*/}: $path was written, and is not put back" >&2 && exit 1 ;;
        esac
    done >"$folder/reset"
    (cd "$folder/kept" && find . -type f) | while read -r path; do
        [[ -e $folder/$path ]] || printf '%s\n' -r "$folder/${path#./}" "$folder/kept/${path#./}"
    done >>"$folder/reset"
}

# Puts everything back that a run has written, as the stopwatch does.
reset_project() {
    local words word
    mapfile -t words <"$1/reset"
    for ((word = 0; word < ${#words[@]}; word++)); do
        case ${words[word]} in
        -r) cp -p "${words[word + 2]}" "${words[word + 1]}" ;;
        -x) rm -rf "${words[word + 1]}" ;;
        esac
    done
}

wrong=0
# Says what a scenario should have come to and has not: its figures are those of something else.
wrong() {
    echo "bench: $1" >&2
    wrong=$((wrong + 1))
}

# Counts the instructions of the words after name, place and folder. The clock that they see stands still.
count_instructions() {
    local name=$1 place=$2 folder=$3 time
    shift 3
    reset_project "$folder"
    # The next second in the system's order of bytes, and no nanoseconds.
    time=$(printf '%016x' $(($(date +%s) + 1)) | fold -w 2 | tac | tr -d '\n')0000000000000000
    "$place" "$folder" strace -f -qq -o /dev/null --seccomp-bpf -e trace=clock_gettime \
        -e inject=clock_gettime:retval=0:poke_exit=@arg2="$time" \
        valgrind --tool=callgrind --trace-children=no --callgrind-out-file="$work/callgrind.$name" \
        "$@" <"$folder/event.json" >"$work/answer.$name" 2>"$work/valgrind.$name" || true
    record "$name" instructions "$(sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p' "$work/valgrind.$name")"
}

count_system_calls() {
    local name=$1 folder=$2
    reset_project "$folder"
    in_project "$folder" strace -f -qq -o "$work/strace.$name" "$hook" <"$folder/event.json" >"$work/answer.$name" 2>/dev/null
    record "$name" system_calls "$(grep -cE '^[0-9]+ +[a-z_0-9]+\(' "$work/strace.$name")"
    record "$name" threads "$(grep -cE ' (clone3?)\(.*CLONE_THREAD' "$work/strace.$name")"
    record "$name" child_processes "$(grep -E ' (clone3?|v?fork)\(' "$work/strace.$name" | grep -vc CLONE_THREAD)"
}

# Times the words after name, rounds, place and folder in turns with the C program. The hook takes turns with the C program of
# glibc too, but not with the script: what that starts would slow down those that come after it, so it has turns of its own.
measure_time() {
    local name=$1 rounds=$2 place=$3 folder=$4 others=()
    shift 4
    [[ $1 != "$hook" ]] || others=(-- "$work/glibc")
    take_turns "$rounds" baseline_ '' glibc_ -- "$@" "${others[@]}"
    if [[ $1 == "$hook" && -n $bash_hook ]]; then
        take_turns $((rounds / 10 + 1)) beside_script_ script_ -- "$BASH" "$bash_hook"
        record "$name" script_to_own "$(divided "$name" script_us_at_best us_at_best)"
    fi
    # From the files as the stopwatch has left them: what was not put back shows here.
    reset_project "$folder"
    "$place" "$folder" "$@" <"$folder/event.json" >"$work/answer.$name" 2>/dev/null || true
}

# Runs the stopwatch with the variables of `measure_time`. The words are: rounds, what the names of each program's figures begin
# with, `--`, and all programs but the first, which is the C program.
take_turns() {
    local rounds=$1 names=() words fields line=0
    shift
    while [[ $1 != -- ]]; do
        names+=("$1") && shift
    done
    mapfile -t words <"$folder/reset"
    while IFS=$'\t' read -r -a fields; do
        record "$name" "${names[line]}us_at_best" "${fields[0]}"
        record "$name" "${names[line]}us" "${fields[1]}"
        record "$name" "${names[line]}to_baseline" "${fields[3]}"
        record "$name" "${names[line]}peak_kib" "${fields[4]}"
        record "$name" "${names[line]}failures" "${fields[5]}"
        line=$((line + 1))
    done < <("$place" "$folder" "$work/stopwatch" "$rounds" "$folder/event.json" "${words[@]}" -- "$work/baseline" "$@")
    ((line >= 2)) || { echo "bench: the stopwatch failed in \`$name\`" >&2 && exit 1; }
}

# The lines that a run has added to the journals of the project, their number before them.
added_to_journals() {
    local file kept
    for file in "$1"/project/.claude/ralph/*/journal.jsonl; do
        [[ -f $file ]] || continue
        kept=$1/kept/${file#"$1"/}
        [[ -f $kept ]] || kept=/dev/null
        tail -n "+$(($(wc -l <"$kept") + 1))" "$file"
    done | awk '{ text = text "\n" $0 } END { print NR text }'
}

# Holds the last answer of the hook, and what it added to the journals, against two patterns. `-` is silence.
has_come_to() {
    local name=$1 kind=$2 folder=$3 answer=$4 entry=$5 said added
    said=$(<"$work/answer.$name")
    added=$(added_to_journals "$folder")
    # shellcheck disable=SC2053 # They are patterns.
    [[ ${said:--} == $answer ]] || wrong "$name, $kind: the answer is not $answer: $said"
    # shellcheck disable=SC2053
    [[ $added == $entry ]] || wrong "$name, $kind: the journal has not got $entry: $added"
}
