#!/bin/sh
# Installs spool and ralph-hook {{version}} of ralph-speckit: fetches the archive for this machine, compares its hash with the one
# written below, and puts the two programs into a folder. It asks for no rights and changes nothing else.
set -eu

usage() {
  cat <<'TEXT'
Installs spool and ralph-hook {{version}} of ralph-speckit.

  sh install.sh [--to FOLDER] [--from URL]   install, also over an earlier version
  sh install.sh --remove [--to FOLDER]       remove the two programs again

  --to FOLDER   where the programs are; without it, ~/.local/bin
  --from URL    the folder of a server that has the archive; without it, the release
TEXT
}

# The first line says what happened, the others what to do.
fail() {
  printf 'install.sh: %s\n' "$1" >&2
  shift
  [ $# = 0 ] || printf '%s\n' "$@" >&2
  exit 1
}

# A file of that name that is not of ralph-speckit stays.
is_free_or_ours() {
  [ -e "$to/$1" ] || [ -L "$to/$1" ] || return 0
  [ -f "$to/$1" ] && grep -q ralph-speckit "$to/$1"
}

# A run that was killed has left its folder; the number in the name says whether it still runs.
sweep() {
  for left in "$to"/.ralph-speckit.[0-9]*; do
    if [ -d "$left" ] && ! kill -0 "${left##*.}" 2>/dev/null; then
      rm -rf "$left"
    fi
  done
}

remove() {
  record=${XDG_DATA_HOME:-${HOME:-}/.local/share}/ralph-speckit/setup.json
  [ ! -e "$record" ] || fail 'the plugin is still in Claude Code' "take it out first: $to/spool setup --remove"
  sweep
  removed=
  for program in spool ralph-hook; do
    if [ ! -e "$to/$program" ] && [ ! -L "$to/$program" ]; then
      continue
    fi
    is_free_or_ours "$program" || fail "$to/$program is not of ralph-speckit, and stays"
    rm -f "$to/$program" || fail "$to/$program could not be removed"
    removed="$removed${removed:+ and }$program"
  done
  if [ -n "$removed" ]; then
    echo "removed $removed from $to"
  else
    echo "nothing to remove: neither program is in $to"
  fi
}

main() {
  to=${HOME:+$HOME/.local/bin} from={{url}} what=install
  while [ $# -gt 0 ]; do
    case $1 in
      --to | --from)
        [ -n "${2:-}" ] || fail "$1 needs a value" 'see --help'
        if [ "$1" = --to ]; then to=$2; else from=${2%/}; fi
        shift
        ;;
      --remove) what=remove ;;
      -h | --help) usage; exit ;;
      *) fail "unknown option \`$1\`" 'see --help' ;;
    esac
    shift
  done
  [ -n "$to" ] || fail 'the environment variable HOME is not set' 'name a folder with --to FOLDER'
  case $to in
    /?*/) to=${to%/} ;;
    /*) ;;
    *) to=$PWD/${to%/} ;;
  esac
  if [ "$what" = remove ]; then
    remove
    exit
  fi

  case $(uname -sm) in
    'Linux x86_64') platform=linux-x86_64 hash={{hash_linux_x86_64}} ;;
    'Linux aarch64') platform=linux-aarch64 hash={{hash_linux_aarch64}} ;;
    'Darwin x86_64') platform=macos-x86_64 hash={{hash_macos_x86_64}} ;;
    'Darwin arm64') platform=macos-aarch64 hash={{hash_macos_aarch64}} ;;
    MINGW* | MSYS* | CYGWIN*) fail 'this script is not for Windows' 'use install.ps1 of the release' ;;
    *) platform=$(uname -sm) hash=none ;;
  esac
  [ "$hash" != none ] ||
    fail "there is no program for $platform" 'build it with Rust: cargo install ralph-speckit --locked'
  for program in spool ralph-hook; do
    is_free_or_ours "$program" || fail "$to/$program is there already, and is not of ralph-speckit" \
      'move it away, or choose another folder with --to FOLDER; nothing was installed'
  done

  name=ralph-speckit-{{version}}-$platform
  archive=$from/$name.tar.gz
  folder= new=$to/.ralph-speckit.$$
  trap 'rm -rf "$folder" "$new"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  folder=$(mktemp -d "${TMPDIR:-/tmp}/ralph-speckit.XXXXXX") || fail 'no folder could be made for the download'
  if command -v curl >/dev/null 2>&1; then
    set -- curl --fail --silent --show-error --location --output "$folder/archive" "$archive"
  elif command -v wget >/dev/null 2>&1; then
    set -- wget -q -O "$folder/archive" "$archive"
  else
    fail 'neither curl nor wget is there' "fetch $archive, and unpack it"
  fi
  if ! "$@" 2>"$folder/said"; then
    cat "$folder/said" >&2
    fail "$archive could not be fetched; nothing was installed" \
      "is there room in ${TMPDIR:-/tmp}? try again, or name another place with --from URL"
  fi
  if command -v sha256sum >/dev/null 2>&1; then
    found=$(sha256sum <"$folder/archive")
  else
    found=$(shasum -a 256 <"$folder/archive")
  fi
  [ "${found%% *}" = "$hash" ] || fail "$archive is not the archive that was released" \
    "its hash is ${found%% *}, and should be $hash; nothing was installed"

  mkdir -p "$to" || fail "$to is no folder, and none can be made there; nothing was installed" \
    'choose another one with --to FOLDER'
  sweep
  { mkdir "$new" && tar -xzf "$folder/archive" -C "$new"; } || fail "$to cannot be written; nothing was installed" \
    'is it yours, and is there room? choose another folder with --to FOLDER'
  # Both are whole now. Each is put in place in one step: a program that runs stays as it is.
  for program in spool ralph-hook; do
    mv -f "$new/$name/$program" "$to/$program" || fail "$to/$program could not be put in place" 'run this again'
  done

  echo "installed spool and ralph-hook {{version}} in $to"
  spool=$to/spool
  case :${PATH:-}: in
    *":$to:"*)
      first=$(command -v spool)
      if [ "$first" = "$to/spool" ]; then
        spool=spool
      else
        echo "another one comes first on your PATH: $first"
      fi
      ;;
    *) echo "$to is not on your PATH yet" ;;
  esac
  echo "next: $spool setup   (the plugin, into Claude Code), or $spool demo"
}

# The last line: of a script that was cut off, nothing runs.
main "$@"
