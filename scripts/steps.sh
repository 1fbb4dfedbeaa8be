# What the gate (.ci/run) and scripts/nightly share: a clean environment, steps with their times, one run of the tests,
# and the closing line. Sourced in the top folder of the checkout.

# Nothing of the session that happens to run this reaches the build or the tests.
for variable in $(compgen -e); do
    case $variable in
    RALPH_CLIENTS) ;;
    CARGO_BUILD_TARGET | CODEX* | OPENCODE* | OPENAI* | GEMINI* | GOOGLE* | COPILOT* | CLAUDE* | ANTHROPIC* | RALPH_* | \
        SPECIFY_* | SPOOL_* | GIT_* | NEXTEST_* | FAULTS_* | PROOF_* | STRESS_* | *RUSTFLAGS) unset "$variable" ;;
    esac
done
# A panic shows its backtrace. An error of `spool` is shown without one: to make it takes 14 million instructions.
export RUST_BACKTRACE=1 RUST_LIB_BACKTRACE=0
# Our own crate is built once from nothing; to prepare for a second build would make that one a third dearer.
export CARGO_INCREMENTAL=0
export CI=true HOME="${HOME:-$(cd ~ && pwd)}" CARGO_TERM_COLOR=never LC_ALL=C.UTF-8
command -v cargo >/dev/null || PATH=$HOME/.cargo/bin:$PATH

began=$SECONDS

# Runs one step: its name, what a person does when the step fails, the command. The time goes to standard error.
step() {
    local name=$1 advice=$2 start=$SECONDS
    shift 2
    echo "== $name" >&2
    if "$@"; then
        echo "== $name: $((SECONDS - start)) s" >&2
        return
    fi
    echo "== $name: failed after $((SECONDS - start)) s" >&2
    echo "$advice" >&2
    return 1
}

rust_is_there() {
    command -v cargo || return
    cargo fmt --version && cargo clippy --version && return
    rustup component add rustfmt clippy
}

# What bench and tests use where it is there.
system_tools=(valgrind strace tmux zip unzip readelf:binutils script:bsdutils)

# Gets programs of the system where that is allowed, and names what is missing: each is a program, or `program:packages`.
tools_of_the_system() {
    local tool missing=() packages=()
    for tool; do
        command -v "${tool%%:*}" >/dev/null || missing+=("$tool")
    done
    if ((${#missing[@]})) && [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        for tool in "${missing[@]}"; do
            read -ra packages <<<"${packages[*]} ${tool#*:}"
        done
        apt-get update -qq || true
        DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "${packages[@]}" || true
    fi
    # An empty list is no list to the bash of macOS.
    for tool in ${missing[@]+"${missing[@]}"}; do
        command -v "${tool%%:*}" >/dev/null || echo "left out: what needs ${tool%%:*}"
    done
} >&2

# Checks that the source compiles for another system: the target, then cargo's words for which parts of the source.
compiles_for() {
    local target=$1
    shift
    if ! rustup target add "$target" >&2; then
        echo "left out: the check for $target, because its library could not be installed" >&2
        return
    fi
    cargo check --locked --target "$target" --all-features "$@"
}

# All test programs in one run: beside each other with cargo-nextest, one after the other without it. `run_tests all` runs those
# too that are left to the night. Most tests wait, so that more of them run at once than there are processors. They are `nice`
# to the bench of the hook, which counts beside them.
run_tests() {
    local at_once=$((4 * $(getconf _NPROCESSORS_ONLN))) run=(test) to_tests=()
    if cargo nextest --version >/dev/null 2>&1; then
        run=(nextest run --test-threads "$at_once")
        [[ ${1:-} != all ]] || run+=(--profile night --run-ignored all)
    elif [[ ${1:-} == all ]]; then
        # But for those that only measure.
        to_tests=(-- --include-ignored --skip the_cost_of_a_run --skip what_the_books_cost)
    fi
    RUST_TEST_THREADS=$at_once in_memory nice scripts/cargo "${run[@]}" --no-fail-fast --locked --workspace --all-features \
        ${to_tests[@]+"${to_tests[@]}"} 2>&1 | tee -a "$log"
}

# Runs a command whose temporary files lie in memory, where this may be done: the tests make and remove very many files.
# The files are gone with the command. They are not in /dev/shm: Codex's sandbox has a /dev of its own.
in_memory() {
    if unshare --mount true 2>/dev/null; then
        # shellcheck disable=SC2016
        unshare --mount --propagation private bash -c \
            'mkdir -p /tmp/gate && mount -t tmpfs -o size=60%,mode=1777 gate /tmp/gate && export TMPDIR=/tmp/gate; exec "$@"' - "$@"
    else
        "$@"
    fi
}

# Prints which tests left themselves out, and as the last line the sum of the test runner's closing lines, also when a step has
# failed.
sum_up() {
    local code=$? job
    # Ctrl-C does not reach what runs in the background.
    for job in $(jobs -p); do kill -- "-$job" 2>/dev/null || true; done
    [[ ! -e $RALPH_TEST_LEFT_OUT ]] || sort -u "$RALPH_TEST_LEFT_OUT" >&2
    echo "== all: $((SECONDS - began)) s" >&2
    awk '
        /^test result: / { for (word = 2; word <= NF; word++) {
            if ($word == "passed;") passed += $(word - 1)
            if ($word == "failed;") failed += $(word - 1) } }
        # nextest: of those that ran, what did not pass has failed.
        /^ *Summary \[/ { ran = good = 0
            for (word = 2; word <= NF; word++) {
                if ($word ~ /^tests?$/ && $(word + 1) == "run:") ran = $(word - 1)
                if ($word ~ /^passed/) good = $(word - 1) }
            sub(/\/.*/, "", ran); passed += good; failed += ran - good }
        # Steps that have no tests, such as one alone of `scripts/nightly`, have written nothing.
        END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || (NR > 0 && passed == 0) }' "$log" || code=1
    rm -f "$log"*
    exit "$code"
}

log=$(mktemp)
export RALPH_TEST_LEFT_OUT=$log.left-out
trap sum_up EXIT
