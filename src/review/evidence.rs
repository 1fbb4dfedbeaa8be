//! Checks a reader's evidence: the file exists, the line has these words, the command ran.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::form::{ReviewAnswer, ReviewEvidence, ReviewJudgement};
use crate::engine::CheckResult;
use crate::evidence::pattern::Pattern;
use crate::evidence::tree::is_own;
use crate::feature::HANDOFF;
use crate::mask::masked_text;
use crate::store::read::{FileContent, Problem, folder_inside, read_in};
use crate::system::files::{self, FileId};
use crate::system::names;
use crate::text;
use crate::world::FileTime;

/// Bytes read of a file.
const MOST: u64 = 8 << 20;
/// Notes of git and of the loop.
const NOTES: [&str; 4] = [".git", ".speckit-state.json", ".progress.md", HANDOFF];
/// Files that hold secrets by their name.
pub const SECRET: &str = include_str!("secret.gitignore");
/// Lines between the named line and the quotation: readers count with and without a heading.
const NEAR: usize = 3;
/// Letters and signs of the shortest quotation that says anything.
const LEAST: usize = 4;
/// Letters of a name in a message.
const SHOWN: usize = 120;

/// The ground against which evidence is checked.
pub struct Ground<'a> {
    /// The project's root, a real path.
    pub root: &'a Path,
    /// Files with the demands, relative to the root: their words are not evidence of work.
    pub wishes: &'a [String],
    /// The checks whose output the reader has.
    pub checks: &'a [CheckResult],
    /// The reader's beginning, by the files' clock: a later change may be its own.
    pub since: FileTime,
    /// Git ignores the path: such a file is not work.
    pub is_ignored: &'a dyn Fn(&str) -> bool,
}

/// What is wrong with an answer's evidence, a line each.
pub fn problems(answer: &ReviewAnswer, ground: &Ground<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    let lacks = |about: &str, all: &[ReviewEvidence], verdict| -> Vec<String> {
        let why = all.iter().filter_map(|evidence| ground.holds(evidence, verdict).err());
        why.map(|why| format!("{about}: {why}")).collect()
    };
    for judged in &answer.requirements {
        if judged.verdict == ReviewJudgement::Met && judged.evidence.is_empty() {
            problems.push(format!("{} is called met without evidence", judged.id));
        }
        problems.extend(lacks(&judged.id, &judged.evidence, judged.verdict));
    }
    for finding in &answer.findings {
        let about = format!("`{}`", text::title(&finding.finding, SHOWN));
        problems.extend(lacks(&about, &finding.evidence, ReviewJudgement::NotMet));
    }
    problems
}

