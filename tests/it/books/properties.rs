//! What holds for any task list, however nasty: 1,000 generated lists for each property, 10,000 in a thorough run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use ralph_speckit::engine::edit::{add_after, repair_after, tick};
use ralph_speckit::engine::tasks::{Task, TaskList};

use crate::support::amounts::few_or_all;
use crate::support::dice::Dice;

fn many() -> ProptestConfig {
    ProptestConfig {
        cases: few_or_all(1_000, 10_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A line is made from one number, so that lists are made fast and shrink line by line.
impl Dice {
    fn number(&mut self, most: usize) -> usize {
        1 + self.below(most)
    }

    /// Blanks in front of a line: none, some, tabs, or absurdly many.
    fn indent(&mut self) -> String {
        match self.below(18) {
            0..8 => String::new(),
            8..14 => " ".repeat(self.number(8)),
            14..16 => "\t".repeat(self.number(3)),
            16 => " \t ".repeat(self.number(2)),
            _ => " ".repeat(100 * self.number(6)),
        }
    }

    /// An id from a small pool, so that they repeat, or none.
    fn id(&mut self) -> String {
        let (one, other) = (self.number(5), self.number(11));
        match self.below(14) {
            0..4 => format!("T{one:03} "),
            4..6 => format!("{one}.{other} "),
            6 => format!("{one}. "),
            7 => format!("**t{one:03}** "),
            8 => format!("T{one:03}.F{other} [FIX T{one:03}] "),
            9 => format!("T{one:03} [FIX t{other:03}] "),
            10 => format!("CHK{one:03} "),
            _ => String::new(),
        }
    }

    fn words(&mut self) -> String {
        const WORDS: &[&str] = &[
            "a",
            "b",
            "a b",
            "\u{200f}\u{feff}",
            "\u{1f468}\u{200d}\u{1f469} \u{301}",
            "`code`",
            "<!-- c -->",
            "```",
            "-->",
            "[VERIFY]",
            "[P]",
            "\u{0}\u{7}",
            "\u{a0}",
            "\u{2028}",
            "- [ ] T001 x",
            "\u{fffd}",
            "#",
            "\r",
            "1.1",
        ];
        let count = self.below(4);
        (0..count).map(|_| self.one_of(WORDS)).collect::<Vec<_>>().join(" ")
    }

    fn task_line(&mut self) -> String {
        let bullet = self.one_of(&["-", "-", "-", "-", "*", "*", "+", "1."]);
        let gap = self.one_of(&[" ", " ", " ", " ", "   ", "\t"]);
        let mark = self.one_of(&[" ", " ", " ", " ", "x", "x", "X", "~", "y", ""]);
        let marks = self.one_of(&["", "", "", "[P] ", "[P] ", "[US1] ", "[VERIFY] ", "[P](x) "]);
        format!("{}{bullet}{gap}[{mark}] {}{marks}{}", self.indent(), self.id(), self.words())
    }

    /// Lines that hide what follows, or stop hiding it, opened and closed at random.
    fn fence_line(&mut self) -> String {
        const FENCES: &[&str] = &[
            "```",
            "```",
            "```",
            "```sh",
            "````",
            "~~~",
            "~~~~~ x",
            "<!--",
            "<!--",
            "-->",
            "-->",
            "<!-- a -->",
            "- ```",
            "1. ~~~",
            "```a```",
            "- <!--",
        ];
        format!("{}{}", self.indent(), self.one_of(FENCES))
    }

    fn line(&mut self) -> String {
        match self.below(23) {
            0..10 => self.task_line(),
            10..13 => self.fence_line(),
            13..15 => format!(
                "{}{}",
                self.one_of(&["# ", "## ", "###### ", "####### ", "#", "#\t"]),
                self.words()
            ),
            15..17 => String::new(),
            17..19 => format!("{}{}", self.indent(), self.words()),
            19 => "**Checkpoint**: here".to_owned(),
            20 => "---".to_owned(),
            21 => "  - **Verify**: `true`".to_owned(),
            _ => "| a | - [ ] b |".to_owned(),
        }
    }
}

/// A whole list: any mix of line ends, perhaps a byte order mark, perhaps no line break at the end.
fn nasty_list() -> impl Strategy<Value = Vec<u8>> {
    (vec(any::<u64>(), 0..16), any::<u8>()).prop_map(|(lines, form)| {
        let mut text = if form % 8 == 0 { "\u{feff}".to_owned() } else { String::new() };
        for number in lines {
            let mut dice = Dice(number);
            text.push_str(&dice.line());
            text.push_str(dice.one_of(&["\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r\r\n"]));
        }
        if form % 3 == 0 {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text.into_bytes()
    })
}

fn pick(list: &TaskList, place: usize) -> Option<&Task> {
    list.tasks.get(place.checked_rem(list.tasks.len())?)
}

/// Whether a line is indented so far that its neighbours decide whether it is code: a new task among them may change that.
fn is_near_code(text: &[u8]) -> bool {
    let is_far = |line: &[u8]| {
        let blanks = line.iter().take_while(|byte| b" \t".contains(byte));
        blanks.map(|byte| if *byte == b'\t' { 4 } else { 1 }).sum::<usize>() >= 4
    };
    text.split(|byte| b"\r\n".contains(byte)).any(is_far)
}

/// What must hold of any list that was read, whatever the bytes.
fn assert_sound(text: &[u8], list: &TaskList) {
    let ids: BTreeSet<_> = list.tasks.iter().map(|task| task.id.to_ascii_uppercase()).collect();
    assert_eq!(ids.len(), list.tasks.len(), "an id is given twice");
    let mut end = 0;
    for task in &list.tasks {
        assert!(task.block.start >= end && task.block.end <= text.len(), "blocks overlap");
        assert!(task.block.contains(&task.mark_at) && !task.id.is_empty());
        assert!(text[..task.mark_at].trim_ascii_end().ends_with(b"["));
        assert!(task.done || !text[task.mark_at].eq_ignore_ascii_case(&b'x'));
        assert_eq!(list.find(&task.id), Some(task));
        let own = String::from_utf8_lossy(&text[task.block.clone()]);
        assert!(list.block_text(task, text).starts_with(own.trim_end()));
        let _ = (list.block_text(task, text), task.verify_command(text), list.original(task));
        let is_part = |part: &Task, whole: &Task| {
            part.column > whole.column || part.id.starts_with(whole.id.trim_end_matches(".0"))
        };
        assert!(list.nested_in(task).iter().all(|nested| is_part(nested, task)));
        assert!(list.parent_of(task).is_none_or(|parent| is_part(task, parent)));
        end = task.block.end;
    }
    let next = list.next();
    assert_eq!(next.is_empty(), list.open().next().is_none());
    assert!(next.iter().all(|task| !task.done));
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn tick_changes_only_its_box(text in nasty_list(), place in any::<usize>()) {
        let list = TaskList::parse(&text);
        assert_sound(&text, &list);
        let Some(task) = pick(&list, place) else { return Ok(()) };
        let ticked = tick(&text, task);
        let mut expected = list.clone();
        let same = expected.tasks.iter_mut().find(|other| other.id == task.id).unwrap();
        if !task.done {
            (same.done, same.mark) = (true, 'x');
        }
        if ticked.len() > text.len() {
            // The box had nothing in it.
            prop_assert_eq!(ticked.len(), text.len() + 1);
            let states = |list: &TaskList| list.tasks.iter().map(|task| (task.id.clone(), task.done)).collect::<Vec<_>>();
            prop_assert_eq!(states(&TaskList::parse(&ticked)), states(&expected));
            return Ok(());
        }
        let changed: Vec<_> = (0..text.len()).filter(|at| text[*at] != ticked[*at]).collect();
        prop_assert_eq!(changed, if task.done { vec![] } else { vec![task.mark_at] });
        prop_assert_eq!(TaskList::parse(&ticked), expected);
    }

    #[test]
    fn next_ticks_every_task_once(text in nasty_list()) {
        let before = TaskList::parse(&text);
        let (mut text, mut list) = (text, before.clone());
        for _ in 0..before.open().count() {
            let task = list.next().first().map(|task| (*task).clone());
            text = tick(&text, &task.unwrap());
            list = TaskList::parse(&text);
        }
        prop_assert!(list.next().is_empty());
        let names = |list: &TaskList| list.tasks.iter().map(|task| (task.id.clone(), task.title.clone())).collect::<Vec<_>>();
        prop_assert_eq!(names(&list), names(&before));
    }

    #[test]
    fn no_bytes_make_it_panic(mut text in vec(any::<u8>(), 0..160), known in any::<bool>()) {
        if known {
            const TELLING: &[u8] = b"-*[] x\n\r\t`~#<!>T1.\xff";
            for byte in &mut text {
                *byte = TELLING[usize::from(*byte) % TELLING.len()];
            }
        }
        let list = TaskList::parse(&text);
        assert_sound(&text, &list);
        let grown = list.tasks.first().and_then(|task| add_after(&text, &list, task, "\u{0}[ ] `"));
        if let Some(grown) = grown {
            assert_sound(&grown.text, &grown.list);
        }
    }

    /// Built so that it is known what counts: the parser is held against the plan of the list.
    #[test]
    fn hidden_and_counted_are_known(parts in vec(any::<u64>(), 0..14), crlf in any::<bool>()) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for (place, number) in parts.iter().enumerate() {
            let part = Part::of(&mut Dice(*number));
            let id = format!("T{place:03}");
            text.push_str(&part.text.replace("ID", &id));
            if part.counts {
                expected.push(id);
            }
        }
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let list = TaskList::parse(text.as_bytes());
        let found: Vec<_> = list.tasks.iter().map(|task| task.id.clone()).collect();
        prop_assert_eq!(found, expected, "{}", text);
    }
}

/// A piece of a list that is closed in itself; `ID` stands for an id of its own.
#[derive(Clone, Debug)]
struct Part {
    text: String,
    counts: bool,
}

impl Part {
    fn of(dice: &mut Dice) -> Self {
        const BOXES: &[&str] = &["- [ ]", "- [x]", "- [~]", "  * [X]", "+ [ ]", " -  [\u{2713}]"];
        const HIDING: &[(&str, &str)] = &[
            ("```", "```"),
            ("~~~~ md", "~~~~~"),
            ("`````sh", "`````"),
            ("<!--", "-->"),
            ("<!-- a", "b --> c"),
        ];
        const HIDDEN: &[&str] = &[
            "- [ ] ID in here\n",
            "## Phase\n",
            "\n",
            "- [x] T777 too\n",
            "    ``\n",
            "\t- [ ] T1\n",
        ];
        const PROSE: &[&str] = &[
            "- [ ] CHK001 ID\n",
            "# Heading ID\n",
            "\n",
            "- [ID] no box\n",
            "- [ ](ID) a link\n",
            "Text with - [ ] ID in it\n",
            "> - [ ] ID\n",
            "| - [ ] ID |\n",
            "**Checkpoint**: ID\n",
            "```ID``` inline\n",
            "1. ID\n",
            "  - Do: ID\n",
            "---\n",
        ];
        match dice.below(9) {
            0..4 => {
                let text = format!(
                    "{} ID {}\n",
                    dice.one_of(BOXES),
                    dice.one_of(&["", "one", "one [P] two"])
                );
                Self { text, counts: true }
            }
            4..6 => {
                let (open, close) = HIDING[dice.below(HIDING.len())];
                let inside: String = (0..dice.below(4)).map(|_| dice.one_of(HIDDEN)).collect();
                Self { text: format!("\nText\n{open}\n{inside}{close}\n"), counts: false }
            }
            _ => Self { text: dice.one_of(PROSE).to_owned(), counts: false },
        }
    }
}

/// What a grown list has to be: one open task more, the others as they were, no byte lost.
fn assert_grown(text: &[u8], list: &TaskList, grown: &[u8], new: &str) {
    let read = TaskList::parse(grown);
    assert_sound(grown, &read);
    let names = |list: &TaskList, but: &str| {
        let others = list.tasks.iter().filter(|task| task.id != but);
        others
            .map(|task| (task.id.clone(), task.title.clone(), task.done, task.phase.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(read.tasks.len(), list.tasks.len() + 1);
    assert_eq!(names(&read, new), names(list, ""));
    assert!(read.find(new).is_some_and(|task| !task.done));
    let same = |(one, other): &(&u8, &u8)| one == other;
    let front = text.iter().zip(grown).take_while(same).count();
    let back = text.iter().rev().zip(grown.iter().rev()).take_while(same).count();
    assert!(front + back >= text.len(), "more than one place has changed");
}

/// A line of signs makes a heading of the whole paragraph above it.
fn is_heading(text: &[u8], task: &Task) -> bool {
    let mut lines = text[task.block.start..].split(|byte| b"\r\n".contains(byte));
    let front = lines.next().unwrap().iter().find(|byte| !b"\xef\xbb\xbf ".contains(byte));
    let below = lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let is_line = |line: &[u8], sign: u8| !line.is_empty() && line.iter().all(|byte| *byte == sign);
    let mut below = below.take_while(|line| !line.contains(&b'['));
    front == Some(&b'#') || below.any(|line| is_line(line, b'-') || is_line(line, b'='))
}

#[test]
fn new_task_leaves_others_alone() {
    let asked = AtomicUsize::new(0);
    proptest!(many(), |(text in nasty_list(), place in any::<usize>(), number in any::<u64>())| {
        let mut dice = Dice(number);
        let what = format!("New {number} {}", dice.words()).replace('\r', " ");
        let list = TaskList::parse(&text);
        let Some(task) = pick(&list, place) else { return Ok(()) };
        for grown in [add_after(&text, &list, task, &what), repair_after(&text, &list, task, &what)] {
            asked.fetch_add(1, Ordering::Relaxed);
            match grown {
                Some(grown) => {
                    prop_assert_eq!(&TaskList::parse(&grown.text), &grown.list);
                    assert_grown(&text, &list, &grown.text, &grown.id);
                }
                // The end of a comment in the new line would close one that was left open above. A new heading would
                // take the tasks below into its phase.
                None => prop_assert!(
                    what.contains("-->") || is_near_code(&text) || is_heading(&text, task),
                    "refused: {}",
                    what
                ),
            }
        }
    });
    assert!(
        asked.into_inner() > many().cases as usize,
        "most lists have a task to put another one behind"
    );
}
