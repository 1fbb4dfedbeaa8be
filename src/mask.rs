//! Masks text that looks like a key in everything that is written: logs, tails of checks, journals, history.
//!
//! A mask does not stop a program that wants a key to be read: it hides a key that was printed by mistake.

use std::borrow::Cow;

pub const MASK: &[u8] = b"[masked]";
/// Bytes of a line that are held back until its end is there.
const MOST_HELD: usize = 64 << 10;
/// Bytes held back of a longer line: a key is shorter.
const KEPT: usize = 4 << 10;
/// Lines of a private key.
const MOST_LINES: usize = 200;
/// The beginning and end of a private key.
const BEGIN: &[u8] = b"-----BEGIN ";
const PRIVATE: &[u8] = b"PRIVATE KEY-----";
const END: &[u8] = b"-----END ";

/// The beginnings of keys, with the number of characters that follow at least.
const PREFIXES: [(usize, &[&str]); 7] = [
    (10, &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-"]),
    (16, &["sk-", "sk_live_", "sk_test_", "rk_live_", "glpat-", "AKIA", "ASIA"]),
    (20, &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "SG.", "hvs.", "hvb.", "hvr."]),
    (20, &["shpat_", "shpca_", "shppa_", "shpss_", "dckr_pat_", "xapp-", "ya29.", "glrt-", "sbp_"]),
    (30, &["AIza", "npm_", "hf_", "pypi-", "dop_v1_"]),
    (40, &["AGE-SECRET-KEY-"]),
    (60, &["eyJ"]),
];

/// Names of values that are keys, in small letters, with the number of characters of a value at least.
const NAMES: [(usize, &[&str]); 4] = [
    (8, &["api_key", "api-key", "apikey", "access_key", "secret_key", "secret-key", "private_key"]),
    (8, &["access_token", "access-token", "auth_token", "client_secret", "account_key"]),
    (8, &["accountkey", "sharedaccesskey", "password", "passwd", "passphrase", "pass"]),
    (16, &["token", "secret"]),
];

/// Masks keys in a stream, in whatever pieces the stream comes.
#[derive(Debug, Default)]
pub struct Masker {
    held: Vec<u8>,
    /// Lines of a private key that may still come; 0 outside of one.
    in_key: usize,
}

impl Masker {
    /// Takes a piece. The result: whole lines that can be written, with keys masked.
    pub fn take(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(piece.len());
        let mut rest = piece;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, later) = rest.split_at(end + 1);
            rest = later;
            if self.held.is_empty() {
                self.write_line(line, &mut out);
            } else {
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(line);
                self.write_line(&held, &mut out);
            }
        }
        self.held.extend_from_slice(rest);
        if self.held.len() > MOST_HELD {
            // Between two words if possible, not within one.
            let from = self.held.len() - KEPT;
            let place = self.held[from..].iter().position(|byte| !is_key_byte(*byte));
            let later = self.held.split_off(from + place.unwrap_or(0));
            let now = std::mem::replace(&mut self.held, later);
            self.write_line(&now, &mut out);
        }
        out
    }

    /// The rest, which has no line end.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        let held = std::mem::take(&mut self.held);
        self.write_line(&held, &mut out);
        out
    }

    fn write_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if self.in_key > 0 {
            self.in_key =
                if memchr::memmem::find(line, END).is_some() { 0 } else { self.in_key - 1 };
            return;
        }
        if begins_a_key(line) {
            self.in_key = MOST_LINES;
        }
        out.extend_from_slice(&masked(line));
    }
}

/// A private key begins in this line and goes on behind it.
fn begins_a_key(line: &[u8]) -> bool {
    let Some(at) = memchr::memmem::rfind(line, BEGIN) else { return false };
    let rest = &line[at..];
    memchr::memmem::find(rest, PRIVATE).is_some() && memchr::memmem::find(rest, END).is_none()
}

