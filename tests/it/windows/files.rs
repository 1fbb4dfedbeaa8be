//! What is different on Windows: how paths are written, files that another program has open, locks that it holds.

use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use ralph_speckit::system::files::{FileId, real_path, rename, without_prefix};
use ralph_speckit::system::processes;
use ralph_speckit::world;

use crate::books::support::Project;
use crate::hook::support::{Bench, THREE_TASKS};
use crate::support::limited::Limited;
use crate::support::scratch::Said;

/// Others may read and write it meanwhile, and not replace it.
const READ_AND_WRITE: u32 = 3;
/// So long another program has a file open: less than is waited for it.
const A_MOMENT: Duration = Duration::from_millis(150);

#[test]
fn real_path_is_written_plainly() {
    let folder = tempfile::tempdir().unwrap();
    let real = real_path(folder.path()).unwrap();
    let text = real.to_str().unwrap();
    assert_eq!(&text[1..3], ":\\", "{text}");
    assert_eq!(real_path(&real).unwrap(), real);
}

#[test]
fn only_drive_and_share_lose_prefixes() {
    for (path, plain) in [
        (r"\\?\C:\a folder\b", r"C:\a folder\b"),
        (r"\\?\C:\", r"C:\"),
        (r"\\?\UNC\server\share\a\b", r"\\server\share\a\b"),
        (r"\\server\share\a", r"\\server\share\a"),
        (r"C:\a", r"C:\a"),
        (r"\\.\pipe\a", r"\\.\pipe\a"),
    ] {
        assert_eq!(without_prefix(Path::new(path)), Path::new(plain), "{path}");
    }
}

#[test]
fn project_is_found_by_any_spelling() {
    let bench = Bench::in_execution();
    let root = bench.root.to_str().unwrap();
    let (drive, rest) = root.split_at(1);
    let forms = [
        root.to_owned(),
        root.replace('\\', "/"),
        format!(r"\\?\{root}"),
        drive.to_ascii_lowercase() + rest,
        format!(r"{root}\"),
    ];
    for (number, folder) in forms.iter().enumerate() {
        // The first one claims the feature; to the others it is somebody else's.
        let said = bench.stop(&format!("s{number}")).with("cwd", folder.as_str()).run();
        if number == 0 {
            said.reason();
        } else {
            said.silent().logged("is driven by session s0");
        }
    }
}

#[test]
fn marks_and_line_ends_stay() {
    let project =
        Project::armed("\u{feff}# Tasks\r\n\r\n- [ ] T001 Create it\r\n- [ ] T002 Fill it\r\n");
    project.task(&["done", "T001"]).ok();
    let list = "\u{feff}# Tasks\r\n\r\n- [x] T001 Create it\r\n- [ ] T002 Fill it\r\n";
    assert_eq!(project.tasks(), list);
}

#[test]
fn file_is_replaced_once_closed() {
    let project = Project::armed(THREE_TASKS);
    let mut options = OpenOptions::new();
    let open = options.read(true).share_mode(READ_AND_WRITE).open(project.tasks_path()).unwrap();
    let holder = std::thread::spawn(move || {
        world::pause(A_MOMENT);
        drop(open);
    });
    project.task(&["done", "T002"]).ok();
    holder.finish();
    assert!(project.tasks().contains("- [x] T002"));
}

#[test]
fn open_file_is_left_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let (new, old) = (folder.path().join("new"), folder.path().join("old"));
    std::fs::write(&new, "new").unwrap();
    std::fs::write(&old, "old").unwrap();
    let _open = OpenOptions::new().read(true).share_mode(READ_AND_WRITE).open(&old).unwrap();
    rename(&new, &old).unwrap_err();
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "old");
}

#[test]
fn foreign_lock_is_waited_for() {
    let project = Project::armed(THREE_TASKS);
    project.task(&["done", "T002"]).ok();
    let notes = project.root.join(".claude/ralph").read_dir().unwrap().flatten();
    let lock = notes
        .map(|note| note.path())
        .find(|path| path.extension().is_some_and(|end| end == "lock"));
    let held = File::options().read(true).write(true).open(lock.unwrap()).unwrap();
    held.lock().unwrap();
    let holder = std::thread::spawn(move || {
        world::pause(A_MOMENT);
        drop(held);
    });
    project.task(&["done", "T003"]).ok();
    holder.finish();
    assert!(project.tasks().contains("- [x] T003"));
}

#[test]
fn two_names_are_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("One"), folder.path().join("other"));
    std::fs::write(&one, "").unwrap();
    std::fs::write(&other, "").unwrap();
    assert_eq!(FileId::at(&one), FileId::at(&folder.path().join("ONE")));
    assert_ne!(FileId::at(&one), FileId::at(&other));
    assert_eq!(FileId::of(&File::open(&one).unwrap()), FileId::at(&one));
    assert_eq!(FileId::at(&folder.path().join("missing")), None);
}

#[test]
fn process_is_its_id_and_start() {
    let own = std::process::id();
    assert!(processes::is_alive(own) && processes::start_of(own).is_some());
    assert!(processes::start_of(processes::parent_id()) <= processes::start_of(own));
    let mut child = std::process::Command::new("cmd").args(["/C", "exit"]).spawn().unwrap();
    let id = child.id();
    child.wait().unwrap();
    assert!(!processes::is_alive(id));
}

#[test]
fn demo_plays_without_a_shell() {
    let bench = Bench::folder();
    let said = Said::of(bench.spool().args(["demo", "--fast"])).ok();
    for words in ["4 of 7 done", "claimed done, but 3 of 7 are open", "the loop ended: completed"] {
        assert!(said.contains(words), "{words} is missing in:\n{said}");
    }
}