impl Ground<'_> {
    fn holds(&self, evidence: &ReviewEvidence, verdict: ReviewJudgement) -> Result<(), String> {
        match (evidence.file.is_empty(), evidence.command.is_empty()) {
            (false, true) => self.holds_in_file(evidence, verdict),
            (true, false) => self.holds_for_command(evidence, verdict),
            _ => Err("its evidence names neither a file nor a command, or both".to_owned()),
        }
    }

    fn holds_for_command(
        &self,
        evidence: &ReviewEvidence,
        verdict: ReviewJudgement,
    ) -> Result<(), String> {
        let shown = text::title(&evidence.command, SHOWN);
        let ran = self.checks.iter().find(|check| check.run.trim() == evidence.command.trim());
        match ran {
            None => Err(format!("`{shown}` is no command whose output is known")),
            Some(check) if verdict == ReviewJudgement::Met && !check.passed => {
                Err(format!("`{shown}` did not pass: {}", text::title(&check.outcome, SHOWN)))
            }
            Some(_) => Ok(()),
        }
    }

    fn holds_in_file(
        &self,
        evidence: &ReviewEvidence,
        verdict: ReviewJudgement,
    ) -> Result<(), String> {
        let shown = text::title(&evidence.file, SHOWN);
        let no_work = || format!("`{shown}` is no file of the project's work");
        let path = Path::new(&evidence.file);
        let leads_out = |part| matches!(part, Component::ParentDir | Component::RootDir);
        let found = self.file(&self.root.join(path));
        let is_outside = matches!(found, Err(Problem::Outside)) && path.components().any(leads_out);
        if is_outside || !text::is_plain(&evidence.file) || !is_work(path) {
            return Err(no_work());
        }
        let (path, content) = found.map_err(|problem| format!("`{shown}`: {problem}"))?;
        if !is_work(path.strip_prefix(self.root).unwrap_or(&path)) {
            return Err(no_work());
        }
        // A hard link is the same file.
        let is_wish = |wish: &String| FileId::at(&self.root.join(wish)) == FileId::at(&path);
        if verdict == ReviewJudgement::Met && self.wishes.iter().any(is_wish) {
            return Err(format!("`{shown}` says what is wanted, not that it is there"));
        }
        // Git ignores some files, and not all are watched for changes.
        let meta = fs::metadata(&path);
        if self.since.is_known() && meta.is_ok_and(|meta| files::changed_at(&meta) > self.since) {
            return Err(format!("`{shown}` has changed since the reader began"));
        }
        let from_root = names::with_slashes(path.strip_prefix(self.root).unwrap_or(&path));
        if verdict == ReviewJudgement::Met && (self.is_ignored)(&from_root) {
            return Err(format!("`{shown}` is ignored by git, so it is no work of the project"));
        }
        if verdict == ReviewJudgement::Met && is_among(SECRET, &from_root) {
            return Err(format!("`{shown}` may hold keys or passwords, so it proves nothing"));
        }
        let content = String::from_utf8_lossy(&content.bytes);
        let lines: Vec<&str> = content.lines().collect();
        let line = usize::try_from(evidence.line.get()).unwrap_or(usize::MAX);
        if line == 0 || line > lines.len() {
            return Err(format!("`{shown}` has no line {line}: it has {}", lines.len()));
        }
        if verdict == ReviewJudgement::Met && letters(&evidence.quote) < LEAST {
            return Err(format!("`{shown}`, line {line}: it quotes nothing that says anything"));
        }
        // The reader got the text with keys masked.
        let masked = || lines.iter().map(|line| masked_text(line)).collect::<Vec<_>>();
        if stands_near(&lines, line, &evidence.quote)
            || evidence.quote.contains("[masked]") && stands_near(&masked(), line, &evidence.quote)
        {
            return Ok(());
        }
        let quote = text::title(&evidence.quote, SHOWN);
        Err(format!("`{quote}` does not stand in `{shown}` at line {line}"))
    }

    /// The content of the file at this path, and its real path.
    fn file(&self, path: &Path) -> Result<(PathBuf, FileContent), Problem> {
        let path = files::real_path(path)?;
        let folder = folder_inside(self.root, path.parent().unwrap_or(self.root))?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Ok((folder.join(name), read_in(&folder, name, MOST)?))
    }
}

/// The path may be work: it belongs neither to git nor to the loop.
pub fn is_work(path: &Path) -> bool {
    let is_note = |part: &Path| NOTES.iter().any(|note| part.ends_with(note));
    !path.ancestors().any(|part| is_own(part) || is_note(part))
}

/// A path matches one of these patterns, written as for git.
pub fn is_among(patterns: &str, path: &str) -> bool {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let patterns = Pattern::all(patterns.as_bytes());
    let last = patterns.iter().rfind(|rule| rule.matches(path.as_bytes(), name.as_bytes(), false));
    last.is_some_and(|rule| !rule.negated)
}

fn letters(quote: &str) -> usize {
    quote.chars().filter(|letter| !letter.is_whitespace()).count()
}

