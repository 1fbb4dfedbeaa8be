//! The reader's packet: specification, tasks, changes and checks, each bounded and marked as data.

use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use super::armed::Reworded;
use super::changes::{Changes, cut};
use super::form::{BEGIN, END};
use crate::engine::CheckResult;
use crate::engine::scope::in_runs;
use crate::feature::requirements::Requirement;
use crate::mask::masked_text;
use crate::store::receipts::{Receipt, VerifyRun};
use crate::text;

/// Bytes of each part.
pub const SPECIFICATION: usize = 128 << 10;
pub const TASKS: usize = 96 << 10;
const CHECK: usize = 8 << 10;
const RECEIPTS: usize = 32 << 10;
/// Letters of each text of a reworded requirement.
const REWORDED_TEXT: usize = 2_000;
/// For the reader, about another specification than at arming.
const REWORDED: &str = "The specification was reworded since the loop was armed, perhaps by who did the work: both texts stand below. \
    Judge the one of now; where it asks for less than the one of then, the requirement is \"not met\", and `why` says what is \
    missing. What the one of then asks for without an id, and the one of now does not, is a \"high\" finding.\n\n";
/// Files named of one receipt.
const RECEIPT_FILES: usize = 12;

/// Two random words of one review, which no file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketMarks {
    /// The code that makes an answer.
    pub code: String,
    /// The mark around each piece of data.
    pub fence: String,
}

impl PacketMarks {
    /// 128 random bits each.
    pub fn new() -> Self {
        Self { code: random(), fence: random() }
    }
}

/// The system seeds each state; its hash of nothing is as random as the seed.
fn random() -> String {
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}

pub struct PacketMaterial<'a> {
    pub feature: &'a str,
    pub requirements: &'a [Requirement],
    /// Requirements that were reworded since arming.
    pub reworded: &'a [Reworded],
    /// The specification at arming, if it was another one.
    pub then: Option<&'a str>,
    /// Ids of the finished tasks to be reviewed; empty for all work.
    pub part: &'a [String],
    /// The specification's path from the root, and its text.
    pub specification: (&'a str, &'a str),
    /// The task list's path and text.
    pub tasks: Option<(&'a str, &'a str)>,
    /// The beginning of the shown changes.
    pub since: &'a str,
    pub changes: &'a Changes,
    /// The project's root, a real path.
    pub root: &'a Path,
    /// The last run of the checks.
    pub checks: &'a [CheckResult],
    /// The checks ran after the newest change, as far as known.
    pub are_fresh: bool,
    /// Receipts of ticked tasks, oldest first.
    pub receipts: &'a [Receipt],
}

pub fn prompt(material: &PacketMaterial<'_>, marks: &PacketMarks) -> String {
    let mut text = task(material, marks);
    let mut part = |title: &str, content: &str| {
        let (fence, title, content) = (&marks.fence, masked_text(title), masked_text(content));
        let _ = write!(text, "\n<<< {fence} {title}\n{}\n>>> {fence}\n", content.trim_end());
    };
    let (path, content) = material.specification;
    part(&format!("the specification, {path}"), &cut(content, SPECIFICATION, path));
    if let Some(then) = material.then {
        part("the specification when the loop was armed", &cut(then, SPECIFICATION, "git"));
    }
    let titles = material.requirements.iter().map(|one| format!("{}: {}\n", one.id, one.title));
    part("what each id stands for", &titles.collect::<String>());
    if !material.reworded.is_empty() {
        part("what was reworded since the loop was armed", &reworded(material.reworded));
    }
    if let Some((path, content)) = material.tasks {
        part(&format!("the tasks, {path}"), &cut(content, TASKS, path));
    }
    let changes = material.changes;
    if !changes.names.is_empty() {
        part("every file that has changed", &changes.all_names());
    }
    if !changes.caveats.is_empty() {
        part("what you are not given", &changes.caveats.join("\n"));
    }
    let title = format!("the changes {}", material.since);
    match changes.patch.as_deref() {
        None => part("the changes", "not known: read the files"),
        Some("") => part(&title, "none in files that git knows"),
        Some(shown) => part(&title, shown),
    }
    if !changes.texts.is_empty() {
        part(
            "files that have changed in a way that the patch does not show, as they are now",
            &changes.texts,
        );
    }
    if !material.receipts.is_empty() {
        part("the receipts: what was seen when each task was ticked", &receipts(material.receipts));
    }
    let age = if material.are_fresh {
        ""
    } else {
        ", from an earlier loop: it may be older than the newest change"
    };
    for check in material.checks {
        let end = if check.passed { "passed" } else { "failed" };
        let title =
            format!("a check: `{}` {end} ({}){age}", line(&check.run), line(&check.outcome));
        part(&title, &cut(&check.tail, CHECK, "the end of its output"));
    }
    text
}

