//! A person's words after `/ralph-loop`: the task, unchanged, with flags before or behind it.

use super::flags::{dashes, first_word, take_flags, words};
use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::settings::{Chosen, LOOP, table};

pub const USAGE: &str = concat!(
    "Usage: /speckit:ralph-loop \"TASK\" [--max-iterations N] [--completion-promise TEXT] [--promise-match anywhere|exact] [--min-tool-calls N] [--min-iterations N] [--on-promise-no-work reject|warn|accept] [--check \"CMD\"]… [--check-timeout SECONDS] [--no-final-check] [--no-progress N] [--prompt-file PATH] [--replace]\nor, to continue the loop of a session that is gone: /speckit:ralph-loop --adopt [SESSION] [--force] [--replace]",
    dashes!()
);
/// The promise if a person names neither a promise nor a check.
pub const PROMISE: &str = "DONE";
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskRequest {
    /// The task; empty if a file holds it.
    pub task: String,
    pub chosen: Chosen,
}

impl TaskRequest {
    /// Reads the words after the command; an error says what is wrong, and how to write it.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut chosen = Chosen::default();
        let text = take_flags(&mut chosen, LOOP, text).map_err(|why| wrong(&why))?;
        let (mut task, mut behind) = words(text);
        if let ("--", literal) = first_word(behind) {
            // After words of the task, `--` belongs to the task.
            (task, behind) = (if task.is_empty() { literal } else { text }, "");
        }
        let left = take_flags(&mut chosen, LOOP, behind).map_err(|why| wrong(&why))?;
        if !left.is_empty() {
            return Err(wrong(&format!(
                "`{}` comes after the flags, and the task before them; put the whole task in quotes",
                printable(first_word(left).0)
            )));
        }
        Self { task: without_quotes(task.trim()).to_owned(), chosen }.checked()
    }

    /// The promise that ends the loop: the person's, or [`PROMISE`] if no check decides.
    pub fn promise(&self) -> Option<String> {
        if self.chosen.made(&table::completion_promise).is_some() {
            return Some(self.chosen.completion_promise());
        }
        self.chosen.check().is_empty().then(|| PROMISE.to_owned())
    }

    fn checked(self) -> Result<Self, Refusal> {
        let Self { task, chosen } = &self;
        let has_task = task.contains(char::is_alphanumeric);
        if chosen.adopt().is_some() {
            let adopts = [&table::adopt, &table::force, &table::replace];
            if has_task || chosen.0.iter().any(|made| !adopts.contains(&made.setting)) {
                return Err(wrong(
                    "`--adopt` continues with the task and the limits that the loop has: only a session, `--force` and `--replace` go with it",
                ));
            }
            return Ok(self);
        }
        let what = match chosen.prompt_file() {
            _ if chosen.force() => "`--force` is for `--adopt` alone",
            None if !has_task => "there is no task",
            Some(_) if has_task => {
                "there are two tasks: one was typed, `--prompt-file` names another"
            }
            _ if chosen.max_iterations().is_some_and(|most| chosen.min_iterations() > most) => {
                "`--min-iterations` is more than `--max-iterations`"
            }
            _ => return Ok(self),
        };
        Err(wrong(what))
    }
}

fn wrong(what: &str) -> Refusal {
    Refusal::Usage(what.to_owned(), USAGE)
}

