#!/bin/sh
# Installs spool and ralph-hook {{version}} of ralph-speckit: fetches the archive for this machine, compares its hash with the one
# written below, and puts the two programs into a folder. It asks for no rights and changes nothing else.
#
#   sh install.sh [--to FOLDER] [--from URL]     remove again: delete the two programs
set -eu

to=${HOME:?no home}/.local/bin
from={{url}}
while [ $# -gt 0 ]; do
  case $1 in
    --to) to=${2:?--to needs a folder}; shift ;;
    --from) from=${2:?--from needs an address}; shift ;;
    *) echo "install.sh: unknown option \`$1\`" >&2; exit 2 ;;
  esac
  shift
done

case $(uname -sm) in
  'Linux x86_64') platform=linux-x86_64 hash={{hash_linux_x86_64}} ;;
  'Linux aarch64') platform=linux-aarch64 hash={{hash_linux_aarch64}} ;;
  'Darwin x86_64') platform=macos-x86_64 hash={{hash_macos_x86_64}} ;;
  'Darwin arm64') platform=macos-aarch64 hash={{hash_macos_aarch64}} ;;
  *) platform=$(uname -sm) hash=none ;;
esac
if [ "$hash" = none ]; then
  echo "install.sh: there is no program for $platform" >&2
  echo "build it with Rust: cargo install ralph-speckit --locked" >&2
  exit 1
fi

name=ralph-speckit-{{version}}-$platform
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
archive=$from/$name.tar.gz
if command -v curl >/dev/null 2>&1; then
  set -- curl --fail --silent --show-error --location --output "$folder/archive" "$archive"
elif command -v wget >/dev/null 2>&1; then
  set -- wget -q -O "$folder/archive" "$archive"
else
  echo "install.sh: neither curl nor wget is there" >&2
  echo "fetch $archive, and unpack it" >&2
  exit 1
fi
if ! "$@" 2>"$folder/said"; then
  cat "$folder/said" >&2
  echo "install.sh: $archive could not be fetched; nothing was installed" >&2
  echo "try again, or name another place with --from URL" >&2
  exit 1
fi
if command -v sha256sum >/dev/null 2>&1; then
  found=$(sha256sum "$folder/archive")
else
  found=$(shasum -a 256 "$folder/archive")
fi
if [ "${found%% *}" != "$hash" ]; then
  echo "install.sh: $archive is not the archive that was released" >&2
  echo "its hash is ${found%% *}, and should be $hash; nothing was installed" >&2
  exit 1
fi

tar -xzf "$folder/archive" -C "$folder"
mkdir -p "$to"
for program in spool ralph-hook; do
  # Put in place in one step: a program that runs stays as it is.
  cp "$folder/$name/$program" "$to/.$program.$$"
  mv -f "$to/.$program.$$" "$to/$program"
done
echo "installed spool and ralph-hook {{version}} in $to"
case :$PATH: in
  *":$to:"*) ;;
  *) echo "$to is not on your PATH yet" ;;
esac
echo "next: spool setup   (the plugin, into Claude Code), or spool demo"
