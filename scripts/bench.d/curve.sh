# What a stop costs in a small and in a large project, where nothing was ticked or committed; used by
# `scripts/bench`. The project is a repository with an ignore list, and as many files again are ignored.

curve_sizes() {
    if [[ -n $hook_only ]]; then echo "1000 20000"; else echo "1000 10000 50000 200000"; fi
}

# One hundred files a folder, and a list of what is ignored as projects have it.
lay_out_files() {
    local project=$1/project files=$2
    git init --quiet "$project"
    printf '%s\n' '# built' /out/ '*.log' '*.tmp' node_modules/ dist/ .env '.env.*' '!.env.example' '*.swp' \
        coverage/ .cache/ '*.pyc' __pycache__/ '/docs/_build/' '*~' '.idea/**' >"$project/.gitignore"
    mkdir -p "$project/tree" "$project/out"
    (cd "$project/tree" && seq 1 $((files / 100)) | xargs mkdir &&
        awk -v files="$files" 'BEGIN { for (file = 0; file < files; file++) printf "%d/part_%d.ts\n", file / 100 % (files / 100) + 1, file }' |
        xargs -n 2000 touch)
    (cd "$project/out" && seq -f 'built_%.0f.js' 1 "$files" | xargs -n 2000 touch)
    # A tracked file in an ignored folder: the index is asked for it.
    git -C "$project" add --force out/built_1.js tree
}

one_more_call() {
    printf '{"type":"assistant","isSidechain":false,"message":{"id":"msg_%s","role":"assistant","content":[{"type":"tool_use","id":"toolu_%s","name":"Read","input":{}}]}}\n' \
        "$2" "$2" >>"$1/transcript.jsonl"
}

# Makes "$2" stops, so that the next one is the one to measure. The first of them is what the later ones are compared with.
stop_often() {
    local stop
    for ((stop = 1; stop <= $2; stop++)); do
        one_more_call "$1" "$stop"
        in_project "$1" "$hook" <"$1/event.json" >/dev/null 2>&1
        write_event "$1" "$own_session" true
    done
    one_more_call "$1" last
}

# name, stops before it, what it answers, what it adds to the journal
curve_stops() {
    cat <<'TABLE'
usual	2	*"decision":"block"*The same tasks are open as at your last stop*	1*"iteration":3,"task":"10/50","verdict":"continue"*
look	10	*no_progress*	1*"verdict":"end","reason":"no_progress"*
TABLE
}

measure_curve() {
    local files folder kind stops answer entry name
    for files in $(curve_sizes); do
        folder=$work/curve_$files
        mkdir "$folder"
        lay_out_project "$folder"
        rm -rf "$folder/project/.git"
        lay_out_files "$folder" "$files"
    done
    # An end reads again what was written less than 3 s before arming.
    sleep 4
    for files in $(curve_sizes); do
        folder=$work/curve_$files
        while IFS=$'\t' read -r kind stops answer entry; do
            name=curve_${files}_$kind
            rm -rf "$folder"/{project/.claude,home,transcript.jsonl}
            mkdir "$folder"/{project/.claude,home}
            lay_out_feature "$folder" 9
            : >"$folder/transcript.jsonl"
            arm "$folder" 9 "$own_session"
            write_event "$folder" "$own_session" false
            stop_often "$folder" "$stops"
            learn_what_is_written in_project "$folder" "$hook"
            count_instructions "$name" in_project "$folder" "$hook"
            has_come_to "$name" counted "$folder" "$answer" "$entry"
            [[ -z $hook_only ]] || continue
            measure_time "$name" 20 in_project "$folder" "$hook"
            has_come_to "$name" timed "$folder" "$answer" "$entry"
        done < <(curve_stops)
    done
}

print_curve() {
    local files
    printf '\n%-34s %15s %15s' 'Nothing ticked, in a project of' 'a usual stop' 'the tenth'
    [[ -n $hook_only ]] || printf ' %11s %11s' 'usual' 'the tenth'
    echo
    for files in $(curve_sizes); do
        printf '%-34s %15s %15s' "$(grouped "$files") files" \
            "$(grouped "$(figure "curve_${files}_usual" instructions)")" "$(grouped "$(figure "curve_${files}_look" instructions)")"
        [[ -n $hook_only ]] || printf ' %8.2f ms %8.2f ms' \
            "$(milliseconds "curve_${files}_usual" us)" "$(milliseconds "curve_${files}_look" us)"
        echo
    done
}

# The tenth stop ends the loop, and an end judges all boxes where a look at all files is possible.
check_curve() {
    local files smallest
    smallest=$(figure curve_1000_usual instructions)
    budget 'a usual stop that ticked nothing: instructions' "$smallest" '<=' 690000
    for files in $(curve_sizes); do
        budget "a usual stop beside $files files: instructions" \
            "$(figure "curve_${files}_usual" instructions)" '<=' $((smallest + smallest / 20))
        budget "the tenth stop beside $files files: instructions" \
            "$(figure "curve_${files}_look" instructions)" '<=' $((files > 10000 ? 6300000 + files * 870 : 4200000 + files * 2900))
        [[ -n $hook_only ]] || budget "the tenth stop beside $files files: peak memory in KiB" \
            "$(figure "curve_${files}_look" peak_kib)" '<=' 16383
    done
}

# A tick by hand, in the same projects: how much it costs for each file.
measure_hand_curve() {
    local files folder
    for files in 1000 4000; do
        folder=$work/hand_$files
        mkdir -p "$folder"/{home,project/src/services,project/.claude}
        lay_out_files "$folder" "$files"
    done
    sleep 3.1
    for files in 1000 4000; do
        folder=$work/hand_$files
        scenario_by_hand "$folder"
        learn_what_is_written in_project "$folder" "$hook"
        count_instructions "hand_$files" in_project "$folder" "$hook"
        has_come_to "hand_$files" counted "$folder" '*"decision":"block"*Open: 40 of 50: T011,*' '1*"iteration":2,"task":"11/50","verdict":"continue"*'
        is_judged "$folder" || wrong "hand_$files: the tick has no receipt"
    done
    record hand per_file "$((($(figure hand_4000 instructions) - $(figure hand_1000 instructions)) / 3000))"
}

print_hand_curve() {
    printf '\nTicked by hand, in a project of 1,000 files %s instructions, of 4,000 files %s: %s for each file\n' \
        "$(grouped "$(figure hand_1000 instructions)")" "$(grouped "$(figure hand_4000 instructions)")" "$(figure hand per_file)"
}

check_hand_curve() {
    budget 'a tick by hand: instructions for each file' "$(figure hand per_file)" '<=' 1990
}
