//! The result of a look, and the changes between two.

use super::*;
use crate::engine::proof::{ChangedFile, FileChange};

fn look_at(root: &Path, without: &str, named: &[String]) -> Option<Contents> {
    ContentsLook { root, without, named, earlier: None, limit: LIMIT, run: None }.look().ok()
}

#[test]
fn untouched_file_is_not_reread() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["old", "new"] {
        fs::write(root.join(name), name).unwrap();
    }
    // A later look: by then both files were left alone.
    let stat = |name: &str| FileStat::of_entry(&root.join(name)).unwrap();
    let later = world::now().after(Duration::from_secs(9));
    let look =
        ContentsLook { root, without: "", named: &[], earlier: None, limit: LIMIT, run: None };
    let wrong = Hashes::of(b"", b"it is not read");
    let mut earlier = Contents::default();
    for name in ["old", "new"] {
        let seen = look.seen(name.as_bytes(), &stat(name), None, later);
        Rc::make_mut(&mut earlier.0).push(name.as_bytes(), FileSeen { content: wrong, ..seen });
    }
    let again = ContentsLook { earlier: Some(&earlier), ..look };
    let content = |look: &ContentsLook<'_>, path: &[u8]| {
        look.look().ok().unwrap().0.search().find(path).unwrap().seen().content
    };
    assert_eq!(content(&again, b"old"), wrong);
    world::pause(Duration::from_millis(30));
    fs::write(root.join("new"), "age").unwrap();
    assert_eq!(content(&again, b"new"), Hashes::of(b"new", b"age"));
    // A file changed right before a look is read again at the next one.
    let now = look.look().ok().unwrap();
    assert!(now.0.iter().all(|file| !file.seen().changed.is_known()), "{now:?}");
}

#[test]
fn only_gone_files_have_changed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    for name in ["gone", "list", "same", "touched"] {
        write(name, name);
    }
    let before = look_at(folder.path(), "list", &[]).unwrap();
    let paths =
        |changed: Vec<ChangedFile>| changed.into_iter().map(|file| file.path).collect::<Vec<_>>();
    for contents in [Some(before.clone()), Some(Contents::default()), None] {
        let kept = KeptContents { number: 7, contents };
        let with_receipt = [b"{\"at\":1\n".to_vec(), kept.to_bytes()].concat();
        assert_eq!(KeptContents::number_in(&with_receipt), Some(7));
        for bytes in [kept.to_bytes(), with_receipt] {
            assert_eq!(KeptContents::parse(bytes).as_ref(), Some(&kept));
        }
    }
    for bytes in [&b"x"[..], b"7", b"7\0seen5\0cut off"] {
        assert_eq!(KeptContents::parse(bytes.to_vec()), None);
    }
    let earlier_form = KeptContents { number: 7, contents: None };
    for bytes in [&b"7\0seen\x0012ab\0a.rs"[..], b"7\0seen4\x001 2 3 4 5\0a.rs"] {
        assert_eq!(KeptContents::parse(bytes.to_vec()), Some(earlier_form.clone()));
    }
    write("touched", "touched");
    write("list", "ticked");
    write("new", "");
    fs::remove_file(folder.path().join("gone")).unwrap();
    std::os::unix::fs::symlink("gone", folder.path().join("link")).unwrap();
    let now = look_at(folder.path(), "list", &[]).unwrap();
    assert_eq!(paths(now.changed_since(&before)), ["gone", "link", "new"]);
    write("same", "sane");
    let later = look_at(folder.path(), "list", &[]).unwrap();
    assert_eq!(paths(later.changed_since(&now)), ["same"]);
}

#[test]
fn unseen_is_not_gone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join(".git/info")).unwrap();
    fs::create_dir(root.join("sub")).unwrap();
    for name in ["a", "gone", "later.out", "sub/b"] {
        fs::write(root.join(name), name).unwrap();
    }
    let look = |earlier| {
        let named = &[];
        ContentsLook { root, without: "", named, earlier, limit: LIMIT, run: None }.look().ok()
    };
    let before = look(None).unwrap();
    fs::remove_file(root.join("gone")).unwrap();
    fs::write(root.join(".git/info/exclude"), "*.out\n").unwrap();
    // The folder can be searched and not listed. A person who may read everything sees the file in any case.
    let mode = |bits| fs::Permissions::from_mode(bits);
    fs::set_permissions(root.join("sub"), mode(0o300)).unwrap();
    let changed = look(Some(&before)).unwrap().changed_since(&before);
    fs::set_permissions(root.join("sub"), mode(0o700)).unwrap();
    let paths: Vec<_> = changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["gone"]);
    fs::write(root.join("later.out"), "another").unwrap();
    let changed = look(Some(&before)).unwrap().changed_since(&before);
    let hidden = |file: &&ChangedFile| file.path == "later.out";
    assert!(changed.iter().find(hidden).unwrap().ignored);
    let without = ContentsLook {
        root: &root.join("nowhere"),
        without: "",
        named: &[],
        earlier: None,
        limit: LIMIT,
        run: None,
    };
    assert_eq!(without.look().ok(), None);
}

