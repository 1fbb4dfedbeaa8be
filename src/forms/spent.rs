//! Tokens and money, as far as known.

use serde::{Serialize, Serializer};

use super::plain::{JsonNumber, dollars};
use crate::engine::Dollars;
use crate::text::grouped;

/// A sum as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Tokens, or millionths of a dollar.
    pub value: u64,
    /// A part of the sum is an estimate.
    pub estimated: bool,
    /// There is more, which nothing tells.
    pub partial: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub tokens: Amount,
    /// In millionths of a dollar.
    pub cost: Amount,
}

impl Amount {
    pub fn plus(self, other: Self) -> Self {
        Self {
            value: self.value.saturating_add(other.value),
            estimated: self.estimated || other.estimated && other.value > 0,
            partial: self.partial || other.partial,
        }
    }

    /// The sum with each number as `shown`: `~` marks an estimate, and `at least` an unknown part. `None` for nothing.
    pub fn words(self, shown: impl Fn(u64) -> String) -> Option<String> {
        let least = if self.partial { "at least " } else { "" };
        let about = if self.estimated { "~" } else { "" };
        (self.value > 0).then(|| format!("{least}{about}{}", shown(self.value)))
    }

    pub fn tokens(self) -> String {
        let none = if self.partial { "unknown" } else { "0" };
        self.words(grouped).unwrap_or_else(|| none.to_owned())
    }

    /// Tokens for the middle of a sentence.
    pub fn some_tokens(self) -> String {
        let is_unknown = self.partial && self.value == 0;
        if is_unknown { "tokens unknown".to_owned() } else { format!("{} tokens", self.tokens()) }
    }

    /// `None` for no money.
    pub fn money(self) -> Option<String> {
        self.words(|micros| Dollars(micros).to_string())
    }
}

impl Spent {
    /// Tokens and dollars, each with two flags: estimated, partial.
    pub fn of(
        (tokens, [estimated, partial]): (u64, [bool; 2]),
        (dollars, [is_guess, is_part]): (f64, [bool; 2]),
    ) -> Self {
        Self {
            tokens: Amount { value: tokens, estimated, partial },
            cost: Amount { value: micros(dollars), estimated: is_guess, partial: is_part },
        }
    }

    pub fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.plus(other.tokens), cost: self.cost.plus(other.cost) }
    }

    /// `None` where nothing reports them.
    pub fn known_tokens(&self) -> Option<JsonNumber> {
        (self.tokens.value > 0 || !self.tokens.partial).then(|| self.tokens.value.into())
    }
}

/// From millionths of a dollar.
pub fn in_dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// Dollars in millionths: 0 for no sum of money, and the largest number for any larger sum.
pub fn micros(dollars: f64) -> u64 {
    let most = if dollars > 1.0 { u64::MAX } else { 0 };
    format!("{:.0}", dollars * 1e6).parse().unwrap_or(most)
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SpentFields {
    /// Tokens, as far as they are known; null where nothing reports them.
    tokens: Option<JsonNumber>,
    /// Whether a part of them is an estimate.
    tokens_estimated: bool,
    /// Whether that is all of them, as far as can be seen.
    tokens_complete: bool,
    /// Dollars that it cost, as far as it is known; null where nothing tells.
    cost_usd: Option<f64>,
    /// Whether a part of that is an estimate, by the prices that a person gave.
    cost_estimated: bool,
    /// Whether all that it cost is in that.
    cost_complete: bool,
}

impl Serialize for Spent {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let fields = SpentFields {
            tokens: self.known_tokens(),
            tokens_estimated: self.tokens.estimated,
            tokens_complete: !self.tokens.partial,
            cost_usd: dollars(self.cost.value),
            cost_estimated: self.cost.estimated,
            cost_complete: !self.cost.partial,
        };
        fields.serialize(writer)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Spent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Spent".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SpentFields::json_schema(generator)
    }
}
