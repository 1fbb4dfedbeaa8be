//! One line of a `.gitignore` and its matches, by the rules of git's `wildmatch`.

use crate::text;

/// Bytes of the longest pattern; a longer one matches nothing.
const LONGEST: usize = 1024;
/// Steps of one comparison: a pattern of many stars would take forever.
const STEPS: u32 = 20_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: Vec<u8>,
    /// `!` in front: takes a path back in.
    pub negated: bool,
    /// `/` at the end: matches only folders.
    pub only_folders: bool,
    /// Without a slash the name alone is compared, at any depth.
    name_only: bool,
    /// Bytes at the beginning that stand for themselves.
    literal: usize,
    /// Bytes behind a star at the beginning, if they stand for themselves.
    ending: Option<usize>,
}

impl Pattern {
    /// In the order of the file.
    pub fn all(text: &[u8]) -> Vec<Self> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        text.split(|byte| *byte == b'\n').filter_map(Self::parse).collect()
    }

    /// `None` for a comment, an empty line and a pattern that is too long.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.first() == Some(&b'#') {
            return None;
        }
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = without_blanks(line);
        let (negated, text) = match line.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (only_folders, text) = match text.strip_suffix(b"/") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if line.is_empty() || text.len() > LONGEST {
            return None;
        }
        let literal = text.iter().position(|byte| is_special(*byte)).unwrap_or(text.len());
        let name_only = !text.contains(&b'/');
        let ending = text.strip_prefix(b"*");
        let ending = ending.filter(|rest| !rest.iter().copied().any(is_special)).map(<[u8]>::len);
        Some(Self { text: text.to_vec(), negated, only_folders, name_only, literal, ending })
    }

    /// `None` for a text that is no pattern of protected files: `!` would free files, and no path has `.` or `..` in it. At
    /// the beginning people write `./` where git writes `/`.
    pub fn protecting(text: &str) -> Option<Self> {
        let anchored = text.trim_start().strip_prefix("./").map(|rest| ["/", rest].concat());
        let whole = anchored.as_deref().unwrap_or(text);
        let no_path = |part: &str| matches!(part, "." | "..");
        if matches!(whole.trim(), "" | "/") || whole.split('/').any(no_path) || whole.contains("//")
        {
            return None;
        }
        Self::parse(whole.as_bytes()).filter(|pattern| text::is_plain(text) && !pattern.negated)
    }

    /// A bit for each end of a name that can match; all bits for any end.
    pub fn end_bits(&self) -> u64 {
        // Bytes behind the last star, set or backslash stand for themselves.
        let is_special = |byte: &u8| is_special(*byte) || *byte == b']';
        let end = self.text.iter().rposition(is_special).map_or(0, |last| last + 1);
        end_bits(&self.text[end..])
    }

    /// `path` is relative to the folder of the list; `name` is its last part.
    pub fn matches(&self, path: &[u8], name: &[u8], is_folder: bool) -> bool {
        if self.only_folders && !is_folder {
            return false;
        }
        let text = self.text.as_slice();
        if self.name_only {
            if self.literal == text.len() {
                return name == text;
            }
            if self.ending.is_some() {
                return name.ends_with(&text[1..]);
            }
            return wild(text, name, Slash::Usual);
        }
        let (text, literal) = match text.strip_prefix(b"/") {
            Some(rest) => (rest, self.literal.saturating_sub(1)),
            None => (text, self.literal),
        };
        let Some(rest) = path.strip_prefix(&text[..literal]) else { return false };
        wild(&text[literal..], rest, Slash::Special)
    }
}

/// One bit for the end of a name or path; all bits for a short one. Names that end alike share a bit.
pub fn end_bits(name: &[u8]) -> u64 {
    name.last_chunk().map_or(u64::MAX, |[one, last]| 1 << ((one.wrapping_mul(31) ^ last) % 64))
}

