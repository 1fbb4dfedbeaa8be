//! What a file says without its blanks, and without its comments: two hashes that tell a change of the work from one around it.

use crate::engine::Hasher;

/// Hashes of what a file contains; whoever compares two of them sees how the contents differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Of its bytes.
    pub bytes: u64,
    /// Of its bytes without blanks and line ends.
    pub words: u64,
    /// Of those without comments as well, where its language is known.
    pub code: u64,
}

/// How comments are written in a language.
struct Comments {
    /// What begins one that ends with its line.
    line: &'static [&'static str],
    /// What begins and what ends any other one; empty for none.
    block: (&'static str, &'static str),
}

/// The endings of files whose comments are known, and the names of files without one. What is not here has no comments: in
/// Markdown a `#` is a heading, and a text file is text.
const LANGUAGES: [(&str, Comments); 11] = [
    (
        " rs c h cc cpp cxx hpp hh cs java kt kts scala swift go js jsx mjs cjs ts tsx mts cts dart groovy gradle proto \
         scss less zig jsonc ",
        Comments { line: &["//"], block: ("/*", "*/") },
    ),
    (" css ", Comments { line: &[], block: ("/*", "*/") }),
    (" php tf ", Comments { line: &["//", "#"], block: ("/*", "*/") }),
    (
        " py pyi rb sh bash zsh fish pl pm r jl yaml yml toml ex exs cr nim tcl mk cmake ps1 coffee makefile dockerfile \
         gemfile rakefile properties conf cfg env gitignore editorconfig ",
        Comments { line: &["#"], block: ("", "") },
    ),
    (" lua hs elm adb ads vhd vhdl ", Comments { line: &["--"], block: ("", "") }),
    (" sql ", Comments { line: &["--"], block: ("/*", "*/") }),
    (" lisp clj cljs el scm asm ", Comments { line: &[";"], block: ("", "") }),
    (" ini ", Comments { line: &[";", "#"], block: ("", "") }),
    (" tex sty erl hrl ", Comments { line: &["%"], block: ("", "") }),
    (" vue svelte ", Comments { line: &["//"], block: ("<!--", "-->") }),
    (" md html htm xhtml xml svg ", Comments { line: &[], block: ("<!--", "-->") }),
];
/// What stands behind the sign of a comment that a program reads.
const DIRECTIVES: [(&str, &[&str]); 2] = [
    ("//", &["go:", "+build", "@ts-", "eslint-"]),
    ("#", &["type:", "noqa", "shellcheck ", "syntax=", "frozen_"]),
];

/// What a link has in place of the hash of its words.
const LINK: u64 = 0x6c69_6e6b;

impl Hashes {
    /// Returns the hashes of a file of this name; one with a zero byte is no text, and each blank of it counts.
    pub fn of(name: &[u8], bytes: &[u8]) -> Self {
        let whole = Self::of_bytes(Hasher::default().with_number(bytes.len() as u64).with(bytes));
        if bytes.contains(&0) {
            return whole;
        }
        let words = with_words(Hasher::default(), bytes).finish();
        let code = comments_of(name).and_then(|comments| comments.hash_of_code(bytes));
        Self { words, code: code.unwrap_or(words), ..whole }
    }

    /// Returns those of a file of which nothing but its bytes is known.
    pub fn of_bytes(bytes: Hasher) -> Self {
        let bytes = bytes.finish();
        Self { bytes, words: bytes, code: bytes }
    }

    /// Returns those of a link of which nothing but where it leads is known.
    pub fn of_link(target: Hasher) -> Self {
        Self { bytes: target.finish(), words: LINK, code: LINK }
    }

    /// Returns whether they are those of a link.
    pub fn is_of_link(&self) -> bool {
        self.words == LINK && self.code == LINK
    }

    /// Returns those of a file without a byte.
    pub fn of_nothing() -> Self {
        Self::of(b"", b"")
    }
}

/// The hasher with the bytes that are no blanks.
fn with_words(mut hash: Hasher, mut bytes: &[u8]) -> Hasher {
    while let Some(at) = bytes.iter().position(|it| it.is_ascii_whitespace() || *it >= 0xc2) {
        hash = hash.with(&bytes[..at]);
        let rest = &bytes[at..];
        let blank = if rest[0].is_ascii() { 1 } else { wide_blank(rest) };
        if blank == 0 {
            hash = hash.with(&rest[..1]);
        }
        bytes = &rest[blank.max(1)..];
    }
    hash.with(bytes)
}

