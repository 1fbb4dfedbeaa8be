//! What a person does on Windows without an agent: set up, look, steer. The client is a script of the system's own shell.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::scratch::{SPOOL, Said, Scratch};

/// A `claude` that keeps in two files what it knows, and writes down what it was asked.
const CLAUDE: &str = r#"@echo off
set KNOWN=%CLAUDE_CONFIG_DIR%
echo %*>>"%KNOWN%\asked"
if "%1"=="--version" echo 2.1.332 (Claude Code)
if "%1 %2 %3"=="plugin list --json" if exist "%KNOWN%\plugin" type "%KNOWN%\plugin"
if "%1 %2 %3"=="plugin list --json" if not exist "%KNOWN%\plugin" echo []
if "%2 %3"=="marketplace list" if exist "%KNOWN%\market" type "%KNOWN%\market"
if "%2 %3"=="marketplace list" if not exist "%KNOWN%\market" echo []
if "%2 %3"=="marketplace add" copy /y "%DESK%\market.json" "%KNOWN%\market" >nul
if "%2 %3"=="marketplace remove" del "%KNOWN%\market"
if "%1 %2"=="plugin install" copy /y "%DESK%\plugin.json" "%KNOWN%\plugin" >nul
if "%1 %2"=="plugin install" xcopy /e /q /y "%DATA%\plugin" "%DESK%\copy" >nul
if "%1 %2"=="plugin uninstall" del "%KNOWN%\plugin"
exit /b 0
"#;

/// A person with a client, a home and a project.
struct Person(Scratch);

impl Person {
    fn new() -> Self {
        let mut scratch = Scratch::new("windows person ");
        scratch.write("../client/claude.cmd", CLAUDE.replace('\n', "\r\n"));
        scratch.search_first("client");
        let (desk, home) = (scratch.beside("desk"), scratch.home());
        let (known, data) = (home.join(".claude"), data(&scratch));
        fs::create_dir_all(&known).unwrap();
        fs::create_dir_all(desk.join("copy")).unwrap();
        let market = json!([{
            "name": "ralph-speckit", "source": "directory", "path": data.join("plugin"),
        }]);
        let plugin = json!([{
            "id": "speckit@ralph-speckit", "version": env!("CARGO_PKG_VERSION"), "scope": "user",
            "enabled": true, "installPath": desk.join("copy"),
        }]);
        fs::write(desk.join("market.json"), market.to_string()).unwrap();
        fs::write(desk.join("plugin.json"), plugin.to_string()).unwrap();
        scratch.set("TMP", &desk);
        scratch.set("DESK", desk);
        scratch.set("DATA", data);
        scratch.set("CLAUDE_CONFIG_DIR", known);
        Self(scratch)
    }

    fn spool(&self, arguments: &[&str]) -> Said {
        Said::of(self.0.command(SPOOL).args(arguments))
    }

    fn settings(&self) -> PathBuf {
        self.0.home().join(".claude").join("settings.json")
    }
}

fn data(scratch: &Scratch) -> PathBuf {
    scratch.home().join(".local").join("share").join("ralph-speckit")
}

#[test]
fn setup_doctor_and_remove_work() {
    let person = Person::new();
    let theirs = "\u{feff}{\r\n  \"model\": \"opus\"\r\n}\r\n";
    fs::write(person.settings(), theirs).unwrap();
    let before = person.spool(&["doctor"]).with_code(1);
    assert!(!before.out.contains("settings.json"), "{before}");

    let said = person.spool(&["setup", "--statusline", "--user-commands"]).ok();
    let data = data(&person.0);
    let plugin = data.join("plugin").display().to_string();
    assert!(said.contains(&format!("to `{plugin}`")), "{said}");
    for name in [r"plugin\bin\ralph-hook.exe", r"plugin\bin\spool.exe", r"bin\spool.exe"] {
        assert!(data.join(name).is_file(), "{name}\n{said}");
    }
    let asked = fs::read_to_string(person.0.home().join(r".claude\asked")).unwrap();
    assert!(asked.contains(&format!("marketplace add --scope user \"{plugin}\"")), "{asked}");
    let settings = fs::read_to_string(person.settings()).unwrap();
    let settings: Value = serde_json::from_str(settings.trim_start_matches('\u{feff}')).unwrap();
    let spool = data.join(r"bin\spool.exe").display().to_string().replace('\\', "/");
    assert_eq!(settings["statusLine"]["command"], format!("'{spool}' statusline"));
    Said::with_input(person.0.command(data.join(r"bin\spool.exe")).arg("statusline"), "{}")
        .with_code(0);

    person.spool(&["doctor"]).with_code(0);
    let again = person.spool(&["setup"]).ok();
    assert!(!again.contains("installed the plugin"), "{again}");

    // The program that runs is the one that is to go.
    let own = |arguments: &[&str]| {
        Said::of(person.0.command(data.join(r"bin\spool.exe")).args(arguments))
    };
    own(&["setup"]).ok();
    let removed = own(&["setup", "--remove"]);
    assert!(
        removed.code == Some(0) && removed.out.contains("moved the one that runs to"),
        "{removed}"
    );
    assert_eq!(fs::read_to_string(person.settings()).unwrap(), theirs);
    assert!(!person.0.home().join(".local").exists());
    assert!(!person.0.home().join(r".claude\commands").exists());
    assert!(!person.0.home().join(r".claude\market").exists());
}

#[test]
fn plugin_has_both_programs() {
    let person = Person::new();
    person.spool(&["plugin", "build", r"..\a plugin"]).ok();
    let plugin = person.0.beside("a plugin");
    for name in ["ralph-hook.exe", "spool.exe"] {
        assert!(plugin.join("bin").join(name).is_file(), "{name}");
    }
    let said =
        Said::of(person.0.command(plugin.join("bin").join("spool.exe")).arg("--version")).ok();
    assert!(said.starts_with(concat!("spool ", env!("CARGO_PKG_VERSION"))), "{said}");
}

#[test]
fn terminal_arms_shows_and_cancels() {
    let person = Person::new();
    person.0.add_feature("001-login", "\u{feff}# Tasks\r\n\r\n- [ ] T001 Make it\r\n");
    person.0.write(".specify/feature.json", r#"{"feature_directory": "specs\\001-login"}"#);
    let armed = person.spool(&["start"]).ok();
    assert!(armed.contains("001-login"), "{armed}");
    let status: Value = person.spool(&["status", "--json"]).json();
    let feature = &status["features"][0];
    assert_eq!(
        (&feature["name"], &feature["done"], &feature["total"]),
        (&"001-login".into(), &0.into(), &1.into())
    );
    assert!(person.spool(&["status"]).ok().contains("001-login"));
    person.spool(&["cancel", "001-login"]).ok();
    let log = person.spool(&["log"]).ok();
    assert!(log.contains("cancelled"), "{log}");
}

#[test]
fn windows_shells_get_their_files() {
    let person = Person::new();
    let lines = person.spool(&["completions", "powershell"]).ok();
    assert!(
        lines.contains("SPOOL_COMPLETE") && lines.contains("Register-ArgumentCompleter"),
        "{lines}"
    );
    let said = person.spool(&["man", "--to", r"pages\man1"]).ok();
    assert!(said.ends_with(" pages to `pages\\man1`\n"), "{said}");
    assert!(person.0.path(r"pages\man1\spool-ralph.1").is_file(), "{said}");
}
