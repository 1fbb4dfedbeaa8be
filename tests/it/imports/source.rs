//! As much of Rust's syntax as imports need: which paths a file names, and what it hands on by `pub use`.

/// What one file imports.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Modules that it declares, each in a file of its own.
    pub modules: Vec<String>,
    /// The leaves of its `use` declarations.
    pub uses: Vec<Use>,
    /// The paths that its code names.
    pub paths: Vec<Vec<String>>,
}

/// One leaf of a `use` declaration.
#[derive(Debug, PartialEq, Eq)]
pub struct Use {
    /// The whole path; its last name is `*` for all that a module has.
    pub path: Vec<String>,
    /// The name that it has in this file.
    pub name: String,
    /// Whether the file hands it on.
    pub is_public: bool,
}

/// The imports of a file, without those of its tests.
pub fn parse(text: &str) -> Source {
    let tokens = tokens(&plain(text));
    let mut source = Source::default();
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        if starts_with(rest, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            at += 7 + item_length(&rest[7..]);
        } else if starts_with(rest, &["mod"]) && rest.get(2).is_some_and(|token| token == ";") {
            source.modules.push(rest[1].clone());
            at += 3;
        } else if rest[0] == "use" {
            let is_public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
            let mut end = 1;
            tree(rest, &mut end, &[], is_public, &mut source.uses);
            at += end;
        } else if is_name(&rest[0]) {
            let length = path_length(rest);
            source.paths.push(rest[..length].iter().step_by(2).cloned().collect());
            at += length;
        } else {
            at += 1;
        }
    }
    source
}

/// How many tokens a path has: names with `::` between them.
fn path_length(tokens: &[String]) -> usize {
    let mut length = 1;
    while tokens.get(length).is_some_and(|token| token == "::")
        && tokens.get(length + 1).is_some_and(|token| is_name(token))
    {
        length += 2;
    }
    length
}

/// Takes in the use tree that begins at `at`, and moves `at` behind it.
fn tree(
    tokens: &[String],
    at: &mut usize,
    before: &[String],
    is_public: bool,
    uses: &mut Vec<Use>,
) {
    let mut path = before.to_vec();
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        match token.as_str() {
            "::" => {}
            "{" => {
                while tokens.get(*at).is_some_and(|token| token != "}") {
                    tree(tokens, at, &path, is_public, uses);
                    if tokens.get(*at).is_some_and(|token| token == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            "as" => {
                let name = tokens.get(*at).cloned().unwrap_or_default();
                *at += 1;
                uses.push(Use { path, name, is_public });
                return;
            }
            "self" if !before.is_empty() && path.len() == before.len() => {}
            name => path.push(name.to_owned()),
        }
        if tokens.get(*at).is_none_or(|token| token == "," || token == "}" || token == ";") {
            let name = path.last().cloned().unwrap_or_default();
            uses.push(Use { path, name, is_public });
            return;
        }
    }
}

/// How many tokens an item has: to its `;`, or to the end of its braces.
fn item_length(tokens: &[String]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

fn starts_with(tokens: &[String], words: &[&str]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token == word)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// Names, `::`, and every other character but blanks on its own.
fn tokens(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let in_name = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let length = match letters[at] {
            letter if letter.is_whitespace() => 0,
            letter if in_name(&letter) => {
                letters[at..].iter().take_while(|other| in_name(other)).count()
            }
            ':' if letters.get(at + 1) == Some(&':') => 2,
            _ => 1,
        };
        if length > 0 {
            tokens.push(letters[at..at + length].iter().collect());
        }
        at += length.max(1);
    }
    tokens
}

/// The text without comments, and without what strings and characters hold.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => string_length(rest),
            'r' if !out.ends_with(|before: char| before.is_alphanumeric() || before == '_') => {
                raw_length(rest)
            }
            '\'' => char_length(rest),
            _ => 0,
        };
        if skipped == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            out.push(' ');
            rest = &rest[skipped..];
        }
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw string, 0 where none begins.
fn raw_length(text: &str) -> usize {
    let hashes = text[1..].bytes().take_while(|byte| *byte == b'#').count();
    if text.as_bytes().get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let from = 2 + hashes;
    text[from..].find(&end).map_or(text.len(), |at| from + at + end.len())
}

/// The length of a character in quotes, 1 for the quote of a lifetime.
fn char_length(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    match (letters.next(), letters.next()) {
        (Some((_, '\\')), Some((at, letter))) => {
            let from = at + letter.len_utf8();
            text[from..].find('\'').map_or(1, |end| from + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(words: &str) -> Vec<String> {
        words.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn use_tree_leaves_keep_their_names() {
        let source = parse(
            "use crate::a::{self, b::{C, D as E}, f::*};\npub use super::g;\npub(crate) use self::h::I;",
        );
        let found: Vec<(String, &str, bool)> = source
            .uses
            .iter()
            .map(|import| (import.path.join("::"), import.name.as_str(), import.is_public))
            .collect();
        let expected = [
            ("crate::a", "a", false),
            ("crate::a::b::C", "C", false),
            ("crate::a::b::D", "E", false),
            ("crate::a::f::*", "*", false),
            ("super::g", "g", true),
            ("self::h::I", "I", true),
        ];
        assert_eq!(found, expected.map(|(path, name, public)| (path.to_owned(), name, public)));
    }

    #[test]
    fn only_paths_in_code_are_found() {
        let source = parse(
            r##"mod child;
            // crate::comment::x
            /* crate::comment::y */
            fn f<'a>(x: &'a str) -> super::Left { crate::a::b("crate::text::x", '"', r#"crate::raw::"x"#, '\'', child::c) }"##,
        );
        assert_eq!(source.modules, ["child"]);
        let paths: Vec<_> = source.paths.iter().filter(|path| path.len() > 1).collect();
        assert_eq!(paths, [&path("super::Left"), &path("crate::a::b"), &path("child::c")]);
        assert!(source.uses.is_empty());
    }

    #[test]
    fn test_builds_are_left_out() {
        let source = parse(
            "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more { use crate::a; fn f() { b::c() } }\nuse crate::d;",
        );
        assert!(source.modules.is_empty() && source.paths.is_empty(), "{source:?}");
        assert_eq!(source.uses.len(), 1);
    }
}
