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
        let whole = line.strip_prefix(b"!").unwrap_or(line);
        let text = whole.strip_suffix(b"/").unwrap_or(whole);
        let (negated, only_folders) = (whole.len() < line.len(), text.len() < whole.len());
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
            return compare((text, 0), (name, 0), Slash::Usual, &mut { STEPS });
        }
        let (text, literal) = match text.strip_prefix(b"/") {
            Some(rest) => (rest, self.literal.saturating_sub(1)),
            None => (text, self.literal),
        };
        let Some(rest) = path.strip_prefix(&text[..literal]) else { return false };
        compare((&text[literal..], 0), (rest, 0), Slash::Special, &mut { STEPS })
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

/// 0 after the end.
fn at(bytes: &[u8], place: usize) -> u8 {
    bytes.get(place).copied().unwrap_or(0)
}

/// True if the pattern from `p` on matches the text from `t` on.
fn compare(
    (pattern, mut p): (&[u8], usize),
    (text, mut t): (&[u8], usize),
    slash: Slash,
    steps: &mut u32,
) -> bool {
    while p < pattern.len() {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return false;
        }
        if pattern[p] == b'*' {
            return star((pattern, p), (text, t), slash, steps);
        }
        let Some(now) = text.get(t).copied() else { return false };
        let is_slash = slash == Slash::Special && now == b'/';
        let is_it = match pattern[p] {
            b'?' => !is_slash,
            b'[' => set(pattern, &mut p, now) == Some(true) && !is_slash,
            byte => {
                p += usize::from(byte == b'\\');
                at(pattern, p) == now
            }
        };
        if !is_it {
            return false;
        }
        p += 1;
        t += 1;
    }
    t == text.len()
}

fn star(
    (pattern, first): (&[u8], usize),
    (text, t): (&[u8], usize),
    slash: Slash,
    steps: &mut u32,
) -> bool {
    let stars = pattern[first..].iter().take_while(|byte| **byte == b'*').count();
    let p = first + stars;
    let begins = first == 0 || pattern[first - 1] == b'/';
    let ends = matches!(pattern[p..], [] | [b'/', ..] | [b'\\', b'/', ..]);
    let is_wide = slash == Slash::Usual || (stars >= 2 && begins && ends);
    let slash_at = text[t..].iter().position(|byte| *byte == b'/').filter(|_| !is_wide);
    let Some(next) = pattern.get(p).copied() else { return slash_at.is_none() };
    // `**/` may stand for nothing at all.
    let is_nothing = is_wide && slash == Slash::Special && next == b'/';
    if is_nothing && compare((pattern, p + 1), (text, t), slash, steps) {
        return true;
    }
    let may_be = |t: &usize| is_special(next) || text.get(*t) == Some(&next);
    let mut ends = (t..=slash_at.map_or(text.len(), |at| t + at)).filter(may_be);
    ends.any(|t| compare((pattern, p), (text, t), slash, steps))
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
