//! Words of a text that may name files and folders. Only the project's files decide which do.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::engine::line::text_of;

/// A word that may name a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// As written, without leads to the project; a folder ends with a slash.
    pub path: String,
    /// The word looks like a path: it has a slash at its end, or an ending and either a slash or code quotes.
    pub looks: bool,
}

/// Signs around a path.
const AROUND: &[char] =
    &['"', '\'', '*', '<', '>', ':', '[', ']', '{', '}', '|', '(', ')', '`', '?', '!', ','];
/// Leads to the project: links of a list begin in `specs/NAME`, and web projects call their sources `@/`.
const LEADS: [&str; 9] =
    ["file:", "///", "//", "../../", "./", "@/", "$PWD/", "${PWD}/", "$(pwd)/"];
/// Signs of a template or a variable: such a name means a file only if that file exists.
fn is_of_template(sign: char) -> bool {
    matches!(sign, '=' | '{' | '}' | '~' | '%' | '^' | '&' | '?' | ':' | '<' | '>')
}

/// A part of a name that stands for another one: `NNN-title.md`, `YYYY-MM-DD.md`, `page-N.md`.
fn is_stand_in(part: &str) -> bool {
    let first = part.bytes().next().filter(|first| b"NXY".contains(first));
    part == "NAME" || first.is_some_and(|first| part.bytes().all(|byte| byte == first))
}

fn has_quotes(text: &str) -> bool {
    let text = text.as_bytes();
    !text.is_ascii()
        || memchr::memchr3(b'\'', b'"', b'*', text).or_else(|| memchr::memchr(b'<', text)).is_some()
}

/// Signs around a name with blanks.
fn is_quote(sign: char) -> bool {
    match sign {
        '\0'..='\x7f' => matches!(sign, '\'' | '"' | '*' | '<' | '>'),
        _ => "‘’“”„«»".contains(sign),
    }
}

impl FileName {
    pub fn is_folder(&self) -> bool {
        self.path.ends_with('/')
    }

    /// No name but an ending, such as `.py` or `.d.ts`.
    pub fn is_ending(&self) -> bool {
        let is_short = |part: &str| part.len() <= 4 && !part.contains('/');
        self.path.strip_prefix('.').is_some_and(|end| end.split('.').all(is_short))
    }

    /// The file is at this path, in this folder, or ends with this path; letter case does not matter.
    pub fn covers(&self, file: &str) -> bool {
        let (path, file) = (self.path.to_lowercase(), file.to_lowercase());
        if self.is_folder() {
            return file.starts_with(&path) || file.contains(&["/", &path].concat());
        }
        // The words of `my notes.md` are apart in a text.
        file.strip_suffix(&path)
            .is_some_and(|before| before.is_empty() || before.ends_with(['/', ' ']))
    }
}

/// Each name once. Lines that begin with `Verify` are skipped: they name what a command reads.
pub fn names_in(text: &str) -> Vec<FileName> {
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    each_name(text, false, &mut |name| {
        if known.insert(name.path.clone()) {
            found.push(name);
        }
        true
    });
    found
}

/// The files that a text of any length may name, in small letters.
pub fn lower_files_in(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_name(text, false, &mut |name| {
        found.extend((!name.is_folder()).then(|| name.path.to_lowercase()));
        true
    });
    found
}

/// Paths, and names with a point, that a task list names: the first `most` of the list, in alphabetical order.
pub fn files_named_in(list: &[u8], most: usize) -> Vec<String> {
    let mut found = BTreeSet::new();
    each_name(&text_of(list), true, &mut |name| {
        if name.path.contains(['.', '/']) {
            found.insert(name.path);
        }
        found.len() < most
    });
    found.into_iter().collect()
}

