//! What of a task list is no work, or may not be what it looks like: what is told of it before a loop begins, and at its end.

use serde::Serialize;

use super::order::few;

/// The most lines that are told, and the most names in one of them.
const TOLD: usize = 6;
const NAMED: usize = 8;
/// The most of a line that is shown, in characters.
const SHOWN: usize = 80;
/// The most names at the end of a loop, and the most characters of a line there.
const NAMED_AT_END: usize = 4;
const SHOWN_AT_END: usize = 40;
/// The kinds that are told together.
const TOGETHER: [AsideKind; 6] = {
    use AsideKind::{Gate, Legend, Mark, Optional, Placeholder, Struck};
    [Optional, Struck, Legend, Placeholder, Gate, Mark]
};

/// Why a line with a box is no task that counts, or is one to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AsideKind {
    /// Work that may be left out.
    Optional,
    /// What a person has struck through.
    Struck,
    /// A line that says what a mark means.
    Legend,
    /// A line that says how a task is written.
    Placeholder,
    /// What whoever wrote the list asked of the list.
    Gate,
    /// A task that counts as open, whatever its mark means.
    Mark,
    /// The brackets are escaped.
    Escaped,
    /// A row of a table.
    Table,
    /// A line of a quote.
    Quote,
    /// A line of indented code, or a checkbox in HTML.
    Code,
    /// No bullet with a blank behind it stands before the box.
    Bullet,
    /// The box does not stand first.
    Later,
    /// No words stand behind the box.
    Bare,
    /// No pair of brackets with at most one mark, or a link.
    Odd,
    /// The file is UTF-16 text.
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
    /// What it is: `optional`, `struck`, `legend`, `placeholder`, `gate`; `escaped`, `table`, `quote`, `code`, `bullet`, `later`,
    /// `bare`, `odd`, `encoding`; `mark` for a task that counts as open and has an odd mark.
    #[cfg_attr(test, schemars(with = "String"))]
    pub kind: AsideKind,
    /// The same in more words, or why it does not count.
    pub why: &'static str,
    /// What it says, cut short.
    pub text: String,
    /// Whether a box in it is open.
    #[serde(skip)]
    pub is_open: bool,
}

impl AsideKind {
    /// What lines of a kind are that are told together; why one of another kind does not count.
    fn why(self) -> &'static str {
        match self {
            Self::Optional => "optional, and left out",
            Self::Struck => "struck through, and left out",
            Self::Legend => "a legend, and no work",
            Self::Placeholder => "a template, and no work",
            Self::Gate => "a checklist of the list itself, and left out",
            Self::Mark => "marked with something else than a tick, and count as open",
            Self::Escaped => "its brackets are escaped",
            Self::Table => "it is a row of a table",
            Self::Quote => "it is a quote",
            Self::Code => "it is HTML, or indented as code",
            Self::Bullet => "no bullet with a blank behind it stands before the box",
            Self::Later => "its box does not stand first",
            Self::Bare => "no words stand behind its box",
            Self::Odd => "its box is not `[ ]` with a blank behind it",
            Self::Encoding => "the file is UTF-16 text: save it as UTF-8",
        }
    }
}

impl Aside {
    /// Returns a line of this kind.
    pub fn new(kind: AsideKind, line: usize, text: &[u8], is_open: bool) -> Self {
        let text = cut(&String::from_utf8_lossy(text.trim_ascii()), SHOWN);
        Self { id: None, line, kind, why: kind.why(), text, is_open }
    }

    /// The line, and why it does not count.
    pub fn told(&self) -> String {
        let Self { line, kind, why, text, .. } = self;
        if *kind == AsideKind::Encoding {
            return (*why).to_owned();
        }
        format!("line {line} looks like a task and does not count, for {why}: {text}")
    }

    /// Whether this word stands in it.
    pub fn has_word(&self, word: &str) -> bool {
        let is_end = |letter: char| letter.is_whitespace() || "[](){}|*_`:,".contains(letter);
        self.text.split(is_end).any(|other| other.eq_ignore_ascii_case(word))
    }

    /// Its id, or its line where it has none.
    fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| format!("line {}", self.line))
    }

    /// The name with the kind of the line.
    fn named_at_end(&self) -> String {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let text = self.id.is_none().then(|| format!(": {}", cut(&self.text, SHOWN_AT_END)));
        format!("{} ({kind}{})", self.name(), text.unwrap_or_default())
    }
}

/// Returns what a person has to know of such lines, a line each.
pub fn in_words(asides: &[Aside]) -> Vec<String> {
    let together = |kind: AsideKind| {
        let mut names = asides.iter().filter(|aside| aside.kind == kind).map(|aside| {
            // It may be work below a word that names a legend elsewhere.
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

/// Returns which of these boxes are open and do not count, on one line; `None` for none.
pub fn uncounted(mut asides: Vec<Aside>) -> Option<String> {
    if asides.iter().any(|aside| aside.kind == AsideKind::Encoding) {
        return Some(AsideKind::Encoding.why().to_owned());
    }
    asides.retain(|aside| aside.is_open && aside.kind != AsideKind::Mark);
    let boxes = match asides.len() {
        0 => return None,
        1 => "1 box is open and does not count".to_owned(),
        several => format!("{several} boxes are open and do not count"),
    };
    let named = few(&mut asides.iter().map(Aside::named_at_end), NAMED_AT_END);
    Some(format!("{boxes}: {named}"))
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
    fn boxes_that_do_not_count_are_named() {
        let list = |text: &str| TaskList::parse(text.as_bytes()).uncounted();
        assert_eq!(list("- [x] T1 a\n- [ ] T2 b\n- [-] T3 c\n"), None);
        assert_eq!(list("- [x] T1 a\n- [x]* T2 b\n| [x] | c |\n\\[x\\] d\n"), None);
        let words =
            "2 boxes are open and do not count: T2 (optional), line 3 (later: **[ ] T3 c**)";
        assert_eq!(list("- [x] T1 a\n- [ ]* T2 b\n**[ ] T3 c**\n").as_deref(), Some(words));
        let long = format!("- [x] T1 a\n\n| [x] | [ ] | {} |\n", "word ".repeat(20));
        let words = "1 box is open and does not count: line 3 (table: | [x] | [ ] | word word word word word w…)";
        assert_eq!(list(&long).as_deref(), Some(words));
        let many = format!("- [x] T1 a\n{}", "- [ ]* b\n".repeat(9));
        assert!(list(&many).unwrap().ends_with("line 5 (optional: b) and 5 more"));
    }
}
