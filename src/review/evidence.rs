//! Whether the evidence that a reader names is there: the file, the line, what stands on it, the command.

use std::fs;
use std::path::{Component, Path};

use super::form::{ReviewAnswer, ReviewEvidence, ReviewJudgement};
use crate::engine::CheckResult;
use crate::evidence::tree::is_own;
use crate::store::read::{folder_inside, read_in};
use crate::system::files;
use crate::text;
use crate::world::FileTime;

/// The most of a file that is read, in bytes.
const MOST: u64 = 8 << 20;
/// How far from the named line a quotation may begin: readers count with and without a heading.
const NEAR: usize = 3;
/// The fewest letters and signs of a quotation that say anything.
const LEAST: usize = 4;
/// The most letters of a name in a message.
const SHOWN: usize = 120;

/// What evidence is held against.
pub struct Ground<'a> {
    /// The root of the project, a real path.
    pub root: &'a Path,
    /// The files that say what is wanted, from the root: what they say is no evidence of work.
    pub wishes: &'a [String],
    /// The checks whose output the reader was given.
    pub checks: &'a [CheckResult],
    /// When the reader began, by the clock of the files: what has changed since may be its own.
    pub since: FileTime,
    /// Whether git ignores a path from the root: no such file is work.
    pub is_ignored: &'a dyn Fn(&str) -> bool,
}

/// Returns what is wrong with the evidence of an answer, a line for each; none when all of it is there.
pub fn problems(answer: &ReviewAnswer, ground: &Ground<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    for judged in &answer.requirements {
        if judged.verdict == ReviewJudgement::Met && judged.evidence.is_empty() {
            problems.push(format!("{} is called met without evidence", judged.id));
        }
        for evidence in &judged.evidence {
            if let Err(why) = ground.holds(evidence, judged.verdict) {
                problems.push(format!("{}: {why}", judged.id));
            }
        }
    }
    for finding in &answer.findings {
        for evidence in &finding.evidence {
            if let Err(why) = ground.holds(evidence, ReviewJudgement::NotMet) {
                problems.push(format!("`{}`: {why}", text::title(&finding.finding, SHOWN)));
            }
        }
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
        let path = Path::new(&evidence.file);
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)))
            && text::is_plain(&evidence.file)
            && !path.ancestors().any(|it| is_own(it) || it.ends_with(".git"));
        let (Some(folder), Some(name), true) =
            (path.parent(), path.file_name().and_then(|name| name.to_str()), is_plain)
        else {
            return Err(format!("`{shown}` is no file of the project's work"));
        };
        let content = folder_inside(self.root, &self.root.join(folder))
            .and_then(|folder| read_in(&folder, name, MOST))
            .map_err(|problem| format!("`{shown}`: {problem}"))?;
        if verdict == ReviewJudgement::Met && self.wishes.contains(&evidence.file) {
            return Err(format!("`{shown}` says what is wanted, not that it is there"));
        }
        // Not every file is looked at that changes meanwhile: git ignores some.
        let meta = fs::metadata(self.root.join(path));
        if self.since.is_known() && meta.is_ok_and(|meta| files::changed_at(&meta) > self.since) {
            return Err(format!("`{shown}` has changed since the reader began"));
        }
        if verdict == ReviewJudgement::Met && (self.is_ignored)(&evidence.file) {
            return Err(format!("`{shown}` is ignored by git, so it is no work of the project"));
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
        if stands_near(&lines, line, &evidence.quote) {
            return Ok(());
        }
        let quote = text::title(&evidence.quote, SHOWN);
        Err(format!("`{quote}` does not stand in `{shown}` at line {line}"))
    }
}

fn letters(quote: &str) -> usize {
    quote.chars().filter(|letter| !letter.is_whitespace()).count()
}

/// Whether a quotation stands on a line, from 1, or near it; how it is broken and indented is nothing.
fn stands_near(lines: &[&str], line: usize, quote: &str) -> bool {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = (line - 1).saturating_sub(NEAR);
    let until = (line + NEAR).saturating_add(quote.lines().count()).min(lines.len());
    flat(&lines[from..until].join("\n")).contains(&flat(quote))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::form::{ReviewFinding, ReviewRequirement, ReviewSeverity};

    const FILE: &str = "# Login\n\nfn login() {\n    check(password)\n}\n\n\n\n\n\nfn far() {}\n";

    /// What is wrong with this evidence for a requirement that is judged so.
    fn wrong(verdict: ReviewJudgement, evidence: ReviewEvidence) -> String {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::create_dir_all(project.join(".git")).unwrap();
        for name in ["project/src/login.rs", "project/spec.md", "project/.git/config", "secret"] {
            fs::write(root.join(name), FILE).unwrap();
        }
        std::os::unix::fs::symlink(root.join("secret"), project.join("link")).unwrap();
        std::os::unix::fs::symlink(&root, project.join("out")).unwrap();
        let check = |run: &str, passed| CheckResult {
            run: run.to_owned(),
            passed,
            outcome: "exit code 1".to_owned(),
            tail: String::new(),
            review: None,
        };
        let ground = Ground {
            root: &project,
            wishes: &["spec.md".to_owned()],
            checks: &[check("cargo test", true), check("cargo clippy", false)],
            since: FileTime::default(),
            is_ignored: &|_| false,
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
    fn evidence_that_is_not_there_is_named() {
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
    fn what_is_called_met_needs_evidence_and_a_finding_needs_none() {
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
