//! The settings' values in the code, read from text.

use std::time::Duration;

use serde::Deserialize;

use super::kind::SettingKind;
use crate::engine::fields::named;
use crate::engine::proof::LeastProof;
use crate::engine::{PromiseMatch, ReviewWhen, WithoutWork};

/// How the hook answers a stop that it refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContinueWith {
    /// With more context if the client is known to take it, else with a block.
    #[default]
    Auto,
    Block,
    /// With more context, even if nobody knows whether the client takes it.
    Context,
}

/// The type of a setting's value.
pub(super) trait FromText: Sized {
    const IS_LIST: bool = false;

    fn of(kind: SettingKind, values: Vec<String>) -> Self;
}

/// Reads one value; the type's default stands for none.
macro_rules! from_text {
    ($($type:ty: |$kind:ident, $text:ident| $value:expr;)*) => {
        $(impl FromText for $type {
            fn of($kind: SettingKind, values: Vec<String>) -> Self {
                values.into_iter().next().map_or_else(Self::default, |$text| $value)
            }
        })*
    };
}

from_text! {
    bool: |_kind, text| text == "true";
    Option<bool>: |_kind, text| Some(text == "true");
    u64: |kind, text| kind.number(&text).unwrap_or_default();
    u32: |kind, text| kind.number(&text).unwrap_or_default() as Self;
    // 0 is no limit.
    Option<u64>: |kind, text| kind.number(&text).filter(|number| *number > 0);
    Option<u32>: |kind, text| kind.number(&text).filter(|number| *number > 0).map(|number| number as u32);
    Duration: |kind, text| Self::from_millis(kind.number(&text).unwrap_or_default());
    Option<Duration>: |kind, text| {
        kind.number(&text).filter(|number| *number > 0).map(Duration::from_millis)
    };
    String: |_kind, text| text;
    Option<String>: |_kind, text| Some(text);
    PromiseMatch: |_kind, text| named(&text).unwrap_or_default();
    ContinueWith: |_kind, text| named(&text).unwrap_or_default();
    WithoutWork: |_kind, text| named(&text).unwrap_or_default();
    LeastProof: |_kind, text| named(&text).unwrap_or_default();
    Option<ReviewWhen>: |_kind, text| ReviewWhen::of(&text);
}

impl FromText for Vec<String> {
    const IS_LIST: bool = true;

    fn of(_: SettingKind, values: Vec<String>) -> Self {
        values
    }
}
