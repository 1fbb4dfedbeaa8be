//! The lists beside this file, each held against its row in the table there.
mod added;
mod counts;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use ralph_speckit::engine::aside::{Aside, AsideKind};
use ralph_speckit::engine::edit::{tick, untick_all};
use ralph_speckit::engine::scope::Headings;
use ralph_speckit::engine::tasks::{Task, TaskList};

const COLUMNS: [&str; 6] = ["open", "done", "next", "named", "parts", "verify"];

/// A row of the table.
struct Row {
    file: PathBuf,
    /// What the columns say.
    cells: [String; 6],
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/lists")
}

fn rows() -> Vec<Row> {
    let table = fs::read_to_string(folder().join("README.md")).unwrap();
    let (mut rows, mut tool) = (Vec::new(), "");
    for line in table.lines() {
        tool = line.strip_prefix("## ").unwrap_or(tool);
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        let [_, file, open, done, next, named, parts, verify, ..] = cells.as_slice() else {
            continue;
        };
        let path = folder().join(tool).join(file);
        if path.extension().is_some_and(|end| end == "md" || end == "txt") {
            let cells = [open, done, next, named, parts, verify].map(Clone::clone);
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
    let name =
        |aside: &Aside| format!("L{}:{}", aside.line, format!("{:?}", aside.kind).to_lowercase());
    let all: Vec<_> = list.asides().iter().map(name).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(" ") }
}

/// How many tasks of a list stand below each heading of a cell.
fn parts(list: &TaskList, text: &[u8], cell: &str) -> String {
    let headings = Headings::of(text);
    let counted = cell.split("; ").filter(|part| *part != "-").map(|part| {
        let heading = part.rsplit_once(": ").map_or(part, |(heading, _)| heading);
        let mut marks = vec![false; list.tasks.len()];
        headings.mark(list, heading, &mut marks);
        let is_below = |task: &Task| {
            let line = text[task.block.start..].split(|byte| *byte == b'\n').next().unwrap();
            let line = String::from_utf8_lossy(line);
            !(line.starts_with('#') && line.contains(heading))
        };
        let below = list.tasks.iter().zip(&marks).filter(|(task, mark)| **mark && is_below(task));
        format!("{heading}: {}", below.count())
    });
    let counted: Vec<_> = counted.collect();
    if counted.is_empty() { "-".to_owned() } else { counted.join("; ") }
}

/// The first words of a task, as the table has them.
fn beginning(task: &Task) -> String {
    format!("\"{}\"", &*task.title)
}

/// The lists in a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inner = entries.filter(|path| path.is_dir()).flat_map(|path| {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    });
    inner.collect()
}

#[test]
fn lists_read_as_people_do() {
    let rows = rows();
    let (mut wrong, mut rest) = (String::new(), 0);
    for row in &rows {
        let text = fs::read(&row.file).unwrap();
        let list = TaskList::parse(&text);
        let commands = list.tasks.iter().filter_map(|task| {
            let command = task.verify_command(&text)?;
            let name = if task.has_own_id() { task.id.clone() } else { beginning(task) };
            Some(format!("{name}={}", command.replace('\n', "")))
        });
        let commands = commands.collect::<Vec<_>>().join("; ");
        let next = list.next().into_iter().take(1);
        let is_right = [
            agree(list.open(), &row.cells[0]),
            agree(list.tasks.iter().filter(|task| task.done), &row.cells[1]),
            agree(next, &row.cells[2]),
            named(&list) == row.cells[3],
            parts(&list, &text, &row.cells[4]) == row.cells[4],
            row.cells[5] == commands || (row.cells[5] == "-" && commands.is_empty()),
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
                4 => vec![parts(&list, &text, &row.cells[4])],
                _ => vec![commands.clone()],
            };
            let name = row.file.strip_prefix(folder()).unwrap().display();
            let _ = writeln!(wrong, "{name}: {}: {} but {found:?}", COLUMNS[at], row.cells[at]);
            rest += 1;
        }
    }
    assert_eq!(files(&folder()), rows.iter().map(|row| row.file.clone()).collect());
    assert!(wrong.is_empty(), "{rest} cells of {} lists:\n{wrong}", rows.len());
}