/// The task without quotes around the whole: `"a" and "b"` has none.
fn without_quotes(task: &str) -> &str {
    let inside = |quote| {
        let is_whole = !first_word(task).1.split_whitespace().any(|word| word.starts_with(quote));
        task.strip_prefix(quote)?.strip_suffix(quote).filter(|_| is_whole)
    };
    inside('"').or_else(|| inside('\'')).unwrap_or(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> TaskRequest {
        TaskRequest::parse(text).unwrap_or_else(|refusal| panic!("{text}\n{refusal}"))
    }

    fn refused(text: &str) -> String {
        match TaskRequest::parse(text) {
            Ok(request) => panic!("{text}\n{request:?}"),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn a_task_arrives_letter_for_letter() {
        for task in [
            "Fix it",
            "it's the users' data, don't lose it",
            "a \"quoted\" word",
            "$(touch pwned) `touch pwned` ${HOME} *",
            "one\ntwo\n\n---\nthree: four\n---\n",
            "left -- right",
            "replace $& and $1 and \\1",
            "\u{1f600} \u{fc}\u{df}\u{4e2d}",
            "<promise>DONE</promise>",
        ] {
            for (before, after) in
                [("", ""), ("", " --max-iterations 3"), ("--max-iterations=3 ", "")]
            {
                let quoted = parsed(&format!("{before}\"{task}\"{after}"));
                assert_eq!(quoted.task, task);
                assert_eq!(
                    quoted.chosen.max_iterations(),
                    Some(if before == after { 50 } else { 3 })
                );
            }
            assert_eq!(parsed(task).task, task.trim());
            assert_eq!(parsed(&format!("-- {task}")).task, task.trim());
        }
    }

    #[test]
    fn quoted_flags_are_text() {
        for (text, task) in [
            (r#""add --max-iterations 9 to it""#, "add --max-iterations 9 to it"),
            (r#""run "x" --check "y" in it""#, r#"run "x" --check "y" in it"#),
            (r#""make it 5" wide" --no-progress 4"#, r#"make it 5" wide"#),
            ("'the users' data' --no-progress 4", "the users' data"),
            (r#""a" and "b""#, r#""a" and "b""#),
            (r#""a" is broken --no-progress 4"#, r#""a" is broken"#),
            ("use `cargo test --all` here", "use `cargo test --all` here"),
            ("see\n```\nrun --all\n```\nhere", "see\n```\nrun --all\n```\nhere"),
            ("say 'use --all' and --no-progress 4", "say 'use --all' and"),
            ("left -- right --foo", "left -- right --foo"),
            ("a\n---\nb", "a\n---\nb"),
            ("go - or -> \u{2014} below -5", "go - or -> \u{2014} below -5"),
            ("'em all --no-progress 4 --check 'a b'", "'em all"),
            ("-- -v is \"loud\" --all", "-v is \"loud\" --all"),
        ] {
            assert_eq!(parsed(text).task, task, "{text}");
        }
    }

    #[test]
    fn flags_stand_on_both_sides() {
        let flags = "--max-iterations=08 --completion-promise 'ALL DONE' --promise-match exact --no-final-check \
            --min-tool-calls 3 --min-iterations=2 --on-promise-no-work warn --check \"npm test\" \
            --check='grep -q \"a b\" x' --check-timeout 60 --no-progress 4 --replace";
        let expected = [
            ("max-iterations", "08"),
            ("completion-promise", "ALL DONE"),
            ("promise-match", "exact"),
            ("no-final-check", "true"),
            ("min-tool-calls", "3"),
            ("min-iterations", "2"),
            ("on-promise-no-work", "warn"),
            ("check", "npm test, grep -q \"a b\" x"),
            ("check-timeout", "60"),
            ("no-progress", "4"),
            ("replace", "true"),
        ];
        for text in [
            format!("{flags} Do it"),
            format!("Do it {flags}"),
            format!("\"Do it\"\n{flags}"),
            format!("{flags} -- Do it"),
        ] {
            let TaskRequest { task, chosen } = parsed(&text);
            for (name, value) in expected {
                let made = chosen.0.iter().find(|made| made.setting.name == name);
                let values = made.map(|made| made.values.join(", "));
                assert_eq!(values.as_deref(), Some(value), "{text}: {name}");
            }
            assert_eq!((chosen.0.len(), task.as_str()), (expected.len(), "Do it"), "{text}");
            assert_eq!(chosen.max_iterations(), Some(8));
            assert_eq!(chosen.on_promise_no_work(), crate::engine::WithoutWork::Warn);
        }
    }

    #[test]
    fn promise_is_done_by_default() {
        assert_eq!(parsed("Do it").promise().as_deref(), Some("DONE"));
        assert_eq!(parsed("Do it --check true").promise(), None);
        assert_eq!(
            parsed("Do it --check true --completion-promise X").promise().as_deref(),
            Some("X")
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("", "there is no task"),
            ("  \n ", "there is no task"),
            ("\"\"", "there is no task"),
            ("'", "there is no task"),
            ("\"Do it\"--max-iteration 3", "unknown option `--max-iteration`"),
            ("--max-iterations 3", "there is no task"),
            ("Do it --max-iteration 3", "unknown option `--max-iteration`"),
            ("\"Do it\" --max-iteration 3", "unknown option `--max-iteration`"),
            ("\"Do it\" --max-iteration \"3\"", "unknown option `--max-iteration`"),
            ("Do it -max-iterations 3", "did you mean `--max-iterations`?"),
            ("Do it \u{2014}max-iterations 3", "did you mean `--max-iterations`?"),
            ("Do it --help", "nothing was done"),
            ("-h", "nothing was done"),
            ("Do it --max-iterations", "`--max-iterations` needs a value"),
            ("Do it --max-iterations -- 3", "`--max-iterations` needs a value"),
            ("Do it --max-iterations --replace", "`--max-iterations` needs a value"),
            ("Do it --max-iterations -1", "whole number from 0"),
            ("Do it --max-iterations 0x8", "not `0x8`"),
            ("Do it --max-iterations=", "not ``"),
            ("Do it --completion-promise \"\"", "`--completion-promise` is empty"),
            ("Do it --completion-promise=' '", "`--completion-promise` is empty"),
            ("Do it --completion-promise '<promise>X</promise>'", "only the words between"),
            ("Do it --completion-promise \"X", "is never closed"),
            ("Do it --no-progress 0", "whole number from 1"),
            ("Do it --check-timeout 5000", "from 1s to 25m, not `5000`"),
            ("Do it --promise-match maybe", "not `maybe`"),
            ("Do it --on-promise-no-work maybe", "not `maybe`"),
            ("Do it --check ''", "needs a command"),
            ("Do it --check '#'", "needs a command: this one runs nothing"),
            ("Do it --check ' # cargo test'", "needs a command: this one runs nothing"),
            ("Do it --replace=yes", "`--replace` needs `true` or `false`, not `yes`"),
            ("Do it --max-iterations 3 and that", "`and` comes after the flags"),
            ("Do it --min-iterations 9 --max-iterations 3", "is more than"),
            ("Do it --prompt-file x.md", "there are two tasks"),
        ] {
            let why = refused(text);
            assert!(why.contains(words), "{text}\n{why}");
            assert!(why.contains("\nUsage: "), "{why}");
        }
    }
}
