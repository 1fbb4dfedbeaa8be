#!/usr/bin/env bash
# The same guards as the hook's, as a careful shell script does them with `jq`: what `scripts/bench`
# compares with. It is only measured, never installed; it keeps no ledger and no journal, so it does
# less than the hook.
set -u

# One call of `jq` for all fields; the usual script starts it once for each.
event=$(cat)
fields=$(jq -r '[.cwd // "", .session_id // "", .transcript_path // "", .agent_id // "",
    (.last_assistant_message // "" | gsub("\n"; "\u001f"))] | join("\u001e")' <<<"$event" 2>/dev/null) || exit 0
IFS=$'\x1e' read -r folder session transcript agent message <<<"$fields"
[[ -n $agent || -z $folder ]] && exit 0

# The project: the folder with `.specify`, here or above.
while [[ ! -d $folder/.specify ]]; do
    [[ -z $folder || $folder == / ]] && exit 0
    folder=${folder%/*}
done

settings=$folder/.claude/ralph-speckit.local.md
if [[ -f $settings ]] && sed -n '/^---$/,/^---$/p' "$settings" | grep -q '^enabled: *false'; then
    exit 0
fi

pointer=$folder/.specify/.current-feature
[[ -f $pointer ]] || exit 0
feature=$(<"$pointer")
[[ $feature == */* || $feature == *..* || -z $feature ]] && exit 0
home=$folder/specs/$feature
[[ -d $folder/.specify/specs/$feature ]] && home=$folder/.specify/specs/$feature
state=$home/.speckit-state.json
[[ -f $state ]] || exit 0

# A state file that is being written: wait for its writer.
changed=$(stat -c %Y "$state" 2>/dev/null || stat -f %m "$state")
(($(date +%s) - changed < 2)) && sleep 1

if ! counters=$(jq -r '[.phase // "", .taskIndex // 0, .totalTasks // 0, .taskIteration // 1,
    .globalIteration // 1, .maxGlobalIterations // 100, .awaitingApproval // false] | join(" ")' "$state" 2>/dev/null); then
    jq -cn --arg path "$state" '{decision: "block",
        reason: "ERROR: Corrupt state file at \($path)\n\nRecovery options:\n1. /speckit:implement\n2. /speckit:cancel",
        systemMessage: "Corrupt state file"}'
    exit 0
fi
read -r phase index total attempt iteration limit approval <<<"$counters"
[[ $phase != execution || $approval == true ]] && exit 0

# Another session's loop.
for pin in "$HOME"/.local/state/ralph-speckit/projects/*/"feature-$feature.json"; do
    [[ -f $pin ]] || continue
    owner=$(jq -r '.session // ""' "$pin" 2>/dev/null)
    [[ -n $owner && $owner != "$session" ]] && exit 0
done

# Completion: the task list where there is one, otherwise the signal.
open=
if [[ -f $home/tasks.md ]]; then
    open=$(grep -E '^[[:space:]]*[-*] \[ \] ' "$home/tasks.md" | sed -E 's/^[[:space:]]*[-*] \[ \] ([^ ]+).*/\1/' | paste -sd, -)
    [[ -z $open ]] && exit 0
elif ((index >= total)); then
    exit 0
fi
if [[ $'\x1f'$message$'\x1f' == *$'\x1f'ALL_TASKS_COMPLETE$'\x1f'* ]] ||
    { [[ -f $transcript ]] && tail -n 500 "$transcript" | grep -q '"text":"ALL_TASKS_COMPLETE"'; }; then
    [[ -z $open ]] && exit 0
fi
if ((iteration >= limit)); then
    echo "[ralph-speckit] ERROR: Maximum global iterations ($limit) reached." >&2
    exit 0
fi

echo "[ralph-speckit] Session stopped during feature: $feature | Task: $((index + 1))/$total | Attempt: $attempt" >&2
jq -cn --arg feature "$feature" --arg state "$state" --arg open "$open" \
    --argjson task "$((index + 1))" --argjson total "$total" --argjson iteration "$iteration" '{
    decision: "block",
    reason: "Continue feature: \($feature) (Task \($task)/\($total), Iter \($iteration))\n\nState: \($state)\nOpen tasks: \($open)\n\nRead the state and tasks.md, delegate the first open task to spec-executor ([VERIFY] tasks to qa-engineer), tick its box, go on with the next. Only when every box is ticked, end with ALL_TASKS_COMPLETE on a line of its own.",
    systemMessage: "Ralph-speckit iteration \($iteration) | Task \($task)/\($total)"}'
