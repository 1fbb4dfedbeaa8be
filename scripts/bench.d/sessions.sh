# What `spool log` and `spool status` cost in a project where 10,000 sessions had a loop, used by `scripts/bench`.

# name, what it is, what is typed, what it says
session_commands() {
    cat <<'TABLE'
sessions_log	spool log, 10,000 sessions	log	*  done  *
sessions_status	spool status, 10,000 sessions	status	*50 of 50 done*
TABLE
}

# One loop in a session is armed, held and completed; all others are its copies, each a minute after the one before.
lay_out_sessions() {
    local folder=$1 loops=$1/project/.claude/ralph receipts kept
    mkdir -p "$folder"/{home,project/.claude}
    lay_out_feature "$folder" 49
    : >"$folder/transcript.jsonl"
    arm "$folder" 49 "$own_session"
    write_event "$folder" "$own_session" false
    in_project "$folder" "$hook" <"$folder/event.json" >/dev/null 2>&1
    write_tasks "$folder" 50
    kept=$(kept_of "$folder")
    receipts=$kept/receipts-$feature.jsonl
    receipt T050 >"$receipts"
    in_project "$folder" "$hook" <"$folder/event.json" >/dev/null 2>&1
    grep -q '"reason":"completed"' "$loops/$own_session/journal.jsonl" || wrong 'sessions: the loop was not completed'
    (cd "$loops" && seq -f '%08.0f-4a36-9a34-5f5e2f0d7a11' 1 9999 | xargs mkdir)
    # Nobody but its owner may read a record.
    (umask 077 && awk -v own="$own_session" '{ line[FILENAME, ++lines[FILENAME]] = $0 }
        END {
            for (number = 1; number < 10000; number++) {
                session = sprintf("%08d-4a36-9a34-5f5e2f0d7a11", number)
                for (name in lines) {
                    file = name
                    gsub(own, session, file)
                    for (at = 1; at <= lines[name]; at++) {
                        text = line[name, at]
                        gsub(own, session, text)
                        if (match(text, /at": ?[0-9]+/)) {
                            key = time = substr(text, RSTART, RLENGTH)
                            sub(/[0-9]+/, "", key)
                            gsub(/[^0-9]/, "", time)
                            text = substr(text, 1, RSTART - 1) key sprintf("%.0f", time - 60000 * number) substr(text, RSTART + RLENGTH)
                        }
                        print text >file
                    }
                    close(file)
                }
            }
        }' "$loops/$own_session/journal.jsonl" "$kept/session-$own_session.json" "$kept/open-$own_session.txt")
    : >"$folder/event.json"
}

measure_sessions() {
    local name title typed said
    lay_out_sessions "$work/sessions"
    while IFS=$'\t' read -r name title typed said; do
        ln -s "$work/sessions" "$work/$name"
        measure_command "$name" in_project "$said" "$spool" "$typed"
    done < <(session_commands)
}

print_sessions() {
    local name title rest
    printf '\n%-34s %13s %11s\n' '10,000 sessions had a loop' instructions 'wall time'
    while IFS=$'\t' read -r name title rest; do
        printf '%-34s %13s %8.2f ms\n' "$title" "$(grouped "$(figure "$name" instructions)")" "$(milliseconds "$name" us)"
    done < <(session_commands)
}

check_sessions() {
    local name title rest
    while IFS=$'\t' read -r name title rest; do
        budget "$title: instructions" "$(figure "$name" instructions)" '<=' 100000000
    done < <(session_commands)
}
