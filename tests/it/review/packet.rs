//! What the reader is given: every change by name, no secrets, and a word on all that is missing, which reaches the end of a loop.

use crate::support::has::Has;
use std::fs;

use serde_json::json;

use crate::review::support::{Built, FR_001, FR_002, US1_1};
use crate::runner::ran::Ran;
use crate::support::limited::Limited;

const LIST: &str = "specs/001-login/tasks.md";

/// A review of what has changed since the last commit, by a reader that is content; with its prompt.
fn reviewed(built: &Built) -> (Ran, String) {
    built.reader(&[US1_1, FR_001, FR_002]);
    let ran = built.review("--base HEAD").with_code(0);
    (ran, built.prompt(1))
}

/// The part of a prompt with this title.
fn part<'a>(prompt: &'a str, title: &str) -> &'a str {
    let (_, rest) = prompt.split_once(&format!(" {title}\n")).unwrap_or_else(|| panic!("{prompt}"));
    rest.split("\n>>> ").next().unwrap()
}

/// A loop whose agent does this, and ticks its task.
fn loop_of(built: &Built, work: &str, flags: &str) -> Ran {
    built.write(LIST, "- [ ] T001 Write src/more.rs\n");
    built.commit("open tasks");
    let read = "printf '%s' \"$*\" > \"$DESK/asked\"\n";
    let read = format!("{read}{}", Built::met());
    let work = format!(
        "echo more >> src/more.rs\n{{ {work}\n}} >/dev/null 2>&1\nsed -i 's/\\[ \\]/[x]/' {LIST}\nresult worked"
    );
    built.worker_and_reader(&work, &read);
    built.loop_with(&format!("--review {flags}"))
}

#[test]
fn v3_long_patch_files_are_named() {
    let built = Built::new();
    let line = "a line that somebody has written here\n";
    for (name, lines) in [("Cargo.lock", 20_000), ("src/big.rs", 9_000), ("src/zed.rs", 3)] {
        built.write(name, line.repeat(lines));
        built.git(&["add", "-N", name]);
    }
    built.write("tool/new.rs", line.repeat(1_000));
    let (ran, prompt) = reviewed(&built);
    let names = part(&prompt, "every file that has changed");
    names.has_all(&[
        "Cargo.lock (not all",
        "src/big.rs (not all",
        "src/zed.rs\n",
        "tool/new.rs (not all",
    ]);
    let patch = part(&prompt, "the changes since `HEAD`");
    // What a person writes comes before what programs write.
    assert!(patch.starts_with("diff --git a/src/zed.rs") && !patch.contains("b/Cargo.lock"));
    let lack = "the reader did not get all of Cargo.lock, src/big.rs, tool/new.rs";
    ran.says(lack).says("passed (3 of 3 met, 1 caveat)");
    assert!(part(&prompt, "what you are not given").contains(lack), "the reader knows it");
}

#[test]
fn v3_hidden_files_are_told() {
    let door = "echo 'fn back_door() {}' >> src/login.rs";
    let evil = "echo 'fn back_door() {}' > src/evil.rs";
    let hidden = "git shows no changes of src/login.rs";
    let lost = "the reader got no patch: ";
    let left_out = "the reader did not get all of src/evil.rs";
    let commit = "git add . && git -c user.name=a -c user.email=a@b commit -qm s";
    for (work, told, is_shown) in [
        (format!("{evil}; echo evil.rs >> .git/info/exclude"), left_out, false),
        (
            format!(
                "{evil}; git config core.excludesFile $PWD/.git/mine; echo evil.rs > .git/mine"
            ),
            left_out,
            false,
        ),
        (format!("{door}; echo 'src/login.rs -diff' > .gitattributes"), hidden, true),
        (format!("{door}; git update-index --assume-unchanged src/login.rs"), hidden, true),
        (format!("{door}; rm -rf .git"), lost, true),
        (format!("{door}; rm .git/HEAD"), lost, true),
        (
            format!(
                "git init -q sub; cd sub; {}; {commit}; cd ..; git add sub",
                door.replace("src/login.rs", "s.rs")
            ),
            "git shows no changes of sub/s.rs",
            true,
        ),
    ] {
        is_told(&work, told, is_shown);
    }
}

