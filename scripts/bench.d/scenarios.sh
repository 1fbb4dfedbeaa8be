# The stops that `scripts/bench` measures: each function lays out the project of one in the folder "$1", with `event.json`, what
# Claude Code hands the hook at a stop.

own_session=0b5f9f4e-6d0f-4a36-9a34-5f5e2f0d7a11
other_session=7c1d2e3f-0a4b-4c5d-8e6f-112233445566
feature=001-user-login
# How many tasks a list has.
tasks=50

# name, what it is, the most instructions, the most the hook may take against the C program, what it answers, and how many lines,
# and which, it adds to the journal
scenarios() {
    local held='*"decision":"block"*Open: 40 of 50: T011,*' same='*"decision":"block"*The same tasks are open as at your last stop*'
    local next='1*"iteration":2,"task":"11/50","verdict":"continue","reason":"","words":"open: 40 of 50:*'
    cat <<TABLE
no_project	no spec-kit project	70000	2.5	-	0
no_loop	spec-kit project, no loop	177000	3.5	-	0
other_session	another session's loop	235000	3.8	-	0
active	active loop, transcript of 1 MB	1640000	16	$held	$next
active_5gb	active loop, transcript of 5 GB	1640000	16	$held	$next
active_no_git	active loop, no git	1640000	16	$held	$next
active_unchanged	active loop, nothing ticked	1540000	16	$same	1*"iteration":2,"task":"10/50","verdict":"continue"*
active_5000	active loop, 5,000 tasks	12900000	80	${held/40 of 50/4990 of 5000}	1*"iteration":2,"task":"11/5000","verdict":"continue"*
unchanged_5000	nothing ticked, 5,000 tasks	10300000	40	$same	1*"iteration":2,"task":"10/5000","verdict":"continue"*
by_hand	ticked by hand	3710000	32	$held	$next
by_hand_no_git	ticked by hand, no git	3760000	32	$held	$next
by_hand_new_files	ticked by hand, files just written	11500000	80	$held	$next
first_stop	first stop, nobody armed it	1930000	24	${held/Open:/Open in tasks.md:}	3*"event":"claimed"*"task":"11/50","verdict":"continue"*
TABLE
}

measure_hook() {
    local name title instructions ratio answer entry
    # Those whose files have to be left alone for a while first.
    for name in by_hand by_hand_no_git; do
        lay_out_project "$work/$name"
    done
    sleep 3.1
    while IFS=$'\t' read -r name title instructions ratio answer entry; do
        local folder=$work/$name again=0
        mkdir -p "$folder/home"
        "scenario_$name" "$folder"
        learn_what_is_written in_project "$folder" "$hook"
        count_instructions "$name" in_project "$folder" "$hook"
        is_what_was_meant counted
        count_system_calls "$name" "$folder"
        is_what_was_meant traced
        [[ -z $hook_only ]] || continue
        measure_time "$name" "$runs" in_project "$folder" "$hook"
        is_what_was_meant timed
        while [[ -n $check ]] && ((again++ < 2)) && over "$(figure "$name" to_baseline)" "$ratio"; do
            measure_time "$name" $((runs * 2)) in_project "$folder" "$hook"
        done
    done < <(scenarios)
    record program size_bytes "$(wc -c <"$hook")"
    scripts/cargo tree --locked --edges normal --no-default-features --prefix none | sed 's/ .*//' | sort -u >"$work/dependencies"
}

# Whether the last stop came to what the scenario means, with the variables of `measure_hook`.
is_what_was_meant() {
    has_come_to "$name" "$1" "$folder" "$answer" "$entry"
    # A tick that was not judged would cost nothing. strace is slow: the look at all files may reach its limit of time beneath it.
    [[ $name != by_hand* || $1 == traced ]] || is_judged "$folder" || wrong "$name, $1: the tick has no receipt"
}

# A project like many: some folders, 1,000 files, a repository with a log of its head.
lay_out_project() {
    local project=$1/project folder number
    for folder in src src/models src/services src/routes tests docs; do
        mkdir -p "$project/$folder"
        for number in {1..166}; do
            echo "// module $number of $folder" >"$project/$folder/module_$number.ts"
        done
    done
    mkdir -p "$project/.git/logs" "$project/.claude"
    echo 'ref: refs/heads/main' >"$project/.git/HEAD"
    echo '0000000 1111111 A <a@example.org> 1760000000 +0000	commit (initial): start' >"$project/.git/logs/HEAD"
}

# A spec-kit feature with 50 tasks of which the first "$2" are done, and the switch file of a person.
lay_out_feature() {
    local project=$1/project done=$2
    mkdir -p "$project/.specify/specs/$feature"
    echo "$feature" >"$project/.specify/.current-feature"
    printf -- '---\nenabled: true\n---\n' >"$project/.claude/ralph-speckit.local.md"
    write_tasks "$1" "$done"
}

