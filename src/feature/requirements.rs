//! What `spec.md` asks for: every requirement and acceptance criterion, by its id.

use std::collections::BTreeMap;
use std::path::Path;

use crate::engine::markdown::{self, Kind, Line};
use crate::store::read::read_in;
use crate::text;

/// What the ids of requirements begin with.
const PREFIXES: [&str; 5] = ["NFR-", "FR-", "SC-", "AC-", "REQ-"];
/// The most letters of a requirement that are kept for messages.
const TITLE: usize = 200;

/// The most of a specification that is read, in bytes.
const MOST: u64 = 1 << 20;

/// Returns the bytes of the `spec.md` in a folder, and what it asks for; an error says in words why a review has nothing to
/// judge: it cannot be read, or names no requirement. `shown` is the folder as a person knows it.
pub fn specification(folder: &Path, shown: &str) -> Result<(Vec<u8>, Vec<Requirement>), String> {
    let path = ["`", shown, "/spec.md`"].concat();
    let content =
        read_in(folder, "spec.md", MOST).map_err(|problem| format!("{path}: {problem}"))?;
    let found = requirements(&content.bytes);
    if found.is_empty() {
        let why =
            " names nothing to judge: no id such as FR-001 or SC-001, and no acceptance scenario";
        return Err(path + why);
    }
    Ok((content.bytes, found))
}

/// A requirement or an acceptance criterion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirement {
    /// Its id: `FR-001` as it is written, `US1.2` for the second acceptance scenario of user story 1, `AS1` for the
    /// first scenario that belongs to no story.
    pub id: String,
    /// The line that names it, shortened.
    pub title: String,
    /// Each text that names it, whole: a line, and those that belong to it.
    pub texts: Vec<String>,
}

/// Returns all requirements of a specification, each once, in the order of the text; what is in code or a comment is none.
pub fn requirements(spec: &[u8]) -> Vec<Requirement> {
    let mut found = Found::default();
    markdown::lines(spec).iter().filter(|line| !line.is_hidden()).for_each(|line| found.line(line));
    found.all
}

#[derive(Default)]
struct Found {
    all: Vec<Requirement>,
    /// The user story that the lines belong to, with the level of its heading.
    story: Option<(usize, String)>,
    /// Whether a list of acceptance scenarios is being read.
    in_scenarios: bool,
    /// How many scenarios each story has so far; one that is headed twice continues its count.
    scenarios: BTreeMap<String, usize>,
    /// The places of those that the last line names; what follows may belong to them.
    last: Vec<usize>,
}

impl Found {
    fn line(&mut self, line: &Line<'_>) {
        let text = String::from_utf8_lossy(line.text);
        let plain = text.trim_start_matches('#').replace("**", "");
        let plain = plain.trim();
        // An item of the outermost list, or a row of a table.
        let begins = line.kind == Kind::Item && line.column == 0 || text.starts_with(['*', '|']);
        if begins || matches!(line.kind, Kind::Blank | Kind::Heading(_)) {
            self.last.clear();
        }
        for &place in &self.last {
            if let Some(text) = self.all[place].texts.last_mut() {
                text.extend([" ", &in_a_row(plain)]);
            }
        }
        if let Kind::Heading(level) = line.kind {
            self.heading(level, plain);
        } else if is_label_of_scenarios(plain) {
            self.in_scenarios = true;
        } else if let Some(scenario) = scenario(line, plain).filter(|_| self.in_scenarios) {
            let story = self.story.as_ref();
            let before = story.map_or("AS".to_owned(), |(_, number)| format!("US{number}."));
            let count = self.scenarios.entry(before.clone()).or_default();
            *count += 1;
            let id = format!("{before}{count}");
            self.add(id, scenario);
        }
        let is_between = |letter: char| !letter.is_alphanumeric() && !"-_/.".contains(letter);
        for id in plain.split(is_between).filter_map(id_of) {
            self.add(id.to_owned(), plain);
        }
    }

    fn heading(&mut self, level: usize, plain: &str) {
        self.in_scenarios = is_label_of_scenarios(plain);
        let lower = plain.to_ascii_lowercase();
        if let Some((_, rest)) = lower.split_once("user story ") {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if !number.is_empty() {
                self.story = Some((level, number));
            }
        } else if self.story.as_ref().is_some_and(|(above, _)| level <= *above) {
            self.story = None;
        }
    }

    /// Adds one, or what else is said of it.
    fn add(&mut self, id: String, line: &str) {
        let known = self.all.iter().position(|known| known.id == id);
        let place = known.unwrap_or(self.all.len());
        if known.is_none() {
            let title = text::title(line, TITLE);
            self.all.push(Requirement { id, title, texts: Vec::new() });
        }
        if self.last.contains(&place) {
            return;
        }
        self.all[place].texts.push(in_a_row(line));
        self.last.push(place);
    }
}