/// How long a blank is that these bytes begin with, or a sign that shows nothing, such as the mark at the beginning of a file.
fn wide_blank(bytes: &[u8]) -> usize {
    match bytes {
        [0xc2, 0x85 | 0xa0 | 0xad, ..] => 2,
        [0xe2, 0x80, 0x80..=0x8f | 0xa8..=0xaf, ..]
        | [0xe2, 0x81, 0x9f..=0xaf, ..]
        | [0xe3, 0x80, 0x80, ..]
        | [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

fn comments_of(name: &[u8]) -> Option<&'static Comments> {
    let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
    let ending = format!(" {} ", name.rsplit(['.', '/']).next()?);
    LANGUAGES.iter().find(|(endings, _)| endings.contains(&ending)).map(|(_, comments)| comments)
}

impl Comments {
    /// The hash of what is neither a comment nor a blank; `None` where a comment does not end.
    fn hash_of_code(&self, bytes: &[u8]) -> Option<u64> {
        let mut hash = Hasher::default();
        let (begins, ends) = (self.block.0.as_bytes(), self.block.1.as_bytes());
        let mut is_inside = false;
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let mut rest = line.trim_ascii();
            if number == 0 && rest.starts_with(b"#!") {
                hash = with_words(hash, rest);
                continue;
            }
            loop {
                if is_inside {
                    let Some(at) = find(rest, ends) else { break };
                    rest = rest[at + ends.len()..].trim_ascii_start();
                    is_inside = false;
                } else if !begins.is_empty() && rest.starts_with(begins) {
                    rest = &rest[begins.len()..];
                    is_inside = true;
                } else {
                    break;
                }
            }
            if !is_inside {
                hash = with_words(hash, &rest[..self.end_of_code(rest)]);
            }
        }
        (!is_inside).then(|| hash.finish())
    }

    /// Where the comment at the end of a line begins. One behind a quotation mark may be a part of a text, and is none.
    fn end_of_code(&self, line: &[u8]) -> usize {
        for (at, byte) in line.iter().enumerate() {
            let (before, rest) = line.split_at(at);
            if matches!(byte, b'"' | b'\'' | b'`') {
                break;
            }
            if before.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
                continue;
            }
            let is_line = |sign: &&str| {
                rest.strip_prefix(sign.as_bytes()).is_some_and(|said| {
                    let is_apart = said.first().is_none_or(u8::is_ascii_whitespace);
                    // What belongs to the function below, in PHP.
                    let is_attribute =
                        **sign == *"#" && self.line.len() > 1 && said.starts_with(b"[");
                    let said = said.trim_ascii_start();
                    let is_directive = is_attribute
                        || DIRECTIVES.iter().any(|(of, all)| {
                            of == sign && all.iter().any(|it| said.starts_with(it.as_bytes()))
                        });
                    (at == 0 || is_apart) && !is_directive
                })
            };
            let (begins, ends) = (self.block.0.as_bytes(), self.block.1.as_bytes());
            let is_block =
                rest.strip_prefix(begins).and_then(|said| find(said, ends)).is_some_and(|length| {
                    !ends.is_empty() && begins.len() + length + ends.len() == rest.len()
                });
            if is_block || self.line.iter().any(is_line) {
                return at;
            }
        }
        line.len()
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same_code(name: &str, one: &str, other: &str) -> bool {
        let code = |text: &str| Hashes::of(name.as_bytes(), text.as_bytes()).code;
        code(one) == code(other)
    }

    #[test]
    fn blanks_are_no_words_but_in_a_file_that_is_no_text() {
        let words = |text: &str| Hashes::of(b"a.rs", text.as_bytes()).words;
        assert_eq!(words("a  b\r\n"), words("a\tb"));
        assert_eq!(words("\u{feff}a\u{a0}b\u{200b}\u{3000}"), words("a b"));
        assert_ne!(words("é"), words("è"));
        assert_ne!(words("a b"), words("a c"));
        assert_ne!(words("\0a b"), words("\0ab"));
        assert_eq!(Hashes::of(b"a", b" \n").words, Hashes::of_nothing().words);
    }

    #[test]
    fn comments_are_no_code() {
        for (name, before, after) in [
            ("a.rs", "f();\n", "// why\n/// what\nf(); // so\n"),
            ("a.ts", "f();\n", "/* a\n f()\n */ f(); /* b */\n"),
            ("a.py", "x = 1\n", "# why\n    x = 1  # so\n\n"),
            ("src/Makefile", "a:\n\tb\n", "# why\na:\n\tb # so\n"),
            ("a.sql", "select 1;", "-- why\nselect 1; -- so\n/* no */"),
            ("a.el", "(a)", ";; why\n(a) ; so"),
            ("a.tex", "a", "% why\na % so"),
            ("a.md", "# A\nb", "# A\n<!-- no\n -->\nb"),
            ("a.html", "<p>", "<!-- no --> <p> <!-- no -->"),
            ("a.css", "a {}", "/* no */ a {}"),
            ("a.rs", "f();", "//! what\nf();"),
            ("a.py", "f()", "f()\n#! so\n#[so]"),
            ("a.ini", "a=1", "# why\n; so\na=1"),
            ("a.properties", "a=1", "# why\na=1"),
            ("a.vue", "<b>", "<!-- no -->\n<b>\n// so"),
        ] {
            assert!(is_same_code(name, before, after), "{name}: {after}");
        }
    }

    #[test]
    fn what_may_be_content_is_content() {
        for (name, before, after) in [
            ("a.rs", "f();", "#[test]\nf();"),
            ("a.c", "f();", "#include <a.h>\nf();"),
            ("a.md", "a", "# A\na"),
            ("a.txt", "a", "# A\na"),
            ("a.css", "a {}", "// b {}\na {}"),
            ("a.js", "f()", "f(\"a // b\")"),
            ("a.js", "f(\"a // b\")", "f(\"a // c\")"),
            ("a.sh", "a", "#!/bin/sh\na"),
            ("a.php", "a", "#[A]\na"),
            ("a.sh", "echo 1", "echo $#"),
            ("a.go", "a", "//go:embed x\na"),
            ("a.py", "f()", "f()  # noqa"),
            ("a.py", "x = '", "x = ' # b"),
            ("a.ts", "`\n/* a", "`\n/* b"),
            ("Makefile.am", "a", "# b\na"),
        ] {
            assert!(!is_same_code(name, before, after), "{name}: {after}");
        }
    }
}
