//! What a person typed after `/speckit:implement`, and in what order: the feature, its tasks, words for the agent. Flags
//! stand anywhere; behind ` -- ` is nothing but words for the agent.

use super::{is_like_feature, is_like_task, meant, whole_number};
use crate::engine::ReviewWhen;
use crate::evidence::task_list;
use crate::feature::project::{Feature, Project, SHELVES, printable};
use crate::refusal::Refusal;
use crate::text::distance;

/// What a person asks for with `/speckit:implement`, spec-kit's own command, or `spool start`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each one is a flag")]
pub struct FeatureRequest {
    /// The feature, tasks, and words for the agent, as they were typed.
    pub words: String,
    /// What stood behind ` -- `: words for the agent, whatever they look like.
    pub literal: String,
    /// Whether it was spec-kit's own command: the agent works by its outline.
    pub by_outline: bool,
    /// `--max-task-iterations`, from 1.
    pub max_task_iterations: Option<u32>,
    /// `--max-iterations`, from 1.
    pub max_iterations: Option<u32>,
    /// `--recovery-mode`.
    pub recovery_mode: bool,
    /// `--ignore-checklists`: the person continues although checklists are open.
    pub ignore_checklists: bool,
    /// `--force`: the loop may be another session's that is still there.
    pub force: bool,
    /// `--review`, `--review=false`: whether another agent program reviews the work; `None` for as the settings say.
    pub review: Option<bool>,
    /// `--review-when`: when it is made; `None` for as the settings say.
    pub review_when: Option<ReviewWhen>,
    /// `--converge`, `--converge=false`: whether spec-kit's converge command has to run before the end; `None` for as the
    /// settings say.
    pub converge: Option<bool>,
    /// `--include-optional`: whether optional tasks count; `None` for as the settings say.
    pub include_optional: Option<bool>,
}

