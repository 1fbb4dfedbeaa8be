//! What keeps a runner out: another one, a file that cannot be read, a link that leads out of the project.

use super::*;

#[test]
fn second_runner_hears_the_first() {
    let desk = Desk::new();
    let files = desk.open();
    let words = desk.refused();
    let pid = format!("process {}", std::process::id());
    for part in [ID, pid.as_str(), ", since 2", "spool stop --change", "work tree"] {
        assert!(words.contains(part), "{part}\n{words}");
    }
    assert_eq!(holder(&files.folder).unwrap().unwrap().pid, std::process::id());
    drop(files);
    assert_eq!(holder(&desk.folder()).unwrap(), None);
    drop(desk.open());
}

#[test]
fn second_runner_in_tree_is_refused() {
    let desk = Desk::new();
    let _books = desk.open();
    let other = Change { id: "003-01_other".to_owned(), ..desk.change.clone() };
    let error = open_anew(&other, starting()).unwrap_err();
    let taken = error.downcast_ref::<LockTaken>().unwrap();
    assert_eq!(taken.both, Both::WorkTree);
    assert_eq!(taken.change, ID);
    assert_eq!(taken.holder.pid, std::process::id());
    assert!(error.to_string().contains(&format!("spool stop --change {ID}")), "{error}");
    assert_eq!(desk.document()["change_id"], ID);
}

#[test]
fn lock_watchers_block_nobody() {
    let desk = Desk::new();
    drop(desk.open());
    std::thread::scope(|scope| {
        let looks =
            scope.spawn(|| (0..2000).filter_map(|_| holder(&desk.folder()).unwrap()).count());
        for _ in 0..20 {
            drop(desk.open());
        }
        looks.join().unwrap();
    });
}

#[test]
fn unreadable_file_is_kept_aside() {
    for broken in ["{\"change_id\": \"x\"", "", "[]", "\"words\"", "{\"port\": 8080}", "\u{0}\u{1}"]
    {
        let desk = Desk::new();
        fs::create_dir_all(desk.root().join(".claude")).unwrap();
        fs::write(desk.document_path(), broken).unwrap();
        let files = desk.open();
        assert_eq!(files.put_aside.len(), 1, "{broken}");
        assert_eq!(fs::read_to_string(&files.put_aside[0]).unwrap(), broken);
        let name = files.put_aside[0].file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("loop-state.json.corrupt-"), "{name}");
        drop(files);
        let state = desk.folder().join("state.json");
        fs::write(&state, broken).unwrap();
        let files = desk.open();
        assert_eq!(fs::read_to_string(&files.put_aside[0]).unwrap(), broken);
        assert_eq!(desk.state()["change_id"], ID);
    }
}

#[test]
fn nothing_leads_out_of_project() {
    for place in [".spool/.state", ".spool/.state/ralph", ".claude"] {
        let desk = Desk::new();
        let outside = desk.scratch.path().join("outside");
        fs::create_dir(&outside).unwrap();
        let path = desk.root().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(&outside, &path).unwrap();
        let words = desk.refused();
        assert!(words.contains("leads out of its folder"), "{place}: {words}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{place}");
    }
}

#[test]
fn non_file_is_refused_first() {
    let names = ["state.json", "history.jsonl", "journal.jsonl", "context.md", "lock"];
    for name in names {
        for kind in ["link", "folder", "pipe"] {
            let desk = Desk::new();
            let folder = make_state_folder(desk.root(), ID).unwrap();
            odd(&folder.join(name), kind, &desk);
            let words = desk.refused();
            assert!(words.contains(name) && words.contains("move it away"), "{kind}: {words}");
        }
    }
    for kind in ["link", "folder", "pipe"] {
        let desk = Desk::new();
        fs::create_dir_all(desk.root().join(".claude")).unwrap();
        odd(&desk.document_path(), kind, &desk);
        let words = desk.refused();
        assert!(words.contains("loop-state.json"), "{words}");
    }
}

fn odd(path: &Path, kind: &str, desk: &Desk) {
    match kind {
        "link" => {
            let outside = desk.scratch.path().join("victim");
            fs::write(&outside, "{}").unwrap();
            symlink(&outside, path).unwrap();
        }
        "folder" => fs::create_dir(path).unwrap(),
        _ => {
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }
    }
}

#[test]
fn folderless_change_is_refused() {
    for id in ["", "..", ".", "a/b", "/etc", "-x", "a\u{0}b", "a\nb", ".hidden", "a\\b"] {
        assert!(!is_change_id(id), "{id:?}");
        let mut desk = Desk::new();
        desk.change.id = id.to_owned();
        let words = desk.refused();
        assert!(words.contains("no folder may have"), "{id:?}: {words}");
        assert!(!words.contains('\u{0}'));
        assert!(find_state_folder(desk.root(), id).is_err());
    }
    for id in ["002-01_add-ralph-loop", "Überblick", "a b", &"x".repeat(200)] {
        assert!(is_change_id(id), "{id:?}");
    }
    assert!(!is_change_id(&"x".repeat(201)));
}
