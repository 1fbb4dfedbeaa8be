//! `spool plugin build DIR`: a whole plugin in one folder, and nothing else touched.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ralph_speckit::plugin::files::FILES;

use crate::plugin::scratch::{HOOK, Home, SPOOL, Said, files, tree};
use crate::support::limited::Over;

fn build(scratch: &Home, folder: &str) -> Said {
    scratch.run(SPOOL, &["plugin", "build", folder])
}

fn assert_complete(folder: &Path) {
    for file in FILES {
        assert_eq!(fs::read(folder.join(file.path)).unwrap(), file.content, "{}", file.path);
    }
    for (name, program) in [("spool", SPOOL), ("ralph-hook", HOOK)] {
        let path = folder.join("bin").join(name);
        assert!(
            fs::read(&path).unwrap() == fs::read(program).unwrap(),
            "{name} is another program"
        );
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755, "{name}");
    }
    let expected = FILES.len() + 3;
    assert_eq!(files(folder).len(), expected, "{:?}", files(folder));
}

#[test]
fn a_missing_folder_is_made() {
    let scratch = Home::new();
    build(&scratch, "new folder/plugin").with_code(0);
    assert_complete(&scratch.top().join("new folder/plugin"));
    assert_eq!(fs::read_dir(scratch.top().join("new folder")).unwrap().count(), 1);
    assert!(files(&scratch.home()).is_empty());
}

#[test]
fn empty_folder_is_filled_in_place() {
    let scratch = Home::new();
    let folder = scratch.top().join("plugin");
    fs::create_dir(&folder).unwrap();
    let before = folder.metadata().unwrap().ino();
    build(&scratch, "plugin").with_code(0);
    assert_complete(&folder);
    assert_eq!(folder.metadata().unwrap().ino(), before);
}

#[test]
fn earlier_assembly_is_replaced_whole() {
    let scratch = Home::new();
    let folder = scratch.top().join("plugin");
    assert_eq!(build(&scratch, "plugin").code, Some(0));
    fs::write(folder.join("commands/implement.md"), "of another version").unwrap();
    fs::remove_file(folder.join("bin/spool")).unwrap();

    let outcome = build(&scratch, "plugin").with_code(0);
    assert!(outcome.out.contains("in place of 1.0.0"), "{outcome}");
    assert_complete(&folder);
    // Nothing temporary is left beside it.
    let mut beside: Vec<_> =
        fs::read_dir(scratch.top()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    beside.sort();
    assert_eq!(beside, ["home", "plugin"]);
}

#[test]
fn replaced_plugin_is_never_missing() {
    let scratch = Home::new();
    assert_eq!(build(&scratch, "plugin").code, Some(0));
    let hooks = scratch.top().join("plugin/hooks/hooks.json");
    let over = AtomicBool::new(false);
    let misses = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut misses = 0;
            while !over.load(Ordering::Relaxed) {
                misses += u32::from(fs::read(&hooks).is_err());
            }
            misses
        });
        let end = Over(&over);
        for _ in 0..5 {
            assert_eq!(build(&scratch, "plugin").code, Some(0));
        }
        drop(end);
        reader.join().unwrap()
    });
    assert_eq!(misses, 0);
}

#[test]
fn broken_assembly_is_written_again() {
    let scratch = Home::new();
    assert_eq!(build(&scratch, "plugin").code, Some(0));
    let folder = scratch.top().join("plugin");
    fs::remove_dir_all(folder.join("bin")).unwrap();
    fs::remove_dir_all(folder.join("hooks")).unwrap();
    assert_eq!(build(&scratch, "plugin").code, Some(0));
    assert_complete(&folder);
}

#[test]
fn foreign_folder_is_refused_untouched() {
    let scratch = Home::new();
    scratch.write("theirs/notes.txt", "mine");
    scratch.write("theirs/commands/implement.md", "mine");
    let before = tree(scratch.top());
    let outcome = build(&scratch, "theirs");
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{outcome}");
    assert!(outcome.err.contains("choose a new or empty folder"), "{outcome}");
    assert_eq!(tree(scratch.top()), before);
}

