# What a stop costs in a small and in a large project, where nothing was ticked or committed; used by
# `scripts/bench`. The project is a repository with an ignore list, and as many files again are ignored.

curve_sizes() {
    if [[ -n $quick ]]; then echo "1000 20000"; else echo "1000 10000 50000 200000"; fi
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

# Stops until the one that is measured is the next: "$2" of them, of which the first is compared with.
stop_often() {
    local stop
    for ((stop = 1; stop <= $2; stop++)); do
        one_more_call "$1" "$stop"
        in_project "$1" "$hook" <"$1/event.json" >/dev/null 2>&1
        write_event "$1" "$own_session" true
    done
    one_more_call "$1" last
    local note
    : >"$1/reset"
    for note in "$1/project/.claude/ralph"/{"$own_session",claims}/*.json*; do
        cp "$note" "$1/saved-${note##*/}"
        printf '%s\n' -r "$note" "$1/saved-${note##*/}" >>"$1/reset"
    done
}

# Whether the stop has ended the loop because nothing changed.
ends_the_loop() {
    grep -q 'no_progress' "$work/answer.$1"
}

measure_curve() {
    command -v git >/dev/null || return 0
    local files stops kind
    for files in $(curve_sizes); do
        local folder=$work/curve_$files
        mkdir "$folder"
        lay_out_project "$folder"
        rm -rf "$folder/project/.git"
        lay_out_files "$folder" "$files"
        for kind in usual:2 look:10; do
            stops=${kind#*:} kind=${kind%:*}
            rm -rf "$folder/project/.claude" "$folder/transcript.jsonl"
            mkdir "$folder/project/.claude"
            lay_out_feature "$folder" 9
            : >"$folder/transcript.jsonl"
            arm "$folder" 9 "$own_session"
            write_event "$folder" "$own_session" false
            stop_often "$folder" "$stops"
            if [[ $kind == usual ]]; then
                count_instructions "curve_${files}_usual" "$folder"
            elif ((files <= 50000)); then
                # For more files, valgrind has never time enough.
                count_whole_look "curve_${files}_look" "$folder" ends_the_loop
            fi
            reset_project "$folder"
            in_project "$folder" "$hook" <"$folder/event.json" >"$work/answer.curve_${files}_${kind}_alone" 2>/dev/null
            measure_time "curve_${files}_$kind" "$folder" 5
            [[ -n $quick ]] || measure_time "curve_${files}_$kind" "$folder" 20
        done
    done
}

print_curve() {
    command -v git >/dev/null || return 0
    local files
    printf '\n%-34s %15s %15s' 'Nothing ticked, in a project of' 'a usual stop' 'the tenth'
    [[ -n $quick ]] || printf ' %11s %11s' 'usual' 'the tenth'
    echo
    for files in $(curve_sizes); do
        printf '%-34s %15s %15s' "$(grouped "$files") files" \
            "$(grouped "$(figure "curve_${files}_usual" instructions)")" "$(grouped "$(figure "curve_${files}_look" instructions)")"
        [[ -n $quick ]] || printf ' %8.2f ms %8.2f ms' \
            "$(milliseconds "curve_${files}_usual" hook_us)" "$(milliseconds "curve_${files}_look" hook_us)"
        echo
    done
}

check_curve() {
    command -v git >/dev/null || return 0
    local files smallest
    smallest=$(figure curve_1000_usual instructions)
    for files in $(curve_sizes); do
        budget "a usual stop beside $files files: instructions" \
            "$(figure "curve_${files}_usual" instructions)" '<=' $((smallest + smallest / 20))
        budget "the tenth stop beside $files files: instructions" \
            "$(figure "curve_${files}_look" instructions)" '<=' $((2500000 + files * 600))
        budget "the tenth stop beside $files files: peak memory in KiB" \
            "$(figure "curve_${files}_look" hook_peak_kib)" '<=' 16383
        grep -q '"decision":"block"' "$work/answer.curve_${files}_usual_alone" ||
            { echo "missed: $files files: the hook did not hold the agent" >&2 && missed=$((missed + 1)); }
        ends_the_loop "curve_${files}_look_alone" ||
            { echo "missed: $files files: the tenth stop that changed nothing did not end the loop" >&2 && missed=$((missed + 1)); }
    done
}

# A tick by hand, in the same projects: how much it costs for each file.
measure_hand_curve() {
    command -v git >/dev/null || return 0
    local files folder
    for files in 1000 10000; do
        folder=$work/hand_$files
        mkdir "$folder"
        : >"$folder/reset"
        mkdir -p "$folder/project/src/services" "$folder/project/.claude"
        lay_out_files "$folder" "$files"
        sleep 3.1
        hold_in_project "$folder"
        tick_by_hand "$folder"
        count_whole_look "hand_$files" "$folder" is_judged
        reset_project "$folder"
        in_project "$folder" "$hook" <"$folder/event.json" >/dev/null 2>&1
    done
    local few many
    few=$(figure hand_1000 instructions) many=$(figure hand_10000 instructions)
    [[ -z $few || -z $many ]] || record hand per_file "$(((many - few) / 9000))"
}

print_hand_curve() {
    command -v git >/dev/null || return 0
    printf '\nTicked by hand, in a project of 1,000 files %s instructions, of 10,000 files %s: %s for each file\n' \
        "$(grouped "$(figure hand_1000 instructions)")" "$(grouped "$(figure hand_10000 instructions)")" "$(figure hand per_file)"
}

check_hand_curve() {
    command -v git >/dev/null || return 0
    budget 'a tick by hand: instructions for each file' "$(figure hand per_file)" '<=' 1700
    local files
    for files in 1000 10000; do
        is_judged "hand_$files" ||
            { echo "missed: $files files: the tick by hand has no receipt" >&2 && missed=$((missed + 1)); }
    done
}