#[test]
fn listed_ignored_file_counts() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".git/info")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(".gitignore", "*.env\n");
    for name in ["a.env", "b.env", "gone.env", "old.env", "seen.txt"] {
        write(name, name);
    }
    let named = ["a.env", "gone.env", "new.env", "old.env", "seen.txt", ".git/HEAD", ".git"];
    let named = named.map(str::to_owned);
    let look = || look_at(folder.path(), "tasks.md", &named).unwrap();
    let before = look();
    let kept = KeptContents { number: 7, contents: Some(before.clone()) };
    assert_eq!(KeptContents::parse(kept.to_bytes()), Some(kept));
    for name in ["a.env", "b.env", "new.env", "seen.txt", ".git/HEAD"] {
        write(name, "another");
    }
    fs::remove_file(folder.path().join("gone.env")).unwrap();
    let changed: Vec<_> =
        look().changed_since(&before).into_iter().map(|file| (file.path, file.ignored)).collect();
    let wanted = [("a.env", true), ("gone.env", true), ("new.env", true), ("seen.txt", false)];
    assert_eq!(changed, wanted.map(|(path, ignored)| (path.to_owned(), ignored)));
    // Git does not ignore the file any more, and nothing else differs.
    let ignored = look();
    write(".gitignore", "");
    let changed = look().changed_since(&ignored);
    let paths: Vec<_> = changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [".gitignore", "b.env"]);
}

#[test]
fn how_a_file_differs() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let look = || look_at(folder.path(), "tasks.md", &[]).unwrap();
    for name in ["blanks.rs", "code.rs", "comment.rs", "from.rs", "gone.rs", "mode.sh", "twin.rs"] {
        write(name, &format!("fn a() {{ \"{name}\" }}\n"));
    }
    let before = look();
    write("blanks.rs", "fn a()\r\n{ \"blanks.rs\" }\r\n\r\n");
    write("code.rs", "fn b() {}\n");
    write("comment.rs", "// It is.\nfn a() { \"comment.rs\" }\n");
    fs::rename(folder.path().join("from.rs"), folder.path().join("to.rs")).unwrap();
    fs::remove_file(folder.path().join("gone.rs")).unwrap();
    fs::set_permissions(folder.path().join("mode.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    write("copy.rs", "fn a() { \"twin.rs\" }\n");
    write("empty.rs", "\n");
    write("remark.rs", "// TODO\n");
    write("stub.rs", "fn a() { todo!() }\n");
    fs::create_dir_all(folder.path().join("new/empty")).unwrap();
    write("__init__.py", "");
    let changed: Vec<_> =
        look().changed_since(&before).into_iter().map(|file| (file.path, file.change)).collect();
    let wanted = [
        ("__init__.py", FileChange::Blanks),
        ("blanks.rs", FileChange::Blanks),
        ("code.rs", FileChange::Content),
        ("comment.rs", FileChange::Comments),
        ("copy.rs", FileChange::Content),
        ("empty.rs", FileChange::Blanks),
        ("from.rs", FileChange::Moved),
        ("gone.rs", FileChange::Gone),
        ("mode.sh", FileChange::Mode),
        ("new/empty/", FileChange::Folder),
        ("remark.rs", FileChange::Comments),
        ("stub.rs", FileChange::Stub),
        ("to.rs", FileChange::Moved),
    ];
    assert_eq!(changed, wanted.map(|(path, change)| (path.to_owned(), change)));
}

#[test]
fn too_many_differs_from_slow() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("large")).unwrap();
    fs::write(root.join("small"), "small").unwrap();
    let before = look_at(root, "", &[]).unwrap();
    let earlier = Some(&before);
    let look = ContentsLook { root, without: "", named: &[], earlier, limit: LIMIT, run: None };
    // The system keeps no byte of them.
    for number in 0..=MOST / MOST_OF_ONE {
        let file = fs::File::create(root.join(format!("large/{number}"))).unwrap();
        file.set_len(MOST_OF_ONE + 1).unwrap();
    }
    assert_eq!(look.look(), Err(NoLook::TooLarge { folder: "large/".to_owned() }));
    let at_once = ContentsLook { limit: Duration::ZERO, ..look };
    for number in MUCH_NEW / MOST_OF_ONE..=MOST / MOST_OF_ONE {
        fs::remove_file(root.join(format!("large/{number}"))).unwrap();
    }
    assert_eq!(at_once.look(), Err(NoLook::TooLarge { folder: "large/".to_owned() }));
    fs::remove_dir_all(root.join("large")).unwrap();
    assert_eq!(at_once.look(), Err(NoLook::NotNow));
    assert!(look.look().is_ok());
}
