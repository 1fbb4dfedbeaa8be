//! What the documents promise: help texts, commands, names, links and the floor plan, held against the program.

use crate::support::limited::Limited;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ralph_speckit::engine::{BudgetUnit, Guardrails, Ledger, Obstacle, Stall, TerminalReason};
use ralph_speckit::feature::settings::Settings;
use ralph_speckit::plugin::client::OLDEST;
use ralph_speckit::session::arguments::feature::FeatureRequest;
use ralph_speckit::session::arguments::task::USAGE;
use ralph_speckit::settings::{IMPLEMENT, LOOP, Setting};
use ralph_speckit::store::journal::Entry;
use ralph_speckit::store::loops::Record;
use ralph_speckit::store::pins::Pin;
use serde::Serialize;
use serde_json::Value;

/// The pages of the site, in their order; it is no page itself.
const SITE: &str = "docs/SUMMARY.md";
const IN_ROOT: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];

/// Every document: those of the root folder, and all pages of `docs`.
fn documents() -> Vec<String> {
    let is_page = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "md");
    let pages = sources(&checkout().join("docs")).into_iter().filter(is_page);
    let from_root = |page: PathBuf| page.strip_prefix(checkout()).unwrap().display().to_string();
    let mut all: Vec<String> = pages.map(from_root).collect();
    assert!(all.len() >= 11, "{all:?}");
    all.extend(IN_ROOT.map(str::to_owned));
    all.sort();
    all
}

#[test]
fn help_texts_match_the_program() {
    let mut compared = 0;
    for document in documents() {
        for block in blocks(&text(&document)) {
            let Some(command) = block.first_line().strip_prefix("$ spool ") else { continue };
            if !command.ends_with("--help") {
                continue;
            }
            let words: Vec<&str> = command.split_whitespace().collect();
            let printed = String::from_utf8(spool(&words).stdout).unwrap();
            let quoted = block.0.split_once('\n').unwrap_or_default().1;
            assert_eq!(quoted.trim_end(), printed.trim_end(), "{document}: $ spool {command}");
            compared += 1;
        }
    }
    assert!(compared >= 2, "{compared} help texts are quoted");
}

#[test]
fn demo_prints_the_readme_lines() {
    let block = blocks(&text("README.md"));
    let block = block.iter().find(|block| block.first_line() == "$ spool demo").unwrap();
    let outcome = spool(&["demo"]);
    let printed = String::from_utf8(outcome.stdout).unwrap();
    assert!(outcome.status.success(), "{printed}");
    let mut lines = printed.lines();
    for quoted in block.0.lines().skip(1) {
        assert!(lines.any(|line| line == quoted), "not printed, or not in this order: {quoted}");
    }
}

#[test]
fn terminal_reasons_have_their_rows() {
    let rows: Vec<String> = section("docs/ends.md", "## How a loop ends")
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
        .collect();
    let mut names: Vec<&str> = all_reasons().iter().map(TerminalReason::name).collect();
    names.sort_unstable();
    let mut told = rows.clone();
    told.sort_unstable();
    assert_eq!(told, names);
}

#[test]
fn documented_limits_match_the_engine() {
    let ends = section("docs/ends.md", "## How a loop ends");
    let rails = Guardrails::default();
    assert!(ends.contains(&format!("{} stops in a row without", rails.max_idle_stops)), "{ends}");
    assert!(ends.contains(&format!("or {} in a row that left", rails.max_unchanged)), "{ends}");
    let readme = text("README.md");
    assert!(readme.contains(&format!("Claude Code {OLDEST} or later")), "{OLDEST} is not named");
    let script = text("scripts/fetch-clients");
    let versions = script.lines().find_map(|line| line.strip_prefix("claude_versions='")).unwrap();
    let (newest, oldest) = versions.trim_end_matches('\'').split_once(' ').unwrap();
    assert_eq!(oldest, OLDEST.to_string());
    for version in [newest, oldest] {
        assert!(section("docs/limits.md", "## Limits").contains(version), "{version} is not named");
    }
    assert!(text("Dockerfile").contains(&format!("claude-code@{newest}\n")), "not the newest");
}

#[test]
fn documented_settings_are_understood() {
    let example = &blocks(&section("docs/settings.md", "## Of a project"))[0];
    let settings = Settings::parse(example.0.as_bytes()).unwrap();
    let checks: Vec<_> =
        settings.checks.iter().map(|check| (check.run.as_str(), check.limit_seconds)).collect();
    assert!(settings.chosen.enabled());
    assert_eq!(checks, [("cargo test", 300), ("npm run lint", 120)]);
}

