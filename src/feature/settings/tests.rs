//! Settings are taken as written, and anything that is not understood is refused by name.

use super::*;

/// The switch and the checks with their limits, or the error on one line.
fn read(text: &str) -> Result<(bool, Vec<(String, u64)>), String> {
    let settings = Settings::parse(text.as_bytes()).map_err(|error| error.one_line())?;
    let checks = settings.checks.into_iter().map(|check| (check.run, check.limit_seconds));
    Ok((settings.chosen.enabled(), checks.collect()))
}

fn checks(text: &str) -> Vec<(String, u64)> {
    read(text).unwrap_or_else(|error| panic!("{text:?}: {error}")).1
}

#[test]
fn settings_page_has_every_key() {
    let page = include_str!("../../../docs/settings.md");
    for setting in crate::settings::Setting::all_in(crate::settings::YAML) {
        let name = setting.name.replace('-', "_");
        assert!(page.contains(&format!("\n- `{name}")), "docs/settings.md has no `{name}`");
    }
}

fn refused(text: &str) -> String {
    match Settings::parse(text.as_bytes()) {
        Ok(settings) => panic!("{text:?} gives {settings:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn checks_have_own_or_usual_limits() {
    let seen = checks(
        "---\nenabled: true\nchecks:\n  - cargo test --all # all of it\n  - run: \"npm test -- --grep \\\"a: b\\\"\"\n    limit: 60\n  - 'sh ok.sh'\n---\nchecks in prose: none\n",
    );
    let wanted =
        [("cargo test --all", 300), ("npm test -- --grep \"a: b\"", 60), ("sh ok.sh", 300)];
    assert_eq!(seen, wanted.map(|(run, limit)| (run.to_owned(), limit)));
}

#[test]
fn check_may_ask_for_more() {
    let text = "checks:\n  - { run: pytest, min_tests: 20, expect: 'ok * 5' }\n  - make\n";
    let found = Settings::parse(text.as_bytes()).unwrap().checks;
    let terms: Vec<_> = found.iter().map(Check::terms).collect();
    let wanted = ["within 300 s, tests passed: 20 or more, output has `ok * 5`", "within 300 s"];
    assert_eq!(terms, wanted);
}

#[test]
fn protected_files_are_patterns() {
    let protect = |text: &str| Settings::parse(text.as_bytes()).unwrap().chosen.protect();
    assert_eq!(protect("protect:\n  - 'tests/**'\n  - \"*.lock\"\n"), ["tests/**", "*.lock"]);
    assert_eq!(protect("protect: [/a/b]\n"), ["/a/b"]);
    assert_eq!(protect("protect: []\n"), [""; 0]);
    for pattern in ["../tests/**", "tests/../src", "src//a", "a/./b", ".", "./"] {
        let refused = Settings::parse(format!("protect: ['{pattern}']\n").as_bytes());
        assert!(refused.is_err(), "{pattern}");
    }
}

#[test]
fn s3_command_lists_read_alike() {
    for text in [
        "checks:\n  - cargo test\n  - run: npm run lint\n    limit: 60\n",
        "checks:\n- cargo test\n- run: npm run lint\n  limit: 60\n",
        "checks:\n  -   cargo test\n  -\n    limit: 60\n    run: npm run lint\n",
        "checks: [cargo test, {run: npm run lint, limit: 60}]\n",
        "checks: [\n  cargo test,\n  {run: 'npm run lint', limit: 60},\n]\n",
        "checks:\n  [cargo test, {\"run\": \"npm run lint\", \"limit\": 60}]\n",
        "{checks: ['cargo test', {run: npm run lint, limit: 60}], enabled: true}\n",
        "{\"checks\": [\"cargo test\", {\"run\": \"npm run lint\", \"limit\": 60}]}\n",
        "'checks':\n  - \"cargo test\"\n  - 'run': |-\n      npm run lint\n    limit: \"60\"\n",
        "\"checks\":\n  - >-\n    cargo\n    test\n  - run: >-\n      npm\n      run lint\n    limit: 60s\n",
        "checks :\n  - cargo\n    test # with a comment\n  # another\n  - limit: 60 # seconds\n    run: npm run lint\n",
        "checks: &all\n  - &first cargo test\n  - {run: npm run lint, limit: 60}\n",
        "checks:\n  - !!str cargo test\n  - !!map {run: npm run lint, limit: !!int 60}\n",
        "? checks\n: - cargo test\n  - ? run\n    : npm run lint\n    ? limit\n    : 60\n",
        "checks:\n  - \"cargo \\\n     test\"\n  - run: \"npm\\x20run\\u0020lint\"\n    limit: 60\n",
    ] {
        let wanted = vec![("cargo test".to_owned(), 300), ("npm run lint".to_owned(), 60)];
        for text in [
            format!("---\n{text}---\n"),
            format!("---\n{text}---\nSome prose.\n"),
            format!("\u{feff}---\n{text}---\n"),
            format!("---\n{text}---\n").replace('\n', "\r\n"),
            format!("\n---  \n{text}---  \n"),
            text.to_owned(),
        ] {
            assert_eq!(checks(&text), wanted, "{text}");
        }
    }
}

#[test]
fn s3_command_is_literal() {
    for (written, run) in [
        ("- true", "true"),
        ("- 'it''s'", "it's"),
        ("- \"a\\tb\"", "a\tb"),
        ("- a#b", "a#b"),
        ("- test -f x && echo \"y\" | grep 'z'", "test -f x && echo \"y\" | grep 'z'"),
        ("- http://localhost:80/x", "http://localhost:80/x"),
        ("- |\n    cargo build\n    cargo test\n", "cargo build\ncargo test\n"),
        ("- >\n    cargo\n    test\n\n    --all\n", "cargo test\n--all\n"),
        ("- - x", "refused"),
        ("- |2-\n      indented\n     less\n", "  indented\n less"),
        ("- git commit -m '👩\u{200d}💻'", "git commit -m '👩\u{200d}💻'"),
        ("- !x y", "refused"),
        ("- 1", "1"),
    ] {
        let text = format!("---\nchecks:\n  {written}\n---\n");
        match read(&text) {
            Ok((_, checks)) => assert_eq!(checks, [(run.to_owned(), 300)], "{text}"),
            Err(error) => assert_eq!(run, "refused", "{text}: {error}"),
        }
    }
}

#[test]
fn s3_alias_repeats_its_anchor() {
    let text =
        "checks:\n  - &one {run: sh a.sh, limit: 5}\n  - *one\n  - run: &two sh b.sh\n  - *two\n";
    let wanted = [("sh a.sh", 5), ("sh a.sh", 5), ("sh b.sh", 300), ("sh b.sh", 300)];
    assert_eq!(checks(text), wanted.map(|(run, limit)| (run.to_owned(), limit)));
}

#[test]
fn s3_aliases_cannot_grow_without_bound() {
    let mut text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, of) in ["ba", "cb", "dc", "ed", "fe", "gf"].iter().map(|pair| pair.split_at(1)) {
        let many = vec![format!("*{of}"); 8].join(", ");
        text = format!(
            "{text}{name}: &{name} [{many}]
"
        );
    }
    assert!(refused(&text).contains("too many or too long"), "{}", refused(&text));
    assert!(refused("checks: &a [*a]\n").contains("repeats itself without end"));
    let deep = format!("checks: {}{}\n", "[".repeat(20_000), "]".repeat(20_000));
    assert!(refused(&deep).contains("recursion limit exceeded"), "{}", refused(&deep));
    let keys = (0..5_000).fold(String::new(), |text, number| text + &format!("k{number}: 1\n"));
    assert!(refused(&keys).contains("more than 100 keys"), "{}", refused(&keys));
}

#[test]
fn switch_is_off_when_said() {
    for (text, enabled) in [
        ("---\n---\n", true),
        ("---\n# enabled: false\n---\n", true),
        ("---\nenabled: true\n---\n", true),
        ("---\nenabled: false\n---\n", false),
        ("---\r\nenabled: false\r\n---\r\n", false),
        ("---\nenabled:   'False'   \n---\n", false),
        ("---\nenabled : no\n---\n", false),
        ("---\nenabled: off # until friday\n---\n", false),
        ("---\nenabled: 0\n---\n", false),
        ("enabled: false\n", false),
        ("\u{feff}enabled: false\n", false),
        ("---\nchecks: []\nenabled: on\n---\n", true),
    ] {
        assert_eq!(read(text), Ok((enabled, vec![])), "{text:?}");
    }
}

fn all_refused(texts: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, wanted) in texts {
        let error = read(text).map_or_else(|error| error, |settings| format!("{settings:?}"));
        let wanted = wanted.replace('\n', "; ");
        if !error.starts_with("`.claude/ralph-speckit.local.md`") || !error.contains(&wanted) {
            wrong.push(format!("{text:?}\n  not {wanted}\n  but {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn s3_unknown_lines_are_refused() {
    all_refused(&[
        ("", "it is empty"),
        (" \n\n", "it is empty"),
        ("Notes about the loop.\n", "line 1: here are no settings"),
        ("# Notes\n\nAbout the loop.\n", "line 3: here are no settings"),
        ("# Notes\n", "here are no settings"),
        ("---\nenabled: true\n", "line 1: the `---` here opens the settings"),
        ("---\nenabled: true\n ---\n", "line 3 has blanks before its `---`"),
        ("--- # settings\nenabled: true\n---\n", "line 1: there is other text after"),
        ("Notes\n---\nenabled: true\n---\n", "line 2: the settings begin with `---`"),
        ("---\ntitle: x\n---\n", "line 2: unknown key `title`"),
        ("---\ncheck:\n  - x\n---\n", "did you mean `checks`?"),
        ("---\nCHECKS:\n  - x\n---\n", "did you mean `checks`?"),
        ("---\nchekcs:\n  - x\n---\n", "did you mean `checks`?"),
        ("---\nenable: false\n---\n", "did you mean `enabled`?"),
        (
            "---\ndisabled: true\n---\n",
            "line 2: unknown key `disabled`\nremove it; the keys here are `proof`",
        ),
        (
            "---\nenabled: true\nchecks:\n  - cmd: x\n---\n",
            "line 4: unknown key `cmd`\nremove it; the keys here are `run`, `limit`, `expect`, `min_tests`",
        ),
        (
            "---\nchecks:\n  - run: x\n    timeout: 5\n---\n",
            "line 4: unknown key `timeout`\nremove it; the keys here are `run`, `limit`",
        ),
        (
            "---\ncheck: x\nchecks:\n  - cmd: x\ntitle: x\n---\n",
            "line 2: unknown key `check`; line 4: unknown key `cmd`; line 5: unknown key `title`\n\
             line 2: did you mean `checks`?\nline 4: remove it; the keys here are `run`, `limit`, `expect`, `min_tests`\n\
             line 5: remove it; the keys here are `proof`, `protect`, `review`, `converge`, `include_optional`, `notify`, \
              `quiet`, `enabled`, `checks`, `continue_with`, `landing`, `spec_kit_command`",
        ),
        ("---\nchecker: 1\na: 1\nb: 1\nc: 1\nd: 1\n---\n", "line 4: unknown key `b`; and 2 more\n"),
        ("---\nchecks:\n  - limit: 5\n---\n", "line 3: a check has no `run`"),
        ("---\nchecks:\n  - npm run lint: fix\n---\n", "put quotes around all of it"),
        ("---\nenabled:false\n---\n", "line 2: no blank is after the `:`"),
        ("---\nenabled: maybe\n---\n", "line 2: `enabled` needs `true` or `false`, not `maybe`"),
        ("---\nenabled:\n---\n", "line 2: `enabled` has no value"),
        (
            "---\ncontinue_with: contxt\n---\n",
            "line 2: `continue_with` needs `auto`, `block` or `context`, not `contxt`; did you mean `context`?",
        ),
        (
            "---\ncontinue_with: never\n---\n",
            "line 2: `continue_with` needs `auto`, `block` or `context`, not `never`",
        ),
        (
            "---\ncontinue_with: [block]\n---\n",
            "line 2: `continue_with` is a list\nit needs `auto`, `block` or `context`",
        ),
        (
            "---\ncontinue-with: auto\ncontinue_with: auto\n---\n",
            "line 3: `continue_with` is set twice",
        ),
        ("---\nenabled: [false]\n---\n", "line 2: `enabled` is a list\nit needs `true` or `false`"),
        ("---\nprotect: tests/**\n---\n", "line 2: `protect` is no list\nwrite a list, one a line"),
        ("---\nprotect:\n---\n", "line 2: `protect` has no value\nwrite a list"),
        (
            "---\nprotect:\n  - a\n  - '!src'\n---\n",
            "line 4: `protect` needs a pattern of files such as `tests/**`, without `!`, not `!src`",
        ),
        (
            "---\nprotect: ['']\n---\n",
            "line 2: `protect` needs a pattern of files such as `tests/**`, without `!`, not ``",
        ),
        (
            "---\nprotect: [{ a: b }]\n---\n",
            "line 2: `protect` is a map\nit needs a pattern of files",
        ),
        ("---\nprotected: ['a']\n---\n", "did you mean `protect`?"),
        ("---\nchecks:\n---\n", "line 2: `checks` has no value\nwrite a list"),
        ("---\nchecks: cargo test\n---\n", "line 2: `checks` is no list"),
        ("---\nchecks: |\n  cargo test\n---\n", "line 2: `checks` is no list"),
        ("---\nchecks:\n  run: cargo test\n---\n", "line 3: `checks` is a map\nwrite a list"),
        ("---\nchecks:\n  - x\n  -\n---\n", "line 4: `checks` has no value"),
        ("---\nchecks:\n  - ''\n---\n", "line 3: `checks` needs a command: this one runs nothing"),
        (
            "---\nchecks:\n  - '# cargo test'\n---\n",
            "line 3: `checks` needs a command: this one runs nothing",
        ),
        ("---\nchecks:\n  - # cargo test\n---\n", "line 3: `checks` has no value"),
        ("---\nchecks:\n  - run: ~\n---\n", "line 3: `run` has no value"),
        ("---\nchecks:\n  - run: [a, b]\n---\n", "line 3: `run` is a list"),
        ("---\nchecks:\n  - [ -f x ]\n---\n", "line 3: `checks` is a list"),
        (
            "---\nchecks:\n  - \"a\\0b\"\n---\n",
            "line 3: `checks` has an invisible character\nremove it",
        ),
        (
            "---\nchecks:\n  - \"a\\u202eb\"\n---\n",
            "line 3: `checks` has an invisible character\nremove it",
        ),
        (
            "---\nchecks:\n  - run: x\n    limit: 0\n---\n",
            "line 4: `limit` needs a time such as `90s`, `30m` or `1h30m`, or a number of seconds, from 1s to 25m, not `0`",
        ),
        ("---\nchecks:\n  - run: x\n    limit: 1501\n---\n", "from 1s to 25m, not `1501`"),
        (
            "---\nchecks:\n  - run: x\n    limit: 99999999999999999999\n---\n",
            "from 1s to 25m, not `9999",
        ),
        ("---\nchecks:\n  - run: x\n    limit: -5\n---\n", "from 1s to 25m, not `-5`"),
        ("---\nchecks:\n  - run: x\n    limit: 1.5\n---\n", "from 1s to 25m, not `1.5`"),
        ("---\nchecks:\n  - run: x\n    limit: 0x10\n---\n", "from 1s to 25m, not `0x10`"),
        ("---\nchecks:\n  - run: x\n    limit: 2 min\n---\n", "from 1s to 25m, not `2 min`"),
        ("---\nchecks:\n  - run: x\n    limit:\n---\n", "line 4: `limit` has no value"),
    ]);
}

#[test]
fn output_demands_are_understood() {
    all_refused(&[
        (
            "---\nchecks:\n  - run: x\n    min_tests: 0\n---\n",
            "line 4: `min_tests` needs a whole number from 1 to 1000000, not `0`",
        ),
        (
            "---\nchecks:\n  - run: x\n    min_tests: 5s\n---\n",
            "line 4: `min_tests` needs a whole number from 1 to 1000000, not `5s`",
        ),
        ("---\nchecks:\n  - run: x\n    tests: 5\n---\n", "did you mean `min_tests`?"),
        ("---\nchecks:\n  - run: x\n    expct: y\n---\n", "did you mean `expect`?"),
        ("---\nchecks:\n  - run: x\n    expect:\n---\n", "line 4: `expect` has no value"),
        ("---\nchecks:\n  - run: x\n    expect: '* *'\n---\n", "line 4: `expect` asks for nothing"),
        (
            "---\nchecks:\n  - run: x\n    expect: [y]\n---\n",
            "line 4: `expect` is a list\nit needs a text",
        ),
        (
            "---\nchecks:\n  - run: x\n    expect: \"y\\nz\"\n---\n",
            "line 4: `expect` is a part of one line of the output",
        ),
        (
            "---\nchecks:\n  - run: x\n    expect: \"y\\u202e\"\n---\n",
            "line 4: `expect` has an invisible character",
        ),
    ]);
}

#[test]
fn s3_non_yaml_line_is_refused() {
    all_refused(&[
        (
            "---\nchecks: [a]\nenabled: true\nchecks: [b]\n---\n",
            "line 4: `checks` is already on line 2",
        ),
        ("---\nchecks:\n  - run: x\n    run: y\n---\n", "line 4: `run` is already on line 3"),
        ("---\nenabled: false\nenabled: true\n---\n", "line 3: `enabled` is already on line 2"),
        (
            "---\nchecks:\n\t- x\n---\n",
            "line 3: it is no YAML: tabs disallowed within this context (block indentation)\nuse blanks",
        ),
        (
            "---\nchecks:\n  - run: x\n\tlimit: 5\n---\n",
            "line 4: it is no YAML: while scanning a plain scalar, found a tab\nuse blanks",
        ),
        (
            "---\nchecks:\n  - a\n - b\n---\n",
            "line 4: it is no YAML: while parsing a block mapping, did not find expected key\nindent all keys of one map alike",
        ),
        (
            "---\nchecks:\n  - sh a.sh\n    - sh b.sh\n---\n",
            "line 4: a `-` is indented deeper than the list",
        ),
        (
            "---\nchecks:\n  - *x\n---\n",
            "line 3: it is no YAML: while parsing node, found unknown anchor\nput quotes around",
        ),
        (
            "---\nchecks:\n  - echo a: b: c\n---\n",
            "line 3: it is no YAML: mapping values are not allowed in this context\nput quotes around a text",
        ),
        (
            "---\nchecks:\n  - \"a\" && b\n---\n",
            "line 3: it is no YAML: invalid trailing content after double-quoted scalar\nclose every quote",
        ),
        (
            "---\nchecks:\n  - \"a\n---\n",
            "line 4: it is no YAML: invalid indentation in multiline quoted scalar\nclose every quote",
        ),
        (
            "---\nchecks:\n  - \"a\\d\"\n---\n",
            "line 3: it is no YAML: while parsing a quoted scalar, found unknown escape character\nclose every quote",
        ),
        (
            "---\nchecks: [a, b\n---\n",
            "line 2: it is no YAML: unclosed bracket '['\nput quotes around",
        ),
        ("---\nchecks:\n  - @x\n---\n", "line 3: it is no YAML: unexpected character: `@'"),
        ("---\nchecks:\n  - `x`\n---\n", "line 3: it is no YAML: unexpected character: ``'"),
        ("---\n%YAML 1.2\n---\nenabled: true\n---\n", "line 4: `enabled` comes after"),
        (
            "---\nenabled: true\n...\nchecks: [a]\n---\n",
            "line 4: a second YAML document begins here",
        ),
        ("---\nenabled: true\n---\nchecks:\n  - x\n", "line 4: `checks` comes after the settings"),
        (
            "---\nenabled: true\n---\nprose\nenabled: false\n",
            "line 5: `enabled` comes after the settings",
        ),
        ("---\nchecks: [a]\n<<: {enabled: false}\n---\n", "line 3: unknown key `<<`"),
        ("---\n? [a]\n: b\n---\n", "line 2: a key is no word"),
        ("---\nenabled: !!python/object:x false\n---\n", "line 2: the value has a YAML tag"),
        (
            "---\nenabled: true\rchecks: [x]\n---\n",
            "line 2: a line ends with a carriage return alone",
        ),
        ("---\nenabled: true\0\n---\n", "line 2: it holds a NUL byte"),
        ("\0\u{1}---", "line 1: it holds a NUL byte"),
    ]);
}

#[test]
fn s3_other_encodings_are_refused() {
    let text = "---\nchecks:\n  - cargo test\n---\n";
    let units = |mark: &[u8], unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        mark.iter().copied().chain(text.encode_utf16().flat_map(unit)).collect()
    };
    for (bytes, wanted) in [
        (units(b"\xff\xfe", u16::to_le_bytes), "it is UTF-16 text"),
        (units(b"\xfe\xff", u16::to_be_bytes), "it is UTF-16 text"),
        (units(b"", u16::to_le_bytes), "it holds a NUL byte, so it is UTF-16 or no text"),
        (b"---\nchecks:\n  - caf\xe9\n---\n".to_vec(), "line 3: it is not UTF-8 text"),
    ] {
        let error = Settings::parse(&bytes).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn prose_is_for_people() {
    let text = "---\nenabled: true\n---\nWe run checks: see below.\n\n```\nchecks:\n  - not this\n```\n    enabled: false\n- checks: none\n";
    assert_eq!(read(text), Ok((true, vec![])));
}

#[test]
fn s3_only_missing_means_unset() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&root).unwrap();
    assert_eq!(Settings::read(&root), Ok(Settings::default()));
    std::fs::create_dir(root.join(".claude")).unwrap();
    assert_eq!(Settings::read(&root), Ok(Settings::default()));
    let path = root.join(SETTINGS);
    let what = || {
        let error = Settings::read(&root).unwrap_err();
        assert!(error.digest != 0, "{error}");
        error.what()
    };
    std::fs::create_dir(&path).unwrap();
    assert_eq!(what(), "it is a folder, not a file");
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, "#".repeat(1 + MOST as usize)).unwrap();
    assert_eq!(what(), "it has 65537 bytes, and at most 65536 are read");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        std::fs::remove_file(&path).unwrap();
        symlink("nowhere", &path).unwrap();
        assert_eq!(what(), "it is a link to nothing");
        std::fs::write(scratch.path().join("outside.md"), "---\n---\n").unwrap();
        std::fs::remove_file(&path).unwrap();
        symlink("../../outside.md", &path).unwrap();
        assert_eq!(what(), "a symbolic link leads out of its folder");
        std::fs::remove_file(&path).unwrap();
        symlink("inside.md", &path).unwrap();
        std::fs::write(root.join(".claude/inside.md"), "---\nchecks: [x]\n---\n").unwrap();
        assert_eq!(Settings::read(&root).unwrap().checks.len(), 1);
    }
}

#[test]
fn settings_that_differ_have_another_digest() {
    let digest =
        |text: &str| Settings::parse(text.as_bytes()).map(|settings| settings.digest).unwrap();
    assert_ne!(digest("---\nenabled: true\n---\n"), digest("---\nenabled: true \n---\n"));
    assert_eq!(Settings::default().digest, 0);
}

#[test]
fn s2_tracked_settings_are_repository() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("inner");
    std::fs::create_dir_all(root.join(".claude")).unwrap();
    std::fs::write(root.join(SETTINGS), "---\n---\n").unwrap();
    assert!(!come_with_the_repository(&root), "there is no repository");
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(scratch.path()).env("HOME", scratch.path());
        assert!(git.args(arguments).output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    assert!(!come_with_the_repository(&root), "nothing was ever added");
    std::fs::write(scratch.path().join("other"), "").unwrap();
    git(&["add", "other"]);
    assert!(!come_with_the_repository(&root));
    git(&["add", "--force", "inner"]);
    assert!(come_with_the_repository(&root));
    git(&["update-index", "--split-index"]);
    assert!(come_with_the_repository(&root));
    git(&["rm", "--quiet", "--cached", "-r", "inner"]);
    std::fs::write(scratch.path().join(".git/index"), "no index").unwrap();
    assert!(come_with_the_repository(&root), "nobody can tell");
}

#[test]
fn review_setting_is_strict() {
    let review = |yaml: &str| Settings::parse(format!("---\n{yaml}\n---\n").as_bytes());
    let run =
        |yaml: &str| review(yaml).unwrap().review.map(|check| (check.run, check.limit_seconds));
    let by = |words: &str, limit| Some((format!("spool review --harness {words}"), limit));
    assert_eq!(run("enabled: true"), None);
    assert_eq!(run("review: false"), None);
    assert_eq!(run("review: on"), by("claude", 900));
    assert_eq!(run("review: { harness: codex, timeout: 60s }"), by("codex", 60));
    let whole =
        "review:\n  harness: opencode\n  model: a/b-1\n  timeout: 1400\n  token-budget: 5000";
    assert_eq!(run(whole), by("opencode --model a/b-1 --token-budget 5000", 1_400));
    assert_eq!(run("review: { when: end }"), by("claude", 900));
    assert_eq!(run("review: { when: phases }"), by("claude --when phases", 900));
    assert_eq!(
        run("review: { when: verify, model: o3 }"),
        by("claude --model o3 --when verify", 900)
    );
    assert_eq!(review("review: true").unwrap().commands(), ["spool review --harness claude"]);
    for (wrong, said) in [
        ("review:", "`review` has no value"),
        ("review: codex", "`review` needs `true` or `false`, not `codex`"),
        ("review: [codex]", "`review` is a list\nit needs `true` or `false`"),
        (
            "review: { harness: vim }",
            "`harness` needs `claude`, `codex`, `opencode`, `gemini` or `copilot`, not `vim`",
        ),
        ("review: { harness: \"codex --yolo\" }", "`copilot`, not `codex --yolo`"),
        (
            "review: { model: --yolo }",
            "`model` needs the name of a model in one word, not `--yolo`",
        ),
        ("review: { model: a b }", "in one word, not `a b`"),
        ("review: { model: }", "`model` has no value\nit needs the name of a model"),
        (
            "review: { timeout: 1401 }",
            "`timeout` needs a time such as `90s`, `30m` or `1h30m`, or a number of seconds, from 1s to 23m20s, not `1401`",
        ),
        ("review: { timeout: 24m }", "from 1s to 23m20s, not `24m`"),
        (
            "review: { token_budget: 0 }",
            "`token_budget` needs a whole number from 1 to 1000000000000, not `0`",
        ),
        (
            "review: { when: phase }",
            "`when` needs `end`, `phases` or `verify`, not `phase`; did you mean `phases`?",
        ),
        ("review: { when: always }", "or `verify`, not `always`"),
        ("review: { time: 5 }", "did you mean `timeout`?"),
        ("review: { run: x }", "unknown key `run`"),
        ("review: { run: x }\nmore: y", "unknown key `run`; line 3: unknown key `more`"),
        (
            "checks: [spool review --harness codex]",
            "`checks` needs a command: a review is asked for with `review`",
        ),
    ] {
        let error = review(wrong).unwrap_err().to_string();
        assert!(error.contains(said), "{wrong}: {error}");
    }
}

#[test]
fn s2_linked_settings_are_repository() {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path().canonicalize().unwrap();
    let git = |folder: &std::path::Path, arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(folder).env("HOME", &scratch).env("GIT_CONFIG_NOSYSTEM", "1");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.com"]);
        git.args(["-c", "protocol.file.allow=always"]).args(arguments);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    let file = |path: std::path::PathBuf| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "---\n---\n").unwrap();
    };
    let made = |name: &str| {
        let root = scratch.join(name);
        std::fs::create_dir_all(&root).unwrap();
        git(&root, &["init", "--quiet"]);
        root
    };
    // The folder is a link that git tracks, or a person's own link to something that git tracks.
    for what in ["cfg", ".claude"] {
        let linked = made(&format!("linked-to-{what}"));
        file(linked.join("cfg/ralph-speckit.local.md"));
        std::os::unix::fs::symlink("cfg", linked.join(".claude")).unwrap();
        assert!(!come_with_the_repository(&linked), "nothing was added");
        git(&linked, &["add", what]);
        assert!(come_with_the_repository(&linked), "{what}");
    }
    // The folder is a repository by itself.
    let inner = made("inner");
    file(inner.join("ralph-speckit.local.md"));
    git(&inner, &["add", "--all"]);
    git(&inner, &["commit", "--quiet", "--message", "x"]);
    let outer = made("outer");
    git(&outer, &["submodule", "--quiet", "add", inner.to_str().unwrap(), ".claude"]);
    assert!(come_with_the_repository(&outer));
    git(&outer, &["rm", "--quiet", "--cached", ".claude"]);
    assert!(come_with_the_repository(&outer), "its own repository tracks the file");
    // A project that is a submodule may have a person's own settings.
    git(&outer, &["submodule", "--quiet", "add", inner.to_str().unwrap(), "part"]);
    let part = outer.join("part");
    file(part.join(SETTINGS));
    assert!(!come_with_the_repository(&part));
    git(&part, &["add", "--all"]);
    assert!(come_with_the_repository(&part));
    // As far below as a project is searched.
    for depth in [7, 8, 60] {
        let top = made(&format!("deep-{depth}"));
        let root = top.join("d/".repeat(depth));
        file(root.join(SETTINGS));
        assert!(!come_with_the_repository(&root));
        git(&top, &["add", "--all"]);
        assert!(come_with_the_repository(&root), "{depth} folders below");
    }
}
