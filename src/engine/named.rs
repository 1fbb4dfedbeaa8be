//! The files and folders that a text names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::line::text_of;

/// A file or folder that the text of a task names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// As it is written, without a `./` before it.
    pub path: String,
    pub(super) is_folder: bool,
}

/// The same where it is in the text.
struct PathWord<'a> {
    path: Cow<'a, str>,
    is_folder: bool,
    /// What is before it in its line.
    before: &'a str,
}

/// What the word before the bare name of a file says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BareName {
    /// It is what is to be changed: `Update sum.py`.
    Object,
    /// What is to be changed is likely to be in it: `Handle an empty list in sum.py`.
    Place,
}

/// Words before an object.
const CHANGES: &str = " add change create delete edit extend format generate move remove rename rewrite scaffold update write ";
/// Words before a place.
const PLACES: &str = " at document fix for from in inside into of refactor to within ";
/// Words that say nothing of that.
const FILLERS: &str = " a an file new our the ";
/// What stands around a path and is none of it.
const AROUND: &str = "\"'*<>:[]{}|";
/// Endings of files; what has another one may be a key.
const ENDINGS: &str = "\
    adoc astro avif avsc bak bash bat bicep bin c cc cfg cjs clj cmake cmd conf cpp cs cshtml csproj css csv cts cue cxx \
    dart dat db diff doc docx ejs elm env erb erl ex example exs f90 fbs fish fs fsproj gif go gql gradle graphql groovy \
    gz h hbs hcl hpp hrl hs htm html ico inc ini ipynb j2 java jinja jl jpeg jpg js json json5 jsonc jsonl jsx key kt kts \
    less local lock log lua m m4 map md mdx mjs mk ml mm mod mp3 mp4 mts nim nix parquet pas patch pdf pem php pl plist pm \
    png prisma properties props proto ps1 pug py pyi pyx r razor rb rego resx rkt rs rst sample sass scala scss service sh \
    sln snap sol sql sqlite styl sum sv svelte svg swift tar targets tcl tex tf tfvars thrift tmpl toml tpl ts tsv tsx ttf \
    twig txt v vb vbproj vhd vue wasm wav webm webmanifest webp woff woff2 xaml xlsx xml xsd yaml yml zig zip zsh";

impl NamedPath {
    /// Returns the folder of the file with this path, `None` for one at the top.
    pub fn folder_of(file: &str) -> Option<Self> {
        let (folder, _) = file.rsplit_once('/')?;
        Some(Self { path: [folder, "/"].concat(), is_folder: true })
    }

    /// Returns whether a path of a file, relative to the project, is this one or is in it.
    pub fn is_exactly(&self, file: &str) -> bool {
        if self.is_folder { file.starts_with(&*self.path) } else { file == self.path }
    }

    /// Returns whether a path of a file is this one, is in it, or ends with it; for a folder also one without its last slash.
    pub fn is_at(&self, file: &str) -> bool {
        self.covers(file) || self.path.strip_suffix('/') == Some(file)
    }

    /// Returns whether a path of a file, relative to the project, is this one, is in it, or ends with it.
    pub fn covers(&self, file: &str) -> bool {
        covers(&self.path, self.is_folder, file)
    }
}

fn covers(path: &str, is_folder: bool, file: &str) -> bool {
    if is_folder {
        let mut ends = memchr::memchr_iter(b'/', file.as_bytes());
        return file.starts_with(path) || ends.any(|end| file[end + 1..].starts_with(path));
    }
    // A text has the words of `my notes.md` apart.
    file == path || file.strip_suffix(path).is_some_and(|before| before.ends_with(['/', ' ']))
}

/// Returns the files and folders that a text names: words with a slash and an ending, or a slash at the end, or an ending in
/// backticks. Lines that begin with `Verify` name what a command reads and not what is to be changed.
pub fn paths_in(text: &str) -> Vec<NamedPath> {
    let mut found: Vec<NamedPath> = Vec::new();
    each_path(text, false, &mut |word| {
        let PathWord { path, is_folder, .. } = word;
        if found.iter().all(|it| it.path != path) {
            found.push(NamedPath { path: path.into_owned(), is_folder });
        }
        true
    });
    found
}

/// Returns the files, without the folders, that the task list in these bytes names, in the order of the alphabet; the first
/// ones where it names more than that.
pub fn files_named_in(list: &[u8], most: usize) -> Vec<String> {
    let (text, mut found) = (text_of(list), BTreeSet::new());
    each_path(&text, false, &mut |word| {
        if !word.is_folder {
            found.insert(word.path);
        }
        found.len() < most
    });
    found.into_iter().map(Cow::into_owned).collect()
}

