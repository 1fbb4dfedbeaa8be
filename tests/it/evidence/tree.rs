//! Trees: what git tracks or does not ignore is work, whatever its name.

use crate::evidence::support::{Place, names};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn d2_no_folder_name_hides() {
    let place = Place::repository();
    for name in
        ["src/target/a.rs", "build/b", "node_modules/c", "dist/d", ".venv/e", "__pycache__/f"]
    {
        place.write(name, "x");
    }
    assert_eq!(place.work("").len(), 6);
    place.agrees_with_git();
}

#[test]
fn d2_nested_lists_and_negations() {
    let place = Place::repository();
    for name in
        ["target/a", "target/kept", "x/target/a", "x/y/b.log", "x/y/keep.log", "c.log", "d/e/f"]
    {
        place.write(name, "x");
    }
    place.write(".gitignore", "/target/\n*.log\nd/**\n");
    place.write("x/y/.gitignore", "!keep.log\n");
    place.write(".git/info/exclude", "e\n");
    place.git(&["add", "--force", "target/kept", "c.log"]);
    let work = place.work("");
    assert_eq!(
        names(&work),
        [".gitignore", "c.log", "target/kept", "x/target/a", "x/y/.gitignore", "x/y/keep.log"]
    );
    place.agrees_with_git();
}

#[test]
fn d2_index_forms_name_tracked_files() {
    for form in [
        &["update-index", "--index-version", "2"][..],
        &["update-index", "--index-version", "3"],
        &["update-index", "--index-version", "4"],
        &["update-index", "--split-index"],
        &["update-index", "--untracked-cache"],
    ] {
        let place = Place::repository();
        place.write(".gitignore", "out/\n");
        for number in 0..300 {
            place.write(format!("out/{}/{number}", "x".repeat(number % 90 + 1)), "x");
        }
        place.git(&["add", "--force", "--", "."]);
        place.git(form);
        // An entry with flags of the longer kind.
        place.write("out/later", "x");
        place.git(&["add", "--force", "--intent-to-add", "out/later"]);
        assert_eq!(place.work("").len(), 302, "{form:?}");
        place.agrees_with_git();
    }
    let place = Place::new();
    place.git(&["init", "--quiet", "--object-format=sha256"]);
    place.write(".gitignore", "out/\n");
    place.write("out/a", "x");
    place.git(&["add", "--force", "--", "."]);
    place.agrees_with_git();
}

#[test]
fn d2_strange_index_harms_nothing() {
    let place = Place::repository();
    place.write(".gitignore", "out/\n");
    place.write("out/a", "x");
    place.git(&["add", "--force", "--", "."]);
    let index = fs::read(place.path(".git/index")).unwrap();
    for length in 0..index.len() {
        fs::write(place.path(".git/index"), &index[..length]).unwrap();
        assert!(place.work("").len() <= 2);
    }
    for place_of_damage in 0..index.len() {
        let mut damaged = index.clone();
        damaged[place_of_damage] ^= 0xff;
        fs::write(place.path(".git/index"), &damaged).unwrap();
        assert!(place.work("").len() <= 2);
    }
}

#[test]
fn d2_subfolder_project_has_upper_lists() {
    let place = Place::repository();
    place.write(".gitignore", "*.log\n/app/out\n");
    for name in ["app/a.log", "app/b.log", "app/out/c", "app/src/d", "app/src/out/e"] {
        place.write(name, "x");
    }
    place.git(&["add", "--force", "app/b.log"]);
    assert_eq!(names(&place.work("app")), ["b.log", "src/d", "src/out/e"]);
    assert_eq!(place.work("app"), place.work_by_git("app"));
}

#[test]
fn d2_ignored_subfolder_is_no_part() {
    let place = Place::repository();
    place.write(".gitignore", "scratch/\n");
    place.write("scratch/project/a", "x");
    place.write("scratch/project/target/b", "x");
    assert_eq!(names(&place.work("scratch/project")), ["a"]);
}

#[test]
fn d2_work_trees_have_own_lists() {
    let place = Place::repository();
    place.write("a", "x");
    place.write(".git/info/exclude", "*.tmp2\n");
    place.git(&["add", "a"]);
    place.git(&["commit", "--quiet", "--message", "one"]);
    place.git(&["worktree", "add", "--quiet", "../side"]);
    place.write("../side/b.tmp2", "x");
    place.write("../side/c", "x");
    assert_eq!(place.work("../side"), place.work_by_git("../side"));
    assert_eq!(names(&place.work("../side")), ["a", "c"]);

    // A repository inside of another one: git does not look into it, its files are work all the same.
    place.write(".gitignore", "*.log\n");
    place.write("inner/.gitignore", "out/\n");
    place.write("inner/d.log", "x");
    place.write("inner/out/e", "x");
    place.write("inner/out/kept", "x");
    place.git_in("inner", &["init", "--quiet"]);
    place.git_in("inner", &["add", "--force", "out/kept"]);
    let work = place.work("");
    assert_eq!(
        names(&work),
        [".gitignore", "a", "inner/.gitignore", "inner/d.log", "inner/out/kept"]
    );
}

#[test]
fn d2_bare_repository_is_found() {
    let place = Place::new();
    place.git(&["init", "--quiet", "--bare", "../bare"]);
    place.git(&["init", "--quiet", "--separate-git-dir", "../data"]);
    place.write(".gitignore", "out/\n");
    place.write("out/a", "x");
    place.write("b", "x");
    place.agrees_with_git();
    assert_eq!(names(&place.work("")), [".gitignore", "b"]);
}

#[test]
fn d2_links_are_not_followed() {
    let place = Place::repository();
    place.write("../outside/secret", "x");
    place.write("../list", "*\n");
    symlink(place.path("../outside"), place.path("link")).unwrap();
    place.write("sub/a", "x");
    symlink(place.path("../list"), place.path("sub/.gitignore")).unwrap();
    assert_eq!(names(&place.work("")), ["link", "sub/.gitignore", "sub/a"]);
}

#[test]
fn d2_without_git_fixed_names_hold() {
    let place = Place::new();
    for name in ["a", "target/b", "sub/node_modules/c", "sub/d.pyc", "build/e"] {
        place.write(name, "x");
    }
    assert_eq!(names(&place.work("")), ["a"]);
    place.write(".gitignore", "!build/\nsub/\n");
    assert_eq!(names(&place.work("")), [".gitignore", "a", "build/e"]);
}

#[test]
fn d2_personal_list_holds() {
    let place = Place::repository();
    place.write("../mine", "*.bak\n");
    place.write("a.bak", "x");
    place.write("b", "x");
    let mine = place.path("../mine").canonicalize().unwrap();
    place.git(&["config", "core.excludesFile", mine.to_str().unwrap()]);
    place.agrees_with_git();
    assert_eq!(names(&place.work("")), ["b"]);
}