/// A loop whose agent does this ends with a doubt that says so, and its reader sees what it hides or does not.
fn is_told(work: &str, told: &str, is_shown: bool) {
    let built = Built::new();
    let lfs = "[user]\nname = a\nemail = a@b\n[filter \"lfs\"]\nclean = sed s/.*/pointer/\nsmudge = cat\n";
    built.write("../home/.gitconfig", lfs);
    built.write("src/audit.rs", "fn audit() {}\n");
    built.commit("audit");
    let ran = loop_of(&built, work, "--strict").with_code(11);
    ran.says(told);
    assert_eq!(built.read("../desk/asked").contains("back_door"), is_shown, "{work}");
    // It is where a person looks later, too.
    built.spool("review --last").run().with_code(0).says(told);
    built.spool("log").run().with_code(0).says("caveat");
    built.spool("status").run().with_code(0).says("caveat");
}

#[test]
fn v3_what_no_patch_shows() {
    let door = "echo 'fn back_door() {}' >> src/login.rs";
    let evil = "echo 'fn back_door() {}' > src/evil.rs";
    let commit = "git add -A . && git -c user.name=a -c user.email=a@b commit -qm s";
    let hidden = "git shows no changes of src/login.rs, by .gitattributes";
    let by_look = "git shows no changes of src/audit.rs: the reader got what is there";
    for (work, told, is_shown) in [
        // A filter that was there at arming, and what git takes in itself.
        (format!("{door}; echo 'src/login.rs filter=lfs' > .gitattributes"), hidden, true),
        (
            format!(
                "{door}; mkdir -p .git/info; echo 'src/login.rs filter=lfs' > .git/info/attributes"
            ),
            hidden,
            true,
        ),
        (
            "echo '// $Id: fn back_door() $' >> src/login.rs; echo 'src/login.rs ident' > .gitattributes".to_owned(),
            hidden,
            true,
        ),
        // No text.
        (
            "printf 'fn back_door() {}\\000\\n' >> src/login.rs".to_owned(),
            "did not get all of src/login.rs",
            false,
        ),
        (
            format!("iconv -f utf8 -t utf16 src/audit.rs > a; mv a src/audit.rs; {commit}"),
            "did not get all of src/audit.rs",
            false,
        ),
        // Rules of the agent's own.
        (format!("{evil}; echo evil.rs >> .gitignore"), "did not get all of src/evil.rs", false),
        (
            format!("{evil}; echo evil.rs >> .gitignore; {commit}"),
            "did not get all of src/evil.rs",
            false,
        ),
        (
            format!("{evil}; printf 'evil.rs\\n.gitignore\\n' > src/.gitignore"),
            "did not get all of src/.gitignore, src/evil.rs",
            false,
        ),
        (
            "mkdir hid; mv src/audit.rs hid/back.rs; git checkout -q src/audit.rs; echo 'hid/' > .gitignore".to_owned(),
            "did not get all of hid/",
            false,
        ),
        // A submodule's commit is not its content.
        (
            format!(
                "(git init -q ../sub; cd ../sub; {}; {commit}); git -c protocol.file.allow=always submodule -q add ../sub; {commit}",
                evil.replace("src/evil.rs", "s.rs")
            ),
            "did not get all of sub",
            true,
        ),
        // Neither .gitattributes nor a mark did it.
        ("git config core.fileMode false; chmod +x src/audit.rs".to_owned(), by_look, false),
        (format!("rm -rf .git; rm src/audit.rs; git init -q; {commit}"), by_look, false),
    ] {
        is_told(&work, told, is_shown);
    }
}

