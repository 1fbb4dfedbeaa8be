//! Skips JSON in place: nothing is built, and most bytes are never looked at.
//!
//! A transcript has megabytes of quoted code for every wanted name. A string ends at the next quote without a
//! backslash, so `memchr` jumps over whole strings.

use memchr::memchr;

/// A place in a JSON text. Each method moves behind what it read; `None` means that the text is cut or no JSON.
pub struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    /// Only blanks are left.
    pub fn is_at_end(&mut self) -> bool {
        self.next().is_none()
    }

    /// `each` gets an escaped name, and has to read or skip the value. Skips any value but an object.
    pub fn members(
        &mut self,
        mut each: impl FnMut(&'a [u8], &mut Self) -> Option<()>,
    ) -> Option<()> {
        if self.next()? != b'{' {
            return self.skip();
        }
        self.list(b'}', |scan| {
            scan.next()?;
            let name = scan.quoted()?;
            (scan.next()? == b':').then(|| scan.step())?;
            each(name, scan)
        })
    }

    /// `each` has to read or skip the item. Skips any value but a list.
    pub fn items(&mut self, each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.next()? != b'[' {
            return self.skip();
        }
        self.list(b']', each)
    }

    /// An escaped string without its quotes. Skips any other value, and is empty.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        if self.next()? == b'"' {
            return self.quoted();
        }
        self.skip().map(|()| &b""[..])
    }

    /// A whole number. Skips any other value, and is 0.
    pub fn number(&mut self) -> Option<u64> {
        if !self.next()?.is_ascii_digit() {
            return self.skip().map(|()| 0);
        }
        let (mut value, mut text) = (0_u64, self.rest);
        while let [digit @ b'0'..=b'9', rest @ ..] = text {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            text = rest;
        }
        self.rest = text;
        // A fraction or an exponent is no count.
        match self.rest.first() {
            Some(b'.' | b'e' | b'E') => {
                self.word();
                Some(0)
            }
            _ => Some(value),
        }
    }

    /// Skips any other value, and is `false`.
    pub fn is_true(&mut self) -> Option<bool> {
        let is_true = self.next()? == b't';
        self.skip().map(|()| is_true)
    }

    /// Skips a value of any depth.
    pub fn skip(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => self.quoted().map(|_| ()),
            b'{' | b'[' => self.skip_nested(),
            byte => (byte.is_ascii_alphanumeric() || byte == b'-').then(|| self.word()),
        }
    }

    /// Skips an object or a list: outside of strings, only brackets count.
    fn skip_nested(&mut self) -> Option<()> {
        let text = self.rest;
        let mut depth = 0_usize;
        let mut at = 0;
        loop {
            let byte = *text.get(at)?;
            at += 1;
            match byte {
                b'"' => {
                    let mut string = Self::new(&text[at - 1..]);
                    string.quoted()?;
                    at = text.len() - string.rest.len();
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.rest = &text[at..];
                        return Some(());
                    }
                }
                _ => {}
            }
        }
    }

    /// The items between two brackets.
    fn list(&mut self, end: u8, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.step();
        if self.next()? == end {
            self.step();
            return Some(());
        }
        loop {
            each(self)?;
            let after = self.next()?;
            self.step();
            match after {
                b',' => {}
                _ if after == end => return Some(()),
                _ => return None,
            }
        }
    }

    /// The string that begins here.
    fn quoted(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.strip_prefix(b"\"")?;
        let first = quote_in(text)?;
        // Nearly always, the first quote has no backslash.
        let is_end = first == 0 || text[first - 1] != b'\\';
        let end = if is_end { first } else { end_after(text, first)? };
        self.rest = &text[end + 1..];
        Some(&text[..end])
    }

    /// Skips a number, `true`, `false` or `null`.
    fn word(&mut self) {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = self.rest.iter().take_while(|byte| is_part(byte)).count();
        self.rest = &self.rest[length..];
    }

    /// The next byte that is no blank.
    fn next(&mut self) -> Option<u8> {
        // Nearly always, there is no blank.
        if let Some(byte) = self.rest.first().filter(|byte| **byte > b' ') {
            return Some(*byte);
        }
        while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    fn step(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }
}

