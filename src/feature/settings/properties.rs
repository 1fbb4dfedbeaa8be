//! Every YAML notation of a list of checks gives the checks as written, and no mistake in a file skips a check.

use std::fmt::Write;

use proptest::prelude::*;
use serde_norway::Value;

use super::*;
use crate::world;

/// The notation of a text.
#[derive(Clone, Copy, Debug)]
enum Scalar {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

/// The notation of the list and its checks.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Block { indent: usize },
    Flow,
    FlowOnLines,
    Json,
}

fn double(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// The text means itself without quotes, anywhere.
fn may_be_plain(text: &str) -> bool {
    let simple = |letter: char| letter.is_ascii_alphanumeric() || "./=+$".contains(letter);
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && !matches!(text, "null" | "Null" | "NULL")
        && text.split(' ').all(|word| !word.is_empty() && word.chars().all(simple))
}

/// The text means itself in a block below `|`.
fn may_be_literal(text: &str) -> bool {
    text.lines().next().is_some_and(|first| !first.is_empty() && !first.starts_with([' ', '\t']))
        && !text.contains('\t')
        && text.trim_end_matches('\n').len() + 1 >= text.len()
}

/// A text in one notation, or in double quotes where that notation cannot hold it.
fn scalar(text: &str, notation: Scalar, indent: usize, in_flow: bool) -> String {
    match notation {
        Scalar::Plain if may_be_plain(text) => text.to_owned(),
        Scalar::Single if !text.contains(['\n', '\t']) => format!("'{}'", text.replace('\'', "''")),
        Scalar::Literal if may_be_literal(text) && !in_flow => {
            let mut block = if text.ends_with('\n') { "|\n" } else { "|-\n" }.to_owned();
            for line in text.lines() {
                let _ = writeln!(block, "{:indent$}{line}", "");
            }
            block.pop();
            block
        }
        Scalar::Folded if may_be_plain(text) && !in_flow => {
            format!(">-\n{:indent$}{}", "", text.replace(' ', &format!("\n{:indent$}", "")))
        }
        _ => double(text),
    }
}

type Written = (String, Option<u64>, Scalar);

fn emit(checks: &[Written], shape: Shape) -> String {
    let flow: Vec<String> = checks
        .iter()
        .map(|(run, limit, notation)| {
            let json = matches!(shape, Shape::Json);
            let run = scalar(run, if json { Scalar::Double } else { *notation }, 0, true);
            match limit {
                Some(limit) if json => format!("{{\"run\":{run},\"limit\":{limit}}}"),
                Some(limit) => format!("{{limit: {limit}, run: {run}}}"),
                None => run,
            }
        })
        .collect();
    match shape {
        Shape::Flow => format!("checks: [{}]\nenabled: true\n", flow.join(", ")),
        Shape::FlowOnLines => format!("enabled: true\nchecks: [\n  {}\n]\n", flow.join(",\n  ")),
        Shape::Json => format!("{{\"enabled\":true,\"checks\":[{}]}}\n", flow.join(",")),
        Shape::Block { indent } => {
            let mut text = "enabled: yes\nchecks: # in order\n".to_owned();
            for (run, limit, notation) in checks {
                let run = scalar(run, *notation, indent + 6, false);
                let _ = match limit {
                    Some(limit) => {
                        write!(text, "{:indent$}- run: {run}\n{:indent$}  limit: {limit}\n", "", "")
                    }
                    None => writeln!(text, "{:indent$}- {run}", ""),
                };
            }
            if checks.is_empty() { text.replace(" # in order", " []") } else { text }
        }
    }
}

fn commands() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(
        prop::sample::select(vec![
            "cargo",
            "test",
            "--all",
            "true",
            "null",
            "no",
            "1",
            "-f",
            "x y",
            "\"q\"",
            "it's",
            "a: b",
            "#x",
            " # y",
            "- z",
            "[a]",
            "{b}",
            "&c",
            "*d",
            "!e",
            "|",
            ">",
            "%f",
            "@g",
            "`h`",
            "\\n",
            "\n",
            "\n\n",
            "\t",
            "é",
            "你好",
            "👍",
            "$HOME",
            "'",
            "\"",
            "\\",
            ":",
            ",",
            "---",
            "...",
            "  ",
            "?",
            "~",
            "=",
            "<<",
            "https://a/b?c=d#e",
        ]),
        1..6,
    );
    (words, any::<bool>())
        .prop_map(|(words, spaced)| words.join(if spaced { " " } else { "" }))
        .prop_filter("a command that runs something", |run| {
            !run.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
        })
}

fn written() -> impl Strategy<Value = Vec<Written>> {
    let notation = prop_oneof![
        Just(Scalar::Plain),
        Just(Scalar::Single),
        Just(Scalar::Double),
        Just(Scalar::Literal),
        Just(Scalar::Folded),
    ];
    prop::collection::vec((commands(), prop::option::of(1..=1_500_u64), notation), 0..6)
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (0..5_usize).prop_map(|indent| Shape::Block { indent }),
        Just(Shape::Flow),
        Just(Shape::FlowOnLines),
        Just(Shape::Json),
    ]
}