write_tasks() {
    awk -v done="$2" -v tasks="$tasks" 'BEGIN {
        print "# Tasks: user login\n\n**Input**: design documents of the feature\n"
        for (task = 1; task <= tasks; task++) {
            if (task % 10 == 1) printf "\n## Phase %d: story %d\n\n", task / 10 + 1, task / 10 + 1
            printf "- [%s] T%03d %sImplement part %d of the login service in src/services/module_%d.ts\n",
                task <= done ? "x" : " ", task, task % 5 == 0 ? "[VERIFY] " : task % 3 ? "" : "[P] ", task, task % 33 + 1
        }
    }' >"$1/project/.specify/specs/$feature/tasks.md"
}

write_state() {
    cat >"$1/project/.specify/specs/$feature/.speckit-state.json" <<JSON
{
  "phase": "execution",
  "taskIndex": $2,
  "totalTasks": $tasks,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 1,
  "maxGlobalIterations": 100,
  "awaitingApproval": false
}
JSON
    # Long left alone: no run waits for a writer.
    touch -t 202001010000 "$1/project/.specify/specs/$feature/.speckit-state.json"
}

# The event of a stop; "$2" is the session, "$3" whether the turn goes on because a hook held it.
write_event() {
    cat >"$1/event.json" <<JSON
{"session_id":"$2","transcript_path":"$1/transcript.jsonl","cwd":"$1/project","prompt_id":"f7a29331-0a35-4aea-b5c0-391434af8262","permission_mode":"acceptEdits","effort":{"level":"high"},"hook_event_name":"Stop","stop_hook_active":$3,"last_assistant_message":"Done with the tenth task.\n\nThe login service now checks the password against the stored hash, locks an account after five failed attempts in ten minutes, and writes one line to the audit log for each of them. All 42 tests of \`tests/services\` pass, and the type checker has nothing to say.\n\n- \`src/services/module_11.ts\`: the new check\n- \`tests/module_11.ts\`: six new tests\n\nNext would be the password reset.","background_tasks":[{"id":"b1","type":"shell","status":"running","description":"dev server","command":"npm run dev"}],"session_crons":[]}
JSON
}

# One million bytes of a session: prompts, thoughts, texts, tool calls and their results, none of
# which the hook has seen before.
write_transcript() {
    awk -v cwd="$1/project" -v session="$own_session" 'BEGIN {
        code = "export function checkPassword(given: string, stored: Hash): boolean {\\n  const attempt = hash(given, stored.salt);\\n  return constantTimeEqual(attempt, stored.value);\\n}\\n\\n"
        words = "The account is locked after five failed attempts, and the lock is lifted by a timer that the tests can move. "
        common = "\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"" cwd "\",\"sessionId\":\"" session "\",\"version\":\"2.1.332\",\"gitBranch\":\"main\",\"slug\":\"quiet-river\","
        usage = "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":9,\"cache_creation_input_tokens\":1846,\"cache_read_input_tokens\":58211,\"output_tokens\":412,\"service_tier\":\"standard\"}"
        for (turn = 1; size < 1000000; turn++) {
            head = sprintf("{\"parentUuid\":\"%08d-0000-4000-8000-000000000000\",%s", turn, common)
            tail = sprintf("\"uuid\":\"%08d-1111-4000-8000-000000000000\",\"timestamp\":\"2026-01-01T10:%02d:%02d.000Z\"}", turn, turn / 60 % 60, turn % 60)
            open = head sprintf("\"type\":\"assistant\",\"message\":{\"model\":\"claude\",\"id\":\"msg_%024d\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[", turn)
            close_ = "]," usage "},\"requestId\":\"req_011\"," tail
            line[1] = open "{\"type\":\"thinking\",\"thinking\":\"" repeat(words, 4) "\",\"signature\":\"" repeat("RXJrQ0NrZ0lDQkFDR0FJcVFO", 16) "\"}" close_
            line[2] = open "{\"type\":\"text\",\"text\":\"" repeat(words, 3) "\"}" close_
            line[3] = open "{\"type\":\"tool_use\",\"id\":\"toolu_" turn "\",\"name\":\"Edit\",\"input\":{\"file_path\":\"" cwd "/src/services/module_11.ts\",\"old_string\":\"" repeat(code, 2) "\",\"new_string\":\"" repeat(code, 3) "\"}}" close_
            line[4] = head "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"toolu_" turn "\",\"type\":\"tool_result\",\"content\":\"" repeat(code, 8) "\"}]}," "\"toolUseResult\":{\"filePath\":\"" cwd "/src/services/module_11.ts\",\"oldString\":\"" repeat(code, 2) "\",\"newString\":\"" repeat(code, 3) "\"}," tail
            for (kind = 1; kind <= 4; kind++) {
                print line[kind]
                size += length(line[kind]) + 1
            }
        }
    }
    function repeat(text, times,    all) {
        while (times-- > 0) all = all text
        return all
    }'
}

