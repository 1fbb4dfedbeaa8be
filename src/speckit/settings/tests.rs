//! The switch is read as people write it, and only their switch.

use super::*;

#[test]
fn the_switch_is_off_when_it_says_so_in_the_front_matter() {
    for (text, enabled) in [
        ("", true),
        ("---\n---\n", true),
        ("---\nenabled: true\n---\n", true),
        ("---\nenabled: false\n---\n", false),
        ("---\r\nenabled:false\r\n---\r\n", false),
        ("---\nenabled:   'False'   \n---\n", false),
        ("---\nenabled : no\n---\n", false),
        ("---\nenabled: off # until friday\n---\n", false),
        ("---\nenabled: 0\n", false),
        ("---\nenabled: falsehood\n---\n", true),
        ("---\nenabled:\n---\n", true),
        ("---\nenabled: maybe\n---\n", true),
        ("---\ndisabled: false\nnot_enabled: false\n---\n", true),
        ("---\n# enabled: false\n---\n", true),
        ("---\nother:\n  enabled: false\n\tenabled: false\n---\n", true),
        ("---\nenabled: false\nenabled: true\n---\n", true),
        ("---\ntitle: x\n---\nenabled: false\n", true),
        ("enabled: false\n", false),
        ("\u{feff}enabled: false\n", false),
        ("Notes about the loop\nenabled: false\n", false),
    ] {
        assert_eq!(Settings::parse(text).enabled, enabled, "{text:?}");
    }
}

#[test]
fn a_file_that_cannot_be_used_leaves_it_on_and_says_why() {
    let project = tempfile::tempdir().unwrap();
    assert_eq!(Settings::read(project.path()), Settings::default());
    std::fs::create_dir_all(project.path().join(SETTINGS)).unwrap();
    let settings = Settings::read(project.path());
    assert!(settings.enabled);
    assert_eq!(settings.problem.as_deref(), Some("it is a folder, not a file"));
}