/// A quotation begins on this line, from 1, or near it. Line breaks and indents do not matter.
fn stands_near<T: AsRef<str>>(lines: &[T], line: usize, quote: &str) -> bool {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_said = |line: &&str| !line.trim().is_empty();
    let most = quote.lines().filter(is_said).count() + NEAR;
    let (quote, from) = (flat(quote), (line - 1).saturating_sub(NEAR));
    let begins = |at: usize| {
        let said = lines[at..].iter().map(AsRef::as_ref).filter(is_said).take(most);
        let found = flat(&said.collect::<Vec<_>>().join("\n")).find(&quote);
        found.is_some_and(|found| found < flat(lines[at].as_ref()).len())
    };
    quote.is_empty() || (from..(line + NEAR).min(lines.len())).any(begins)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::review::form::{ReviewFinding, ReviewRequirement, ReviewSeverity};

    const FILE: &str = "# Login\n\nfn login() {\n    check(password)\n}\n\n\n\n\n\nfn far() {}\n";

    struct EvidencePlace {
        _scratch: tempfile::TempDir,
        project: PathBuf,
    }

    fn place() -> EvidencePlace {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::create_dir_all(project.join(".git")).unwrap();
        for name in [
            "project/src/login.rs",
            "project/spec.md",
            "project/.speckit-state.json",
            "project/.git/config",
            "secret",
        ] {
            fs::write(root.join(name), FILE).unwrap();
        }
        symlink(root.join("secret"), project.join("link")).unwrap();
        symlink(&root, project.join("out")).unwrap();
        EvidencePlace { _scratch: scratch, project }
    }

    impl EvidencePlace {
        /// What is wrong with this evidence for a requirement that is judged so.
        fn wrong(&self, verdict: ReviewJudgement, evidence: ReviewEvidence) -> String {
            self.wrong_where(verdict, evidence, &|_| false)
        }

        fn wrong_where(
            &self,
            verdict: ReviewJudgement,
            evidence: ReviewEvidence,
            is_ignored: &dyn Fn(&str) -> bool,
        ) -> String {
            let check = |run: &str, passed| CheckResult {
                run: run.to_owned(),
                passed,
                outcome: "exit code 1".to_owned(),
                tail: String::new(),
                review: None,
            };
            let ground = Ground {
                root: &self.project,
                wishes: &["spec.md".to_owned()],
                checks: &[check("cargo test", true), check("cargo clippy", false)],
                since: FileTime::default(),
                is_ignored,
            };
            let judged = ReviewRequirement {
                id: "FR-001".to_owned(),
                verdict,
                evidence: vec![evidence],
                why: String::new(),
            };
            problems(&ReviewAnswer { requirements: vec![judged], findings: Vec::new() }, &ground)
                .join("; ")
        }
    }

    fn wrong(verdict: ReviewJudgement, evidence: ReviewEvidence) -> String {
        place().wrong(verdict, evidence)
    }

    fn at(file: &str, line: u64, quote: &str) -> ReviewEvidence {
        let (file, quote) = (file.to_owned(), quote.to_owned());
        ReviewEvidence { file, line: line.into(), quote, command: String::new() }
    }

    #[test]
    fn evidence_that_is_there_holds() {
        for evidence in [
            at("src/login.rs", 4, "check(password)"),
            at("src/login.rs", 3, "fn login() {\n  check(password)\n}"),
            at("src/login.rs", 6, "fn login()"),
            ReviewEvidence { command: "cargo test".to_owned(), ..ReviewEvidence::default() },
        ] {
            assert_eq!(wrong(ReviewJudgement::Met, evidence.clone()), "", "{evidence:?}");
        }
        let failed =
            ReviewEvidence { command: "cargo clippy".to_owned(), ..ReviewEvidence::default() };
        assert_eq!(wrong(ReviewJudgement::NotMet, failed), "");
        assert_eq!(wrong(ReviewJudgement::NotMet, at("src/login.rs", 1, "")), "");
        assert_eq!(wrong(ReviewJudgement::NotMet, at("spec.md", 1, "# Login")), "");
    }

    #[test]
    fn missing_evidence_is_named() {
        let command =
            |run: &str| ReviewEvidence { command: run.to_owned(), ..ReviewEvidence::default() };
        for (evidence, why) in [
            (at("src/none.rs", 1, "fn login"), "`src/none.rs`: it does not exist"),
            (at("src/login.rs", 40, "fn login"), "has no line 40: it has 11"),
            (at("src/login.rs", 0, "fn login"), "has no line 0"),
            (
                at("src/login.rs", 4, "check(everything)"),
                "does not stand in `src/login.rs` at line 4",
            ),
            (at("src/login.rs", 1, "fn far() {}"), "does not stand in"),
            (at("src/login.rs", 5, "}"), "quotes nothing that says anything"),
            (at("src/login.rs", 4, ""), "quotes nothing that says anything"),
            (at("src", 1, "fn login"), "`src`: it is a folder, not a file"),
            (at("../secret", 1, "# Login"), "is no file of the project's work"),
            (at("/etc/passwd", 1, "root"), "is no file of the project's work"),
            (at("link", 1, "# Login"), "a symbolic link leads out of its folder"),
            (at("out/secret", 1, "# Login"), "a symbolic link leads out of its folder"),
            (at(".git/config", 1, "# Login"), "is no file of the project's work"),
            (at(".claude/ralph/x", 1, "# Login"), "is no file of the project's work"),
            (at("a\u{1b}[7m", 1, "# Login"), "is no file of the project's work"),
            (at("spec.md", 1, "# Login"), "says what is wanted, not that it is there"),
            (command("cargo clippy"), "`cargo clippy` did not pass: exit code 1"),
            (command("make"), "`make` is no command whose output is known"),
            (ReviewEvidence::default(), "names neither a file nor a command"),
            (ReviewEvidence { file: "x".to_owned(), ..command("cargo test") }, "or both"),
        ] {
            let said = wrong(ReviewJudgement::Met, evidence.clone());
            assert!(said.starts_with("FR-001: ") && said.contains(why), "{evidence:?}\n{said}");
        }
    }

    #[test]
    fn v6_a_file_has_many_spellings() {
        let place = place();
        let login = place.project.join("src/login.rs");
        for file in ["./src/login.rs", "src//login.rs", "src/./login.rs", login.to_str().unwrap()] {
            let said = place.wrong(ReviewJudgement::Met, at(file, 4, "check(password)"));
            assert_eq!(said, "", "{file}");
        }
        let spec = place.project.join("spec.md");
        symlink(&place.project, place.project.join("self")).unwrap();
        symlink("spec.md", place.project.join("alias.md")).unwrap();
        symlink(".git", place.project.join("data")).unwrap();
        for file in [
            "./spec.md",
            ".//spec.md",
            "self/spec.md",
            "alias.md",
            "src/../spec.md",
            spec.to_str().unwrap(),
            "self/self/.git/config",
            "data/config",
            ".speckit-state.json",
            ".git//config",
        ] {
            let said = place.wrong(ReviewJudgement::Met, at(file, 1, "# Login"));
            let is_refused = ["says what is wanted", "no file of the project's work"];
            assert!(is_refused.iter().any(|words| said.contains(words)), "{file}: {said}");
        }
    }

    #[test]
    fn v6_another_name_proves_nothing() {
        let place = place();
        fs::hard_link(place.project.join("spec.md"), place.project.join("src/proof.rs")).unwrap();
        for name in [".env", "config/prod.pem", "handoff.md", "docs/handoff.md"] {
            fs::create_dir_all(place.project.join(name).parent().unwrap()).unwrap();
            fs::write(place.project.join(name), FILE).unwrap();
        }
        symlink("../.env", place.project.join("src/env.rs")).unwrap();
        for (file, why) in [
            ("src/proof.rs", "says what is wanted"),
            (".env", "may hold keys or passwords"),
            ("src/env.rs", "may hold keys or passwords"),
            ("config/prod.pem", "may hold keys or passwords"),
            ("handoff.md", "no file of the project's work"),
            ("docs/handoff.md", "no file of the project's work"),
        ] {
            let said = place.wrong(ReviewJudgement::Met, at(file, 4, "check(password)"));
            assert!(said.contains(why), "{file}: {said}");
        }
        // That a secret lies there may speak against the work.
        assert_eq!(place.wrong(ReviewJudgement::NotMet, at(".env", 1, "# Login")), "");
    }

    #[test]
    fn v6_links_inside_lead_to_work() {
        let place = place();
        fs::create_dir_all(place.project.join("specs/001-login")).unwrap();
        let link = place.project.join("specs/001-login/code.rs");
        symlink("../../src/login.rs", &link).unwrap();
        symlink("specs/001-login/code.rs", place.project.join("twice.rs")).unwrap();
        symlink(place.project.join("src"), place.project.join("specs/lib")).unwrap();
        for file in ["specs/001-login/code.rs", "twice.rs", "specs/lib/login.rs"] {
            let said = place.wrong(ReviewJudgement::Met, at(file, 4, "check(password)"));
            assert_eq!(said, "", "{file}");
        }
    }

    #[test]
    fn v6_ignored_is_no_evidence() {
        let place = place();
        symlink("src", place.project.join("link-to-src")).unwrap();
        let evidence = at("link-to-src/login.rs", 4, "check(password)");
        let is_ignored = |path: &str| path == "src/login.rs";
        let said = place.wrong_where(ReviewJudgement::Met, evidence, &is_ignored);
        assert!(said.contains("is ignored by git"), "{said}");
    }

    #[test]
    fn v6_blank_lines_move_no_quotation() {
        let place = place();
        let blank = "\n".repeat(5_000);
        let far: String =
            (0..6_000).fold(String::new(), |text, line| text + "line " + &line.to_string() + "\n");
        fs::write(place.project.join("far.rs"), far).unwrap();
        for quote in [
            format!("line{blank}5000"),
            format!("{blank}line 5000"),
            format!("line 5000{blank}"),
            format!("line 4999{blank}line 5000"),
            "line 1\n\n\nline 9".to_owned(),
        ] {
            let said = place.wrong(ReviewJudgement::Met, at("far.rs", 1, &quote));
            assert!(said.contains("does not stand in"), "{quote:?}: {said}");
        }
        // How a quotation is broken is nothing.
        for quote in ["line 3\n\n\nline 4", "line\n3 line\n4", "  line 3 line 4  "] {
            assert_eq!(place.wrong(ReviewJudgement::Met, at("far.rs", 1, quote)), "", "{quote:?}");
        }
    }

    #[test]
    fn v6_a_masked_quotation_stands_there() {
        let place = place();
        fs::write(
            place.project.join("key.rs"),
            format!("let password = \"{}\";\n", "hunter2hunter2"),
        )
        .unwrap();
        let evidence = at("key.rs", 1, "let password = \"[masked]\";");
        assert_eq!(place.wrong(ReviewJudgement::Met, evidence), "");
    }

    #[test]
    fn met_needs_evidence() {
        let judged = ReviewRequirement {
            id: "FR-001".to_owned(),
            verdict: ReviewJudgement::Met,
            ..ReviewRequirement::default()
        };
        let finding = |evidence| ReviewFinding {
            finding: "a leak".to_owned(),
            severity: ReviewSeverity::Low,
            evidence,
        };
        let findings = vec![finding(Vec::new()), finding(vec![at("no/where", 1, "")])];
        let answer = ReviewAnswer { requirements: vec![judged], findings };
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let ground = Ground {
            root: &root,
            wishes: &[],
            checks: &[],
            since: FileTime::default(),
            is_ignored: &|_| false,
        };
        assert_eq!(
            problems(&answer, &ground),
            ["FR-001 is called met without evidence", "`a leak`: `no/where`: it does not exist"]
        );
    }
}