# The command as a person types it: `spool` arms the loop and binds it to the session.
arm() {
    write_state "$1" "$2"
    printf '{"session_id":"%s","transcript_path":"%s","cwd":"%s","hook_event_name":"UserPromptExpansion","command_name":"speckit:implement","command_args":""}' \
        "$3" "$1/transcript.jsonl" "$1/project" |
        in_project "$1" "$spool" hook >/dev/null 2>&1
    write_state "$1" "$2"
}

scenario_no_project() {
    lay_out_project "$1"
    write_transcript "$1" >"$1/transcript.jsonl"
    write_event "$1" "$own_session" false
}

scenario_no_loop() {
    lay_out_project "$1"
    lay_out_feature "$1" 10
    write_transcript "$1" >"$1/transcript.jsonl"
    write_event "$1" "$own_session" false
}

scenario_other_session() {
    lay_out_project "$1"
    lay_out_feature "$1" 10
    arm "$1" 10 "$other_session"
    write_transcript "$1" >"$1/transcript.jsonl"
    write_event "$1" "$own_session" false
}

# Where the state of the project's loops is kept, outside of it.
kept_of() { echo "$1"/home/.local/state/ralph-speckit/projects/*; }

# The receipt that `spool task done` keeps of a task.
receipt() {
    printf '{"at":9999999999999,"version":1,"task":"%s","list":".specify/specs/%s/tasks.md","by":"done","session":"%s","proof":"files"}\n' \
        "$1" "$feature" "$own_session"
}

keep_receipt() { receipt T010 >"$(kept_of "$1")/receipts-$feature.jsonl"; }

# Armed, held once, and now at its second stop: one more box is ticked, a megabyte was said since.
scenario_active() {
    hold_once "$1"
    write_tasks "$1" 10
    keep_receipt "$1"
    write_state "$1" 10
    write_transcript "$1" >"$1/transcript.jsonl"
}

# The same behind a hole of 5 GB.
scenario_active_5gb() {
    hold_once "$1"
    write_tasks "$1" 10
    keep_receipt "$1"
    write_state "$1" 10
    dd if=/dev/null of="$1/transcript.jsonl" bs=1 seek=5368709120 2>/dev/null
    { echo && write_transcript "$1"; } >>"$1/transcript.jsonl"
}

# The same without git: no repository is there, and names alone say which files are no work.
scenario_active_no_git() {
    lay_out_project "$1"
    rm -r "$1/project/.git"
    hold_in_project "$1"
    write_tasks "$1" 10
    keep_receipt "$1"
    write_state "$1" 10
    write_transcript "$1" >"$1/transcript.jsonl"
}

# The same with a box that was ticked by hand, and one changed file: all files are looked at, to judge it. Those that were
# written more than 3 s before arming, as in most projects, are not read again.
scenario_by_hand() {
    hold_in_project "$1"
    tick_by_hand "$1"
}

scenario_by_hand_no_git() {
    rm -r "$1/project/.git"
    scenario_by_hand "$1"
}

# The worst of them, and only the first tick by hand: all files were written right before arming, and are read once more.
scenario_by_hand_new_files() {
    lay_out_project "$1"
    scenario_by_hand "$1"
}

tick_by_hand() {
    write_tasks "$1" 10
    write_state "$1" 10
    echo 'export const added = 1' >>"$1/project/src/services/module_11.ts"
    write_transcript "$1" >"$1/transcript.jsonl"
}

# Whether the stop has kept a receipt of the tick.
is_judged() { grep -qs '"by":"stop"' "$(kept_of "$1")/receipts-$feature.jsonl"; }

# The same, but nothing was ticked or committed.
scenario_active_unchanged() {
    hold_once "$1"
    write_transcript "$1" >"$1/transcript.jsonl"
}

scenario_active_5000() {
    local tasks=5000
    scenario_active "$1"
}

scenario_unchanged_5000() {
    local tasks=5000
    scenario_active_unchanged "$1"
}

hold_once() {
    lay_out_project "$1"
    hold_in_project "$1"
}

# Arms a loop there, at whose first stop the agent is held.
hold_in_project() {
    lay_out_feature "$1" 9
    arm "$1" 9 "$own_session"
    write_event "$1" "$own_session" false
    in_project "$1" "$hook" <"$1/event.json" >/dev/null 2>&1
    write_event "$1" "$own_session" true
}

# A state file of older tools that nobody armed: the first stop claims it.
scenario_first_stop() {
    lay_out_project "$1"
    lay_out_feature "$1" 10
    write_state "$1" 10
    write_transcript "$1" >"$1/transcript.jsonl"
    write_event "$1" "$own_session" false
}