/// A backslash protects blanks at the end of a line.
fn without_blanks(line: &[u8]) -> &[u8] {
    let (mut at, mut end) = (0, None);
    while at < line.len() {
        match line[at] {
            b' ' => end = end.or(Some(at)),
            b'\\' if at + 1 == line.len() => return line,
            b'\\' => {
                at += 1;
                end = None;
            }
            _ => end = None,
        }
        at += 1;
    }
    &line[..end.unwrap_or(line.len())]
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

/// A slash is a byte like any other, or separates folders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Usual,
    Special,
}

/// The last two tell the stars before that a further search is in vain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchOutcome {
    Match,
    NoMatch,
    AbortAll,
    AbortToStars,
}

fn wild(pattern: &[u8], text: &[u8], slash: Slash) -> bool {
    let mut steps = STEPS;
    compare(pattern, text, slash, &mut steps) == MatchOutcome::Match
}

/// 0 after the end.
fn at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or(0)
}

fn compare(pattern: &[u8], text: &[u8], slash: Slash, steps: &mut u32) -> MatchOutcome {
    let (mut p, mut t) = (0, 0);
    while p < pattern.len() {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return MatchOutcome::AbortAll;
        }
        let (mut byte, now) = (pattern[p], at(text, t));
        if t >= text.len() && byte != b'*' {
            return MatchOutcome::AbortAll;
        }
        match byte {
            b'?' => {
                if slash == Slash::Special && now == b'/' {
                    return MatchOutcome::NoMatch;
                }
            }
            b'*' => {
                if let Some(outcome) = star(pattern, &mut p, text, &mut t, slash, steps) {
                    return outcome;
                }
                // Both places are at a slash, which is taken below.
            }
            b'[' => match set(pattern, &mut p, now) {
                None => return MatchOutcome::AbortAll,
                Some(is_in) if !is_in || (slash == Slash::Special && now == b'/') => {
                    return MatchOutcome::NoMatch;
                }
                Some(_) => {}
            },
            _ => {
                if byte == b'\\' {
                    p += 1;
                    byte = at(pattern, p);
                }
                if now != byte {
                    return MatchOutcome::NoMatch;
                }
            }
        }
        p += 1;
        t += 1;
    }
    if t < text.len() { MatchOutcome::NoMatch } else { MatchOutcome::Match }
}

/// One star or several at `p`; `None` when both places are at a slash.
fn star(
    pattern: &[u8],
    p: &mut usize,
    text: &[u8],
    t: &mut usize,
    slash: Slash,
    steps: &mut u32,
) -> Option<MatchOutcome> {
    let first = *p;
    while at(pattern, *p) == b'*' {
        *p += 1;
    }
    let over_slashes = if slash == Slash::Usual {
        true
    } else if *p - first >= 2
        && (first == 0 || pattern[first - 1] == b'/')
        && (*p == pattern.len()
            || pattern[*p] == b'/'
            || (pattern[*p] == b'\\' && at(pattern, *p + 1) == b'/'))
    {
        // `**/` may stand for nothing at all.
        if at(pattern, *p) == b'/'
            && compare(&pattern[*p + 1..], &text[*t..], slash, steps) == MatchOutcome::Match
        {
            return Some(MatchOutcome::Match);
        }
        true
    } else {
        false
    };
    if *p == pattern.len() {
        let ends = over_slashes || !text[*t..].contains(&b'/');
        return Some(if ends { MatchOutcome::Match } else { MatchOutcome::AbortToStars });
    }
    if !over_slashes && pattern[*p] == b'/' {
        let Some(next) = text[*t..].iter().position(|byte| *byte == b'/') else {
            return Some(MatchOutcome::AbortAll);
        };
        *t += next;
        return None;
    }
    while *t < text.len() {
        if !is_special(pattern[*p]) {
            let wanted = pattern[*p];
            while *t < text.len() && (over_slashes || text[*t] != b'/') && text[*t] != wanted {
                *t += 1;
            }
            if at(text, *t) != wanted || *t == text.len() {
                let all = over_slashes;
                return Some(if all { MatchOutcome::AbortAll } else { MatchOutcome::AbortToStars });
            }
        }
        let rest = compare(&pattern[*p..], &text[*t..], slash, steps);
        if rest != MatchOutcome::NoMatch {
            if !over_slashes || rest != MatchOutcome::AbortToStars {
                return Some(rest);
            }
        } else if !over_slashes && text[*t] == b'/' {
            return Some(MatchOutcome::AbortToStars);
        }
        *t += 1;
    }
    Some(MatchOutcome::AbortAll)
}

