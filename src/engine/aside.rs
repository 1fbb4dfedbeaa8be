//! Lines of a task list that do not count as work, or that look doubtful. They are reported before a loop begins and at
//! its end.

use serde::Serialize;

use super::order::few;
use crate::text::counted_as;

/// Limits of the report before a loop: lines, and names in one line.
const TOLD: usize = 6;
const NAMED: usize = 8;
/// Characters of a line that are shown.
const SHOWN: usize = 80;
/// Limits at the end of a loop: names, and characters of a line.
const NAMED_AT_END: usize = 4;
const SHOWN_AT_END: usize = 40;
/// Kinds that share one line of the report.
pub const TOGETHER: [AsideKind; 7] = {
    use AsideKind::{Gate, Hidden, Legend, Mark, Optional, Placeholder, Struck};
    [Optional, Struck, Legend, Placeholder, Gate, Hidden, Mark]
};

/// Why a line with a box does not count as a task, or needs a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AsideKind {
    /// Work that may be left out.
    Optional,
    /// A person struck the line through.
    Struck,
    /// The line explains a mark.
    Legend,
    /// The line shows how to write a task.
    Placeholder,
    /// A check of the list itself, by its author.
    Gate,
    /// An open box in a fence, a comment or front matter.
    Hidden,
    /// The task counts as open, whatever its mark means.
    Mark,
    Escaped,
    Table,
    Quote,
    /// Code, or a checkbox in HTML.
    Code,
    /// No bullet with a blank stands before the box.
    Bullet,
    /// The box is not the first thing in its line.
    Later,
    Bare,
    /// Not a pair of brackets around at most one mark, or a link.
    Odd,
    /// No box: words, a picture or a share tell the state.
    State,
    Encoding,
}

/// A line of a task list with a box that does not count, or that counts as open and has an odd mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Aside {
    /// The id that stands in it; null for none.
    pub id: Option<String>,
    /// Its line in the file, from 1.
    pub line: usize,
    /// What it is: `optional`, `struck`, `legend`, `placeholder`, `gate`, `hidden`; `escaped`, `table`, `quote`, `code`, `bullet`, `later`,
    /// `bare`, `odd`, `state`, `encoding`; `mark` for a task that counts as open and has an odd mark.
    #[cfg_attr(test, schemars(with = "String"))]
    pub kind: AsideKind,
    /// The same in more words, or why it does not count.
    pub why: &'static str,
    /// What it says, cut short.
    pub text: String,
    /// Whether an open box in it can be seen on the page.
    #[serde(skip)]
    pub is_open: bool,
}

impl AsideKind {
    /// The words for a person: the kind of a line in a shared report, or the reason why a single line does not count.
    fn why(self) -> &'static str {
        match self {
            Self::Optional => "optional, and left out",
            Self::Struck => "struck through, and left out",
            Self::Legend => "a legend, and no work",
            Self::Placeholder => "a template, and no work",
            Self::Gate => "a checklist of the list itself, and left out",
            Self::Hidden => "boxes in fences, comments or front matter",
            Self::Mark => "marked with something else than a tick, and count as open",
            Self::Escaped => "its brackets are escaped",
            Self::Table => "it is a row of a table",
            Self::Quote => "it is a quote",
            Self::Code => "it is HTML or code",
            Self::Bullet => "no bullet with a blank behind it stands before the box",
            Self::Later => "its box does not stand first",
            Self::Bare => "no words stand behind its box",
            Self::Odd => "its box is not `[ ]` with a blank behind it",
            Self::State => "it tells a state without a box",
            Self::Encoding => "the file is UTF-16 text: save it as UTF-8",
        }
    }
}

impl Aside {
    pub fn new(kind: AsideKind, line: usize, text: &[u8], is_open: bool) -> Self {
        let text = cut(&String::from_utf8_lossy(text.trim_ascii()), SHOWN);
        Self { id: None, line, kind, why: kind.why(), text, is_open }
    }

    pub fn told(&self) -> String {
        let Self { line, kind, why, text, .. } = self;
        if *kind == AsideKind::Encoding {
            return (*why).to_owned();
        }
        format!("line {line} looks like a task and does not count, for {why}: {text}")
    }

