//! `spool ralph --list-harnesses`: what each agent program can do for the runner.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;

use crate::forms;
use crate::forms::harnesses::{HarnessForm, HarnessesForm, TokensKnown};
use crate::runner::harness::{Harness, of_history};
use crate::runner::options::Form;

/// Without the demo, which does nobody's work.
const LISTED: [&str; 7] = ["claude", "codex", "opencode", "gemini", "copilot", "acp", "command"];

pub fn print(form: Form) -> Result<ExitCode> {
    let harnesses = all();
    match form {
        Form::Words => dataln!("{}", in_words(&harnesses).trim_end()),
        Form::Json => {
            let all = HarnessesForm { harnesses };
            dataln!("{}", forms::document(&all)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn all() -> Vec<HarnessForm> {
    LISTED.iter().filter_map(|name| of_history(name)).map(|harness| about(&*harness)).collect()
}

fn about(harness: &dyn Harness) -> HarnessForm {
    let accepts = harness.accepts();
    let modes = accepts.and_then(|accepts| accepts.mode).map_or(&[][..], |(_, modes)| modes);
    // `None` only for `--harness-command`.
    let title = accepts.map_or("any other, with --harness-command", |accepts| accepts.title);
    HarnessForm {
        harness: harness.name().to_owned(),
        title: title.to_owned(),
        permission_modes: modes.iter().map(|&mode| mode.to_owned()).collect(),
        allow: accepts.is_some_and(|accepts| accepts.allow.is_some()),
        deny: accepts.is_some_and(|accepts| accepts.deny.is_some()),
        reviews: harness.can_only_read(),
        tokens: harness.reports_tokens(),
        reports_cost: harness.reports_cost(),
    }
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
    for agent in all {
        let _ = writeln!(
            text,
            "{:<8}  {:<7}  {:<6}  {:<7}  {:<13}  {}",
            agent.harness,
            yes(agent.allow),
            yes(agent.deny),
            yes(agent.reviews),
            when(agent.tokens),
            yes(agent.reports_cost),
        );
        // The modes get a line of their own: a row of 80 columns has no room for them.
        if !agent.permission_modes.is_empty() {
            let _ =
                writeln!(text, "          permission modes: {}", agent.permission_modes.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harness_list_fits_narrow_terminals() {
        let all = all();
        let text = in_words(&all);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        for mode in all.iter().flat_map(|agent| &agent.permission_modes) {
            assert!(text.contains(mode.as_str()), "{mode}:\n{text}");
        }
    }

    #[test]
    fn document_table_matches_programs() {
        let page = include_str!("../../../docs/agents.md");
        let rows: Vec<&str> =
            page.lines().filter(|line| line.starts_with("| `--harness ")).collect();
        let all = all();
        let expected: Vec<String> = all
            .iter()
            .map(|agent| {
                format!(
                    "| `--harness {}` | {} | {} | {} |",
                    agent.harness,
                    yes(agent.reviews),
                    when(agent.tokens),
                    yes(agent.reports_cost)
                )
            })
            .collect();
        assert_eq!(rows, expected);
        // Modes and tools are in the table on permissions, in words of their own.
        let (_, table) = page.split_once("| agent program | `--permission-mode MODE` |").unwrap();
        for agent in all.iter().filter(|agent| agent.harness != "command") {
            let row = table.lines().find(|line| line.starts_with(&format!("| {} |", agent.title)));
            let row = row.unwrap_or_else(|| panic!("docs/agents.md has no row on {}", agent.title));
            let cells: Vec<&str> = row.split(" | ").collect();
            assert_eq!(cells[1] == "refused", agent.permission_modes.is_empty(), "{row}");
            let is_named = |mode: &String| cells[1].contains(&format!("`{mode}`"));
            assert!(agent.permission_modes.iter().all(is_named), "{row}");
            assert_eq!(cells[2] != "refused", agent.allow, "{row}");
            assert_eq!(cells[3].trim_end_matches(" |") != "refused", agent.deny, "{row}");
        }
    }
}