#[test]
fn v3_dirty_submodule_is_told() {
    let with_submodule = || {
        let built = Built::new();
        let commit = "git add -A . && git -c user.name=a -c user.email=a@b commit -qm s";
        let made = format!(
            "git init -q ../sub && cd ../sub && echo one > s.rs && {commit} && cd - && git -c protocol.file.allow=always submodule -q add ../sub sub && {commit}"
        );
        assert!(built.command("sh").args(["-c", &made]).finish().status.success());
        built
    };
    let built = with_submodule();
    let ran = loop_of(&built, "echo 'fn back_door() {}' >> sub/s.rs", "--strict").with_code(11);
    ran.says("git shows no changes of sub/s.rs");
    assert!(built.read("../desk/asked").contains("back_door"));
    // By hand, no look from before says what changed.
    built.reader(&[US1_1, FR_001, FR_002]);
    built.review("--base HEAD").says("it is not known what changed inside of the submodules sub");
    reviewed(&with_submodule()).0.says("inside of the submodules sub");
    assert!(!reviewed(&Built::new()).0.output.contains("submodules"));
}

#[test]
fn v3_filtered_files_are_no_pass() {
    let built = Built::new();
    let work = "echo 'fn back_door() {}' >> src/login.rs; echo '* filter=old' > .gitattributes; git config filter.old.clean 'sed /back/d'";
    let ran = loop_of(&built, work, "");
    assert_ne!(ran.code, Some(0), "{ran}");
}

#[test]
fn v3_outside_files_are_told() {
    let built = Built::new();
    let outer = built.root.parent().unwrap().join("outer");
    let inner = outer.join("shop");
    fs::create_dir_all(&outer).unwrap();
    fs::rename(&built.root, &inner).unwrap();
    fs::rename(inner.join(".git"), outer.join(".git")).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = built.command("git");
        assert!(git.current_dir(&outer).args(arguments).finish().status.success());
    };
    fs::write(outer.join("beside.rs"), "fn beside() {}\n").unwrap();
    git(&["add", "-A"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "moved"]);
    fs::write(outer.join("beside.rs"), "fn beside_and_changed() {}\n").unwrap();
    fs::write(outer.join("new.rs"), "fn new() {}\n").unwrap();
    fs::create_dir(outer.join(".claude")).unwrap();
    fs::write(outer.join(".claude/loop-state.json"), "{}\n").unwrap();
    built.reader(&[US1_1, FR_001, FR_002]);
    let call = built.spool("review --may-write --base HEAD --harness-command agent");
    let ran = call.within(&inner).run().with_code(0);
    ran.says("the reader did not get all of :/beside.rs, :/new.rs\n");
    fs::rename(outer.join(".git"), inner.join(".git")).unwrap();
    fs::rename(&inner, &built.root).unwrap();
}

#[test]
fn v3_unnamed_holes_are_no_pass() {
    let spec = "# Login\n\n- **FR-001**: `src/big.rs` MUST check\n- **FR-002**: MUST log\n";
    let built = Built::with_spec(spec);
    built.write("src/big.rs", "fn check() {}\n".repeat(2_000));
    built.reader(&[FR_001, FR_002]);
    let ran = built.review("--base HEAD").with_code(3);
    ran.says("FR-001 cannot tell: it names `src/big.rs`, of which the reader was not given all");
    // Whatever the criterion begins with.
    let other = Built::with_spec(
        "# Login\n\n**Acceptance Criteria**:\n\n- Verify that `src/big.rs` checks\n- VERIFY: src/big.rs logs\n",
    );
    other.write("src/big.rs", "fn check() {}\n".repeat(2_000));
    let judged = |id: &str| FR_001.replace("FR-001", id);
    other.reader(&[&judged("AS1"), &judged("AS2")]);
    let ran = other.review("--base HEAD").with_code(3);
    ran.says("AS1 cannot tell: it names `src/big.rs`").says("AS2 cannot tell: it names");
    // One that has opened the file itself has seen it.
    let opened = r#"{"id":"FR-001","verdict":"met","evidence":[{"file":"src/big.rs","line":1999,"quote":"fn check() {}"}]}"#;
    built.reader(&[opened, FR_002]);
    built.review("--base HEAD").with_code(0);
}