/// Returns whether a text names this file also by its bare name, without backticks: for a file that is known to be one.
pub fn names_file(text: &str, file: &str) -> bool {
    let mut is_named = false;
    each_path(text, true, &mut |word| {
        is_named = covers(&word.path, word.is_folder, file);
        !is_named
    });
    is_named
}

/// Returns the bare names of files in a text, outside of code too, each with what the word before it says: where that is one of
/// those that speak of a change, and the name has an ending that files have.
pub(super) fn bare_names(text: &str) -> Vec<(NamedPath, BareName)> {
    let mut found = Vec::new();
    each_path(text, true, &mut |word| {
        let PathWord { path, before, .. } = word;
        let is_file = path.rsplit_once('.').is_some_and(|(_, ending)| ends_file(ending));
        if is_file && !path.contains('/') {
            let said = before_of(before)
                .map(|said| (NamedPath { path: path.into_owned(), is_folder: false }, said));
            found.extend(said);
        }
        true
    });
    found
}

/// What the last word that says something of it says of what comes behind.
fn before_of(text: &str) -> Option<BareName> {
    let is_in = |all: &str, word: &str| all.contains(&[" ", word, " "].concat());
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.rev().map(str::to_ascii_lowercase);
    let word = words.find(|word| !is_in(FILLERS, word))?;
    match () {
        () if is_in(CHANGES, &word) => Some(BareName::Object),
        () if is_in(PLACES, &word) => Some(BareName::Place),
        () => None,
    }
}

/// Returns whether files have this ending.
pub(super) fn ends_file(ending: &str) -> bool {
    ENDINGS.split(' ').any(|it| it.eq_ignore_ascii_case(ending))
}

/// Hands out each path that a text names, until `visit` wants no more; as code, each word with an ending is one.
fn each_path<'a>(text: &'a str, all_code: bool, visit: &mut dyn FnMut(PathWord<'a>) -> bool) {
    let mut lines = text;
    while !lines.is_empty() {
        let end = memchr::memchr(b'\n', lines.as_bytes()).map_or(lines.len(), |place| place + 1);
        let (line, next_lines) = lines.split_at(end);
        lines = next_lines;
        let start = line.trim_start_matches([' ', '\t', '-', '*', '_']);
        if start.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("verify")) {
            continue;
        }
        let mut from = 0;
        // Only a word with one of these is a path, and most have none: whole lists are read here.
        while let Some(place) = memchr::memchr2(b'.', b'/', &line.as_bytes()[from..]) {
            let (mut start, mut end) = word_around(line, from + place);
            let before = &line.as_bytes()[..start];
            let is_code = || all_code || memchr::memchr_iter(b'`', before).count() % 2 == 1;
            if !line[start..end].is_ascii() && !is_code() {
                let (first, next) = in_one_script(&line[start..end], from + place - start);
                (start, end) = (start + first, start + next);
            }
            if let Some(path) = path_of(&line[start..end], &is_code)
                && !visit(PathWord { before: &line[..start], ..path })
            {
                return;
            }
            from = end;
        }
    }
}

/// Where the word of a text begins and ends that has a byte of ASCII at this place.
fn word_around(text: &str, at: usize) -> (usize, usize) {
    let (before, after) = text.as_bytes().split_at(at);
    let mut start = before.iter().rposition(|it| ends_word(*it)).map_or(0, |place| place + 1);
    let mut end = after.iter().position(|it| ends_word(*it)).map_or(text.len(), |it| at + it);
    if !text.as_bytes()[start..end].is_ascii() {
        let blank = text[start..at].char_indices().rfind(|(_, it)| is_between(*it));
        start += blank.map_or(0, |(place, it)| place + it.len_utf8());
        end = at + text[at..end].find(is_between).unwrap_or(end - at);
    }
    (start, end)
}

