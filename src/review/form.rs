//! A reader's answer: its fixed form, and the faults of an answer without it.

use std::collections::BTreeSet;

use crate::feature::requirements::Requirement;
pub use crate::forms::review::{
    ReviewEvidence, ReviewFinding, ReviewJudgement, ReviewRequirement, ReviewSeverity,
};
use crate::text;

/// The line before the answer; a blank and the review's code follow.
pub const BEGIN: &str = "REVIEW";
/// The line behind the answer, with the same code.
pub const END: &str = "END";
/// Lines read of an answer.
const LINES: usize = 5_000;
/// Faults that are named.
const PROBLEMS: usize = 20;
/// Letters of an answer's line in a message.
const SHOWN: usize = 80;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewAnswer {
    /// The judgements, in the order of the specification.
    pub requirements: Vec<ReviewRequirement>,
    /// Other findings, the worst first.
    pub findings: Vec<ReviewFinding>,
}

/// The answer in a reader's last words. An error has every fault, at most twenty.
///
/// Only the text between the two lines with the code counts. The code is in no file, so no text that the reader repeats
/// can pass for its answer. Only in the review of a part may an answer leave a requirement for later.
pub fn parse(
    words: &str,
    code: &str,
    wanted: &[Requirement],
    is_part: bool,
) -> Result<ReviewAnswer, Vec<String>> {
    let lines = between(words, code).map_err(|why| vec![why])?;
    let mut answer = ReviewAnswer::default();
    let mut problems = Vec::new();
    for line in lines {
        take(&mut answer, line, wanted).unwrap_or_else(|why| problems.push(why));
    }
    let for_later = answer.requirements.iter().filter(|one| one.verdict == ReviewJudgement::Later);
    for judged in for_later.filter(|_| !is_part) {
        let id = text::title(&judged.id, SHOWN);
        problems.push(format!("`{id}` is left for later, and all of the work is reviewed"));
    }
    let given: BTreeSet<&str> = answer.requirements.iter().map(|one| one.id.as_str()).collect();
    let missing = wanted.iter().filter(|requirement| !given.contains(requirement.id.as_str()));
    let missing: Vec<&str> = missing.map(|requirement| requirement.id.as_str()).collect();
    if !missing.is_empty() {
        problems.push(format!("nothing is said of {}", text::title(&missing.join(", "), 400)));
    }
    if !problems.is_empty() {
        let more = problems.len().saturating_sub(PROBLEMS);
        problems.truncate(PROBLEMS);
        if more > 0 {
            problems.push(format!("and {more} more"));
        }
        return Err(problems);
    }
    let place = |id: &str| wanted.iter().position(|requirement| requirement.id == id);
    answer.requirements.sort_by_key(|judged| place(&judged.id));
    answer.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(answer)
}

/// The answer's lines, without blank ones and without the fence that many put around code.
fn between<'a>(words: &'a str, code: &str) -> Result<Vec<&'a str>, String> {
    let lines: Vec<&str> = words.lines().map(str::trim).collect();
    let places = |word: &str| -> Vec<usize> {
        let wanted = format!("{word} {code}");
        (0..lines.len()).filter(|at| lines[*at] == wanted).collect()
    };
    let (begin, end) = match (&places(BEGIN)[..], &places(END)[..]) {
        ([begin], [end]) if begin < end => (*begin, *end),
        ([], _) => {
            return Err(format!("it has no line with `{BEGIN}` and the code of this review"));
        }
        ([_], []) => return Err(format!("it has no line with `{END}` and the code: it was cut")),
        _ => return Err("it holds more than one answer".to_owned()),
    };
    let inner = lines[begin + 1..end].iter().copied();
    let inner: Vec<&str> =
        inner.filter(|line| !line.is_empty() && !line.starts_with("```")).collect();
    if inner.len() > LINES {
        return Err(format!("it has {} lines, and at most {LINES} are read", inner.len()));
    }
    Ok(inner)
}