/// The words of a line, however far they are apart.
fn in_a_row(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_label_of_scenarios(plain: &str) -> bool {
    plain.to_ascii_lowercase().starts_with("acceptance scenario")
}

/// The words of a numbered item, or of one that begins with `Given`.
fn scenario<'a>(line: &Line<'_>, plain: &'a str) -> Option<&'a str> {
    let is_mark = |letter: char| letter.is_ascii_digit() || ".)-*+ ".contains(letter);
    let words = plain.trim_start_matches(is_mark);
    let is_scenario = plain.starts_with(|first: char| first.is_ascii_digit())
        || words.to_ascii_lowercase().starts_with("given");
    (line.kind == Kind::Item && is_scenario).then_some(words)
}

/// The id that a word begins with.
fn id_of(word: &str) -> Option<&str> {
    let word = word.trim_start_matches('.');
    let prefix = PREFIXES.iter().find(|prefix| word.starts_with(**prefix))?;
    let number = &word.as_bytes()[prefix.len()..];
    let is_digit = |at: usize| number.get(at).is_some_and(u8::is_ascii_digit);
    let is_point = |at: usize| at > 0 && b".-".contains(&number[at]) && is_digit(at + 1);
    let mut end = (0..number.len()).take_while(|at| is_digit(*at) || is_point(*at)).count();
    end += usize::from(end > 0 && number.get(end).is_some_and(u8::is_ascii_lowercase));
    let (id, rest) = word.split_at(prefix.len() + end);
    (end > 0 && !rest.starts_with(char::is_alphanumeric)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(spec: &str) -> Vec<String> {
        requirements(spec.as_bytes()).into_iter().map(|it| it.id).collect()
    }

    #[test]
    fn every_kind_of_requirement_is_found_once_and_in_order() {
        let spec = "# Login\n\n### User Story 1 - Sign in (Priority: P1)\n\nWhy: FR-002.\n\n**Acceptance Scenarios**:\n\n\
            1. **Given** a form, **When** sent, **Then** in\n2. **Given** no form, **Then** out\n\n**Independent Test**: x\n\n\
            ### User Story 12 - Sign out\n\n#### Acceptance Scenarios\n- Given a session, then none\n- a note\n\n\
            ## Requirements\n\n- **FR-001**: System MUST\n- **FR-002**: MUST (see FR-001)\n- NFR-003a fast\n| AC-1.2 | x |\n\
            - [AC-1.3-4]: y\n\n## Success Criteria\n- **SC-001**: 95%\n### Acceptance Scenarios\n1. Given nothing\n";
        assert_eq!(
            found(spec),
            [
                "FR-002", "US1.1", "US1.2", "US12.1", "FR-001", "NFR-003a", "AC-1.2", "AC-1.3-4",
                "SC-001", "AS1"
            ]
        );
        assert_eq!(requirements(spec.as_bytes())[1].title, "Given a form, When sent, Then in");
    }

    #[test]
    fn each_text_that_names_a_requirement_is_kept_whole() {
        let spec = "Why: FR-001.\n\n- **FR-001**: MUST log\n  each   try,\n  also FR-001's\n- a note\n\nno more\n\
            - FR-002: x\n### Rest\nnothing\n| FR-003 | y |\n| z |\n## User Story 1\nAcceptance Scenarios\n1. Given a\n   and b\n2. Given c\n";
        let all = requirements(spec.as_bytes());
        let texts: Vec<&[String]> = all.iter().map(|it| it.texts.as_slice()).collect();
        let wanted: [&[&str]; 5] = [
            &["Why: FR-001.", "- FR-001: MUST log each try, also FR-001's"],
            &["- FR-002: x"],
            &["| FR-003 | y |"],
            &["Given a and b"],
            &["Given c"],
        ];
        assert_eq!(texts, wanted);
    }

    #[test]
    fn what_only_looks_like_an_id_and_what_is_hidden_is_no_requirement() {
        let spec = "XFR-001 FR-x FR-1x2 pre-FR-001 a/FR-002 FR-é\n<!-- FR-003 -->\n```\nFR-004\n```\n1. FR\nFR-005.\n";
        assert_eq!(found(spec), ["FR-005"]);
        let twice = "## User Story 1\nAcceptance Scenarios\n1. Given a\n## User Story 1\nAcceptance Scenarios\n1. Given b\n";
        assert_eq!(found(twice), ["US1.1", "US1.2"]);
        assert_eq!(found("No list.\n\n1. Given nothing\n"), [] as [&str; 0]);
    }
}