#[test]
fn no_box_is_done_unsaid() {
    let forms =
        ["[-]", "[~]", "[B]", "[?]", "[]", "[  ]", "[\u{a0}]", "\\[ \\]", "[ ]:", "[!]", "[/]"];
    for row in rows() {
        let text = fs::read(&row.file).unwrap();
        let list = TaskList::parse(&text);
        for (task, form) in list.open().flat_map(|task| forms.map(|form| (task, form))) {
            let end = task.mark_at + text[task.mark_at..].iter().position(|b| *b == b']').unwrap();
            // A letter without a blank behind its bracket is the beginning of a word.
            if form == "[B]" && text.get(end + 1).is_some_and(|byte| !b" \t".contains(byte)) {
                continue;
            }
            let start = text[..task.mark_at].iter().rposition(|byte| *byte == b'[').unwrap();
            let mutant = [&text[..start], form.as_bytes(), &text[end + 1..]].concat();
            let read = TaskList::parse(&mutant);
            assert!(
                read.open().count() >= list.open().count() || !read.asides().is_empty(),
                "{}: line {} as {form}",
                row.file.display(),
                task.line
            );
        }
    }
}

#[test]
fn a_tick_changes_one_box_alone() {
    for row in rows() {
        let text = fs::read(&row.file).unwrap();
        let list = TaskList::parse(&text);
        for task in list.open() {
            let ticked = tick(&text, task);
            let behind = |text: &[u8]| {
                let end = text[task.mark_at..].iter().position(|byte| *byte == b']').unwrap();
                text[task.mark_at + end..].to_vec()
            };
            assert_eq!(ticked[..task.mark_at], text[..task.mark_at]);
            assert_eq!(behind(&ticked), behind(&text));
            let after = TaskList::parse(&ticked);
            let states = |list: &TaskList, but: usize| {
                let others = list.tasks.iter().filter(|other| other.line != but);
                others.map(|other| (other.id.clone(), other.done)).collect::<Vec<_>>()
            };
            let same = after.tasks.iter().find(|other| other.line == task.line).unwrap();
            assert!(same.done, "{}: line {}", row.file.display(), task.line);
            assert_eq!(states(&after, task.line), states(&list, task.line));
            let opened = TaskList::parse(&untick_all(&ticked, std::slice::from_ref(&same.id)));
            assert!(!opened.tasks.iter().find(|other| other.line == task.line).unwrap().done);
        }
    }
}

fn case(name: &str) -> (TaskList, Vec<u8>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
    let text = fs::read(folder.join(name)).unwrap();
    (TaskList::parse(&text), text)
}