#[test]
fn foreign_plugin_file_is_refused() {
    for foreign in ["notes.txt", "commands/mine.md", "my folder/file", "bin/tool"] {
        let scratch = Home::new();
        assert_eq!(build(&scratch, "plugin").code, Some(0));
        scratch.write(format!("plugin/{foreign}"), "mine");
        let before = tree(scratch.top());
        let outcome = build(&scratch, "plugin").with_code(1);
        let named = foreign.split_once("/file").map_or(foreign, |(folder, _)| folder);
        assert!(outcome.err.contains(&format!("`{named}`")), "{outcome}");
        assert_eq!(tree(scratch.top()), before, "{foreign}");
    }
}

#[test]
fn client_types_go_with_the_plugin() {
    let scratch = Home::new();
    assert_eq!(build(&scratch, "plugin").code, Some(0));
    let before = tree(&scratch.top().join("plugin"));
    let extends = "{\n  \"extends\": \"./.claude-plugin/types/tsconfig.json\"\n}\n";
    let types = scratch.top().join("plugin/.claude-plugin/types");
    scratch.write("plugin/.claude-plugin/types/claude-code/index.d.ts", "export {}");
    scratch.write("plugin/.claude-plugin/types/.gitignore", "*");
    scratch.write("plugin/tsconfig.json", extends);
    assert_eq!(build(&scratch, "plugin").code, Some(0));
    assert_eq!(tree(&scratch.top().join("plugin")), before);
    // As a client leaves it that was killed before it wrote the first one.
    fs::create_dir(&types).unwrap();
    assert_eq!(build(&scratch, "plugin").code, Some(0));
    assert_eq!(tree(&scratch.top().join("plugin")), before);
    // Other ones are somebody's own.
    scratch.write("plugin/.claude-plugin/types/mine.d.ts", "export {}");
    assert_eq!(build(&scratch, "plugin").code, Some(1));
    fs::remove_dir_all(&types).unwrap();
    scratch.write("plugin/tsconfig.json", "{}");
    assert_eq!(build(&scratch, "plugin").code, Some(1));
}

#[test]
fn what_is_no_folder_is_refused() {
    let scratch = Home::new();
    scratch.write("file", "mine");
    symlink("nowhere", scratch.top().join("dangling")).unwrap();
    for path in ["file", "dangling", "file/below"] {
        let outcome = build(&scratch, path);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{path}: {outcome}");
        assert!(outcome.err.starts_with("error: "), "{path}: {outcome}");
    }
    assert_eq!(fs::read_to_string(scratch.top().join("file")).unwrap(), "mine");
    assert_eq!(fs::read_link(scratch.top().join("dangling")).unwrap(), Path::new("nowhere"));
}

#[test]
fn plugin_link_stays_a_link() {
    let scratch = Home::new();
    assert_eq!(build(&scratch, "real").code, Some(0));
    symlink("real", scratch.top().join("link")).unwrap();
    fs::write(scratch.top().join("real/README.md"), "of another version").unwrap();
    assert_eq!(build(&scratch, "link").code, Some(0));
    assert!(scratch.top().join("link").is_symlink());
    assert_complete(&scratch.top().join("real"));
}

#[test]
fn spool_without_hook_says_so() {
    let scratch = Home::new();
    let alone = scratch.copy(SPOOL, "alone/spool");
    let outcome = scratch.run(&alone, &["plugin", "build", "plugin"]).with_code(1);
    assert!(outcome.err.contains("ralph-hook"), "{outcome}");
    assert!(outcome.err.contains("cargo build --release"), "{outcome}");
    assert!(!scratch.top().join("plugin").exists());
}

#[test]
fn launcher_is_not_the_hook() {
    let scratch = Home::new();
    let copy = scratch.copy(SPOOL, "both/spool");
    scratch.script("both/ralph-hook", "true");
    let outcome = scratch.run(&copy, &["plugin", "build", "plugin"]).with_code(1);
    assert!(outcome.err.contains("is a launcher"), "{outcome}");
}
