//! What a reader is given: the specification, the tasks, the changes, the checks, each bounded and marked as data.

use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use super::armed::Reworded;
use super::form::{BEGIN, END};
use crate::engine::CheckResult;
use crate::engine::scope::in_runs;
use crate::feature::requirements::Requirement;
use crate::store::read::{folder_inside, read_in};
use crate::store::receipts::{Receipt, VerifyRun};
use crate::text;

/// The most bytes of each part.
const SPECIFICATION: usize = 128 << 10;
const TASKS: usize = 96 << 10;
const CHANGES: usize = 256 << 10;
const NEW_FILES: usize = 128 << 10;
const NEW_FILE: usize = 16 << 10;
const CHECK: usize = 8 << 10;
const RECEIPTS: usize = 32 << 10;
/// The most letters of each text of a requirement that was reworded.
const REWORDED_TEXT: usize = 2_000;
/// What a reader is told where there are such requirements.
const REWORDED: &str = "Some requirements were reworded since the loop was armed, perhaps by who did the work: both texts stand below. \
    Judge the one of now; where it asks for less than the one of then, the requirement is \"not met\", and `why` says what is \
    missing.\n\n";
/// The most files that are named of one receipt.
const RECEIPT_FILES: usize = 12;
/// The most new files that are named.
const NAMES: usize = 500;

/// Two random words of one review, which stand in no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketMarks {
    /// The code that makes an answer.
    pub code: String,
    /// The mark around each piece of data.
    pub fence: String,
}

impl PacketMarks {
    /// Returns new ones, of 128 random bits each.
    pub fn new() -> Self {
        Self { code: random(), fence: random() }
    }
}

/// Each state is seeded by the system; its hash of nothing is as random as the seed.
fn random() -> String {
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}

/// What a packet is made of.
pub struct PacketMaterial<'a> {
    /// The name of the feature.
    pub feature: &'a str,
    /// What it has to meet.
    pub requirements: &'a [Requirement],
    /// Those of them that read differently than when the loop was armed.
    pub reworded: &'a [Reworded],
    /// The ids of the finished tasks that alone are reviewed; empty for all of the work.
    pub part: &'a [String],
    /// The path of the specification from the root, and its text.
    pub specification: (&'a str, &'a str),
    /// The same of the task list, `None` where there is none.
    pub tasks: Option<(&'a str, &'a str)>,
    /// Since when the changes are shown.
    pub since: &'a str,
    /// The changes as a patch, `None` where they are not known.
    pub changes: Option<&'a str>,
    /// Files that git does not know yet.
    pub new_files: &'a [PathBuf],
    /// Files that differ, but the patch does not show how.
    pub hidden: &'a [PathBuf],
    /// The root of the project, a real path.
    pub root: &'a Path,
    /// The last run of the checks.
    pub checks: &'a [CheckResult],
    /// Whether they ran after the newest change, as far as anybody knows.
    pub are_fresh: bool,
    /// What was seen when the tasks were ticked, the oldest first.
    pub receipts: &'a [Receipt],
}

