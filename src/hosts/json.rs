//! JSON as JavaScript writes it: a cut string may end in half a character.

use memchr::memchr;
use serde::de::DeserializeOwned;

/// Half a character (`\ud83d` alone) reads as U+FFFD.
pub fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    // Almost all text is valid; only the rest is repaired.
    serde_json::from_slice(bytes).ok().or_else(|| serde_json::from_slice(&repaired(bytes)?).ok())
}

/// Replaces each half of a surrogate pair; `None` when there is none.
fn repaired(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut halves = 0;
    let mut at = 0;
    while let Some(plain) = memchr(b'\\', &text[at..]) {
        let escape = at + plain;
        out.extend_from_slice(&text[at..escape]);
        // An escaped backslash counts as one, so that `\\ud83d` stays the same.
        let length = match (escaped_unit(text, escape), escaped_unit(text, escape + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        at = text.len().min(escape + length);
        if length == 6 && matches!(escaped_unit(text, escape), Some(0xd800..=0xdfff)) {
            halves += 1;
            out.extend_from_slice(br"\ufffd");
        } else {
            out.extend_from_slice(&text[escape..at]);
        }
    }
    out.extend_from_slice(&text[at..]);
    (halves > 0).then_some(out)
}

/// The 16-bit unit of an escape `\uXXXX`.
fn escaped_unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    // `from_str_radix` accepts a sign, but an escape has none.
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_character_costs_itself() {
        for (text, read) in [
            (r#"["a\ud83d"]"#, "a\u{fffd}"),
            (r#"["\ude00b"]"#, "\u{fffd}b"),
            (r#"["\ud83d\ud83d\ude00"]"#, "\u{fffd}\u{1f600}"),
            (r#"["\ud83d\n"]"#, "\u{fffd}\n"),
            (r#"["\ud83d\\ud83d"]"#, "\u{fffd}\\ud83d"),
        ] {
            assert_eq!(read_json::<[String; 1]>(text.as_bytes()).unwrap(), [read], "{text}");
        }
    }

    #[test]
    fn what_is_broken_otherwise_stays_broken() {
        for text in [&b"[\"a"[..], br#"["\ud83d"#, br#"["\u+123"]"#, br#"["\"#, b"", b"\xff"] {
            assert_eq!(read_json::<[String; 1]>(text), None, "{text:?}");
        }
    }
}
