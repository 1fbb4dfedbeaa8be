//! The lists of `tests/lists`, each held against its row in the table there.
#![allow(clippy::disallowed_methods, reason = "a test reads what it likes")]

use std::fs;
use std::path::{Path, PathBuf};

use ralph_speckit::engine::TaskKind;
use ralph_speckit::engine::tasks::{Task, TaskList};

const COLUMNS: [&str; 5] = ["open", "done", "next", "named", "verify"];

/// A row of the table.
struct Row {
    file: PathBuf,
    /// What the columns say, without the parts.
    cells: [String; 5],
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lists")
}

fn rows() -> Vec<Row> {
    let table = fs::read_to_string(folder().join("README.md")).unwrap();
    let (mut rows, mut tool) = (Vec::new(), "");
    for line in table.lines() {
        tool = line.strip_prefix("## ").unwrap_or(tool);
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        let [_, file, open, done, next, named, _, verify, ..] = cells.as_slice() else { continue };
        let path = folder().join(tool).join(file);
        if path.extension().is_some_and(|end| end == "md" || end == "txt") {
            let cells = [open, done, next, named, verify].map(Clone::clone);
            rows.push(Row { file: path, cells });
        }
    }
    rows
}

/// The words of a cell; what is in quotes is one word.
fn words(cell: &str) -> Vec<String> {
    let (mut words, mut quoted) = (Vec::new(), false);
    for piece in cell.split_inclusive('"') {
        let text = piece.trim_end_matches('"');
        if quoted {
            words.push(format!("\"{text}"));
        } else {
            words.extend(text.split_whitespace().filter(|word| *word != "-").map(str::to_owned));
        }
        quoted ^= piece.ends_with('"');
    }
    words
}

/// Whether a task is what a word of the table names.
fn is_named(task: &Task, word: &str) -> bool {
    word.strip_prefix('"')
        .map_or(task.id.eq_ignore_ascii_case(word), |text| task.title.starts_with(text))
}

fn agree<'a>(tasks: impl Iterator<Item = &'a Task>, cell: &str) -> bool {
    let (tasks, words): (Vec<_>, _) = (tasks.collect(), words(cell));
    tasks.len() == words.len() && tasks.iter().zip(&words).all(|(task, word)| is_named(task, word))
}

fn named(list: &TaskList) -> String {
    let of_task = |task: &Task| {
        let kind = match task.kind {
            TaskKind::Work if task.mark == ' ' || task.done => return None,
            TaskKind::Work => "mark".to_owned(),
            kind => format!("{kind:?}").to_lowercase(),
        };
        Some((task.line, kind))
    };
    let of_tasks = list.tasks.iter().chain(&list.left_out).filter_map(of_task);
    let unread =
        list.unread.iter().map(|unread| (unread.line, format!("{:?}", unread.why).to_lowercase()));
    let mut all: Vec<_> = of_tasks.chain(unread).collect();
    all.sort();
    let all: Vec<_> = all.iter().map(|(line, kind)| format!("L{line}:{kind}")).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(" ") }
}

#[test]
fn every_list_is_read_as_people_do() {
    let rows = rows();
    let (mut wrong, mut rest) = (String::new(), 0);
    for row in &rows {
        let text = fs::read(&row.file).unwrap();
        let list = TaskList::parse(&text);
        let commands = list.tasks.iter().filter_map(|task| {
            let command = task.verify_command(&text)?;
            Some(format!("{}={command}", task.id))
        });
        let commands = commands.collect::<Vec<_>>().join("; ");
        let next = list.next().into_iter().take(1);
        let is_right = [
            agree(list.open(), &row.cells[0]),
            agree(list.tasks.iter().filter(|task| task.done), &row.cells[1]),
            agree(next, &row.cells[2]),
            named(&list) == row.cells[3],
            row.cells[4] == commands
                || (row.cells[4] == "-" && commands.is_empty())
                || row.cells[4].contains('"'),
        ];
        for (at, _) in is_right.iter().enumerate().filter(|(_, right)| !**right) {
            let found: Vec<String> = match at {
                0 => list.open().map(|task| format!("{} {}", task.id, &*task.title)).collect(),
                1 => list
                    .tasks
                    .iter()
                    .filter(|task| task.done)
                    .map(|task| format!("{} {}", task.id, &*task.title))
                    .collect(),
                2 => list.next().iter().map(|task| task.id.clone()).collect(),
                3 => vec![named(&list)],
                _ => vec![commands.clone()],
            };
            let name = row.file.strip_prefix(folder()).unwrap().display();
            wrong += &format!("{name}: {}: {} but {found:?}\n", COLUMNS[at], row.cells[at]);
            rest += 1;
        }
    }
    assert!(rows.len() >= 150, "{} lists", rows.len());
    assert!(wrong.is_empty(), "{rest} cells of {} lists:\n{wrong}", rows.len());
}