/// Returns the prompt of a reader.
pub fn prompt(material: &PacketMaterial<'_>, marks: &PacketMarks) -> String {
    let mut text = task(material, marks);
    let mut part = |title: &str, content: &str| {
        let fence = &marks.fence;
        let _ = write!(text, "\n<<< {fence} {title}\n{}\n>>> {fence}\n", content.trim_end());
    };
    let (path, content) = material.specification;
    part(&format!("the specification, {path}"), &cut(content, SPECIFICATION, path));
    if !material.reworded.is_empty() {
        part("what was reworded since the loop was armed", &reworded(material.reworded));
    }
    if let Some((path, content)) = material.tasks {
        part(&format!("the tasks, {path}"), &cut(content, TASKS, path));
    }
    match material.changes {
        None => part("the changes", "not known: read the files"),
        Some("") => {
            part(&format!("the changes {}", material.since), "none in files that git knows");
        }
        Some(changes) => part(
            &format!("the changes {}", material.since),
            &cut(changes, CHANGES, "the files themselves"),
        ),
    }
    if !material.new_files.is_empty() {
        let files = with_contents(material.root, material.new_files);
        part("new files that git does not know yet", &files);
    }
    if !material.hidden.is_empty() {
        let files = with_contents(material.root, material.hidden);
        part(
            "files that have changed in a way that the patch does not show, as they are now",
            &files,
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

/// What the reader has to do, and the form of its answer. The line that begins an answer stands nowhere in it: what only
/// repeats its prompt is no answer.
fn task(material: &PacketMaterial<'_>, marks: &PacketMarks) -> String {
    let ids: Vec<&str> = material.requirements.iter().map(|it| it.id.as_str()).collect();
    let (part, later) = part_of_the_work(material.part);
    let reworded = if material.reworded.is_empty() { "" } else { REWORDED };
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

/// What is said where a part of the work is reviewed: which tasks are finished, and the word for what others build.
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

/// Each requirement that was reworded, with both of its texts.
fn reworded(all: &[Reworded]) -> String {
    let mut text = String::new();
    for Reworded { id, then, now } in all {
        let [then, now] = [then, now].map(|it| text::title(it, REWORDED_TEXT));
        let _ = writeln!(text, "{id} then: {then}\n{id} now: {now}");
    }
    cut(&text, RECEIPTS, "git")
}

/// A line for each task that was ticked, by its last receipt.
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
                    files.iter().take(RECEIPT_FILES).map(|it| line(it)).collect();
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

/// The text, or its beginning with a line that says so.
fn cut(content: &str, most: usize, whole: &str) -> String {
    if content.len() <= most {
        return content.to_owned();
    }
    let kept = &content[..content.floor_char_boundary(most)];
    let kept = kept.rfind('\n').map_or(kept, |end| &kept[..end]);
    format!(
        "{kept}\n[cut here: {} of {} bytes are shown; the rest is in {whole}]",
        kept.len(),
        content.len()
    )
}

/// Files with their contents, as long as there is room.
fn with_contents(root: &Path, files: &[PathBuf]) -> String {
    let mut text = String::new();
    for path in files.iter().take(NAMES) {
        let name = line(&path.display().to_string());
        let content = if text.len() < NEW_FILES { content(root, path) } else { None };
        let _ = match content {
            Some(content) => {
                writeln!(text, "{name}:\n{}", cut(&content, NEW_FILE, &name).trim_end())
            }
            None => writeln!(text, "{name} (not shown)"),
        };
    }
    let more = files.len().saturating_sub(NAMES);
    if more > 0 {
        let _ = writeln!(text, "[cut here: and {more} more]");
    }
    text
}

/// What a file holds, each line with a `+`; `None` for one that is not read, or is no text.
fn content(root: &Path, path: &Path) -> Option<String> {
    let folder = folder_inside(root, &root.join(path.parent()?)).ok()?;
    let content = read_in(&folder, path.file_name()?.to_str()?, 4 << 20).ok()?;
    let content = String::from_utf8(content.bytes).ok().filter(|it| !it.contains('\0'))?;
    Some(content.lines().fold(String::new(), |text, line| text + "+" + line + "\n"))
}

fn line(content: &str) -> String {
    text::title(content, 200)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::form;

    fn material<'a>(root: &'a Path, requirements: &'a [Requirement]) -> PacketMaterial<'a> {
        PacketMaterial {
            feature: "001-login",
            requirements,
            reworded: &[],
            part: &[],
            specification: ("specs/001-login/spec.md", "- FR-001\n"),
            tasks: Some(("specs/001-login/tasks.md", "- [x] T001\n")),
            since: "since the loop was armed",
            changes: Some("+fn login() {}\n"),
            new_files: &[],
            hidden: &[],
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
    fn two_reviews_have_other_marks_and_a_prompt_alone_is_no_answer() {
        let marks = PacketMarks::new();
        assert!(marks.code != marks.fence && marks != PacketMarks::new() && marks.code.len() == 32);
        let wanted = wanted();
        let prompt = prompt(&material(Path::new("/"), &wanted), &marks);
        let why = form::parse(&prompt, &marks.code, &wanted, false).unwrap_err();
        assert_eq!(why, ["it has no line with `REVIEW` and the code of this review"]);
        assert_eq!(prompt.matches(&marks.code).count(), 1);
    }

    #[test]
    fn the_review_of_a_part_names_its_tasks_and_may_leave_the_rest_for_later() {
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
    fn what_is_too_long_is_cut_at_a_line_and_says_so() {
        let wanted = wanted();
        let patch = "+ a line of the patch\n".repeat(20_000);
        let material =
            PacketMaterial { changes: Some(&patch), ..material(Path::new("/"), &wanted) };
        let prompt = prompt(&material, &PacketMarks::new());
        assert!(prompt.len() < CHANGES + 10_000, "{}", prompt.len());
        assert!(
            prompt.contains("of the patch\n[cut here: 262129 of 440000 bytes are shown; the rest is in the files themselves]\n"),
            "{}",
            &prompt[prompt.len() - 300..]
        );
    }

    #[test]
    fn new_files_are_shown_and_what_is_no_text_or_outside_is_only_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("project");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join("new.rs"), "fn new() {}\n").unwrap();
        std::fs::write(project.join("image"), b"a\0b").unwrap();
        std::fs::write(root.join("secret"), "SECRET").unwrap();
        std::os::unix::fs::symlink(root.join("secret"), project.join("link")).unwrap();
        let files = ["new.rs", "image", "link", "gone"].map(PathBuf::from);
        assert_eq!(
            with_contents(&project, &files),
            "new.rs:\n+fn new() {}\nimage (not shown)\nlink (not shown)\ngone (not shown)\n"
        );
    }
}