/// The bytes with keys masked.
pub fn masked(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut out: Vec<u8> = Vec::new();
    let (mut done, mut at) = (0, 0);
    while at < bytes.len() {
        match key_lines(bytes, at).or_else(|| key_at(bytes, at)) {
            Some((from, to)) => {
                out.extend_from_slice(&bytes[done..from]);
                out.extend_from_slice(MASK);
                (done, at) = (to, to);
            }
            None => at += 1,
        }
    }
    if done == 0 {
        return Cow::Borrowed(bytes);
    }
    out.extend_from_slice(&bytes[done..]);
    Cow::Owned(out)
}

/// The text with keys masked.
pub fn masked_text(text: &str) -> Cow<'_, str> {
    match masked(text.as_bytes()) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// The beginning and end of the masked bytes of a key at this place.
fn key_at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = &bytes[at..];
    let [first, second, ..] = rest else { return None };
    if !may_begin(*first, *second) {
        return None;
    }
    if *first == b'-' {
        return private_key(rest).map(|length| (at, at + length));
    }
    if *first == b':' {
        return behind_colon(bytes, at);
    }
    let begins_a_word = at == 0 || !bytes[at - 1].is_ascii_alphanumeric() && bytes[at - 1] != b'_';
    let token = begins_a_word.then(|| token(rest)).flatten().map(|length| (at, at + length));
    let bearer = || begins_a_word.then(|| bearer(rest)).flatten();
    let value = || bearer().or_else(|| named_value(rest));
    token.or_else(|| value().map(|(from, to)| (at + from, at + to)))
}

/// A key or its name may begin with these two letters. Every byte of a log gets this question, and few need a closer
/// look.
fn may_begin(first: u8, second: u8) -> bool {
    let next: &[u8] = match first | 0x20 {
        b'-' => b"-",
        b':' => b"/a",
        b'a' => b"cgiksup",
        b'b' => b"ae",
        b'c' => b"l",
        b'e' => b"y",
        b'g' => b"hil",
        b'h' => b"fv",
        b'n' => b"p",
        b'p' => b"yar",
        b'r' => b"k",
        b's' => b"bdeghk",
        b't' => b"o",
        b'd' | b'x' => b"aco",
        b'y' => b"a",
        _ => return false,
    };
    next.contains(&(second | 0x20))
}

/// The length of a token with a known beginning.
fn token(rest: &[u8]) -> Option<usize> {
    let begins = |prefix: &&&str| rest.starts_with(prefix.as_bytes());
    let (least, prefix) =
        PREFIXES.iter().find_map(|(least, all)| all.iter().find(begins).map(|key| (least, key)))?;
    let is_in_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let length = rest.iter().take_while(is_in_token).count();
    let body = &rest[prefix.len()..length];
    // `sk-learn-is-a-library` is not a key.
    (body.len() >= *least && body.iter().any(u8::is_ascii_digit)).then_some(length)
}

/// The place of the key in `Bearer …` and `Basic …`.
fn bearer(rest: &[u8]) -> Option<(usize, usize)> {
    let is_it =
        |word: &&[u8]| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let from = [&b"bearer "[..], b"basic "].into_iter().find(is_it)?.len();
    let length = rest[from..].iter().take_while(|byte| is_key_byte(**byte)).count();
    let key = &rest[from..from + length];
    // `Basic authentication` is two words.
    let is_mixed = key.iter().skip(1).any(|byte| !byte.is_ascii_lowercase());
    (length >= 16 && from == 7 || length >= 12 && is_mixed).then_some((from, from + length))
}