fn take(answer: &mut ReviewAnswer, line: &str, wanted: &[Requirement]) -> Result<(), String> {
    let shown = || text::title(line, SHOWN);
    let unread = |error: serde_json::Error| format!("`{}` cannot be read: {error}", shown());
    let value: serde_json::Value = serde_json::from_str(line).map_err(unread)?;
    if value.get("finding").is_some() {
        let finding: ReviewFinding = serde_json::from_str(line).map_err(unread)?;
        if finding.finding.trim().is_empty() {
            return Err(format!("`{}` finds nothing", shown()));
        }
        answer.findings.push(finding);
        return Ok(());
    }
    let judged: ReviewRequirement = serde_json::from_str(line).map_err(unread)?;
    let id = text::title(&judged.id, SHOWN);
    if wanted.iter().all(|requirement| requirement.id != judged.id) {
        return Err(format!("`{id}` is no requirement of the specification"));
    }
    if answer.requirements.iter().any(|known| known.id == judged.id) {
        return Err(format!("`{id}` is judged twice"));
    }
    answer.requirements.push(judged);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "0123abcd";

    fn wanted() -> Vec<Requirement> {
        ["FR-001", "US1.1"]
            .map(|id| Requirement { id: id.to_owned(), ..Requirement::default() })
            .into()
    }

    fn parsed(body: &str) -> Result<ReviewAnswer, Vec<String>> {
        parse(
            &format!("I read it.\n\nREVIEW {CODE}\n{body}\nEND {CODE}\nThanks."),
            CODE,
            &wanted(),
            false,
        )
    }

    fn problem(body: &str) -> String {
        parsed(body).unwrap_err().join("; ")
    }

    const FR: &str =
        r#"{"id":"FR-001","verdict":"met","evidence":[{"file":"a.rs","line":1,"quote":"fn a"}]}"#;
    const US: &str = r#"{"id":"US1.1","verdict":"cannot tell","why":"no test"}"#;

    #[test]
    fn answer_follows_the_specification() {
        let low = r#"{"finding":"x","severity":"low"}"#;
        let high = r#"{"finding":"y","severity":"critical","evidence":[{"command":"t"}]}"#;
        let answer = parsed(&format!("```jsonl\n{US}\n\n{low}\n{high}\n  {FR}\n```")).unwrap();
        let read: Vec<_> = answer.requirements.iter().map(|one| (&*one.id, one.verdict)).collect();
        assert_eq!(
            read,
            [("FR-001", ReviewJudgement::Met), ("US1.1", ReviewJudgement::CannotTell)]
        );
        assert_eq!(answer.requirements[0].evidence[0].quote, "fn a");
        let found: Vec<_> = answer.findings.iter().map(|finding| finding.severity).collect();
        assert_eq!(found, [ReviewSeverity::Critical, ReviewSeverity::Low]);
    }

    #[test]
    fn formless_answer_says_why() {
        let both = format!("{FR}\n{US}");
        for (body, why) in [
            (FR.to_owned(), "nothing is said of US1.1"),
            (format!("{both}\n{US}"), "`US1.1` is judged twice"),
            (format!("{both}\n{}", FR.replace("001", "002")), "`FR-002` is no requirement"),
            (format!("{both}\nAll is well."), "`All is well.` cannot be read"),
            (format!("{FR}\n{}", US.replace("cannot tell", "yes")), "unknown variant `yes`"),
            (format!("{FR}\n{}", US.replace("why", "because")), "unknown field `because`"),
            (format!("{both}\n{{\"finding\":\" \",\"severity\":\"low\"}}"), "finds nothing"),
            (format!("{both}\n{{\"finding\":\"x\"}}"), "missing field `severity`"),
            (format!("{both}\nREVIEW {CODE}"), "more than one answer"),
            (format!("{both}\nEND {CODE}"), "more than one answer"),
            // A name twice would let a reader of JSON choose.
            (
                format!("{FR}\n{}", US.replace("\"why\"", "\"verdict\":\"met\",\"why\"")),
                "duplicate field",
            ),
        ] {
            assert!(problem(&body).contains(why), "{body}\n{}", problem(&body));
        }
    }

    #[test]
    fn only_its_code_answers() {
        let both = format!("{FR}\n{US}");
        for words in [
            both.clone(),
            format!("REVIEW 9999\n{both}\nEND 9999"),
            format!("REVIEW\n{both}\nEND"),
            format!("review {CODE}\n{both}\nEND {CODE}"),
        ] {
            let why = parse(&words, CODE, &wanted(), false).unwrap_err().join("; ");
            assert_eq!(why, "it has no line with `REVIEW` and the code of this review", "{words}");
        }
        let cut = parse(&format!("REVIEW {CODE}\n{both}"), CODE, &wanted(), false).unwrap_err();
        assert_eq!(cut, ["it has no line with `END` and the code: it was cut"]);
        let turned = format!("END {CODE}\n{both}\nREVIEW {CODE}");
        assert_eq!(
            parse(&turned, CODE, &wanted(), false).unwrap_err(),
            ["it holds more than one answer"]
        );
    }

    #[test]
    fn only_part_reviews_postpone() {
        let body =
            format!("REVIEW {CODE}\n{FR}\n{}\nEND {CODE}", US.replace("cannot tell", "later"));
        let why = parse(&body, CODE, &wanted(), false).unwrap_err();
        assert_eq!(why, ["`US1.1` is left for later, and all of the work is reviewed"]);
        let answer = parse(&body, CODE, &wanted(), true).unwrap();
        assert_eq!(answer.requirements[1].verdict, ReviewJudgement::Later);
    }

    #[test]
    fn named_problems_are_bounded() {
        let body = "nonsense\n".repeat(100);
        let problems = parsed(&body).unwrap_err();
        assert_eq!((problems.len(), problems[PROBLEMS].as_str()), (PROBLEMS + 1, "and 81 more"));
    }
}