fn checks_of(bytes: &[u8]) -> Result<Vec<(String, u64)>, String> {
    let settings = Settings::parse(bytes).map_err(|error| error.one_line())?;
    Ok(settings.checks.into_iter().map(|check| (check.run, check.limit_seconds)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s3_notations_give_same_checks(checks in written(), shape in shapes(), returns: bool) {
        let mut text = format!("---\n{}---\nProse.\n", emit(&checks, shape));
        if returns {
            text = text.replace('\n', "\r\n");
        }
        let wanted: Vec<_> = checks.into_iter().map(|(run, limit, _)| (run, limit.unwrap_or(300))).collect();
        prop_assert_eq!(checks_of(text.as_bytes()), Ok(wanted), "{}", text);
    }
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }

    fn mutate(&mut self, text: &mut Vec<u8>) {
        const LETTERS: &[u8] = b" \n\t\r-:#\"'[]{}|>&*!%@`,?~\\x0\0\xff\xc3e";
        let at = self.below(text.len() + 1);
        match self.below(9) {
            0 if at < text.len() => drop(text.remove(at)),
            1 => text.insert(at, LETTERS[self.below(LETTERS.len())]),
            2 if at < text.len() => text[at] = LETTERS[self.below(LETTERS.len())],
            3 => text.truncate(at),
            4 if at < text.len() => text[at] ^= 1 << self.below(8),
            mutation => self.mutate_lines(text, mutation),
        }
    }

    fn mutate_lines(&mut self, text: &mut Vec<u8>, mutation: usize) {
        let mut lines: Vec<Vec<u8>> =
            text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        match mutation {
            5 => drop(lines.remove(one)),
            6 => lines.insert(other, lines[one].clone()),
            7 => lines.swap(one, other),
            _ => {
                let blanks = lines[one].iter().take_while(|byte| **byte == b' ').count();
                let indent = self.below(6);
                lines[one].splice(..blanks, vec![b' '; indent]);
            }
        }
        *text = lines.join(&b'\n');
    }
}

/// The YAML of a file by a plain reading: between two lines of `---`, or all of it.
fn matter(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    let is_mark = |line: &&str| line.trim_end() == "---";
    let Some(first) = text.split_inclusive('\n').find(|line| !line.trim().is_empty()) else {
        return "";
    };
    if !is_mark(&first) {
        return text;
    }
    let start = text.find("---").unwrap() + first.len();
    let end: usize =
        text[start..].split_inclusive('\n').take_while(|line| !is_mark(line)).map(str::len).sum();
    &text[start..start + end]
}

type SettingsAsRead = (Option<String>, Option<u64>);

/// The commands and limits by another YAML reader; `None` for no text.
fn by_reference(text: &str) -> Result<Vec<SettingsAsRead>, String> {
    let value: Value = serde_norway::from_str(matter(text)).map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let Some(checks) = value.get("checks") else { return Ok(Vec::new()) };
    let checks = checks.as_sequence().ok_or("checks is no list")?;
    let check = |value: &Value| match value.get("run") {
        Some(run) => (text(run), Some(value.get("limit").and_then(Value::as_u64).unwrap_or(300))),
        None => (text(value), Some(300)),
    };
    Ok(checks.iter().map(check).collect())
}

/// The name behind a `&` has more than letters and digits.
fn has_odd_name(text: &str) -> bool {
    let names = text.split('&').skip(1).filter_map(|rest| rest.split_whitespace().next());
    names.into_iter().any(|name| !name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[test]
fn s3_mistakes_drop_no_check() {
    let good = [
        "---\nenabled: true\nchecks:\n  - cargo test --all # all of it\n  - run: \"npm run \\\"lint\\\"\"\n    limit: 60\n  - 'sh ok.sh'\n---\nProse - with: some [signs].\n",
        "---\nchecks: [cargo test, {run: npm test, limit: 20}, \"sh 'x'\"]\nenabled: yes\n---\n",
        "---\nchecks:\n- &one sh one.sh\n- *one\n- |\n  cd x\n  make\n- run: >-\n    cargo\n    test\n  limit: 5\n---\n",
        "enabled: on\n\nchecks:\n  - make\n\n  # the other\n  - make test\n",
    ];
    let mut dice = Dice(0x5eed_0000_0003);
    let (mut taken, mut alone) = (0, 0);
    let all = if world::variable("RALPH_TEST_THOROUGH").is_some() { 100_000 } else { 10_000 };
    for round in 0..all {
        let mut bytes = good[round % good.len()].as_bytes().to_vec();
        for _ in 0..=dice.below(3) {
            dice.mutate(&mut bytes);
        }
        let Ok(found) = checks_of(&bytes) else { continue };
        let text = String::from_utf8(bytes).unwrap();
        let reference = by_reference(&text);
        // The reference reads YAML 1.1, which takes no tab between two words and fewer letters in a name.
        let Some(wanted) = reference.ok().filter(|_| !has_odd_name(&text)) else {
            alone += 1;
            continue;
        };
        assert_eq!(found.len(), wanted.len(), "round {round}: {text:?}");
        for ((run, limit), (wanted_run, wanted_limit)) in found.iter().zip(&wanted) {
            // The last line of a file may have no line break; a block of text has one all the same.
            let same = |read: &String| read == run || *read == run.trim_end_matches('\n');
            assert!(wanted_run.as_ref().is_none_or(same), "round {round}: {run:?} {text:?}");
            assert_eq!(Some(*limit), *wanted_limit, "round {round}: {text:?}");
        }
        taken += 1;
    }
    assert!(alone * 100 < taken, "{alone} files are read here only");
    assert!((all / 5..all * 4 / 5).contains(&taken), "{taken} of {all} files are taken");
}