/// The reader's task, and the form of its answer. The prompt nowhere has the line that begins an answer: a reader that
/// repeats its prompt gives no answer.
fn task(material: &PacketMaterial<'_>, marks: &PacketMarks) -> String {
    let ids: Vec<&str> = material.requirements.iter().map(|one| one.id.as_str()).collect();
    let (part, later) = part_of_the_work(material.part);
    let reworded = if material.then.is_none() { "" } else { REWORDED };
    format!(
        include_str!("packet/task.txt"),
        begin = BEGIN,
        end = END,
        fence = marks.fence,
        code = marks.code,
        part = part,
        reworded = reworded,
        later = later,
        feature = material.feature,
        root = line(&material.root.to_string_lossy()),
        count = ids.len(),
        ids = ids.join(" "),
    )
}

/// For the review of a part: the finished tasks, and the word for what others build.
fn part_of_the_work(part: &[String]) -> (String, &'static str) {
    if part.is_empty() {
        return (String::new(), "");
    }
    let tasks = line(&in_runs(part));
    let words = format!(
        "Only a part of the work is finished and reviewed now, these tasks: {tasks}. Judge what they are about. A requirement \
         that tasks still open build is \"later\": it needs no evidence, and nothing of it is missing yet. What these tasks \
         were to build and did not is \"not met\".\n\n"
    );
    (words, ", \"later\"")
}

/// Each reworded requirement with both texts.
fn reworded(all: &[Reworded]) -> String {
    let mut text = String::new();
    for Reworded { id, then, now } in all {
        let [then, now] = [then, now].map(|words| text::title(words, REWORDED_TEXT));
        let _ = writeln!(text, "{id} then: {then}\n{id} now: {now}");
    }
    cut(&text, RECEIPTS, "git")
}

/// A line for each ticked task, by its last receipt.
fn receipts(all: &[Receipt]) -> String {
    let mut text = String::new();
    for (place, receipt) in all.iter().enumerate() {
        let is_its = |later: &Receipt| later.task == receipt.task && later.list == receipt.list;
        if all[place + 1..].iter().any(is_its) {
            continue;
        }
        let _ = write!(text, "{}", line(&receipt.task));
        let _ = match &receipt.verify {
            Some(VerifyRun { result, .. }) => {
                let end = if result.passed { "passed" } else { "failed" };
                write!(text, "; Verify `{}` {end} ({})", line(&result.run), line(&result.outcome))
            }
            None => write!(text, "; no Verify command ran"),
        };
        let _ = match &receipt.files {
            None => write!(text, "; files not known"),
            Some(files) if files.is_empty() => write!(text, "; no file changed"),
            Some(files) => {
                let names: Vec<String> =
                    files.iter().take(RECEIPT_FILES).map(|file| line(file)).collect();
                let more = files.len() as u64 - names.len() as u64 + receipt.more_files;
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                write!(text, "; files {}{more}", names.join(", "))
            }
        };
        if let Some(commits) = receipt.commits {
            let _ = write!(text, "; {}", text::counted(commits, "commit"));
        }
        text.push('\n');
    }
    cut(&text, RECEIPTS, "`spool task show`")
}