impl FeatureRequest {
    /// Returns the request in the text after the command; `--flag N` and `--flag=N` are the same.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut request = Self::default();
        let mut rest = text.trim_end();
        while !rest.is_empty() {
            let gap = rest.len() - rest.trim_start().len();
            let (word, after) = first_word(rest);
            if word == "--" {
                after.trim_start().clone_into(&mut request.literal);
                if request.literal.is_empty() {
                    return Err(wrong("nothing stands behind `--`".to_owned()));
                }
                break;
            }
            if !is_flag(word) {
                request.words.push_str(&rest[..gap + word.len()]);
                rest = after;
                continue;
            }
            let (flag, joined) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (word, None),
            };
            rest = request.take_flag(flag, joined, after)?;
        }
        Ok(request)
    }

    /// Takes in one flag and returns what stands behind its value.
    fn take_flag<'a>(
        &mut self,
        flag: &str,
        joined: Option<&str>,
        after: &'a str,
    ) -> Result<&'a str, Refusal> {
        let mut rest = after;
        let mut value = || {
            joined.unwrap_or_else(|| {
                let (value, behind) = first_word(after);
                rest = behind;
                value
            })
        };
        match flag {
            "--max-iterations" => self.max_iterations = Some(limit(flag, value())?),
            "--max-task-iterations" => self.max_task_iterations = Some(limit(flag, value())?),
            "--recovery-mode" => self.recovery_mode = switch(flag, joined)?,
            "--review" => self.review = Some(switch(flag, joined)?),
            "--converge" => self.converge = Some(switch(flag, joined)?),
            "--include-optional" => self.include_optional = Some(switch(flag, joined)?),
            "--review-when" => {
                let known = ReviewWhen::of(value());
                let wrong = || wrong("`--review-when` needs end, phases or verify".to_owned());
                self.review_when = Some(known.ok_or_else(wrong)?);
            }
            "--force" => self.force = switch(flag, joined)?,
            "--ignore-checklists" => self.ignore_checklists = switch(flag, joined)?,
            _ => {
                let (flag, meant) = (printable(flag), meant(FLAGS, flag));
                return Err(wrong(format!("unknown option `{flag}`{meant}")));
            }
        }
        Ok(rest)
    }

    /// Returns the feature that the words begin with, `None` where they name none, and the words behind it. What could
    /// be the name of a feature and is not one is refused.
    pub fn feature(&self, project: &Project) -> Result<(Option<Feature>, &str), Refusal> {
        let (word, rest) = first_word(&self.words);
        let name = word.trim_end_matches(',');
        let alone = rest.trim().is_empty() && self.literal.is_empty();
        let is_path = name.contains(['/', '\\']);
        // In front of other words, a number or a title may be one of them, and so may the path of any folder.
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let is_clear = is_number && (name.starts_with('0') || is_like_task(first_word(rest).0));
        let found = if alone || is_path || is_clear || is_like_feature(name) {
            project.feature_typed(name)
        } else {
            project.feature(name)
        };
        // The current list may have a task of that number.
        if let (Ok(feature), Ok(Some(current))) = (&found, project.current_feature())
            && !feature.name.eq_ignore_ascii_case(name)
            && task_list::read(&current.folder).is_ok_and(|file| file.list.find(name).is_some())
        {
            let (feature, current) = (&feature.name, &current.name);
            return Err(Refusal::new(
                format!("`{name}` may be the feature `{feature}` or a task of `{current}`"),
                format!("write `{feature}`, or `{current} {name}`"),
            ));
        }
        let is_one = |feature: &Feature| {
            !is_path || is_like_feature(&feature.name) || task_list::is_in(&feature.folder)
        };
        let found = match found {
            Ok(feature) if is_one(&feature) => return Ok((Some(feature), rest)),
            Err(_) if name.is_empty() => return Ok((None, "")),
            Err(found) => found,
            Ok(_) => return Ok((None, &self.words)),
        };
        let is_on_shelf = is_path && SHELVES.iter().any(|shelf| name.starts_with(shelf));
        if is_on_shelf || is_like_feature(name.rsplit(['/', '\\']).next().unwrap_or_default()) {
            return Err(found.into());
        }
        let is_meant = |known: &str| distance(known, name) * 4 <= known.len();
        match project.features().iter().find(|it| is_meant(&it.name)) {
            Some(meant) => Err(Refusal::new(
                format!("there is no feature `{}`", printable(name)),
                format!("did you mean `{}`?", meant.name),
            )),
            None => Ok((None, &self.words)),
        }
    }
}

/// Returns the first word of a text, and what stands behind it.
fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

const FLAGS: &str = "\
    --max-iterations --max-task-iterations --recovery-mode --ignore-checklists --force --review \
    --review-when --converge --include-optional";
const USAGE: &str = "Usage: /speckit:implement [FEATURE] [TASKS] [WORDS FOR THE AGENT] [--max-iterations N] [--max-task-iterations N] [--recovery-mode] [--ignore-checklists] [--force] [--review] [--review-when end|phases|verify] [--converge] [--include-optional]\nTASKS: T001 T003, T004-T010, US1, phase 2. Words that begin with a dash go after ` -- `.";

/// Whether a word is a flag, or a mistyped one: some programs make a long dash of two.
fn is_flag(word: &str) -> bool {
    let name = word.trim_start_matches(['-', '–', '—']);
    name.len() < word.len() && name.starts_with(|letter: char| letter.is_alphanumeric())
}

fn wrong(what: String) -> Refusal {
    Refusal::Usage(what, USAGE)
}

fn limit(flag: &str, value: &str) -> Result<u32, Refusal> {
    whole_number(flag, value, 1).map_err(wrong)
}

fn switch(flag: &str, value: Option<&str>) -> Result<bool, Refusal> {
    match value {
        None | Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(other) => Err(wrong(format!(
            "`{flag}` takes no value, or `true` or `false`, not `{}`",
            printable(other)
        ))),
    }
}