/// The place of the password in `://user:…@`, and of a bot's key behind its number.
fn behind_colon(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>/?#".contains(byte);
    let Some(place) = bytes[at..].strip_prefix(b"://") else {
        let digits = bytes[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let length = bytes[at + 1..].iter().take_while(|byte| is_key_byte(**byte)).count();
        return (digits >= 6 && length >= 30).then_some((at + 1, at + 1 + length));
    };
    let to = memchr::memrchr(b'@', &place[..place.iter().position(is_end).unwrap_or(place.len())])?;
    let from = memchr::memchr(b':', &place[..to])? + 1;
    // A name stands for the password.
    let is_said = from < to && !b"${%[".contains(&place[from]);
    is_said.then_some((at + 3 + from, at + 3 + to))
}

/// The place of three or more lines from within a private key, at the beginning of a line: a patch may not have the
/// first one.
fn key_lines(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    if at > 0 && bytes[at - 1] != b'\n' {
        return None;
    }
    // Before the last word stand signs of a patch and blanks, around it quotes.
    let read = |line: &[u8]| {
        let word = line.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let is_inner = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        let inner = word.iter().filter(is_inner).count();
        let has = |is: fn(&u8) -> bool| word.iter().any(is);
        let is_mixed =
            has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        if is_mixed && word.len() < inner + 7 { inner } else { 0 }
    };
    let lines = bytes[at..].split_inclusive(|byte| *byte == b'\n');
    let whole = lines.clone().take_while(|line| line.len() > 59 && read(line) > 59).count();
    if whole < 3 {
        return None;
    }
    let last = lines.clone().nth(whole).filter(|line| read(line) > 0);
    let length = lines.take(whole).chain(last).map(<[u8]>::len).sum::<usize>();
    let is_ended = bytes[..at + length].ends_with(b"\n");
    Some((at, at + length - usize::from(is_ended)))
}

/// The place of the value in `api_key=…`, `"api_key": "…"` and the like.
fn named_value(rest: &[u8]) -> Option<(usize, usize)> {
    let is_it = |name: &&&str| {
        rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
    };
    let named =
        |(least, all): (usize, &'static [&str])| all.iter().find(is_it).map(|name| (least, name));
    let (least, name) = NAMES.into_iter().find_map(named)?;
    let skip = |from: usize, between: &[u8]| {
        from + rest[from..].iter().take(4).take_while(|byte| between.contains(byte)).count()
    };
    let sign = skip(name.len(), b"\"'\\ ");
    if !matches!(rest.get(sign), Some(b'=' | b':')) {
        return None;
    }
    let from = skip(sign + 1, b"\"'\\ ");
    let value = &rest[from..];
    let length = value.iter().take_while(|byte| is_key_byte(**byte)).count();
    let is_key = length >= least && value[..length].iter().any(u8::is_ascii_digit);
    is_key.then_some((from, from + length))
}

/// The length of a private key, up to its end or the end of the bytes.
fn private_key(rest: &[u8]) -> Option<usize> {
    if !rest.starts_with(BEGIN) {
        return None;
    }
    let line = &rest[..rest.len().min(64)];
    memchr::memmem::find(line, PRIVATE)?;
    let Some(end) = memchr::memmem::find(rest, END) else {
        let line_end = rest.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'));
        return line_end.map(|last| last + 1);
    };
    let after = &rest[end + END.len()..];
    let tail = memchr::memmem::find(after, b"-----").map_or(after.len(), |at| at + 5);
    Some(end + END.len() + tail)
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.~+/=!@#%^*".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &str) -> String {
        masked_text(input).into_owned()
    }

    /// Written in two parts, so that no key is in this file.
    fn keys() -> Vec<String> {
        let body = "abcDEF0123456789abcDEF0123456789abcDEF01";
        [
            "sk-",
            "sk-ant-api03-",
            "ghp_",
            "gho_",
            "github_pat_",
            "glpat-",
            "xoxb-",
            "AIza",
            "npm_",
            "hf_",
        ]
        .iter()
        .map(|prefix| format!("{prefix}{body}"))
        .chain([format!("AKI{}", "AIOSFODNN7EXAMPLE"), format!("eyJ{}.{body}.{body}", &body[..30])])
        .collect()
    }

    #[test]
    fn s8_key_shapes_are_masked() {
        for key in keys() {
            for (before, after) in
                [("", ""), ("key: ", " done"), ("\"", "\","), ("https://x:", "@host")]
            {
                let found = text(&format!("{before}{key}{after}"));
                assert!(!found.contains(&key[5..]) && found.contains("[masked]"), "{key}: {found}");
                assert!(found.starts_with(before), "{found}");
            }
        }
        let body = "abcDEF0123456789abcDEF";
        for (input, output) in [
            (format!("Authorization: Bearer {body}"), "Authorization: Bearer [masked]"),
            (format!("OPENAI_API_KEY={body}\n"), "OPENAI_API_KEY=[masked]\n"),
            (
                format!("{{\"api_key\": \"{body}\", \"n\": 1}}"),
                "{\"api_key\": \"[masked]\", \"n\": 1}",
            ),
            (format!("{{\\\"apiKey\\\":\\\"{body}\\\"}}"), "{\\\"apiKey\\\":\\\"[masked]\\\"}"),
            ("password = hunter2hunter2".to_owned(), "password = [masked]"),
        ] {
            assert_eq!(text(&input), output);
        }
    }

    #[test]
    fn s8_key_beginnings_are_known() {
        let all = PREFIXES.into_iter().chain(NAMES).flat_map(|(_, all)| all);
        let others = [BEGIN, b"bearer ", b"basic ", b"://", b":AA"];
        for start in all.map(|start| start.as_bytes()).chain(others) {
            for start in [start.to_vec(), start.to_ascii_uppercase()] {
                assert!(may_begin(start[0], start[1]), "{}", String::from_utf8_lossy(&start));
            }
        }
    }

    #[test]
    fn v5_passwords_are_masked() {
        let body = "abcDEF0123456789abcDEF0123456789abcDEF01";
        for (before, key, after) in [
            ("postgres://admin:", "hunter", "@db.example.com/x"),
            ("url = \"amqps://a.b:", "p@ss:w0rd$", "@host:5671/%2f\""),
            ("redis://:", "x", "@host"),
            ("Authorization: Basic ", "YWRtaW46aHVudGVyMg==", ""),
            ("authorization: basic ", "dXNlcjpwYXNz", "\""),
            ("DefaultEndpoints=https;AccountKey=", body, ";End"),
            ("Endpoint=sb://x/;SharedAccessKey=", body, ""),
            ("token: ", body, ""),
            ("\"secret\": \"", body, "\""),
            ("DB_PASS=", "hunter2hunter2", ""),
            ("key=", &["SG", ".", &body[..22], ".", body].concat(), ""),
            ("vault ", &["hv", "s.", body].concat(), ""),
            ("shop ", &["shp", "at_", body].concat(), ""),
            ("123456789:", &["AA", body].concat(), " is a bot"),
            ("", &["AGE-SECRET", "-KEY-1", &body.to_uppercase(), "QQQQ"].concat(), ""),
        ] {
            let line = [before, key, after].concat();
            assert_eq!(text(&line), [before, "[masked]", after].concat(), "{line}");
        }
        for input in [
            "https://example.com:443/@scope/name",
            "postgres://user:$PASSWORD@host and ://a:${b}@c and ://a@b",
            "Basic authentication, basic internationalization",
            "at 12:30:AA and std::AAA",
            "token: Token, pass: 3, secret = secrets.token_hex(16)",
        ] {
            assert_eq!(text(input), input);
        }
    }

    #[test]
    fn v5_inside_of_keys_is_masked() {
        let line = |at: usize| {
            let signs = b"abcDEF0123456789+/";
            (0..64)
                .map(|sign| char::from(signs[(sign * 7 + at * 5 + sign / 9) % 18]))
                .collect::<String>()
        };
        let hunk = format!(
            "@@ -5,7 +5,7 @@\n {}\n {}\n-{}\n+{}\n {}\n short0Q==\n-----END {}\n fn a() {{}}\n",
            line(1),
            line(2),
            line(3),
            line(4),
            line(5),
            "PRIVATE KEY-----"
        );
        let shown = text(&hunk);
        assert!(
            (1..6).all(|at| !shown.contains(&line(at)[8..20])) && !shown.contains("short0Q"),
            "{shown}"
        );
        assert!(
            shown.starts_with("@@ -5,7 +5,7 @@\n[masked]\n") && shown.ends_with("\n fn a() {}\n"),
            "{shown}"
        );
        let quoted = format!(
            "let key = [\n    \"{}\\n\",\n    \"{}\\n\",\n    \"{}\\n\",\n];\n",
            line(1),
            line(2),
            line(3)
        );
        assert!(!text(&quoted).contains(&line(2)[..20]), "{}", text(&quoted));
        let sums = format!("{0}\n{0}\n{0}\n{0}\n", "0123456789abcdef".repeat(4));
        let two = format!(" {}\n {}\n fn a() {{}}\n", line(1), line(2));
        for input in [sums, two, format!("{}\n", "fn_name ".repeat(20)).repeat(9)] {
            assert_eq!(text(&input), input);
        }
    }

    #[test]
    fn s8_what_is_no_key_stays() {
        for input in [
            "sk-learn-is-a-library-for-machines",
            "the task-list-of-the-first-week-2026",
            "api_key=os.environ[\"KEY\"]",
            "bearer of bad news",
            "password: string",
            "tokens_used: 123456789012",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "0123456789abcdef0123456789abcdef01234567",
            "",
        ] {
            assert_eq!(text(input), input);
        }
    }

    fn pem() -> String {
        format!(
            "-----BEGIN RSA {}\nMIIEow\nIBAAKC\n-----END RSA {}\n",
            "PRIVATE KEY-----", "PRIVATE KEY-----"
        )
    }

    #[test]
    fn s8_private_key_is_masked() {
        let mut masker = Masker::default();
        let mut out = masker.take(format!("a\n{}b\n", pem()).as_bytes());
        out.extend(masker.finish());
        assert_eq!(String::from_utf8(out).unwrap(), "a\n[masked]\nb\n");
        let line = format!("{{\"key\": \"{}\", \"n\": 1}}", pem().trim().replace('\n', "\\n"));
        assert_eq!(text(&line), "{\"key\": \"[masked]\", \"n\": 1}");
    }

    #[test]
    fn s8_cut_stream_is_masked() {
        let whole = format!("one {} two\n{}three\nBearer {}", keys()[0], pem(), keys()[2]);
        let mut masker = Masker::default();
        let mut expected = masker.take(whole.as_bytes());
        expected.extend(masker.finish());
        assert_eq!(
            String::from_utf8_lossy(&expected),
            "one [masked] two\n[masked]\nthree\nBearer [masked]"
        );
        for size in 1..40 {
            let mut masker = Masker::default();
            let mut out: Vec<u8> =
                whole.as_bytes().chunks(size).flat_map(|piece| masker.take(piece)).collect();
            out.extend(masker.finish());
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&expected), "{size}");
        }
    }

    #[test]
    fn s8_endless_line_is_bounded() {
        let mut masker = Masker::default();
        let piece = "word ".repeat(1000);
        let mut out = Vec::new();
        for _ in 0..100 {
            out.extend(masker.take(piece.as_bytes()));
            assert!(masker.held.len() <= MOST_HELD + piece.len());
        }
        out.extend(masker.finish());
        assert_eq!(out, piece.repeat(100).into_bytes());
        let mut masker = Masker::default();
        let endless = vec![b'a'; 300_000];
        let mut out = masker.take(&endless);
        out.extend(masker.finish());
        assert_eq!(out, endless);
    }
}
