//! The requirements and acceptance criteria in `spec.md`, each with an id.

use std::collections::BTreeMap;
use std::path::Path;

use crate::engine::markdown::{self, Kind, Line};
use crate::store::read::read_in;
use crate::text;

/// Beginnings of requirement ids.
const PREFIXES: [&str; 5] = ["NFR-", "FR-", "SC-", "AC-", "REQ-"];
/// Letters of a requirement in messages.
const TITLE: usize = 200;
/// Letters of an item without an id.
const NAMED: usize = 80;
/// Ids that a range such as `FR-001 to FR-009` leaves out, at most.
const LEFT_OUT: usize = 200;
/// Bytes of a list's label without a colon.
const LABEL: usize = 60;

/// Bytes of a specification.
const MOST: u64 = 1 << 20;

/// The bytes of the `spec.md` in a folder, and its requirements. An error tells why a review has nothing to judge: the
/// file cannot be read, or names no requirement. `shown` is the folder's path for a person.
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
    /// `FR-001` as written; `US1.2` for the second acceptance scenario or criterion of user story 1; `AS1` for the
    /// first one without a story.
    pub id: String,
    /// The line that names the requirement, shortened.
    pub title: String,
    /// Each whole text that names the requirement: a line, and those that belong to it.
    pub texts: Vec<String>,
}

/// The demands of a specification, without code and comments.
#[derive(Default)]
pub struct AskedFor {
    /// Each requirement once, in the order of the text.
    pub all: Vec<Requirement>,
    /// Items that look like requirements without an id, shortened.
    pub unnamed: Vec<String>,
    /// The user story around the current line, with its heading's level.
    story: Option<(usize, String)>,
    /// The kind of the following items, by the letter of [`LABELS`], and the column of the first one.
    section: Option<(u8, Option<usize>)>,
    /// The headings around the current line with a kind: their levels and kinds.
    around: Vec<(usize, u8)>,
    /// Unnamed items before the last row of a table.
    before_row: usize,
    /// Scenarios of each story so far; a story with a second heading counts on.
    scenarios: BTreeMap<String, usize>,
    /// Places of the requirements in the last line; following lines may belong to them.
    last: Vec<usize>,
    /// Places of the requirements at the beginning of the heading: the lines below belong to them.
    headed: Vec<usize>,
    is_behind_blank: bool,
}

/// Words of labels for scenarios, criteria or requirements, in several languages.
const LABELS: &str = include_str!("requirements.labels");
/// Beginnings of scenarios, in several languages.
const GIVEN: &str = include_str!("requirements.given");
/// Words of a demand, in several languages.
const MUST: &str = include_str!("requirements.must");
/// Words between the first and the last id of a range, besides dashes.
const TO: [&str; 7] = ["to", "..", "-", "through", "bis", "à", "a"];

pub fn requirements(spec: &[u8]) -> Vec<Requirement> {
    asked(spec).all
}

/// The demands of a specification.
pub fn asked(spec: &[u8]) -> AskedFor {
    let (mut asked, mut is_code) = (AskedFor::default(), false);
    for line in &markdown::lines(spec) {
        let text = String::from_utf8_lossy(line.text);
        is_code = line.is_hidden() && is_code != text.trim_start().starts_with(['`', '~']);
        if !line.is_hidden() {
            asked.line(line, &text);
        } else if is_code && is_given(text.trim()) {
            asked.unnamed.push(text::title(text.trim(), NAMED));
        }
    }
    asked
}