#[test]
fn every_case_has_its_right_value() {
    for (name, done, open, asides) in [
        ("box-forms/ordered.md", 1, "1.2 1.3", ""),
        ("box-forms/plus.md", 1, "T002", ""),
        ("box-forms/no-blank-in-the-box.md", 1, "T002 T003", ""),
        ("box-forms/check-mark.md", 2, "T003", ""),
        ("box-forms/letter-marks.md", 1, "T002 T003", "count as open: T002, T003"),
        ("box-forms/optional-star.md", 2, "", "optional, and left out: 1.2, 2"),
        ("box-forms/heading-boxes.md", 3, "T002", ""),
        ("box-forms/escaped.md", 0, "", "line 4 looks like a task and does not count"),
        ("box-forms/box-below-a-heading.md", 1, "1.2", ""),
        ("box-forms/table.md", 0, "", "it is a row of a table"),
        ("box-forms/no-blank-after.md", 1, "T003", "line 2 looks like a task"),
        ("box-forms/utf16.md", 0, "", "UTF-16"),
        ("fences/heredoc-at-the-margin.md", 0, "T001 T002 T003 T004", ""),
        ("fences/deep-fence-outside-of-a-list.md", 0, "T001 T002 T003 T004", ""),
        ("flat-numbers/flat.md", 0, "1 1.1 1.2 2", ""),
        ("ids/names-of-real-lists.md", 0, "VE1 4b.1 11A.2 V.1 T026-REMEDIAL WP01 T060A", ""),
        ("not-tasks/legend.md", 1, "", "a legend, and no work"),
        ("not-tasks/format-example.md", 1, "", "a template, and no work: line 5, line 6"),
        ("not-tasks/struck.md", 1, "", "struck through, and left out: T002"),
        ("not-tasks/deferred-dash.md", 1, "T051 T052", "count as open: T051, T052"),
        ("not-tasks/front-matter.md", 1, "", "boxes in fences, comments or front matter: line 3"),
        ("not-tasks/gate-checklist.md", 1, "", "a checklist of the list itself"),
        ("same-task-twice/order-of-work.md", 0, "T001 T002 T001~2 T002~2", ""),
        ("verify-lines/below-the-list.md", 0, "T001 T002", ""),
        ("verify-lines/of-a-line-that-is-not-counted.md", 0, "1.1", "left out: 1.2"),
    ] {
        let (list, text) = case(name);
        let found: Vec<_> = list.open().map(|task| task.id.as_str()).collect();
        let told = list.asides_in_words().join("\n");
        assert_eq!((list.done(), found.join(" ").as_str()), (done, open), "{name}: {told}");
        assert!(told.contains(asides) && told.is_empty() == asides.is_empty(), "{name}: {told}");
        let commands = list.tasks.iter().filter_map(|task| task.verify_command(&text));
        assert_eq!(commands.count(), 0, "{name}");
    }
    let (flat, _) = case("flat-numbers/flat.md");
    assert_eq!(flat.next()[0].id, "1.1");
    let (_, quality) = case("checklists/example-in-a-fence.md");
    assert_eq!(TaskList::boxes(&quality), (0, 1));
    for line in [
        "- [ ] CHK001 a",
        "1. [ ] a",
        "## [ ] a",
        "| [ ] | a |",
        "\\[ \\] a",
        "\u{2610} a",
        "> - [ ] a",
        "-[ ] a",
        "2.[ ] a",
        "[ ] CHK001 a",
        "- **[ ] CHK001** a",
        "- CHK001 a [ ]",
        "Status: [ ] passed",
    ] {
        assert_eq!(TaskList::boxes(format!("- [x] b\n\n{line}\n").as_bytes()), (1, 2), "{line}");
    }
    let notes = "- [x] a\n\n## Notes\n\n- Coverage (80%)\n- Filter by status (pending)\n- API (OPEN)\n- Button \u{1f534}\n- T2 TODO b\n";
    assert_eq!(TaskList::boxes(notes.as_bytes()), (0, 1));
    let example = "Legend:\n- [ ] open\n\n```\n- [ ] a\n```\n\n---\n\n- [x] b\n- [ ] ~~c~~\n";
    assert_eq!(TaskList::boxes(example.as_bytes()), (0, 1));
}

