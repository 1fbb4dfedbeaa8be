# Packs what is in dist/programs: every file that a release has. Sourced by scripts/release.

# Gives all below a folder the time of the commit and plain modes; programs and launchers can be started.
settle_times() {
    find "$1" -type d -exec chmod 755 {} +
    find "$1" -type f ! -perm -100 -exec chmod 644 {} +
    find "$1" -type f -perm -100 -exec chmod 755 {} +
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# The folder $2 as the archive $1, its content at the top, sorted.
zip_folder() {
    local archive
    archive=$(realpath -m "$1")
    rm -f "$archive"
    settle_times "$2"
    (cd "$2" && find . -type f | sed 's|^\./||' | sort | zip -q -X -9 "$archive" -@)
}

# The folder $2/$3 as the archive $1.
tar_folder() {
    settle_times "$2"
    tar --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -C "$2" -cf - "$3" | gzip -n -9 >"$1"
}

# The text of a template with every {{NAME}} replaced by the variable of that name.
fill() {
    local text name
    text=$(cat "$1")
    while [[ $text =~ \{\{([a-z0-9_]+)\}\} ]]; do
        name=${BASH_REMATCH[1]}
        text=${text//"{{$name}}"/"${!name?no value for $name in $1}"}
    done
    printf '%s\n' "$text"
}

# The plugin for all platforms, without programs of any other kind: its files, its launchers, the programs.
pack_plugin() {
    local plugin=$work/plugin file from platform
    # The list that `spool plugin build` writes.
    sed -n '/^pub const FILES/,/^];/s/^ *"\([^"]*\)"\( from "\([^"]*\)"\)\{0,1\},$/\1 \3/p' src/plugin/files.rs >"$work/files"
    [[ -s $work/files ]] || fail 'src/plugin/files.rs names no file'
    while read -r file from; do
        install -D -m 644 "${from:-$file}" "$plugin/$file"
    done <"$work/files"
    install -D -m 755 -t "$plugin/bin" bin/ralph-hook bin/spool
    for platform in $packed; do
        case $platform in
        # Windows looks for `ralph-hook.exe` where `ralph-hook` is named: no launcher is between.
        windows-*) install -m 755 -t "$plugin/bin" "$dist/programs/$platform"/*.exe ;;
        *) install -D -m 755 -t "$plugin/programs/$platform" "$dist/programs/$platform"/{ralph-hook,spool} ;;
        esac
    done
    zip_folder "$out/speckit-$version.zip" "$plugin"
    hash_plugin=$(hash_of "$out/speckit-$version.zip")
    # One marketplace for who adds it by its address; the other for clients before 2.1.224, which know no archives. The one
    # of npm (pack_npm) is for machines without git.
    source_of_plugin="{ \"source\": \"archive\", \"url\": \"$url/speckit-$version.zip\", \"sha256\": \"$hash_plugin\" }"
    marketplace >"$out/marketplace.json"
    source_of_plugin="{ \"source\": \"github\", \"repo\": \"${GITHUB_REPOSITORY:-OWNER/ralph-speckit}\", \"ref\": \"plugin-v$version\" }"
    marketplace >"$out/marketplace-git.json"
}

# The marketplace of an assembled plugin with another source for the plugin.
marketplace() {
    local text
    text=$(cat src/plugin/marketplace.json)
    printf '%s\n' "${text/'"source": "./"'/"\"source\": $source_of_plugin"}"
}

pack_archives() {
    local platform name
    for platform in $packed; do
        name=ralph-speckit-$version-$platform
        install -D -m 755 -t "$work/archives/$name" "$dist/programs/$platform"/*
        install -m 644 -t "$work/archives/$name" README.md LICENSE CHANGELOG.md
        case $platform in
        windows-*) zip_folder "$out/$name.zip" "$work/archives/$name" ;;
        *)
            # In a condition with `||`, a program that fails would be passed over.
            if [[ -n $host ]]; then shell_words "$work/archives/$name"; fi
            tar_folder "$out/$name.tar.gz" "$work/archives" "$name"
            ;;
        esac
    done
}

# Manual pages and completions, by the program of this machine: the text is the same for all.
shell_words() {
    local shell
    mkdir -p "$1/completions"
    "$host" man --to "$1/man" >/dev/null
    for shell in bash zsh fish; do
        "$host" completions "$shell" >"$1/completions/spool.$shell"
    done
}

pack_installers() {
    local platform variable
    for platform in $platforms; do
        variable=hash_${platform//-/_}
        printf -v "$variable" '%s' none
        for file in "$out/ralph-speckit-$version-$platform".{tar.gz,zip}; do
            [[ ! -f $file ]] || printf -v "$variable" '%s' "$(hash_of "$file")"
        done
    done
    fill "$parts/install.sh" >"$out/install.sh"
    fill "$parts/ralph-speckit.rb" >"$out/ralph-speckit.rb"
    if [[ $hash_windows_x86_64 == none ]]; then
        echo 'release: left out: install.ps1 and the winget manifest, because there is no program for Windows' >&2
        return
    fi
    fill "$parts/install.ps1" >"$out/install.ps1"
    fill "$parts/winget.yaml" >"$out/winget.yaml"
}

pack_npm() {
    local platform system processor
    if ! command -v npm >/dev/null; then
        echo 'release: left out: the npm packages, because there is no npm' >&2
        return
    fi
    npm_optional= newline=$'\n'
    for platform in $packed; do
        system=${platform%-*} processor=${platform#*-}
        system=${system/macos/darwin} system=${system/windows/win32}
        processor=${processor/x86_64/x64} processor=${processor/aarch64/arm64}
        npm_name=ralph-speckit-$system-$processor
        npm_optional+="${npm_optional:+,$newline}    \"$npm_name\": \"$version\""
        install -D -m 755 -t "$work/npm/$npm_name" "$dist/programs/$platform"/*
        install -m 644 -t "$work/npm/$npm_name" LICENSE
        npm_system=$system npm_processor=$processor fill "$parts/npm/platform.json" >"$work/npm/$npm_name/package.json"
        printf '# %s\n\nThe programs of [ralph-speckit](https://www.npmjs.com/package/ralph-speckit) for one platform. Install that one.\n' \
            "$npm_name" >"$work/npm/$npm_name/README.md"
    done
    install -D -m 755 "$parts/npm/start.js" "$work/npm/ralph-speckit/start.js"
    for name in spool ralph-hook; do
        install -m 755 "$parts/npm/$name.js" "$work/npm/ralph-speckit/$name.js"
    done
    install -m 644 -t "$work/npm/ralph-speckit" README.md LICENSE
    fill "$parts/npm/package.json" >"$work/npm/ralph-speckit/package.json"
    # The plugin as a package: Claude Code installs it from there without git, also where it knows no archives.
    cp -R "$work/plugin" "$work/npm/ralph-speckit-plugin"
    fill "$parts/npm/plugin.json" >"$work/npm/ralph-speckit-plugin/package.json"
    source_of_plugin="{ \"source\": \"npm\", \"package\": \"ralph-speckit-plugin\", \"version\": \"$version\" }"
    marketplace >"$out/marketplace-npm.json"
    settle_times "$work/npm"
    for name in "$work"/npm/*; do
        npm pack --silent --offline --ignore-scripts --pack-destination "$out" "$name" >/dev/null
    done
}

pack() {
    local platform tool file
    for tool in zip tar gzip sha256sum; do
        command -v "$tool" >/dev/null || fail "\`$tool\` is missing" "install it: apt-get install $tool"
    done
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    out=$(realpath -m "$dist/release")
    rm -rf "$out"
    mkdir -p "$out"
    packed= host=
    for platform in $platforms; do
        [[ -d $dist/programs/$platform ]] && packed+="${packed:+ }$platform"
    done
    [[ -n $packed ]] || fail 'nothing is built' 'run scripts/release build first'
    case $(uname -sm) in
    'Linux x86_64') host=$dist/programs/linux-x86_64/spool ;;
    'Linux aarch64') host=$dist/programs/linux-aarch64/spool ;;
    esac
    [[ -x $host ]] || host=
    [[ -n $host ]] || echo 'release: left out: manual pages and completions, because no program of this machine is built' >&2
    for platform in $platforms; do
        [[ " $packed " == *" $platform "* ]] || echo "release: left out: $platform, because it is not built" >&2
    done
    pack_plugin
    pack_archives
    pack_installers
    pack_npm
    notes >"$out/notes.md"
    # The names are read before the file of the sums is made: it is none of them.
    (cd "$out" && sha256sum -- * >SHA256SUMS)
}