fn line(content: &str) -> String {
    text::title(content, 200)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::review::form;

    static NONE: Changes = Changes {
        patch: None,
        texts: String::new(),
        names: BTreeSet::new(),
        cut: BTreeSet::new(),
        caveats: Vec::new(),
    };

    fn material<'a>(root: &'a Path, requirements: &'a [Requirement]) -> PacketMaterial<'a> {
        PacketMaterial {
            feature: "001-login",
            requirements,
            reworded: &[],
            then: None,
            part: &[],
            specification: ("specs/001-login/spec.md", "- FR-001\n"),
            tasks: Some(("specs/001-login/tasks.md", "- [x] T001\n")),
            since: "since the loop was armed",
            changes: &NONE,
            root,
            checks: &[],
            are_fresh: true,
            receipts: &[],
        }
    }

    fn wanted() -> Vec<Requirement> {
        vec![Requirement { id: "FR-001".to_owned(), ..Requirement::default() }]
    }

    #[test]
    fn two_reviews_have_other_marks() {
        let marks = PacketMarks::new();
        assert!(marks.code != marks.fence && marks != PacketMarks::new() && marks.code.len() == 32);
        let wanted = wanted();
        let prompt = prompt(&material(Path::new("/"), &wanted), &marks);
        let why = form::parse(&prompt, &marks.code, &wanted, false).unwrap_err();
        assert_eq!(why, ["it has no line with `REVIEW` and the code of this review"]);
        assert_eq!(prompt.matches(&marks.code).count(), 1);
    }

    #[test]
    fn part_review_names_its_tasks() {
        let (wanted, marks) = (wanted(), PacketMarks::new());
        let whole = prompt(&material(Path::new("/"), &wanted), &marks);
        assert!(
            !whole.contains("later") && whole.contains("\"not met\" or \"cannot tell\""),
            "{whole}"
        );
        let part = ["T001", "T002", "T003"].map(str::to_owned);
        let material = PacketMaterial { part: &part, ..material(Path::new("/"), &wanted) };
        let prompt = prompt(&material, &marks);
        assert!(prompt.contains("these tasks: T001-T003. Judge what they are about"), "{prompt}");
        assert!(prompt.contains("\"not met\", \"later\" or \"cannot tell\""), "{prompt}");
    }

    #[test]
    fn long_text_cuts_at_lines() {
        let (wanted, marks) = (wanted(), PacketMarks::new());
        let text = "+ a line of the text\n".repeat(20_000);
        let material = PacketMaterial {
            specification: ("spec.md", &text),
            ..material(Path::new("/"), &wanted)
        };
        let prompt = prompt(&material, &marks);
        assert!(prompt.len() < SPECIFICATION + 10_000, "{}", prompt.len());
        let said =
            "of the text\n[cut here: 131060 of 420000 bytes are shown; the rest is in spec.md]\n";
        assert!(prompt.contains(said), "{}", &prompt[prompt.len() - 2_000..]);
    }

    #[test]
    fn v5_no_key_reaches_the_reader() {
        let (wanted, key) =
            (wanted(), format!("ghp_{}", "abcDEF0123456789abcDEF0123456789abcDEF01"));
        let pem = format!("+-----BEGIN {0}\n+MIIEow\n+-----END {0}\n", "PRIVATE KEY-----");
        let text = |what: &str| format!("{what} {key}\n{pem}");
        let changes = Changes {
            patch: Some(text("+let token =")),
            texts: text("new.rs:"),
            ..Changes::default()
        };
        let (specification, tasks) = (text("- FR-001"), text("- [x] T001"));
        let check =
            CheckResult { run: text("curl"), tail: text("printed"), ..CheckResult::default() };
        let material = PacketMaterial {
            specification: ("spec.md", &specification),
            tasks: Some(("tasks.md", &tasks)),
            changes: &changes,
            checks: &[check],
            ..material(Path::new("/"), &wanted)
        };
        let prompt = prompt(&material, &PacketMarks::new());
        assert!(!prompt.contains(&key[4..]) && !prompt.contains("MIIEow"), "{prompt}");
        assert!(prompt.matches("[masked]").count() >= 11, "{prompt}");
    }
}