/// Stops when `visit` returns `false`. `only_paths` skips words without a point or a slash.
fn each_name(text: &str, only_paths: bool, visit: &mut dyn FnMut(FileName) -> bool) {
    let mut next = |word: &str, is_code| {
        // An agent is told of a file by `@src/a.rs`, and `@types/a.ts` is a path.
        let told = word.trim_start_matches(AROUND).strip_prefix('@');
        let mut words = [Some(word), told].into_iter().flatten();
        words.all(|word| name_of(word, is_code).is_none_or(&mut *visit))
    };
    for line in text.lines() {
        let start = line.trim_start_matches(|sign: char| !sign.is_alphanumeric());
        if start.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("verify"))
            || (only_paths && memchr::memchr2(b'.', b'/', line.as_bytes()).is_none())
        {
            continue;
        }
        for (number, part) in line.split('`').enumerate() {
            let is_code = number % 2 == 1;
            if is_code && part.contains(' ') && !next(part, true) {
                return;
            }
            // Words of some languages stand right beside a path.
            let is_end = move |sign: char| match sign {
                '\t'..='\r' | ' ' | ',' | ';' | '"' | '|' | '=' | '«' | '»' => true,
                '<' | '>' => !is_code,
                '\0'..='\x7f' => false,
                '\u{2010}'..='\u{206f}' | '\u{2190}'..='\u{21ff}' => sign != '\u{2019}',
                _ => sign.is_whitespace() || (sign >= '\u{2e80}' && !is_code),
            };
            let mut begin = None;
            let searched =
                Some(part).filter(|part| !is_code && has_quotes(part)).unwrap_or_default();
            for (at, sign) in searched.match_indices(is_quote) {
                let before = begin.replace(at + sign.len());
                let quoted = before.map_or("", |before| &part[before..at]);
                let is_whole = quoted.contains(' ') && quoted.trim() == quoted;
                if is_whole && quoted.contains(['.', '/']) && !next(quoted, false) {
                    return;
                }
            }
            let part = if only_paths { around_signs(part, is_end) } else { part };
            for word in part.split("](").flat_map(|part| part.split(is_end)) {
                if (!only_paths || word.contains(['.', '/', '\\']))
                    && !word.is_empty()
                    && !next(word, is_code)
                {
                    return;
                }
            }
        }
    }
}

/// The text from the first to the last word with a point or a slash.
fn around_signs(text: &str, is_end: impl Fn(char) -> bool) -> &str {
    let [first, last] = [memchr::memchr3, memchr::memrchr3]
        .map(|find| find(b'.', b'/', b'\\', text.as_bytes()).unwrap_or(text.len()));
    let start = text[..first].rfind(&is_end).unwrap_or_default();
    let end = text[last..].find(&is_end).map_or(text.len(), |end| last + end);
    &text[start..end]
}