impl AskedFor {
    fn line(&mut self, line: &Line<'_>, text: &str) {
        if line.kind == Kind::Blank {
            self.is_behind_blank = true;
            return;
        }
        let plain = text.trim_start_matches('#').replace("**", "");
        let plain = plain.replace(['\u{2010}', '\u{2011}'], "-");
        let plain = plain.trim();
        let is_behind_blank = std::mem::take(&mut self.is_behind_blank);
        let is_heading = matches!(line.kind, Kind::Heading(_));
        if let Kind::Heading(level) = line.kind {
            self.headed.clear();
            self.heading(level, plain);
        }
        // An item of the outermost list, a row of a table, or a paragraph.
        let is_outermost = line.column == 0 && (line.kind == Kind::Item || is_behind_blank);
        if is_outermost || is_heading || text.starts_with(['*', '|']) {
            self.last.clone_from(&self.headed);
        }
        for &place in &self.last {
            if let Some(text) = self.all[place].texts.last_mut() {
                text.extend([" ", &in_a_row(plain)]);
            }
        }
        let is_row = text.starts_with('|');
        if is_row && plain.trim_matches(['|', '-', ':', ' ']).is_empty() {
            // The line below the names of columns.
            return self.unnamed.truncate(self.before_row);
        }
        self.before_row = self.unnamed.len();
        let is_label = !is_heading && !is_row && self.label(line, plain);
        let (words, ids) = (line.title().replace("**", ""), ids_in(plain));
        let words = words.trim_matches(['|', ' ']);
        let is_begin = line.kind == Kind::Item || is_row || is_behind_blank;
        let mut is_open = is_demand(words);
        if line.kind == Kind::Text && !is_label && !is_row && plain.ends_with(':') {
            let kind = self.around.last().map(|(_, kind)| *kind);
            self.section = kind.filter(|kind| *kind == b'r').map(|kind| (kind, None));
        } else if is_begin && !is_label && !is_heading {
            is_open |= self.block(line, plain, words);
        }
        if is_open && ids.is_empty() && self.last.is_empty() {
            self.unnamed.push(text::title(words, NAMED));
        }
        self.is_behind_blank = is_heading;
        for id in ids {
            self.add(id, plain);
        }
        if is_heading && begins_with_id(plain) {
            self.headed.clone_from(&self.last);
        }
    }

