//! `spool ralph --list-harnesses`: what each agent program can do for the runner.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;

use super::output;
use crate::forms;
use crate::forms::harnesses::{HarnessForm, HarnessesForm, TokensKnown};
use crate::runner::harness::{HarnessChoice, harness};
use crate::runner::options::Form;

/// Those that are listed; the demo is for nobody's work.
const LISTED: [&str; 7] =
    ["claude", "codex", "opencode", "gemini", "copilot", "acp:agent", "command"];

/// Prints them.
pub fn print(form: Form) -> Result<ExitCode> {
    let harnesses = all()?;
    match form {
        Form::Words => output::print(&in_words(&harnesses))?,
        Form::Json => {
            let all = HarnessesForm { harnesses };
            dataln!("{}", forms::document(&all)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn all() -> Result<Vec<HarnessForm>> {
    LISTED.iter().map(|name| about(&HarnessChoice::of(name))).collect()
}

fn about(choice: &HarnessChoice) -> Result<HarnessForm> {
    let HarnessChoice::Command(_) = choice else {
        let harness = harness(choice)?;
        let accepts = harness.accepts();
        let modes = accepts.and_then(|it| it.mode).map_or(&[][..], |(_, modes)| modes);
        return Ok(HarnessForm {
            harness: harness.name().to_owned(),
            title: accepts.map_or(harness.name(), |it| it.title).to_owned(),
            permission_modes: modes.iter().map(|&mode| mode.to_owned()).collect(),
            allow: accepts.is_some_and(|it| it.allow.is_some()),
            deny: accepts.is_some_and(|it| it.deny.is_some()),
            reviews: harness.can_only_read(),
            tokens: harness.reports_tokens(),
            reports_cost: harness.reports_cost(),
        });
    };
    // Which program that is, nobody knows before its command line is given.
    Ok(HarnessForm {
        harness: "command".to_owned(),
        title: "any other, with --harness-command".to_owned(),
        ..HarnessForm::default()
    })
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

fn when(tokens: TokensKnown) -> &'static str {
    match tokens {
        TokensKnown::WhileItRuns => "while it runs",
        TokensKnown::AtTheEnd => "at the end",
        TokensKnown::Never => "no",
    }
}

fn in_words(all: &[HarnessForm]) -> String {
    let mut text = String::from("name      --allow  --deny  reviews  tokens         cost\n");
    for it in all {
        let _ = writeln!(
            text,
            "{:<8}  {:<7}  {:<6}  {:<7}  {:<13}  {}",
            it.harness,
            yes(it.allow),
            yes(it.deny),
            yes(it.reviews),
            when(it.tokens),
            yes(it.reports_cost),
        );
        // On a line of their own: the row has no room for them within 80 columns.
        if !it.permission_modes.is_empty() {
            let _ =
                writeln!(text, "          permission modes: {}", it.permission_modes.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_a_narrow_terminal_and_names_each_mode() {
        let all = all().unwrap();
        let text = in_words(&all);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        for mode in all.iter().flat_map(|it| &it.permission_modes) {
            assert!(text.contains(mode.as_str()), "{mode}:\n{text}");
        }
    }

    #[test]
    fn the_table_in_the_document_is_what_the_programs_can_do() {
        let page = include_str!("../../../docs/agents.md");
        let rows: Vec<&str> =
            page.lines().filter(|line| line.starts_with("| `--harness ")).collect();
        let all = all().unwrap();
        let expected: Vec<String> = all
            .iter()
            .map(|it| {
                format!(
                    "| `--harness {}` | {} | {} | {} |",
                    it.harness,
                    yes(it.reviews),
                    when(it.tokens),
                    yes(it.reports_cost)
                )
            })
            .collect();
        assert_eq!(rows, expected);
        // Modes and tools are in the table on permissions, in words of their own.
        let (_, table) = page.split_once("| agent program | `--permission-mode MODE` |").unwrap();
        for it in all.iter().filter(|it| it.harness != "command") {
            let row = table.lines().find(|line| line.starts_with(&format!("| {} |", it.title)));
            let row = row.unwrap_or_else(|| panic!("docs/agents.md has no row on {}", it.title));
            let cells: Vec<&str> = row.split(" | ").collect();
            assert_eq!(cells[1] == "refused", it.permission_modes.is_empty(), "{row}");
            let is_named = |mode: &String| cells[1].contains(&format!("`{mode}`"));
            assert!(it.permission_modes.iter().all(is_named), "{row}");
            assert_eq!(cells[2] != "refused", it.allow, "{row}");
            assert_eq!(cells[3].trim_end_matches(" |") != "refused", it.deny, "{row}");
        }
    }
}
