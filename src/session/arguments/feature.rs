//! A person's words after `/speckit:implement`, in this order: the feature, its tasks, words for the agent. Flags stand
//! anywhere; behind ` -- ` only words for the agent follow.

use super::flags::{dashes, first_word, take_flags, words};
use super::{is_like_feature, is_like_task};
use crate::evidence::task_list;
use crate::feature::project::{Feature, Project, SHELVES, printable};
use crate::refusal::Refusal;
use crate::settings::{Chosen, IMPLEMENT};
use crate::text::distance;

/// A request by `/speckit:implement`, by spec-kit's own command, or by `spool start`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureRequest {
    /// The feature, tasks, and words for the agent, as typed.
    pub words: String,
    /// Words behind ` -- `: for the agent, whatever they look like.
    pub literal: String,
    /// The request came by spec-kit's own command: the agent works by its outline.
    pub by_outline: bool,
    pub chosen: Chosen,
}

impl FeatureRequest {
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let (mut request, mut rest) = (Self::default(), text);
        while !rest.is_empty() {
            let (more, behind) =
                words(take_flags(&mut request.chosen, IMPLEMENT, rest).map_err(wrong)?);
            request.words = [request.words.as_str(), more].map(str::trim).join(" ");
            rest = behind;
            if let ("--", literal) = first_word(rest) {
                literal.trim().clone_into(&mut request.literal);
                if request.literal.is_empty() {
                    return Err(wrong("nothing stands behind `--`".to_owned()));
                }
                break;
            }
        }
        Ok(request)
    }

    /// The feature at the beginning of the words, and the rest. `None`: the words begin with no feature. A word in the
    /// form of a feature's name is refused if no such feature exists.
    pub fn feature(&self, project: &Project) -> Result<(Option<Feature>, &str), Refusal> {
        let (word, rest) = first_word(&self.words);
        let name = word.trim_end_matches(',');
        if name.is_empty() {
            return Ok((None, ""));
        }
        let is_path = name.contains(['/', '\\']);
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        // Before other words, a number or a title may belong to those words.
        let is_short = rest.trim().is_empty()
            || (is_number && (name.starts_with('0') || is_like_task(first_word(rest).0)));
        let found = if is_short || is_path || is_like_feature(name) {
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
        let missing = match found {
            // The path of another folder is a word.
            Ok(feature) if is_path && !is_feature(&feature) => return Ok((None, &self.words)),
            Ok(feature) => return Ok((Some(feature), rest)),
            Err(missing) => missing,
        };
        let is_on_shelf = is_path && SHELVES.iter().any(|shelf| name.starts_with(shelf));
        if is_on_shelf || is_like_feature(name.rsplit(['/', '\\']).next().unwrap_or_default()) {
            return Err(missing.into());
        }
        let all = project.features();
        let meant = all.iter().find(|known| distance(&known.name, name) * 4 <= known.name.len());
        meant.map_or(Ok((None, &self.words)), |meant| {
            Err(Refusal::new(
                format!("there is no feature `{}`", printable(name)),
                format!("did you mean `{}`?", meant.name),
            ))
        })
    }
}

fn is_feature(feature: &Feature) -> bool {
    is_like_feature(&feature.name) || task_list::is_in(&feature.folder)
}

pub const USAGE: &str = concat!(
    "Usage: /speckit:implement [FEATURE] [TASKS] [WORDS FOR THE AGENT] [--max-iterations N] [--max-task-iterations N] [--recovery-mode] [--ignore-checklists] [--force] [--review] [--review-when end|phases|verify] [--converge] [--include-optional]\nTASKS: T001 T003, T004-T010, US1, phase 2.",
    dashes!()
);

fn wrong(what: String) -> Refusal {
    Refusal::Usage(what, USAGE)
}