#[test]
fn slash_flags_have_their_rows() {
    let page = section("docs/sessions.md", "## What you type");
    let refused = FeatureRequest::parse("--nope").map(drop).unwrap_err().to_string();
    let mut flags = 0;
    let usages = [(refused.rsplit_once("Usage:").unwrap().1, IMPLEMENT), (USAGE, LOOP)];
    for (usage, place) in usages {
        for setting in Setting::all_in(place) {
            assert!(usage.contains(&format!("--{}", setting.name)), "{}: {usage}", setting.name);
        }
        for rest in usage.split("[--").skip(1) {
            let end = rest.find([' ', ']']).unwrap();
            let flag = format!("`--{}", &rest[..end]);
            let is_there = page.contains(&flag) || flag == "`--force";
            assert!(is_there, "docs/sessions.md has no row for {flag}`");
            flags += 1;
        }
    }
    assert!(flags >= 14, "{flags} flags");
}

#[test]
fn documented_commands_exist() {
    let mut tried = 0;
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for document in documents() {
        for code in code(&text(&document)) {
            let Some(words) = code.strip_prefix("spool ") else { continue };
            let words: Vec<&str> = words.split_whitespace().collect();
            let is_name = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
            let depth = if matches!(words[0], "task" | "plugin") { 2 } else { 1 };
            let mut command: Vec<&str> = words.iter().copied().take(depth).collect();
            command.retain(is_name);
            command.push("--help");
            let key: Vec<String> = command.iter().map(ToString::to_string).collect();
            let help = helps.entry(key).or_insert_with(|| {
                let outcome = spool(&command);
                assert!(outcome.status.success(), "{document}: `{code}`");
                String::from_utf8(outcome.stdout).unwrap()
            });
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                assert!(help.contains(flag), "{document}: `{code}`: no {flag}");
            }
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried} commands are named");
}

#[test]
fn documented_slash_commands_exist() {
    for document in documents() {
        for code in code(&text(&document)) {
            let Some(words) = code.strip_prefix("/speckit:") else { continue };
            let mut words = words.split_whitespace();
            let name = words.next().unwrap();
            let command = text(&format!("commands/{name}.md"));
            for flag in words.filter(|word| word.starts_with("--")) {
                assert!(command.contains(flag), "{document}: `{code}`: no {flag}");
            }
        }
    }
}

#[test]
fn links_and_files_are_there() {
    for document in documents() {
        let text = text(&document);
        let folder = checkout().join(&document);
        let folder = folder.parent().unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.starts_with("http")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if path.is_empty() { checkout().join(&document) } else { folder.join(path) };
            assert!(target.exists(), "{document} links to {link}");
            if !anchor.is_empty() {
                let anchors = anchors(&fs::read_to_string(&target).unwrap());
                let is_there = anchors.iter().any(|known| known == anchor);
                assert!(is_there, "{document} links to {link}, there are only {anchors:?}");
            }
        }
        for code in code(&text) {
            let word = code.split_whitespace().next().unwrap_or_default();
            let ours =
                ["src/", "tests/", "scripts/", "schemas/", "docs/", "commands/", ".ci/", "crates/"];
            let plain = !word.contains(['*', '{', '<', '…']);
            if plain && ours.iter().any(|folder| word.starts_with(folder)) {
                assert!(checkout().join(word).exists(), "{document} names `{word}`");
            }
        }
    }
}

#[test]
fn readme_is_short_and_complete() {
    let readme = text("README.md");
    let lines = readme.lines().count();
    assert!(lines <= 150, "README.md has {lines} lines");
    for page in documents().iter().filter(|page| *page != SITE) {
        let is_linked = page == "README.md" || readme.contains(&format!("]({page})"));
        assert!(is_linked, "README.md does not link to {page}");
    }
    // The first screen alone has to be enough: to try, install, start, see, stop and remove it.
    let first: Vec<&str> = readme.lines().take(45).collect();
    let first = first.join("\n");
    for words in [
        "scripts/cargo build && scripts/cargo run -- demo",
        "scripts/cargo test",
        "scripts/cargo install --path .",
        "\nspool setup ",
        "/speckit:implement",
        "/speckit:ralph-loop",
        "`spool status`",
        "/speckit:cancel",
        "`spool stop`",
        "spool setup --remove",
    ] {
        assert!(first.contains(words), "the first screen of README.md has no {words:?}");
    }
}

#[test]
fn site_has_each_page_once() {
    let site = text(SITE);
    let lines: Vec<&str> = site.lines().filter(|line| line.contains("](")).collect();
    let pages: Vec<String> = documents().into_iter().filter(|page| page != SITE).collect();
    for page in &pages {
        let from_docs =
            page.strip_prefix("docs/").map_or_else(|| format!("../{page}"), str::to_owned);
        let link = format!("]({from_docs})");
        let found = lines.iter().filter(|line| line.contains(&link)).count();
        assert_eq!(found, 1, "{page} in {SITE}");
    }
    assert_eq!(lines.len(), pages.len(), "{SITE} has lines of no page");
    assert!(text("docs/book.toml").contains("[output.html]"), "scripts/site needs it");
}