/// The place of the first quote. Most strings are names, which end before [`memchr`] has set up, so the first bytes are
/// compared at once.
fn quote_in(text: &[u8]) -> Option<usize> {
    const EACH: u128 = u128::MAX / 0xff;
    const QUOTES: u128 = EACH * b'"' as u128;
    let Some((start, rest)) = text.split_first_chunk() else { return memchr(b'"', text) };
    // A quote is a byte of 0 here. The lowest high bit that is left belongs to the first of them.
    let bytes = u128::from_le_bytes(*start) ^ QUOTES;
    let found = bytes.wrapping_sub(EACH) & !bytes & (EACH << 7);
    if found == 0 {
        return memchr(b'"', rest).map(|at| start.len() + at);
    }
    Some(found.trailing_zeros() as usize / 8)
}

/// The end of a string whose first quote has a backslash: the next quote without one.
///
/// This is rare, so it stays out of [`Scan::quoted`], which runs thousands of times at a stop.
#[cold]
#[inline(never)]
fn end_after(text: &[u8], first: usize) -> Option<usize> {
    let mut end = first;
    loop {
        let backslashes = text[..end].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(end);
        }
        end += 1 + memchr(b'"', &text[end + 1..])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names and texts of an object, as they are written.
    fn members(text: &str) -> Option<Vec<(String, String)>> {
        let written = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut found = Vec::new();
        let mut scan = Scan::new(text.as_bytes());
        scan.members(|name, value| {
            let text = written(value.text()?);
            found.push((written(name), text));
            Some(())
        })?;
        scan.is_at_end().then_some(found)
    }

    #[test]
    fn string_ends_at_unescaped_quote() {
        let text = r#" { "a" : "x\"y" , "b\\" : "\\" , "c":"\\\"" } "#;
        let seen = members(text).unwrap();
        let seen: Vec<_> = seen.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(seen, [("a", r#"x\"y"#), (r"b\\", r"\\"), ("c", r#"\\\""#)]);
    }

    #[test]
    fn long_string_ends_likewise() {
        // Bytes beside those of a quote, and with its bits and the high one.
        for other in ["a", "!", "#", "\u{a2}", "\u{7f}\u{1}"] {
            for length in 0..40 {
                let name = other.repeat(length);
                for rest in ["}", ",\"\":\"\"}", ",\"another name of some length\":\"\"}"] {
                    let seen = members(&format!("{{\"{name}\":\"{name}\"{rest}"));
                    let first = seen.and_then(|seen| seen.into_iter().next());
                    assert_eq!(first, Some((name.clone(), name.clone())), "{length} {rest}");
                }
            }
        }
    }

    #[test]
    fn any_value_is_passed_over() {
        let text = r#"{"a":[],"b":{},"c":[{"d":["}]",-1.5e+3,null]},true],"e":false,"f":0}"#;
        let seen = members(text).unwrap();
        assert_eq!(seen.len(), 5);
        assert!(seen.iter().all(|(_, text)| text.is_empty()));
    }

    #[test]
    fn broken_value_is_nothing() {
        let whole = r#"{"a":{"b":["c",{"d":"e\""}]},"f":1}"#;
        assert!(members(whole).is_some());
        for end in 0..whole.len() {
            assert_eq!(members(&whole[..end]), None, "{}", &whole[..end]);
        }
        for broken in [r#"{"a":1}}"#, r#"{"a":1} x"#, r#"{"a"}"#, r#"{"a":}"#, r#"{"a":,1}"#, "\0"]
        {
            assert_eq!(members(broken), None, "{broken}");
        }
    }

    #[test]
    fn no_depth_is_too_deep() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(members(&deep).map(|found| found.len()), Some(1));
    }
}