/// Whether this is between two words: blanks that are no ASCII, quotation marks and dashes, the signs of Chinese and Japanese.
fn is_between(it: char) -> bool {
    it.is_whitespace()
        || matches!(it, '«' | '»' | '\u{200b}'..='\u{206f}' | '\u{3001}'..='\u{3003}')
        || matches!(it, '\u{3008}'..='\u{301f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}

/// Where the part of a word begins and ends that is around `at` and in one script: no blank stands between a path and Chinese,
/// Japanese or Korean words, as in `修改src/a.rs中`.
fn in_one_script(word: &str, at: usize) -> (usize, usize) {
    let is_wide = |it: char| it >= '\u{2e80}' && it.is_alphanumeric();
    let (mut from, mut last) = (0, None);
    for (place, it) in word.char_indices() {
        let is_end = last.is_some_and(|last: char| {
            (last.is_ascii_alphanumeric() && is_wide(it))
                || (is_wide(last) && it.is_ascii_alphanumeric())
        });
        match is_end {
            true if place > at => return (from, place),
            true => from = place,
            false => {}
        }
        last = Some(it);
    }
    (from, word.len())
}

/// A word without the place in a file that stands behind its path: `src/a.rs:12`, `src/a.rs#L12`, `tests/test_a.py::test_sum`.
fn without_place(word: &str) -> &str {
    let Some(at) = memchr::memchr2(b':', b'#', word.as_bytes()) else { return word };
    let (path, place) = word.split_at(at);
    let is_line = |it: u8| it.is_ascii_digit() || matches!(it, b':' | b'-' | b'L');
    let is_place = place.starts_with('#') || place.starts_with("::") || place.bytes().all(is_line);
    if is_place { path } else { word }
}

/// A path of Windows with slashes, and one in which Markdown hides its underscores; `None` for what seems to be a pattern.
fn with_slashes(word: &str) -> Option<String> {
    let word = word.replace("\\_", "_");
    let path = word.replace('\\', "/");
    let is_hidden = |part: &str| part.starts_with('.') && part.len() > 2;
    (path == word || !path.split('/').any(is_hidden)).then_some(path)
}

/// Whether a word ends before this character.
const fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | b',' | b';' | b'(' | b')' | b'`')
}

fn path_of<'a>(word: &'a str, is_code: &dyn Fn() -> bool) -> Option<PathWord<'a>> {
    let ends = |it: char| AROUND.contains(it) || matches!(it, '.' | '!' | '?');
    let word = word.trim_start_matches(|it| AROUND.contains(it)).trim_end_matches(ends);
    let word = without_place(word).trim_end_matches(|it| AROUND.contains(it));
    if word.len() > 300 || word.starts_with('-') {
        return None;
    }
    if memchr::memchr(b'\\', word.as_bytes()).is_some() {
        let path = with_slashes(word)?;
        let PathWord { path, is_folder, .. } = path_of(&path, is_code)?;
        return Some(PathWord { path: Cow::Owned(path.into_owned()), is_folder, before: "" });
    }
    // Links of a list lead from its own folder, `specs/NAME`; `@/` is what many web projects call their sources.
    let begins = ["./", "../../", "@/"];
    let word = begins.iter().find_map(|it| word.strip_prefix(it)).unwrap_or(word);
    let (mut part, mut is_ascii) = (0, true);
    for (place, byte) in word.bytes().enumerate() {
        if byte == b'/' {
            if is_no_name(&word.as_bytes()[part..place]) {
                return None;
            }
            part = place + 1;
        } else if !is_ascii_path(byte) {
            if byte.is_ascii() {
                return None;
            }
            is_ascii = false;
        }
    }
    let is_path = |it: char| it.is_alphanumeric() || u8::try_from(it).is_ok_and(is_ascii_path);
    if !is_ascii && !word.chars().all(is_path) {
        return None;
    }
    let name = &word[part..];
    if name.is_empty() {
        let path = Cow::Borrowed(word);
        return (part > 0).then_some(PathWord { path, is_folder: true, before: "" });
    }
    let (_, ending) = name.rsplit_once('.').filter(|_| !is_no_name(name.as_bytes()))?;
    let is_ending = (1..=10).contains(&ending.len())
        && ending.bytes().all(|it| it.is_ascii_alphanumeric())
        && ending.as_bytes()[0].is_ascii_alphabetic();
    (is_ending && (part > 0 || is_code())).then_some(PathWord {
        path: Cow::Borrowed(word),
        is_folder: false,
        before: "",
    })
}

/// Whether this stands for no file or folder between two slashes, or for the one that it is in, or the one above it.
fn is_no_name(part: &[u8]) -> bool {
    matches!(part, b"" | b"." | b"..")
}

/// Whether a path may have this byte, one of ASCII.
const fn is_ascii_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/' | b'@' | b'+')
}