/// The byte is in the set that begins at `p`; `p` moves to the set's end. `None` for a set without an end.
fn set(pattern: &[u8], p: &mut usize, now: u8) -> Option<bool> {
    *p += 1;
    let negated = matches!(at(pattern, *p), b'!' | b'^');
    *p += usize::from(negated);
    let (mut before, mut is_in) = (0, false);
    loop {
        let mut byte = *pattern.get(*p)?;
        if byte == b'\\' {
            *p += 1;
            byte = *pattern.get(*p)?;
            is_in |= now == byte;
        } else if byte == b'-' && before != 0 && !matches!(at(pattern, *p + 1), 0 | b']') {
            *p += 1;
            byte = *pattern.get(*p)?;
            if byte == b'\\' {
                *p += 1;
                byte = *pattern.get(*p)?;
            }
            is_in |= (before..=byte).contains(&now);
            byte = 0;
        } else if byte == b'[' && at(pattern, *p + 1) == b':' {
            let start = *p + 2;
            let end = start + pattern.get(start..)?.iter().position(|byte| *byte == b']')?;
            if end > start && pattern[end - 1] == b':' {
                is_in |= in_class(&pattern[start..end - 1], now)?;
                *p = end;
                byte = 0;
            } else {
                is_in |= now == b'[';
            }
        } else {
            is_in |= now == byte;
        }
        before = byte;
        *p += 1;
        if at(pattern, *p) == b']' {
            return Some(is_in != negated);
        }
    }
}

fn in_class(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_pattern_has_its_bit() {
        let parts =
            ["**/", "*", "?", "[!a-c]", "[]x]", "a", "b.c", "/", "\\*", "\\\\", ".log", "]"];
        let names = ["a", "b.c", "ab.c", "x.log", "*", "]", "a]", "a\\", "b.cb.c", "/a"];
        let mut matched = 0;
        for [one, two, three] in all(parts) {
            let Some(pattern) = Pattern::parse([one, two, three].concat().as_bytes()) else {
                continue;
            };
            for path in all(names).map(|[one, two, _]| format!("{one}/{two}")).chain(["a".into()]) {
                let name = path.rsplit('/').next().unwrap_or_default();
                if pattern.matches(path.as_bytes(), name.as_bytes(), false) {
                    matched += 1;
                    let both = pattern.end_bits() & end_bits(name.as_bytes());
                    assert_ne!(both, 0, "{one}{two}{three} {path}");
                }
            }
        }
        assert!(matched > 10_000, "{matched}");
        let few = ["*.log", "**/specs/*/.progress.md", "[ab].log", "/docs/x.txt"];
        for pattern in few.map(|text| Pattern::parse(text.as_bytes()).unwrap()) {
            assert_eq!(pattern.end_bits() & end_bits(b"main.rs"), 0, "{pattern:?}");
        }
    }

    /// Three of these, in each order and with repeats.
    fn all<const N: usize>(of: [&'static str; N]) -> impl Iterator<Item = [&'static str; 3]> {
        let places = (0..N).flat_map(|one| (0..N).map(move |two| (one, two)));
        let places = places.flat_map(|(one, two)| (0..N).map(move |three| [one, two, three]));
        places.map(move |places| places.map(|place| of[place]))
    }
}