    pub fn has_word(&self, word: &str) -> bool {
        let is_end = |letter: char| letter.is_whitespace() || "[](){}|*_`:,".contains(letter);
        self.text.split(is_end).any(|other| other.eq_ignore_ascii_case(word))
    }

    /// The id, or the line number.
    fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| format!("line {}", self.line))
    }

    fn named_at_end(&self) -> String {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let text = self.id.is_none().then(|| format!(": {}", cut(&self.text, SHOWN_AT_END)));
        format!("{} ({kind}{})", self.name(), text.unwrap_or_default())
    }
}

/// The report before a loop, one string a line.
pub fn in_words(asides: &[Aside]) -> Vec<String> {
    let together = |kind: AsideKind| {
        let mut names = asides.iter().filter(|aside| aside.kind == kind).map(|aside| {
            // Another word may have been taken for a legend's heading: the open box may be work.
            let may_be_work = kind == AsideKind::Legend && aside.is_open;
            if may_be_work { aside.named_at_end() } else { aside.name() }
        });
        let first = few(&mut names, NAMED);
        (!first.is_empty()).then(|| format!("{}: {first}", kind.why()))
    };
    let mut told: Vec<String> = TOGETHER.into_iter().filter_map(together).collect();
    let alone = || asides.iter().filter(|aside| !TOGETHER.contains(&aside.kind));
    told.extend(alone().take(TOLD).map(Aside::told));
    if let Some(more) = alone().count().checked_sub(TOLD).filter(|more| *more > 0) {
        told.push(format!("{more} more lines look like tasks and do not count"));
    }
    told
}

/// One line about the open boxes that do not count, or about what may be open work; `None` for none.
pub fn uncounted(mut asides: Vec<Aside>) -> Option<String> {
    if asides.iter().any(|aside| aside.kind == AsideKind::Encoding) {
        return Some(AsideKind::Encoding.why().to_owned());
    }
    asides.retain(|aside| aside.is_open && aside.kind != AsideKind::Mark);
    let has_state = asides.iter().any(|aside| aside.kind == AsideKind::State);
    let (one, several) = if has_state {
        ("line may be open work", "lines may be open work")
    } else {
        ("box is open and does not count", "boxes are open and do not count")
    };
    let boxes = counted_as(asides.len(), one, several);
    let named = few(&mut asides.iter().map(Aside::named_at_end), NAMED_AT_END);
    (!named.is_empty()).then(|| format!("{boxes}: {named}"))
}

fn cut(text: &str, most: usize) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() { start.trim_end().to_owned() + "…" } else { start }
}

#[cfg(test)]
mod tests {
    use crate::engine::tasks::TaskList;

    #[test]
    fn uncounted_boxes_are_named() {
        let list = |text: &str| TaskList::parse(text.as_bytes()).uncounted();
        assert_eq!(list("- [x] T1 a\n- [ ] T2 b\n- [-] T3 c\n"), None);
        assert_eq!(list("- [x] T1 a\n- [x]* T2 b\n| [x] | c |\n\\[x\\] d\n"), None);
        let words =
            "2 boxes are open and do not count: T2 (optional), line 3 (later: **[ ] T3 c**)";
        assert_eq!(list("- [x] T1 a\n- [ ]* T2 b\n**[ ] T3 c**\n").as_deref(), Some(words));
        let words = "2 lines may be open work: T2 (optional), line 3 (state: TODO c)";
        assert_eq!(list("- [x] T1 a\n- [ ]* T2 b\nTODO c\n").as_deref(), Some(words));
        let long = format!("- [x] T1 a\n\n| [x] | [ ] | {} |\n", "word ".repeat(20));
        let words = "1 box is open and does not count: line 3 (table: | [x] | [ ] | word word word word word w…)";
        assert_eq!(list(&long).as_deref(), Some(words));
        let many = format!("- [x] T1 a\n{}", "- [ ]* b\n".repeat(9));
        assert!(list(&many).unwrap().ends_with("line 5 (optional: b) and 5 more"));
    }
}
