//! What a person typed after `/speckit:implement`, and in what order: the feature, its tasks, words for the agent. Flags
//! stand anywhere; behind ` -- ` is nothing but words for the agent.

use super::flags::{first_word, is_flag, take_flag};
use super::{is_like_feature, is_like_task};
use crate::evidence::task_list;
use crate::feature::project::{Feature, Project, SHELVES, printable};
use crate::refusal::Refusal;
use crate::settings::{Chosen, IMPLEMENT};
use crate::text::distance;

/// What a person asks for with `/speckit:implement`, spec-kit's own command, or `spool start`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureRequest {
    /// The feature, tasks, and words for the agent, as they were typed.
    pub words: String,
    /// What stood behind ` -- `: words for the agent, whatever they look like.
    pub literal: String,
    /// Whether it was spec-kit's own command: the agent works by its outline.
    pub by_outline: bool,
    /// The flags.
    pub chosen: Chosen,
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
            if is_flag(word) {
                rest = take_flag(&mut request.chosen, IMPLEMENT, &rest[gap..]).map_err(wrong)?;
            } else {
                request.words.push_str(&rest[..gap + word.len()]);
                rest = after;
            }
        }
        Ok(request)
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

const USAGE: &str = "Usage: /speckit:implement [FEATURE] [TASKS] [WORDS FOR THE AGENT] [--max-iterations N] [--max-task-iterations N] [--recovery-mode] [--ignore-checklists] [--force] [--review] [--review-when end|phases|verify] [--converge] [--include-optional]\nTASKS: T001 T003, T004-T010, US1, phase 2. Words that begin with a dash go after ` -- `.";

fn wrong(what: String) -> Refusal {
    Refusal::Usage(what, USAGE)
}