#[test]
fn v4_session_end_tells_caveats() {
    let built = Built::open();
    built.worker_and_reader("exit 1", &Built::met());
    built.spool("start 001-login --review").run().with_code(0);
    assert!(built.stop("On it.").contains("T001"), "the session takes the loop");
    built.write(".git/info/exclude", "evil.rs\n");
    built.write("src/evil.rs", "fn back_door() {}\n");
    built.write("src/more.rs", "fn more() {}\n");
    built.write("specs/001-login/tasks.md", "- [x] T001 Write src/more.rs\n");
    let said = built.stop("ALL_TASKS_COMPLETE");
    assert_eq!(built.reviews(), 1, "{said}");
    for words in ["the reader did not get all of src/evil.rs", "spool review --last"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn v4_whole_view_has_no_caveat() {
    let built = Built::new();
    loop_of(&built, "echo 'target/' > .gitignore; mkdir target; touch target/x", "--strict")
        .with_code(0);
    assert_eq!(built.last()["caveats"], json!([]));
}

#[test]
fn v5_secrets_are_named_not_sent() {
    let built = Built::new();
    let key = format!("ghp_{}", "abcDEF0123456789abcDEF0123456789abcDEF01");
    built.write("config/prod.pem", "OLD\n");
    built.commit("a certificate");
    built.write("config/prod.pem", "SECRET_OF_PEM\n");
    built.write(".env", "WORD=SECRET_OF_ENV\n");
    built.write("src/new.rs", format!("let token = \"{key}\";\nfn new() {{}}\n"));
    let code = built.read("src/login.rs");
    built.write("src/login.rs", format!("{code}let token = \"{key}\";\n"));
    let (ran, prompt) = reviewed(&built);
    for secret in ["SECRET_OF_PEM", "SECRET_OF_ENV", &key] {
        assert!(!prompt.contains(secret), "{secret}");
    }
    let names = part(&prompt, "every file that has changed");
    assert!(names.contains(".env (not all") && names.contains("config/prod.pem (not"), "{names}");
    assert!(prompt.contains("fn new()") && prompt.contains("token = \"[masked]\""), "{prompt}");
    ran.says(
        "the reader got only the names of .env, config/prod.pem, which may hold keys or passwords",
    );
    // A line with a mask stands where the key is.
    let masked = FR_001.replace("src/login.rs", "src/new.rs").replace("\"line\":3", "\"line\":1");
    let masked = masked.replace("check(password)", "let token = \\\"[masked]\\\";");
    built.reader(&[US1_1, &masked, FR_002]);
    built.review("--base HEAD").with_code(0);
}

#[test]
fn v3_unnamed_files_are_counted() {
    let built = Built::new();
    for at in 0..2_100 {
        built.write(format!("many/f{at:04}.rs"), "fn f() {}\n");
    }
    built.git(&["add", "-N", "."]);
    let (ran, prompt) = reviewed(&built);
    let lack = "the reader got no names behind the first 2000, those of many/f2000.rs";
    ran.says(lack).says("and 97 more");
    assert!(part(&prompt, "what you are not given").contains(lack));
}

#[test]
fn v15_own_notes_are_no_work() {
    let built = Built::new();
    let notes = "git add -f .claude; git -c user.name=a -c user.email=a@b commit -qm notes";
    loop_of(&built, notes, "--strict").with_code(0);
    let asked = built.read("../desk/asked");
    assert!(!asked.contains("loop-state"), "{asked}");
}

#[test]
fn v15_cut_lists_are_told() {
    let words = "filler words here\n".repeat(9_000);
    let built =
        Built::with_spec(&format!("- **FR-001**: MUST check\n{words}- **FR-002**: MUST log\n"));
    built.write(LIST, format!("- [x] T001 Build\n{words}"));
    built.reader(&[FR_001, FR_002]);
    let ran = built.review("--base HEAD").with_code(0);
    let lacks = ["spec.md", "tasks.md"]
        .map(|name| format!("the reader did not get all of specs/001-login/{name}"));
    let asked = built.prompt(1);
    for lack in &lacks {
        ran.says(lack);
        assert!(part(&asked, "what you are not given").contains(lack));
    }
}