#[test]
fn floor_plan_names_every_module() {
    let floors = floors();
    for floor in &floors {
        let place = checkout().join(&floor.place);
        assert!(place.exists(), "{}", floor.place);
        for room in floor.rooms.iter().filter(|_| place.is_dir()) {
            let there = place.join(format!("{room}.rs")).is_file() || place.join(room).is_dir();
            assert!(there, "{} has no room `{room}`", floor.place);
        }
    }
    for entry in fs::read_dir(checkout().join("src")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let named = floors.iter().any(|floor| floor.place.trim_end_matches('/').ends_with(&name));
        assert!(named || name == "lib.rs", "the floor plan does not name src/{name}");
    }
}

#[test]
fn floors_use_only_those_below() {
    let floors = floors();
    let names: Vec<&str> = floors.iter().map(Floor::module).collect();
    for (level, floor) in floors.iter().enumerate() {
        for file in sources(&checkout().join(&floor.place)) {
            let source = fs::read_to_string(&file).unwrap();
            for used in source.split("crate::").skip(1) {
                let end = used.find(|letter: char| !letter.is_ascii_lowercase());
                let used = &used[..end.unwrap_or(used.len())];
                let below = names[level..].contains(&used);
                assert!(below, "{} uses `crate::{used}`", file.display());
            }
        }
    }
}

#[test]
fn the_engine_is_pure() {
    for file in sources(&checkout().join("src/engine")) {
        let source = fs::read_to_string(&file).unwrap();
        for door in ["std::fs", "std::env", "std::time", "std::process", "std::io", "std::net"] {
            assert!(!source.contains(door), "{} uses {door}", file.display());
        }
    }
}

#[test]
fn file_fields_are_documented() {
    let document = text("docs/reference/files.md");
    let mut fields: Vec<String> = Vec::new();
    fields.extend(fields_of(&Record::default()));
    fields.extend(fields_of(&Pin::default()));
    fields.extend(fields_of(&Entry::default()));
    fields.extend(fields_of(&Ledger::default()));
    let schema: Value = serde_json::from_str(&text("schemas/speckit-state.schema.json")).unwrap();
    fields.extend(schema["properties"].as_object().unwrap().keys().cloned());
    for field in fields {
        assert!(
            document.contains(&format!("`{field}`")),
            "docs/reference/files.md has no `{field}`"
        );
    }
}

#[test]
fn numbered_faults_have_tests() {
    let places = ["src", "tests"].map(|folder| sources(&checkout().join(folder)));
    let programs: Vec<String> = places
        .concat()
        .iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "rs"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let stays = section("docs/decisions.md", "## Faults that stay");
    for (letter, last) in [('s', 10), ('h', 6), ('l', 9), ('d', 16)] {
        for number in 1..=last {
            let test = format!("fn {letter}{number}_");
            let tested = programs.iter().any(|program| program.contains(&test));
            let sentence = format!("**{}{number}**", letter.to_ascii_uppercase());
            let named = tested || stays.contains(&sentence);
            assert!(named, "no test is named `{test}…`, and docs/decisions.md has no {sentence}");
        }
    }
}

/// One of each; a new reason does not compile here until it is added.
fn all_reasons() -> Vec<TerminalReason> {
    use TerminalReason as Reason;
    let all = vec![
        Reason::Completed,
        Reason::MaxIters { limit: 1 },
        Reason::NoProgress { stall: Stall::NoToolCall, times: 1 },
        Reason::TaskFailed { task: String::new(), used: 1, limit: 1 },
        Reason::Blocked { need: String::new(), by: Obstacle::Other },
        Reason::Cancelled,
        Reason::Stopped,
        Reason::TimedOut { limit: 1 },
        Reason::HarnessFailed { why: String::new() },
        Reason::UsageLimit { why: String::new() },
        Reason::Budget { used: 1, limit: 1, unit: BudgetUnit::Tokens },
        Reason::CorruptState,
    ];
    for reason in &all {
        match reason {
            Reason::Completed
            | Reason::MaxIters { .. }
            | Reason::NoProgress { .. }
            | Reason::TaskFailed { .. }
            | Reason::Blocked { .. }
            | Reason::Cancelled
            | Reason::Stopped
            | Reason::TimedOut { .. }
            | Reason::HarnessFailed { .. }
            | Reason::UsageLimit { .. }
            | Reason::Budget { .. }
            | Reason::CorruptState => {}
        }
    }
    all
}

