# What the installed hook costs beside the bare program, at a stop in a project without a loop. Sourced by scripts/release.

cost() {
    local archive=$dist/release/speckit-$version.zip platform program name
    [[ -f $archive ]] || fail "\`$archive\` is not there" 'run scripts/release pack first'
    command -v gcc >/dev/null || fail '`gcc` is missing' 'install it: apt-get install gcc'
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    platform=linux-$(uname -m)
    mkdir -p "$work/project/.specify" "$work/home"
    for name in settled launcher; do
        unzip -q "$archive" -d "$work/$name"
    done
    # With this note a launcher stays where it is.
    : >"$work/launcher/bin/.shared"
    printf '{"session_id":"11111111-1111-1111-1111-111111111111","cwd":"%s","hook_event_name":"Stop","stop_hook_active":false}' \
        "$work/project" >"$work/event"
    gcc -O2 -o "$work/stopwatch" scripts/bench.d/stopwatch.c
    HOME=$work/home "$work/settled/bin/ralph-hook" claude Stop <"$work/event"
    program=$work/settled/programs/$platform/ralph-hook
    echo 'microseconds (a tenth and half of 400 runs were faster), the same divided by the bare program'
    HOME=$work/home "$work/stopwatch" 400 "$work/event" -- "$program" claude Stop -- "$work/settled/bin/ralph-hook" claude Stop \
        -- "$work/launcher/bin/ralph-hook" claude Stop |
        paste <(printf '%s\n' 'the bare program' 'the hook of an installed plugin' 'a launcher before it') - | cut -f 1-5
}