/// A list whose other task is ticked, with this line in it.
fn list_with(line: &str) -> TaskList {
    TaskList::parse(format!("- [x] T1 a\n\n{line}\n").as_bytes())
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn no_open_box_is_silent() {
    let blanks = " ".repeat(60);
    for line in [
        "- [ ][P] T2 b",
        "- [ ](P) T2 b",
        "- [ ]:b",
        "- [x] T2 b [ ] c",
        "- [x] [ ] T2 b",
        "- [x] T2 b\u{2028}- [ ] T3 c",
        "- [x] T2 b\u{85}- [ ] T3 c",
        "- [x] T2 b\u{b}- [ ] T3 c",
        "- [x] T2 `a` \u{2610} c",
        "\u{2022} [ ] T2 b",
        "\u{2013} [ ] T2 b",
        "\u{2192} [-] T2 b",
        "\u{251c}\u{2500}\u{2500} [ ] T2 b",
        "\u{3000}- [ ] T2 b",
        "-\u{3000}[ ] T2 b",
        "\u{ff11}\u{ff0e}[ ] T2 b",
        "a) [ ] T2 b",
        "(1) [] T2 b",
        "T2 [ ] b",
        "T2 [~] b",
        "TODO [ ] b",
        "Then do T2[ ] before all of the others",
        "1\\. [ ] T2 b",
        "_[ ] T2 b_",
        "\"[ ] T2 b\"",
        "#[ ] T2 b",
        "Don`t forget [ ] T2",
        "``Now'' do [ ] T2 `b`",
        "Write <!-- or [ ] T2 do",
        "## Task 2 [ ] do it",
        "## Do it [ ] now",
        "| \u{2610} | T2 |",
        "| T2 | b | \u{2610} |",
        "| T2 | b | [!] |",
        "- Status of T2: [~] begun",
        "- Tickets [-]",
        "- T2 b \u{2610}",
        "- [P] T2 b",
        "- [x?] T2 b",
        "- [x-] T2 b",
        "- [xx] T2 b",
        "- [1/2] T2 b",
        "- [1\u{fe0f}\u{20e3}] T2 b",
        "- [&#160;] T2 b",
        "<input type=checkbox checked> a [ ] T2 b",
        "- [&ensp;] T2 b",
        "<INPUT TYPE=\"CHECKBOX\"> T2",
        "<input type=\"text\"> <input type=\"checkbox\"> T2",
        "<input type=\"checkbox\" class=\"unchecked\"> T2",
        "<input type=\"checkbox\" data-checked=\"false\"> T2",
        "<input type=\"checkbox\" checked> A <input type=\"checkbox\"> T2",
        "<prerequisites>\n- [ ] T2 b\n</prerequisites>\n\n<pre>log</pre>",
        "## API Gateway Checklist\n- [ ] install it",
        "Key: **never skip a test**\n\n- [ ] T2 b",
        "Legend:\n\n- [ ] open\n\n---\n\n- [ ] T2 b",
        "## Symbols\n- [ ] T2 b",
        "- [x] T2 b \u{ff3b} \u{ff3d} c",
        "- \u{25a1} T2",
        "- \u{25fb}\u{fe0e} T2",
        "- \u{1f532} T2",
        "- **\u{2610} T2** b",
        "- [--] T2 b",
        "- [. .] T2 b",
        "- [\u{1f468}\u{200d}\u{1f4bb}] T2 b",
        "- [\u{2013}\u{fe0e}] T2 b",
        "- [1] T2 b",
        "- [ ] CHK01 T2",
        "- [&nbsp;] T2 b",
        "- \\[ ] T2 b",
        "- [ \\] T2 b",
        &format!("- [{blanks}] T2 b"),
        &format!("- [{blanks}-{blanks}] T2 b"),
        &format!("- [{}] T2 b", "\u{a0}".repeat(50)),
        &format!("|{blanks}[-] | T2 |"),
        &format!("- Status of T2:{blanks}[~] begun"),
        &format!("-{blanks}[ ] T2 b"),
        "## Legend\n- [ ] open\n- [x] done\n\n---\n\n- [ ] Write the docs",
        "## Legend\n- [ ] open\n\n**Tasks**\n- [ ] Write the docs",
        "## Symbols\n- [ ] Draw them",
        "**Symbols**\n- [ ] Draw them",
        "### Notation\n- [ ] Write it",
        "Key:\n\n- [ ] Rotate it",
        "- Key: [ ] rotate the signing key",
        "- [\u{d7}] T2 b",
        "- ( ) T2 b",
        "1. (  ) b",
        "- \u{ff08} \u{ff09} T2 b",
        "- \u{ff08}\u{3000}\u{ff09} T2 b",
        "- \u{3010} \u{3011} T2 b",
        "- \u{3014}\u{3000}\u{3015}T2 b",
        "&#9744; b",
        "- &#x2610; T2 b",
        "| T2 | b | &#9744; |",
        "- [~](T002) write",
        "- [~][T002] write",
        "- [o]T002 write",
        "- [TODO] T002 write",
        "- [pending] T002: write",
        "- [wip] **T002** write",
        "- [in progress] 1.2 write",
        "- [in_progress] T002",
        "- [\u{a0}\u{a0}\u{a0}] T2 b",
        "- [\t\t] T2 b",
        "*[ ] T2 b",
        "1234567890. [ ] T2 b",
        "a. [ ] T2 b",
        "####### [ ] T2 b",
        "##[ ] T2 b",
        "[ ] T2 b\n-----",
        "T2 | b\n--|--\n[ ] | c",
        "> > - [ ] T2",
        "- a\n  > - [ ] T2",
        "Text\n    - [ ] T2 b",
        "Text\n\n    - [ ] T2 b",
        "- a\n\n      - [ ] T2 b",
        "- [\u{200b}] T2 b",
        "\u{200b}- [ ] T2 b",
        "\u{feff}- [ ] T2 b",
        "- [x] T2 b\u{c}- [ ] T3 c",
        "$[ ]$",
        "{# - [ ] T2 b #}",
        "{/* - [ ] T2 b */}",
        "%% - [ ] T2 %%",
        "Term\n: [ ] T2 b",
        "<ul>\n<li>[ ] T2 b</li>\n</ul>",
        "<!--> - [ ] T2 b",
        "<!-- a <!-- b -->\n- [ ] T2 b\n-->",
        "!!! note\n    - [ ] T2 b",
        "** [ ] T2 b",
        ".. [ ] T2 b",
        "- [50%] T2 b",
        "- [\u{2717}] T2 b",
        "- [\u{ff38}] T2 b",
        "Status: [ ]",
        "Status: [-]",
        "+++\na = \"- [ ] x\"\n+++",
        "[ ]: https://a.example/b",
        "- [[ ]] b",
        "<li><input type=\"checkbox\"\n disabled> T2",
        "<input type=\n\"checkbox\"> T2",
        "<div\n class=\"x\"> [ ] T2",
        "<a title=\"a\n[ ] b\">x</a>",
        "Text <!-- begins\n- [ ] T2 c\nends --> here",
        "- a <!-- b\n  - [ ] T2 c -->",
        "<script>\n- [ ] T2 b",
        "<PRE>\n- [ ] T2 b",
        "``` a`b\n- [ ] T3 c\n```",
        "```\n- [ ] T2\n    ```\n- [ ] T3 c\n```\n- [ ] T4 d",
        "> a\n- [ ] T2 b",
        "- ```\n  a\n  ```\n- [ ] T2 b",
        "Legend:\n\n- [ ] open\n\n- [x] done\n\n- [ ] T2 b",
        "Legend:\n- [x] done\n- [ ] open\n\n- [-] Write b",
        "<input\n type=\"checkbox\"> T2",
        "<input type=\"checkbox\"\n class=\"checked\"> T2",
        "- WP02 [~] Write it",
        "### US2 [-] Search",
        "- Task 2 [!] Write it",
        "- \u{4efb}\u{52a1}\u{4e8c}\u{ff1a}[~] \u{5199}",
        "ii. [~] Write it",
        "iii) [-] Test it",
        "- Docs [~] half way",
        "- Docs [-], and more",
        "- Docs ([~])",
        "- Docs \u{2014} [>] 2026-05-01",
        "- Docs [~] \u{1f6a7}",
        "- Write docs []",
        "**Status:** []",
        "| 2 | [] | b |",
        "- [x] T2 b [~]",
        "- [x] T2 b [-] c",
        "- Press [?] for help",
        "- \u{41d}\u{430}\u{436}\u{43c}\u{438}\u{442}\u{435} [?] \u{434}\u{43b}\u{44f}",
        "- Press [/] to search, `[ ]` to mark",
        "- [TODO] Write it",
        "- [in progress] Write it",
        "- [not started] 1.2 Write it",
        "- **[wip]** Write it",
        "- [\u{5f85}\u{529e}] \u{5199}",
        "- [50 %] Write it",
        "- [1 / 3] T2 b",
        "- [done?] Write it",
        "- [**x**] Write it",
        "- [P] may run beside others",
        "- [US1] is a story",
        "- [see the list] of others",
        "- [US1] T002 comes first",
        "```bash\nnpm test\n\n- [ ] T2 b\n\n```bash\nnpm run lint\n```",
        "- () Write it",
        "- \u{3010}\u{3011}\u{5199}",
        "- \u{25cb} Write it",
        "- \u{26aa} Write it",
        "- \u{25ab} Write it",
        "- \u{23f3} Write it",
        "- \u{1f6a7} Write it",
        "- \u{274c} Write it",
        "## Marks\n- [ ] Enter those of Ann\n- [ ] Enter those of Ben",
        "## Quality Gates Checklist\n- [ ] Tests pass",
        "- [ ] CHK-12 b",
        "- [ ] XXX remove the hack",
        "- (-) b",
        "- (~) T2 b",
        "1. (!) b",
        "- { } b",
        "- {} b",
        "- {-} b",
        "- Docs { } b",
        "- \u{300c}\u{300d} b",
        "- \u{ff08}-\u{ff09} b",
        "- \u{27e6} \u{27e7} b",
        "| T2 | (-) |",
        "| T2 | ~ |",
        "| T2 | ? |",
        "| T2 | 1/3 |",
        "| T2 | [0/3] |",
        "| T2 | 50 % |",
        "| T2 | 0% |",
        "| T2 | \u{2717} |",
        "| T2 | \u{1f534} late |",
        "| [in progress] | T2 |",
        "| T2 | [\u{5f85}\u{529e}] |",
        "| T2 | TODO |",
        "T2 | b | TODO",
        "| T2 | WIP: b |",
        "## [TODO] Write it",
        "### [in progress] Write it",
        "## TODO Write it",
        "### US-2: Log out \u{274c}",
        "- TODO b",
        "* TODO [#A] b",
        "** NEXT b",
        "- TODO: b",
        "- **TODO** b",
        "- __WIP__ b",
        "TODO b",
        "1. FIXME b",
        "- \u{1f534} b",
        "- \u{1f7e1} b",
        "- **\u{1f534}** b",
        "- \u{25ef} b",
        "- \u{2b1b} b",
        "- \u{23f8}\u{fe0f} b",
        "- \u{2718} b",
        "- Status: \u{274c}",
        "**Status:** \u{1f504} begun",
        "State: TODO",
        "- $\\square$ b",
        "## Other\n\n- \u{1f6a7} b",
        "- TODO(ann): b",
        "- TODO\u{ff1a}b",
        "- TODO, b",
        "- `TODO` b",
        "- (TODO) b",
        "- IN PROGRESS: b",
        "- NOT STARTED: b",
        "** HOLD b",
        "- b \u{2014} TODO",
        "- b: NOT DONE",
        "- b [TODO]",
        "## Other\n\n- [pending] b",
        "## Part 2: b (IN PROGRESS)",
        "## Part 2 \u{2013} NOT STARTED",
        "### b [PENDING]",
        "## b [1/3]",
        "### b \u{23f3}",
        "### \u{23f3} b",
        "- b \u{23f3}",
        "- **b** \u{1f6a7}",
        "2. b - \u{1f504} In Progress",
        "**b** \u{23f3} Pending",
        "- T2 \u{23f3} b",
        "- **T2**: \u{23f3} b",
        "\u{23f3} T2 b",
        "- \u{3010}\u{672a}\u{5b8c}\u{6210}\u{3011}b",
        "### \u{3010}\u{672a}\u{5b8c}\u{6210}\u{3011}T2 b",
        "- \u{ff08}\u{672a}\u{7740}\u{624b}\u{ff09}b",
        "- :x: b",
        "- b :hourglass:",
        "- &square; b",
        "- `[ ]` T2 b",
        "### `[ ]` T2 b",
        "| `[ ]` | T2 |",
        "| T2 | **TODO** |",
        "| T2 | `TODO` |",
        "| T2 | In Progress \u{1f6a7} |",
        "| T2 | **0%** |",
        "| T2 | 0/5 tasks |",
        "| T2 | :x: |",
        "Status: `TODO`",
        "**Current status:** \u{23f3} it waits",
        "Estado: \u{23f3}",
        "\u{72b6}\u{6001}\u{ff1a}\u{23f3}",
        "Status \u{2014} \u{23f3}",
        "## Other\n**Status:** Not Started",
        "### 31. Other\n- **Status**: [PLANNED]",
        "\u{23f3} b",
        "Part 2: b - \u{23f3} pending",
        "### Part 2: b (pending)",
        "## Part 2: b (0/3)",
        "## Part 2: b (0%)",
        "## Other\n| T2 | pending |",
        "- < > b",
        "- \u{3016} \u{3017} b",
        "- \u{ff5b} \u{ff5d} b",
        "- \u{f0a8} b",
        "- \u{23ed}\u{fe0f} b",
        "```\n- [ ] T2 b\n\n```\ncode\n```",
        "- [ ] T2 ~~old name~~ new name",
    ] {
        let list = list_with(line);
        let is_open = list.open().next().is_some();
        assert!(is_open || list.uncounted().is_some(), "{line}");
        assert!(is_open || !list.asides().is_empty(), "{line}");
    }
}

#[test]
fn a_tag_may_end_below() {
    let list = list_with("<input type=\"checkbox\"\n checked> T2 a");
    assert_eq!((list.uncounted(), named(&list).as_str()), (None, "L3:code"));
}

#[test]
fn a_legend_is_its_first_list() {
    for end in ["", "---\n", "**Tasks**\n", "The tasks:\n\n", "Now to do.\n\n"] {
        let text = format!("## Legend\n- [ ] open\n- [x] done\n\n{end}- [ ] Write the docs\n");
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(
            (list.open().count(), named(&list).as_str()),
            (1, "L2:legend L3:legend"),
            "{end}"
        );
        let told = "a legend, and no work: line 2 (legend: open), line 3";
        assert_eq!(list.asides_in_words(), [told]);
        let open = "1 box is open and does not count: line 2 (legend: open)";
        assert_eq!(list.uncounted().as_deref(), Some(open));
    }
    let list = TaskList::parse(b"Legend:\n- [ ] open\n- [x] done\n**Tasks**\n- [ ] Write\n");
    assert_eq!(list.open().count(), 1);
}

#[test]
fn a_legend_explains_each_mark_once() {
    let counts = |text: &str| {
        let list = TaskList::parse(text.as_bytes());
        (list.open().count(), list.done(), list.left_out.len())
    };
    assert_eq!(counts("## Key\n- [ ] Order one\n- [x] Pay\n- [ ] Copy one\n"), (2, 1, 0));
    assert_eq!(counts("## Key\n\n- [ ] open\n\n- [x] done\n\n- [ ] Copy one\n"), (1, 0, 2));
    assert_eq!(counts("Legend:\n| [ ] | open |\n\n- [ ] Copy one\n- [x] Pay\n"), (1, 1, 0));
}

#[test]
fn named_fence_ends_none() {
    let text = "```bash\na\n- [ ] T1 b\n```bash\n- [ ] no\n```\n- [ ] T2 c\n";
    let list = TaskList::parse(text.as_bytes());
    assert_eq!((list.open().count(), named(&list).as_str()), (2, "L5:hidden"));
    let list = TaskList::parse(b"````md\n```bash\n- [ ] no\n```\n````\n- [ ] T2 c\n");
    assert_eq!((list.open().count(), named(&list).as_str()), (1, "L3:hidden"));
}

#[test]
fn hidden_boxes_are_named_first() {
    for text in [
        "```[tasklist]\n- [ ] #12\n```",
        "<script>\n- [ ] a\n</script>",
        "<STYLE>\n- [ ] a\n</style>",
        "<textarea>\n- [ ] a </TextArea>",
        "<PRE>\n- [ ] a\n</pre>",
        "````\n- [ ] a\n```\n- [ ] b\n`````",
        "~~~\n```\n- [ ] a\n~~~",
        "- a\n  ```\n  - [ ] b\n  ```",
        "<!-- a -> - [ ] b\n- [ ] c -->",
        "<!--\n- [~] b\n-->",
        "```diff\n+- [ ] a\n```",
    ] {
        let list = list_with(text);
        assert_eq!((list.open().count(), list.uncounted()), (0, None), "{text}");
        assert!(list.unread.iter().all(|aside| aside.kind == AsideKind::Hidden), "{text}");
        let told = list.asides_in_words().join("\n");
        assert!(told.starts_with("boxes in fences, comments or front matter: line"), "{text}");
    }
}

#[test]
fn words_before_boxes_are_named() {
    for text in [
        "- [TODO] a\n- [x] b\n",
        "- [x] b\n\n- [TODO] a\n",
        "1. [x] b\n2. [P] a\n",
        "## A\n- [todo] T2 a\n## B\n- [x] T1 b\n",
        "### [x] T1 b\n### [todo] T2 a\n",
    ] {
        let list = TaskList::parse(text.as_bytes());
        assert_eq!((list.open().count(), list.unread.len()), (0, 1), "{text}");
        assert!(list.uncounted().is_some(), "{text}");
    }
}

#[test]
fn words_for_done_are_not_open() {
    for line in [
        "- [done] T2 b",
        "- [DONE] b",
        "- [OK] T2 b",
        "- [CLOSED] b",
        "- [cancelled] T2 b",
        "- [N/A] b",
        "- [\u{5b8c}\u{6210}] T2 b",
        "- `[x]` T2 b",
    ] {
        let list = TaskList::parse(format!("- [x] T1 a\n{line}\n").as_bytes());
        assert_eq!((list.asides().len(), list.uncounted()), (1, None), "{line}");
    }
}

#[test]
fn what_has_no_box_may_be_open() {
    let said = "1 line may be open work: line 3 (state: | width | 9/16 |)";
    assert_eq!(list_with("| width | 9/16 |").uncounted().as_deref(), Some(said));
    let told =
        "line 3 looks like a task and does not count, for it tells a state without a box: TODO b";
    assert_eq!(list_with("TODO b").asides_in_words(), [told]);
}

#[test]
fn ruled_tasks_are_no_front_matter() {
    let list = TaskList::parse(b"---\nSetup:\n  - [ ] T001 a\n---\n- [x] T002 b\n");
    assert_eq!((list.open().count(), list.done()), (1, 1));
}

#[test]
fn utf16_without_a_mark_is_named() {
    let wide: Vec<u8> = "- [ ] T1 a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(named(&TaskList::parse(&wide)), "L1:encoding");
    let wide: Vec<u8> = "- [ ] T1 a\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(named(&TaskList::parse(&wide)), "L1:encoding");
}

#[test]
fn what_is_no_box_is_silent() {
    for line in [
        "  - Verify: `! grep -q '\\[ \\]' tasks.md`",
        "- Depends on: []",
        "- **Needs**: [] and nothing else",
        "- Accept string[] as input",
        "- Return Item[] or int[]",
        "- default: [] (empty)",
        "- arrays `a[ ]` too",
        "see note[*] here",
        "- Call load( ) and then save()",
        "- [^](#top) and [~](notes2.md)",
        "- Wait (see T002) &#8212; then go",
        "- [x] T2 the list `- [ ] a`",
        "- [x] T2 a [link](to) and [two][1] of `x`",
        "[![](badge.svg)](https://example.org)",
        "- [](#part) Part",
        "- [x] T2 b <!-- - [ ] T3 -->",
        "Use ``[ ] `x` `` here",
        "| T2 | open | x |",
        "- Press `[ ]`",
        "- [Source: docs/plan.md]",
        "## Notes\n- [P] tasks = different files, no dependencies\n- [Story] label maps a task to its story",
        "## Order\n- [Setup] before [US1]\n- [US1] T002 comes first\n- [T003] \u{2192} [T004]",
        "## Sources\n- [see 3] and [^1] say so\n- [a page](notes.md) says more",
        "## Format: [ID] [P?] [Story] Description\n- **[P]**: can run in parallel",
        "- useEffect(() => {}, []) and items = []",
        "- A map<string>() and a.b() are calls",
        "```json\n[]\n{\"a\": [1]}\n```",
        "```mermaid\nA[ ] --> B[x]\n```",
        "<input type=\"radio\"\n checked>",
        "<input\n type=\"text\"> and no more",
        "- Return {} or ({}) here",
        "- the lamp (?) and more (!)",
        "- (a) first, (1) second, (see b)",
        "| T2 | - | 3/3 | 100 % | [US1] |",
        "| [P] | [Docs](b.md) | c |",
        "# TODO",
        "## \u{1f6a7} In progress",
        "- DONE b",
        "- TODOS of others",
        "- \u{1f7e2} b",
        "Status: \u{2705}",
        "> TODO b",
        "\u{1f6a7} This page is not finished",
        "## TODO",
        "## \u{1f504} In progress",
        "Status: in progress",
        "Status: [Draft]",
        "### 31. Other\n- **Status**: [COMPLETED]",
        "Part [1/3]",
        "- WAIT_TIME is in seconds",
        "- NEXT.js and more",
        "- Set it to `PENDING`",
        "- Values: OPEN, CLOSED",
        "- Remove every TODO",
        "- [TODO](TODO.md)",
        "- Priority: \u{1f534} High",
        "- Scale it by 2\u{d7}",
        "**\u{274c} Wrong:**",
        "We mark what is open with \u{23f3}",
        "- `[ ]` = open",
        "`[ ]` open, `[x]` done",
        "- <> is a fragment",
        "- a < b > c",
        "| T2 | [done] |",
        "| op | \u{d7} |",
        "| a | > |",
        "## 1. Plan \u{1f6a7} notes",
        "<!-- TODO: split it",
    ] {
        assert_eq!(list_with(line).asides(), [], "{line}");
    }
    let list = TaskList::parse(b"- [x] T1 a\n\n- [1] Smith, 2020\n");
    assert_eq!((list.open().count(), named(&list).as_str()), (0, "L3:odd"));
}

#[test]
fn a_tick_leaves_other_boxes() {
    let text = "- [ ] T1 a [ ] b\n- [            ] T2 b\n- [\u{2013}\u{fe0e}] T3 c\n- [ \\] T4 d\n";
    let list = TaskList::parse(text.as_bytes());
    assert_eq!(named(&list), "L1:later L3:mark");
    let mut ticked = text.as_bytes().to_vec();
    for line in 1..=4 {
        let list = TaskList::parse(&ticked);
        ticked = tick(&ticked, list.tasks.iter().find(|task| task.line == line).unwrap());
    }
    let after = TaskList::parse(&ticked);
    assert_eq!((after.done(), named(&after).as_str()), (4, "L1:later"));
    assert_eq!(after.asides()[0].text, "[ ] b");
}