fn fields_of(value: &impl Serialize) -> Vec<String> {
    let value = serde_json::to_value(value).unwrap();
    value.as_object().unwrap().keys().cloned().collect()
}

/// A line of the floor plan: a folder or file below `src`, and the rooms it is said to have.
struct Floor {
    place: String,
    rooms: Vec<String>,
}

impl Floor {
    fn module(&self) -> &str {
        self.place.trim_start_matches("src/").trim_end_matches('/').trim_end_matches(".rs")
    }
}

fn floors() -> Vec<Floor> {
    let plan = &blocks(&section("ARCHITECTURE.md", "## Floor plan"))[0];
    let lines = plan.0.lines().filter(|line| line.starts_with("src/"));
    let floors: Vec<Floor> = lines
        .map(|line| {
            let (place, rooms) = line.split_once(' ').unwrap();
            let rooms = rooms.split(',').map(|room| room.trim().to_owned()).collect();
            Floor { place: place.to_owned(), rooms }
        })
        .collect();
    assert!(floors.len() > 8, "{} floors", floors.len());
    floors
}

/// All Rust files at or below a path.
fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|entry| sources(&entry)).collect()
}

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(checkout().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What stands under a heading, up to the next one of the same kind.
fn section(document: &str, heading: &str) -> String {
    let text = text(document);
    let (_, rest) = text
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("{document} has no `{heading}`"));
    rest.split("\n## ").next().unwrap().to_owned()
}

/// What a link to a heading of this text names, as GitHub makes it.
fn anchors(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut anchors = Vec::new();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if !fenced && heading.len() < line.len() && heading.starts_with(' ') {
            let name = heading.trim().to_lowercase();
            let kept =
                name.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
            anchors.push(kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect());
        }
    }
    anchors
}

/// The text between two fences.
struct Block(String);

impl Block {
    fn first_line(&self) -> &str {
        self.0.lines().next().unwrap_or_default()
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while lines.any(|line| line.starts_with("```")) {
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        blocks.push(Block(block.join("\n")));
    }
    blocks
}

/// What stands in backticks in a line of prose, and every line of a fenced block, without prompt and comment.
fn code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            let line = line.trim_start().trim_start_matches("$ ");
            let line = line
                .strip_prefix("scripts/cargo build && scripts/cargo run -- ")
                .map_or_else(|| line.to_owned(), |command| format!("spool {command}"));
            found.push(line.split("  ").next().unwrap_or_default().to_owned());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found.retain(|code| !code.trim().is_empty());
    found
}

fn spool(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spool"));
    command.args(words).env_clear().stdin(Stdio::null());
    command.env("PATH", "/usr/bin:/bin").finish()
}

#[test]
fn one_room_knows_the_clock() {
    let doors = ["src/world.rs", "tests/it/readme.rs", "tests/agents/", "tests/client/"];
    let words =
        ["thread::sleep(", "Instant::now(", "SystemTime::now(", "env::var(", "env::var_os("];
    let mut files = 0;
    let mut folders: Vec<PathBuf> = vec![checkout().join("src"), checkout().join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(checkout()).unwrap().display().to_string();
            let is_door = doors.iter().any(|door| name.starts_with(door));
            if is_door || path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for word in words {
                assert!(!text.contains(word), "{name}: {word}");
            }
            files += 1;
        }
    }
    assert!(files > 200, "{files} files");
}

/// A test that waits for ever tells nobody what is wrong.
#[test]
fn one_room_waits_in_tests() {
    let doors = ["tests/it/support/", "tests/agents/", "tests/client/", "tests/it/readme.rs"];
    let words = [".output().unwrap()", ".status().unwrap()", "wait_with_output()", ".recv()"];
    let mut files = 0;
    for path in sources(&checkout().join("tests")) {
        let name = path.strip_prefix(checkout()).unwrap().display().to_string();
        if doors.iter().any(|door| name.starts_with(door)) {
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in words {
            assert!(
                !text.contains(word),
                "{name}: {word} has no limit; tests/it/support/limited.rs has"
            );
        }
        files += 1;
    }
    assert!(files > 100, "{files} files");
}

#[test]
fn contributing_names_every_folder_of_tests() {
    let document = text("CONTRIBUTING.md");
    let mut named = 0;
    for folder in ["tests", "tests/it"] {
        for entry in fs::read_dir(checkout().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if ["it", "main.rs", "fixtures"].contains(&name.as_str()) {
                continue;
            }
            let row = format!("| `{folder}/{name}` |");
            assert!(document.contains(&row), "CONTRIBUTING.md has no row for `{folder}/{name}`");
            named += 1;
        }
    }
    assert!(named > 15, "{named} folders");
}
