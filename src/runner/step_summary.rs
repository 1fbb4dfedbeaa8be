//! A loop's summary on the page of its job: GitHub Actions names a file in `GITHUB_STEP_SUMMARY`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use anstream::adapter::strip_str;

use crate::mask::masked_text;
use crate::store::write::append_line;
use crate::text;
use crate::world;

const VARIABLE: &str = "GITHUB_STEP_SUMMARY";
/// In bytes; the service shows nothing of a longer summary.
const MOST_OF_A_STEP: u64 = 1024 * 1024;
/// The most bytes of one summary.
const MOST: usize = 32 * 1024;
/// The indent of a summary's further lines on the screen.
const INDENT: &str = "       ";

/// Appends the screen's last words to the job's file, if one is named. Returns why that failed.
pub fn append(words: &str, code: u8) -> Option<String> {
    let path = world::raw_variable(VARIABLE).filter(|path| !path.is_empty())?;
    let why = append_to(&path, &markdown(words, code)).err()?;
    Some(format!(
        "the summary was not added to `{}`: {why}\nlet {VARIABLE} name a file that can be written, or unset it",
        text::line(&path.to_string_lossy())
    ))
}

fn append_to(path: &OsStr, summary: &str) -> io::Result<()> {
    let path = Path::new(path);
    if !path.is_absolute() {
        return Err(io::Error::other("it is no absolute path"));
    }
    let there = fs::symlink_metadata(path).map_or(0, |meta| meta.len());
    if there + summary.len() as u64 + 2 > MOST_OF_A_STEP {
        return Err(io::Error::other("it would have more than 1 MiB"));
    }
    append_line(path, summary.as_bytes())
}

/// A block of code, so that nothing in it is read as Markdown.
fn markdown(words: &str, code: u8) -> String {
    let words = strip_str(words).to_string();
    let words = masked_text(&words);
    let words = text::block(&words);
    let mut block = String::new();
    for line in words.lines() {
        let line = line.strip_prefix(INDENT).unwrap_or(line);
        if block.len() + line.len() > MOST {
            block.push_str("…\n");
            break;
        }
        block.push_str(line);
        block.push('\n');
    }
    let longest = block.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    format!("### `spool ralph`: exit code {code}\n\n{fence}text\n{block}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_is_no_markdown() {
        let words =
            "ralph: \u{1b}[32mdone\u{1b}[0m: all\n       ```` <b>x</b>\n       \u{1b}]2;t\u{7}";
        let expected =
            "### `spool ralph`: exit code 0\n\n`````text\nralph: done: all\n```` <b>x</b>\n";
        let summary = markdown(words, 0);
        assert!(summary.starts_with(expected), "{summary}");
        assert!(summary.ends_with("\n`````\n") && !summary.contains('\u{1b}'), "{summary:?}");
    }

    #[test]
    fn a_summary_has_a_bound() {
        let summary = markdown(&"a line of it\n".repeat(10_000), 3);
        assert!(summary.len() < MOST + 200, "{}", summary.len());
        assert!(summary.ends_with("\n…\n```\n"), "{}", &summary[summary.len() - 40..]);
    }
}