/// The name in a word, if it can be one.
fn name_of(word: &str, is_code: bool) -> Option<FileName> {
    let has = |text: &str| memchr::memmem::find(word.as_bytes(), text.as_bytes()).is_some();
    let has_sign = memchr::memchr2(b'\\', b'%', word.as_bytes()).is_some();
    let word = if (has_sign || ["/.", "//"].into_iter().any(has)) && !has("://") {
        let slashes = word.replace("\\_", "_").replace('\\', "/").replace("%20", " ");
        Cow::Owned(folded(&slashes.replace("//", "/")))
    } else {
        Cow::Borrowed(word)
    };
    // A bracket at the end belongs to the path if the other one stands in it: `app/[id]`.
    let trimmed = word.trim_matches(AROUND);
    let has_either = |one, other| memchr::memchr2(one, other, trimmed.as_bytes()).is_some();
    let is_whole = trimmed.len() == word.len() || has_either(b'[', b'{') == has_either(b']', b'}');
    let word = if is_whole { trimmed } else { &word };
    let word =
        ["'s", "\u{2019}s"].iter().fold(word, |word, end| word.strip_suffix(end).unwrap_or(word));
    let word = without_place(word).trim_end_matches(['.', '!', '?', ':', '*', '-']);
    let word = LEADS.iter().fold(word, |word, lead| word.strip_prefix(lead).unwrap_or(word));
    let word = word.split("[^").next().unwrap_or_default();
    let below = without_variable(word);
    let is_sure = below.len() == word.len() && !word.contains(is_of_template);
    let stressed = below.strip_prefix('_').and_then(|word| word.strip_suffix('_'));
    let word = stressed.filter(|word| word.contains('.')).unwrap_or(below);
    let is_sign = |sign: char| sign == '*' || sign.is_control();
    if word.is_empty() || word.len() > 300 || word.starts_with('-') || word.contains(is_sign) {
        return None;
    }
    let parts = || word.trim_end_matches('/').split('/');
    if word.starts_with('/')
        || word.contains("://")
        || parts().any(|part| matches!(part, "" | "." | ".."))
    {
        return None;
    }
    let (has_slash, is_folder) = (word.contains('/'), word.ends_with('/'));
    let ending = parts().next_back().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    let has_ending = ending.is_some_and(|end| {
        (1..=10).contains(&end.len())
            && end.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let stands_in = || word.split(|sign: char| !sign.is_alphanumeric()).any(is_stand_in);
    let looks = is_sure && (is_folder || (has_ending && (has_slash || is_code) && !stands_in()));
    // `LICENSE` and `Makefile` are names, `build` is a word.
    let bare = !has_slash && !word.contains('.');
    let may_be = !bare || is_code || word.starts_with(char::is_uppercase) || word.starts_with('$');
    may_be.then(|| FileName { path: word.to_owned(), looks })
}

/// A path without `.` in the middle, and without a folder that `..` leaves again.
fn folded(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        let is_left = parts.last().is_some_and(|last| !["", ".", ".."].contains(last));
        match part {
            ".." if is_left => drop(parts.pop()),
            "." if !parts.is_empty() => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// A path below a folder in a variable: `$ROOT/src/a.rs`, `${ROOT}/src/a.rs`, `%ROOT%/src/a.rs`.
fn without_variable(word: &str) -> &str {
    let Some((first, rest)) = word.split_once('/').filter(|_| word.starts_with(['$', '%'])) else {
        return word;
    };
    let name = first.trim_matches(['$', '%', '{', '}']);
    let is_variable =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    if is_variable(name) { rest } else { word }
}

/// A word without a place in a file: `src/a.rs:12`, `src/a.rs#L12`, `tests/test_a.py::test_sum`.
fn without_place(word: &str) -> &str {
    let Some(at) = memchr::memchr2(b':', b'#', word.as_bytes()).filter(|at| *at > 0) else {
        return word;
    };
    let (path, place) = word.split_at(at);
    let is_line = |byte: u8| byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b'L');
    let is_place = place.starts_with('#') || place.starts_with("::") || place.bytes().all(is_line);
    if is_place { path } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str, looks: bool) -> Vec<String> {
        let names = names_in(text).into_iter().filter(|name| name.looks || !looks);
        names.map(|name| name.path).collect()
    }

    #[test]
    fn path_looks_are_known() {
        for (text, wanted) in [
            (
                "Create User in src/models/user.py, and `README.md`.",
                &["src/models/user.py", "README.md"][..],
            ),
            ("under `src/api/` and ./a/b.rs (see docs/x.md)", &["src/api/", "a/b.rs", "docs/x.md"]),
            ("Node.js 3.12 and/or CI/CD, e.g. https://a.b/c.html", &[]),
            ("Do it\n  - **Verify**: `pytest tests/test_a.py`", &[]),
            ("`cargo test` /etc/passwd ../x.rs a/../../b.rs", &[]),
            (
                "./a/../b/c.rs, b/./d.rs, a/b/../../e.rs and file:e/f.rs",
                &["b/c.rs", "b/d.rs", "e/f.rs"],
            ),
            ("`.gitignore` and config/.env", &[".gitignore", "config/.env"]),
            (
                "Sum in src/a.rs:3, `src/b.rs:3-9` and tests/t.py::adds",
                &["src/a.rs", "src/b.rs", "tests/t.py"],
            ),
            (
                "In [the sums](../../src/a.rs#L3) and [`src/b.rs`](../../src/b.rs)",
                &["src/a.rs", "src/b.rs"],
            ),
            (
                "在src/a.rs中实现 “src/b.rs” «src/c.rs» src/d.rs’s",
                &["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"],
            ),
            (r"In src\a.rs and `.\src\b.rs`", &["src/a.rs", "src/b.rs"]),
            (
                "Write `docs/my notes.md` and `docs/文档.md`",
                &["docs/my notes.md", "notes.md", "docs/文档.md"],
            ),
            ("Show it in app/[id]/page.tsx", &["app/[id]/page.tsx"]),
            (
                "In 'docs/my notes.md', “docs/our plan.md”, [it](<a/b c.md>) and [so](a/d%20e.md)",
                &["docs/my notes.md", "docs/our plan.md", "a/b c.md", "a/d e.md"],
            ),
            (
                "In $PWD/src/a.py and $(pwd)/src/b.py, not ${ROOT}/src/c.py",
                &["src/a.py", "src/b.py"],
            ),
            ("As (@src/a.rs) and @/b/c.ts do", &["@src/a.rs", "src/a.rs", "b/c.ts"]),
            ("As out=src/a.rs and --out=`src/b.rs`", &["src/a.rs", "src/b.rs"]),
            (
                "In _src/a.py_, src/./b.py, src//c.py and src/d.py[^1]",
                &["src/a.py", "src/b.py", "src/c.py", "src/d.py"],
            ),
            (
                "src/a.rs→src/b.rs, src/c.rs->src/d.rs",
                &["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"],
            ),
            (
                "Write `docs/NNNN-title.md`, docs/page-N.md, `docs/<name>.md`, docs/YYYY-MM-DD.md, `docs/?.md`, `docs/:id.md`, `<a>.md`",
                &[],
            ),
            ("Write `<src/a.rs>` and `sh run >out/b.txt`", &["src/a.rs", "out/b.txt"]),
            ("Format `*.py`, `**/*.rs` and `.d.ts`", &[".py", ".d.ts"]),
        ] {
            assert_eq!(paths(text, true), wanted, "{text}");
        }
    }

    #[test]
    fn any_word_may_be_a_file() {
        let text = "Add a stage to Dockerfile, the LICENSE, calc.py, .editorconfig, .husky/pre-commit, $id.tsx, run it";
        let all = [
            "Add",
            "Dockerfile",
            "LICENSE",
            "calc.py",
            ".editorconfig",
            ".husky/pre-commit",
            "$id.tsx",
        ];
        assert_eq!(paths(text, false), all);
        let text = "Fill $ROOT/src/a.py, ${ROOT}/src/b.py, `%ROOT%/src/c.py`, src/%name%.py, {{slug}}/setup.py, docs/Q&A.md, 'my file.txt' and it's 100%";
        let all = [
            "src/a.py",
            "src/b.py",
            "src/c.py",
            "src/%name%.py",
            "{{slug}}/setup.py",
            "docs/Q&A.md",
            "my file.txt",
        ];
        let found = paths(text, false);
        assert!(all.iter().all(|path| found.iter().any(|name| name == path)), "{found:?}");
        let covers =
            |path: &str, file: &str| FileName { path: path.to_owned(), looks: true }.covers(file);
        assert!(covers("lib/a.rs", "lib/a.rs") && covers("lib/a.rs", "attic/lib/a.rs"));
        assert!(covers("LIB/A.rs", "lib/a.rs") && covers("a.md", "docs/my a.md"));
        assert!(covers("lib/", "lib/a.rs") && covers("lib/", "x/lib/b/a.rs"));
        assert!(!covers("a.rs", "lib/aa.rs") && !covers("lib/", "mylib/a.rs"));
    }

    #[test]
    fn text_files_are_lower_case() {
        let text = (0..20_000)
            .fold(String::new(), |text, at| text + &format!("Write Src/{at}.rs in lib/\n"));
        let found = lower_files_in(&text);
        assert!(found.contains("src/19999.rs") && !found.contains("lib/"));
        assert_eq!(names_in(&text).len(), 20_002);
    }

    #[test]
    fn list_files_are_named_once() {
        let list = b"- [ ] T1 Write b/c.rs, .env and a/\n- [ ] T2 Test b/c.rs, `d.md`, .codex/\n";
        assert_eq!(files_named_in(list, 9), [".codex/", ".env", "a/", "b/c.rs", "d.md"]);
        assert_eq!(
            files_named_in(b"- [ ] T1 Save build.log, venv/README\n", 9),
            ["build.log", "venv/README"]
        );
        assert_eq!(files_named_in(list, 1).len(), 1);
    }
}