    fn heading(&mut self, level: usize, plain: &str) {
        self.around.retain(|(above, _)| *above < level);
        let above = self.around.last().map(|(_, kind)| *kind).filter(|kind| b"cr".contains(kind));
        let kind = section_of(plain).or(above);
        self.around.extend(kind.map(|kind| (level, kind)));
        self.section = kind.map(|kind| (kind, None));
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

    /// `true` for the label of a list, which begins a section.
    fn label(&mut self, line: &Line<'_>, plain: &str) -> bool {
        let is_short = plain.len() <= LABEL && !plain.ends_with('.') && line.column == 0;
        let is_label = plain.ends_with(':') || line.kind == Kind::Text && is_short;
        let section = section_of(plain).filter(|_| is_label && ids_in(plain).is_empty());
        self.section = section.map(|section| (section, None)).or(self.section);
        section.is_some()
    }

    /// Takes an item, a row or a paragraph; `true` if it may ask for something without an id.
    fn block(&mut self, line: &Line<'_>, plain: &str, words: &str) -> bool {
        let Some((section, column)) = self.section else { return false };
        let column = column.unwrap_or(line.column);
        if line.column > column {
            return false;
        }
        self.section = Some((section, Some(column))).filter(|_| line.column == column);
        let is_item = line.kind == Kind::Item;
        let raw = line.title();
        let is_bold = raw.starts_with("**") && raw.matches("**").count() > 2;
        let first = words.split(' ').next().unwrap_or_default();
        let is_numbered = plain.starts_with(|first: char| first.is_ascii_digit());
        let is_asked = match section {
            b's' => {
                is_given(words)
                    || is_item && (is_bold || is_numbered || section_of(first) == Some(b's'))
            }
            _ => is_item && section == b'c' && !begins_with_id(words),
        };
        if self.section.is_some() && is_asked {
            let story = self.story.as_ref();
            let before = story.map_or("AS".to_owned(), |(_, number)| format!("US{number}."));
            let count = self.scenarios.entry(before.clone()).or_default();
            *count += 1;
            let id = format!("{before}{count}");
            self.add(id, words);
        }
        // A paragraph behind the list of a label is not of the list.
        let is_its = |(_, kind): &(usize, u8)| *kind == section;
        let is_of_list = is_item || plain.starts_with('|');
        b"cr".contains(&section) && (is_of_list || self.around.last().is_some_and(is_its))
    }

    /// Adds a requirement, or another text that names it.
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

/// The words with one blank between them.
fn in_a_row(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The kind of items below a label or a heading.
fn section_of(plain: &str) -> Option<u8> {
    let lower = plain.to_lowercase();
    let is_its = |line: &&str| line.split(' ').skip(1).any(|word| lower.contains(word));
    LABELS.lines().find(is_its).map(|line| line.as_bytes()[0])
}

fn begins_with_id(words: &str) -> bool {
    words.split_whitespace().next().is_some_and(|word| !ids_in(word).is_empty())
}

fn is_given(words: &str) -> bool {
    let words = words.replace("**", "").to_lowercase();
    GIVEN.split_whitespace().any(|word| words.starts_with(word))
}

/// The words say that something must be, or begin with an id in a form that is not read, such as `FR001` and `SEC-3:`.
fn is_demand(words: &str) -> bool {
    let is_must = |word: &str| {
        MUST.split_whitespace().any(|must| word == must || !must.is_ascii() && word.contains(must))
    };
    let words = words.trim_start_matches(['[', '(', '*', '_', '`']);
    let name = words.split(|sign: char| !sign.is_alphabetic()).next().unwrap_or_default();
    let number =
        words[name.len()..].trim_start_matches(|sign| "-_ \u{2013}\u{2014}".contains(sign));
    let is_known = PREFIXES.iter().any(|known| known[..known.len() - 1].eq_ignore_ascii_case(name));
    let (head, _) = words.split_once([':', '|', ')', ']', '\u{ff1a}']).unwrap_or_default();
    let is_short = head.len() < 12 && head.contains('-') && !head.contains(char::is_lowercase);
    number.starts_with(|sign: char| sign.is_ascii_digit()) && (is_known || is_short)
        || words.split(|sign: char| !sign.is_alphanumeric()).any(is_must)
}

/// The ids in a text; two may share a word, as in `FR-004/FR-005` and `FR-004/005`, and stand for those between them, as
/// in `FR-004 to FR-009` and `FR-004..009`.
fn ids_in(plain: &str) -> Vec<String> {
    let is_between = |letter: char| !letter.is_alphanumeric() && !"-_/.".contains(letter);
    let (mut ids, mut is_id, mut is_to) = (Vec::<String>::new(), false, false);
    for word in with_plain_dashes(plain).split(is_between).filter(|word| !word.is_empty()) {
        let (begin, mut is_range) = (ids.len(), is_to);
        for piece in word.split("..") {
            for part in piece.split('/') {
                let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
                let last = ids.last().filter(|_| is_number && ids.len() > begin);
                let next = last.and_then(|last| last.rsplit_once('-'));
                let next = next.map(|(before, _)| [before, "-", part].concat());
                // Any other beginning is that of a path.
                let Some(id) = id_of(part).map(str::to_owned).or(next) else { break };
                let first = ids.last().filter(|_| std::mem::take(&mut is_range));
                ids.extend(first.map_or(Vec::new(), |first| between(first, &id)));
                ids.push(id);
            }
            is_range = ids.len() > begin;
        }
        (is_to, is_id) = (is_id && TO.contains(&word), ids.len() > begin);
    }
    ids
}

/// A long dash behind the beginning of an id is a hyphen; elsewhere it may make a range.
fn with_plain_dashes(plain: &str) -> String {
    let plain = plain.replace(['\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}'], "..");
    PREFIXES.iter().fold(plain, |text, prefix| text.replace(&prefix.replace('-', ".."), prefix))
}

/// The ids between two of the same kind.
fn between(first: &str, last: &str) -> Vec<String> {
    let stem = first.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = |id: &str| id.strip_prefix(stem)?.parse::<usize>().ok();
    let numbers = number(first).zip(number(last)).map_or(0..0, |(first, last)| first + 1..last);
    let width = first.len() - stem.len();
    numbers.take(LEFT_OUT).map(|number| format!("{stem}{number:0width$}")).collect()
}

/// The id at the beginning of a word: groups such as `AUTH`, then a number.
fn id_of(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(['.', '_']);
    let prefix = PREFIXES.iter().find(|prefix| word.starts_with(**prefix))?;
    let (mut at, mut end) = (prefix.len(), None);
    for part in word[at..].split_inclusive(['-', '_']) {
        let name = part.trim_end_matches(['-', '_', '.']);
        let is_group = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if is_number(name) {
            end = Some(at + name.len());
        } else if end.is_some() || !is_group {
            break;
        }
        at += part.len();
    }
    end.map(|end| &word[..end])
}

/// A number such as `001`, `A1`, `1.2` or `003a`.
fn is_number(name: &str) -> bool {
    let number = name.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    let number = number.strip_suffix(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(number);
    let is_digit = |letter: char| letter.is_ascii_digit();
    number.starts_with(is_digit) && number.chars().all(|letter| is_digit(letter) || letter == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(spec: &str) -> Vec<String> {
        requirements(spec.as_bytes()).into_iter().map(|requirement| requirement.id).collect()
    }

    #[test]
    fn requirements_are_found_once() {
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
    fn requirement_texts_stay_whole() {
        let spec = "Why: FR-001.\n\n- **FR-001**: MUST log\n  each   try,\n  also FR-001's\n- a note\n\nno more\n\
            - FR-002: x\n### Rest\nnothing\n| FR-003 | y |\n| z |\n## User Story 1\nAcceptance Scenarios\n1. Given a\n   and b\n2. Given c\n";
        let all = requirements(spec.as_bytes());
        let texts: Vec<&[String]> =
            all.iter().map(|requirement| requirement.texts.as_slice()).collect();
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
    fn v9_second_id_is_asked_for() {
        for (line, ids) in [
            ("- **FR-AUTH-001**: MUST", &["FR-AUTH-001"] as &[_]),
            ("- FR-003A: MUST", &["FR-003A"]),
            ("- **FR-004/FR-005**: MUST", &["FR-004", "FR-005"]),
            ("- FR-004 / FR-005 & FR-006, FR-007", &["FR-004", "FR-005", "FR-006", "FR-007"]),
            ("- FR-004/005/006: MUST", &["FR-004", "FR-005", "FR-006"]),
            ("- FR-AUTH-001/002: MUST", &["FR-AUTH-001", "FR-AUTH-002"]),
            ("- FR-004\u{2013}FR-006: MUST", &["FR-004", "FR-005", "FR-006"]),
            ("- FR-004\u{2013}006: MUST", &["FR-004", "FR-005", "FR-006"]),
            ("- **FR-009..FR-011**: MUST", &["FR-009", "FR-010", "FR-011"]),
            ("- **FR-009** to **FR-011**: MUST", &["FR-009", "FR-010", "FR-011"]),
            ("- FR-009 \u{2013} FR-011: MUST", &["FR-009", "FR-010", "FR-011"]),
            ("- SC-001 \u{2013} 95% as FR-003 leads to FR-009", &["SC-001", "FR-003", "FR-009"]),
            ("- FR\u{2013}001: x", &["FR-001"]),
            ("- __FR-006__: y...", &["FR-006"]),
            ("- FR\u{2011}001: MUST", &["FR-001"]),
            ("- (FR-UI-2FA-1) and [NFR-PERF-01b]: MUST", &["FR-UI-2FA-1", "NFR-PERF-01b"]),
            ("- FR-A1: MUST, as docs/FR-002.md says", &["FR-A1"]),
            ("- FR-001-based: MUST", &["FR-001"]),
            ("### FR-001 - Login", &["FR-001"]),
            ("| FR-1.2 | x | SC-002, AC-3 |", &["FR-1.2", "SC-002", "AC-3"]),
        ] {
            assert_eq!(found(line), ids, "{line}");
        }
    }

    #[test]
    fn v9_criteria_lists_are_asked_for() {
        for list in [
            "**Acceptance Criteria**:\n\n- it logs\n  - at once\n- 95% are fast\n\nA note.\n",
            "#### Acceptance Criteria\n* [ ] it logs\n* [x] 95% are fast\n### Notes\n- none\n",
            "- **Acceptance criteria**:\n  1. it logs\n  2. 95% are fast\n- a note\n",
            "#### Akzeptanzkriterien\n1) it logs\n2) 95% are fast\n\n**Notes**:\n- none\n",
            "#### Critères d'acceptation\n- it logs\n- 95% are fast\n",
            "#### 验收标准\n- it logs\n- 95% are fast\n",
        ] {
            let spec = format!("### User Story 2 - Log\n{list}");
            let all = requirements(spec.as_bytes());
            let titles: Vec<_> =
                all.iter().map(|asked| (asked.id.as_str(), asked.title.as_str())).collect();
            assert_eq!(titles, [("US2.1", "it logs"), ("US2.2", "95% are fast")], "{spec}");
        }
    }

    #[test]
    fn v9_foreign_scenarios_are_read() {
        for list in [
            "**Akzeptanzszenarien**:\n1. **Gegeben** a, **Wenn** b, **Dann** c\n2. **Gegeben** d",
            "**Escenarios de aceptación**:\n- **Dado** a, **Cuando** b\n- Dado d, cuando e",
            "**受け入れシナリオ**:\n1. **前提** a\n2. **前提** d",
            "Сценарии приёмки:\n1. Дано a\n2. Дано d",
        ] {
            assert_eq!(found(list), ["AS1", "AS2"], "{list}");
        }
    }

    #[test]
    fn v9_missing_ids_are_named() {
        let spec = "## Requirements\n- The system logs\n  - at once\n- **SEC-1**: MUST mask\n- FR-001: MUST log\n\n\
            ## Edge Cases\n- what if?\n## Akzeptanzszenarien\n- a note\n";
        let asked = asked(spec.as_bytes());
        assert_eq!(asked.unnamed, ["The system logs", "SEC-1: MUST mask"]);
        let ids: Vec<_> = asked.all.iter().map(|requirement| requirement.id.as_str()).collect();
        assert_eq!(ids, ["FR-001"]);
    }

    /// The items without an id, beside one with an id.
    fn unnamed(spec: &str) -> Vec<String> {
        let asked = asked([spec, "\n\n## End\n\n- **FR-900**: MUST end\n"].concat().as_bytes());
        assert!(asked.all.iter().any(|one| one.id == "FR-900"), "{spec}");
        asked.unnamed
    }

    #[test]
    fn v9_demands_without_id_are_named() {
        for (spec, items) in [
            (
                "## Requirements\n\n| # | Requirement |\n|---|:--|\n| 1 | it locks |\n| SEC-3 | c |\n",
                &["1 | it locks", "SEC-3 | c"] as &[_],
            ),
            ("## Requirements\n\n| ID | What |\n|--|--|\n| FR-001 | a |\n", &[]),
            (
                "## Acceptance Criteria\n\n| # | Criterion |\n|--|--|\n| 1 | it logs |\n",
                &["1 | it logs"],
            ),
            (
                "## Requirements\n\nEach try is logged,\nalso a right one.\n\nIt locks.\n",
                &["Each try is logged,", "It locks."],
            ),
            (
                "## Requirements\n### Functional\n- FR-001: a\n### Security\n\n- it masks\n#### Keys\nThey stay.\n## Notes\n- none\n",
                &["it masks", "They stay."],
            ),
            ("## Requirements\n\nAll of these:\n\n- it masks\n", &["it masks"]),
            (
                "## Requirements\n\n- FR-001: a\n\n### Key Entities\n\n- **User**: a person\n\n### Assumptions\n- none\n",
                &[],
            ),
            (
                "## Edge Cases\n- what if?\n- The system MUST refuse\n\nIt MUST NOT wait.\n",
                &["The system MUST refuse", "It MUST NOT wait."],
            ),
            (
                "## Constraints\n- It SHALL run\n- Es MUSS laufen\n- DEBE\n- Il DOIT\n- \u{7cfb}\u{7edf}\u{5fc5}\u{987b}\u{8bb0}\u{5f55}\n- a MUSTARD must wait\n",
                &[
                    "It SHALL run",
                    "Es MUSS laufen",
                    "DEBE",
                    "Il DOIT",
                    "\u{7cfb}\u{7edf}\u{5fc5}\u{987b}\u{8bb0}\u{5f55}",
                ],
            ),
            (
                "- **FR001**: a\n- fr-002: b\n- REQ 004: c\n- **R-003**: d\n- BR-007: e\n- UTF-8 is read\n- AES-256 and more\n- a: 1\n",
                &["FR001: a", "fr-002: b", "REQ 004: c", "R-003: d", "BR-007: e"],
            ),
            ("## Wymagania\n- system loguje\n", &["system loguje"]),
            (
                "## Story\n```gherkin\nScenario: a\n  Given a password\n  When b\n```\n<!--\nGiven that\n-->\n",
                &["Given a password"],
            ),
            // What belongs to one with an id is asked for with it.
            ("## Requirements\n### FR-001 Login\n\nIt MUST lock.\n\n- at once\n", &[]),
            ("- FR-001: a\n  that MUST stay\n\n  It MUST go.\n", &[]),
            (
                "## User Scenarios & Testing\n\n### User Story 1 - a (Priority: P1)\n\nA person signs in.\n\n**Why this priority**: it is first\n\n**Independent Test**: try it\n\n**Acceptance Scenarios**:\n\n1. **Given** a, **When** b, **Then** it MUST log\n\n---\n\n### Edge Cases\n\n- What of none?\n",
                &[],
            ),
        ] {
            assert_eq!(unnamed(spec), items, "{spec}");
        }
    }

    #[test]
    fn v9_scenarios_have_many_forms() {
        let story = "### User Story 1 - a\n\n**Acceptance Scenarios**:\n\n";
        for list in [
            "- Scenario 1: right\n  - Given a\n  - When b\n- Scenario 2: wrong\n  - Given d\n",
            "**Given** a, **When** b\n\n**Given** d, **Then** e\n\n**Independent Test**: **none**\n",
        ] {
            assert_eq!(found(&[story, list].concat()), ["US1.1", "US1.2"], "{list}");
        }
        assert_eq!(
            found("## Success Criteria\n### Measurable Outcomes\n- 95% are fast\n"),
            ["AS1"]
        );
    }

    #[test]
    fn v9_lower_lines_belong_to_it() {
        let spec = "### FR-001: Login\n\nIt locks after 3 tries.\n\n- at once\n\n### Notes\nnone\n\
            - FR-002: MUST log\n\n  each try\n\n  - also FR-003's\n\nno more\n";
        let all = requirements(spec.as_bytes());
        let texts: Vec<_> = all.iter().map(|requirement| requirement.texts.join(" / ")).collect();
        let first = "FR-001: Login It locks after 3 tries. - at once";
        let second = "- FR-002: MUST log each try - also FR-003's";
        assert_eq!(texts, [first, second, "- also FR-003's"]);
    }

    #[test]
    fn hidden_id_is_no_requirement() {
        let spec = "XFR-001 FR-x FR-1x2 pre-FR-001 a/FR-002 FR-é\n<!-- FR-003 -->\n```\nFR-004\n```\n1. FR\nFR-005.\n";
        assert_eq!(found(spec), ["FR-005"]);
        let twice = "## User Story 1\nAcceptance Scenarios\n1. Given a\n## User Story 1\nAcceptance Scenarios\n1. Given b\n";
        assert_eq!(found(twice), ["US1.1", "US1.2"]);
        assert_eq!(found("No list.\n\n1. Given nothing\n"), [] as [&str; 0]);
    }
}
