//! Hashes a file without blanks, and without lines that look like comments; counts its stubs. The hashes only choose
//! the words of a doubt, so a wrong guess refuses nothing.

use memchr::{memchr, memmem};

use crate::engine::Hasher;

/// Hashes of a file's content. A comparison of two shows how the contents differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Of all bytes.
    pub bytes: u64,
    /// Without blanks and line ends.
    pub words: u64,
    /// Without comments as well; the lowest byte is the number of stubs.
    pub code: u64,
}

/// Beginnings of comments up to the end of the line, and pairs around other comments.
struct Comments(&'static [&'static str], &'static [[&'static str; 2]]);

/// Pieces of all stubs but Python's empty functions, each with one of its bytes: files without a piece, as most are,
/// need no further search.
const PIECES: [(u8, &str); 5] =
    [(b'O', "TODO"), (b'y', "ot yet"), (b'd', "odo"), (b'p', "mplemented"), (b'p', "nsupported")];
const STUBS: &str = "NotImplemented|ot implemented|unimplemented!(|UnimplementedError|UnsupportedOperation|todo!(|.todo(|TODO()|TODO(\"|(\"TODO|\
    ('TODO|{ // TODO|{ /* TODO";
/// Parts of a line that raises, and beginnings of its words that make the line a stub.
const RAISES: &str = "throw|raise|panic|fatal|die|rror(|abort|fail|reject";
const EXCUSES: &str =
    "\"Not yet|\"not yet|'Not yet|'not yet|`Not yet| \"TODO| 'TODO|\"todo\"|'todo'";

/// Stand-ins for the hash of a link and of a folder.
const LINK: u64 = 0x6c69_6e6b;
const FOLDER: u64 = 0x666f_6c64;

impl Hashes {
    /// `name` chooses the comments. A file with a zero byte is no text, and each of its blanks counts.
    pub fn of(name: &[u8], bytes: &[u8]) -> Self {
        let whole = Self::of_bytes(Hasher::default().with_number(bytes.len() as u64).with(bytes));
        if memchr(0, bytes).is_some() {
            return whole.or_nothing(bytes);
        }
        let words = with_words(Hasher::default(), bytes).finish();
        let code = comments_of(name).hash_of_code(bytes).unwrap_or(words);
        Self { words, code: code & !0xff | stubs_in(name, bytes), ..whole }
    }

    /// A file that is known by its bytes alone.
    pub fn of_bytes(bytes: Hasher) -> Self {
        let bytes = bytes.finish();
        Self { bytes, words: bytes, code: bytes & !0xff }
    }

    /// A file of zeros counts as empty.
    pub fn or_nothing(self, bytes: &[u8]) -> Self {
        let is_all = bytes.iter().all(|byte| *byte == 0);
        if is_all { Self { bytes: self.bytes, ..Self::of_nothing() } } else { self }
    }

    /// A link, known by its target.
    pub fn of_link(target: Hasher) -> Self {
        Self { bytes: target.finish(), words: LINK, code: LINK }
    }

    /// A folder without a file.
    pub const fn of_folder() -> Self {
        Self { bytes: FOLDER, words: FOLDER, code: FOLDER }
    }

    pub const fn is_of_link(&self) -> bool {
        self.words == LINK && self.code == LINK
    }

    /// An empty file.
    pub fn of_nothing() -> Self {
        Self::of(b"", b"")
    }

    /// At most 255.
    pub const fn stubs(&self) -> u64 {
        self.code & 0xff
    }
}

/// Hashes the bytes without blanks.
fn with_words(mut hash: Hasher, mut bytes: &[u8]) -> Hasher {
    while let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\t'..=b'\r' | b' ' | 0xc2..))
    {
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

/// The length of a blank at the beginning, or of an invisible sign such as a byte order mark; 0 for neither.
const fn wide_blank(bytes: &[u8]) -> usize {
    match bytes {
        [0xc2, 0x85 | 0xa0 | 0xad, ..] => 2,
        [0xe2, 0x80, 0x80..=0x8f | 0xa8..=0xaf, ..]
        | [0xe2, 0x81, 0x9f..=0xaf, ..]
        | [0xe3, 0x80, 0x80, ..]
        | [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// By the ending of the file's name.
fn comments_of(name: &[u8]) -> &'static Comments {
    let dot = name.iter().rposition(|byte| *byte == b'.');
    let ending = dot.map_or(&b""[..], |dot| &name[dot + 1..]);
    match ending.to_ascii_lowercase().as_slice() {
        b"py" | b"pyi" | b"yaml" | b"yml" | b"toml" | b"sh" | b"bash" | b"zsh" | b"fish" => {
            &Comments(&["#"], &[["\"\"\"", "\"\"\""], ["'''", "'''"]])
        }
        b"rs" | b"c" | b"h" | b"cc" | b"cpp" | b"cxx" | b"hpp" | b"hh" | b"cs" | b"java"
        | b"kt" | b"kts" | b"scala" | b"swift" | b"go" | b"js" | b"jsx" | b"mjs" | b"cjs"
        | b"ts" | b"tsx" | b"mts" | b"cts" | b"dart" | b"groovy" | b"gradle" | b"proto"
        | b"scss" | b"less" | b"zig" | b"json" | b"jsonc" | b"json5" | b"vue" | b"svelte" => {
            &Comments(&["//"], &[["{/*", "*/}"], ["/*", "*/"], ["<!--", "-->"]])
        }
        b"md" | b"markdown" | b"html" | b"htm" | b"xhtml" | b"xml" | b"svg" | b"css" | b"rst"
        | b"adoc" | b"txt" => &Comments(&[], &[["<!--", "-->"], ["/*", "*/"]]),
        b"lua" | b"hs" | b"elm" | b"adb" | b"ads" | b"vhd" | b"vhdl" | b"sql" => {
            &Comments(&["--"], &[["--[[", "]]"], ["{-", "-}"], ["/*", "*/"]])
        }
        b"lisp" | b"clj" | b"cljs" | b"cljc" | b"el" | b"scm" | b"rkt" | b"asm" | b"s" | b"ini"
        | b"cfg" => &Comments(&[";", "#"], &[]),
        b"tex" | b"sty" | b"erl" | b"hrl" => &Comments(&["%"], &[]),
        b"ml" | b"mli" | b"fs" | b"fsi" | b"fsx" | b"pas" => &Comments(&["//"], &[["(*", "*)"]]),
        b"f" | b"f90" | b"f95" | b"f03" | b"f08" => &Comments(&["!"], &[]),
        b"bat" | b"cmd" => &Comments(&["::", "REM ", "rem ", "@REM ", "@rem "], &[]),
        b"php" => &Comments(&["#", "//"], &[["/*", "*/"], ["{{--", "--}}"]]),
        b"nim" => &Comments(&["#"], &[["#[", "]#"]]),
        b"hbs" | b"handlebars" | b"mustache" => {
            &Comments(&[], &[["{{!--", "--}}"], ["{{!", "}}"], ["<!--", "-->"]])
        }
        b"j2" | b"jinja" | b"jinja2" | b"twig" | b"erb" | b"ejs" => {
            &Comments(&[], &[["{#", "#}"], ["<%#", "%>"], ["<!--", "-->"]])
        }
        _ => &Comments(
            &["#", "//"],
            &[["\"\"\"", "\"\"\""], ["'''", "'''"], ["=begin", "=end"], ["/*", "*/"], ["<#", "#>"]],
        ),
    }
}

impl Comments {
    /// The hash without comments and blanks; `None` if a comment does not end.
    fn hash_of_code(&self, bytes: &[u8]) -> Option<u64> {
        let Self(_, blocks) = self;
        let mut hash = Hasher::default();
        // The end of the comment, or of the text of several lines, around the line; `true` for a comment.
        let mut inside: Option<(&[u8], bool)> = None;
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let mut rest = line.trim_ascii();
            if number == 0 && rest.starts_with(b"#!") {
                hash = with_words(hash, rest);
                continue;
            }
            loop {
                if let Some((end, is_comment)) = inside {
                    let found = memmem::find(rest, end);
                    let its = found.map_or(rest.len(), |at| at + end.len());
                    if !is_comment {
                        hash = with_words(hash, &rest[..its]);
                    }
                    rest = rest[its..].trim_ascii_start();
                    if found.is_none() {
                        break;
                    }
                }
                let (code, comment) = self.code_before_comment(rest);
                hash = with_words(hash, code);
                if let Some([begin, end]) = comment {
                    rest = &rest[code.len() + begin.len()..];
                    inside = Some((end.as_bytes(), true));
                    continue;
                }
                // A text of several lines in the middle of code is no comment: the code uses it.
                let quotes = blocks.iter().filter(|[begin, end]| begin == end);
                inside = quotes.map(|[mark, _]| mark.as_bytes()).find_map(|mark| {
                    let is_open = memmem::find_iter(code, mark).count() % 2 == 1;
                    is_open.then_some((mark, false))
                });
                break;
            }
        }
        inside.is_none_or(|(_, is_comment)| !is_comment).then(|| hash.finish())
    }

    /// The line up to its first comment outside of quotation marks, and the pair around a comment with an end of its own.
    /// In a language with one sign for comments, the sign behind a blank always begins one: `a = 1 #one`.
    fn code_before_comment<'a>(&self, line: &'a [u8]) -> (&'a [u8], Option<&[&'static str; 2]>) {
        let Self(signs, blocks) = self;
        let mut at = 0;
        while let Some(byte) = line.get(at) {
            let (code, rest) = line.split_at(at);
            let is_behind = |signs: &[u8]| {
                code.last().is_none_or(|last| last.is_ascii_whitespace() || signs.contains(last))
            };
            let is_line = |sign: &&str| {
                let said = rest.strip_prefix(sign.as_bytes());
                said.is_some_and(|said| match said.first() {
                    Some(b'[') => false,
                    Some(first) => at == 0 || signs.len() == 1 || first.is_ascii_whitespace(),
                    None => true,
                }) && is_behind(if *sign == "#" { b";" } else { b";{}" })
            };
            let is_block = |[begin, end]: &&[&str; 2]| {
                rest.starts_with(begin.as_bytes())
                    && (at == 0 || (begin != end && is_behind(b";{}(),>")))
            };
            if let Some(block) = blocks.iter().find(is_block) {
                return (code, Some(block));
            }
            if signs.iter().any(is_line) {
                return (code, None);
            }
            let is_quote = matches!(byte, b'"' | b'\'' | b'`');
            let quoted = is_quote.then(|| memchr(*byte, &rest[1..])).flatten();
            at += quoted.map_or(1, |length| length + 2);
        }
        (line, None)
    }
}

/// Counts stubs, at most 255: lines that call themselves one, blocks with nothing but `TODO`, and empty Python
/// functions.
fn stubs_in(name: &[u8], bytes: &[u8]) -> u64 {
    let has = |(byte, piece): &(u8, &str)| {
        memchr(*byte, bytes).is_some() && memmem::find(bytes, piece.as_bytes()).is_some()
    };
    let count = |stub: &str| memmem::find_iter(bytes, stub.as_bytes()).count();
    let mut found = if PIECES.iter().any(has) { STUBS.split('|').map(count).sum() } else { 0 };
    found += usize::from(matches!(bytes.trim_ascii(), b"TODO" | b"todo"));
    let (is_python, has_excuse) = (name.ends_with(b".py"), PIECES[..3].iter().any(has));
    if !has_excuse && !is_python {
        return found.min(0xff) as u64;
    }
    // The open block has only comments so far; one of them is `TODO`; the end of the text of several lines around the
    // line.
    let (mut is_empty, mut is_todo, mut text_end) = (false, false, None);
    for line in bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        let has_any =
            |list: &str| list.split('|').any(|word| memmem::find(line, word.as_bytes()).is_some());
        let quote = line.get(..3).filter(|quote| is_empty && matches!(*quote, b"\"\"\"" | b"'''"));
        if let Some(end) = text_end.or(quote) {
            let behind = if text_end.is_some() { line } else { &line[3..] };
            text_end = memmem::find(behind, end).is_none().then_some(end);
        } else if matches!(line, [b'#' | b'*', ..] | [b'/', b'/' | b'*', ..] | [b'-', b'-', ..]) {
            is_todo |= is_empty && has_any("TODO|FIXME|ot implemented|ot yet");
        } else if !line.is_empty() {
            let code = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii_end();
            let is_head = line.starts_with(b"def ") || line.starts_with(b"async def ");
            let passes = |code: &[u8]| is_python && matches!(code.trim_ascii(), b"pass" | b"...");
            let is_one_line =
                is_head && code.rsplit(|byte| *byte == b':').next().is_some_and(passes);
            let is_end = matches!(line, [b'}', ..] | b"end");
            let is_stub = is_one_line
                || (is_empty && passes(code))
                || ((passes(code) || is_python && code == b"return None") && has_any("TODO"))
                || (is_empty && is_todo && is_end)
                || (has_excuse && has_any(EXCUSES) && has_any(RAISES));
            found += usize::from(is_stub);
            is_empty = if is_python {
                is_head || line.starts_with(b")") && line.ends_with(b":")
            } else {
                is_head || line.ends_with(b"{") || line.starts_with(b"function ")
            };
            is_todo = false;
        }
    }
    found.min(0xff) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(name: &str, text: &str) -> u64 {
        Hashes::of(name.as_bytes(), text.as_bytes()).code
    }

    #[test]
    fn many_comments_are_no_code() {
        for (name, code_alone, with_comment) in [
            ("a.rs", "fn a() {}\n", "// It is.\nfn a() {} // so\n/* and\nso */\n"),
            ("a.rs", "a(\"b\");\n", "a(\"b\"); // behind a quotation mark\n"),
            ("a.py", "a = 1\n", "\"\"\"It is\nso.\"\"\"\na = 1  # one\n"),
            ("a.lua", "a = 1\n", "--[[ It\nis ]]\na = 1 -- one\n"),
            ("a.hs", "a = 1\n", "{- It\nis -}\na = 1\n"),
            ("a.rb", "a = 1\n", "=begin\nIt is\n=end\na = 1\n"),
            ("a.tsx", "<b/>\n", "{/* It is */}\n<b/>\n"),
            ("tsconfig.json", "{}\n", "// It is\n{}\n"),
            ("Dockerfile.prod", "FROM a\n", "# It is\nFROM a\n"),
            ("a.html", "<p>\n", "<!-- It\nis --><p>\n"),
            ("a.ml", "let a = 1\n", "(* It\nis *)\nlet a = 1\n"),
            ("a.f90", "a = 1\n", "! It is\na = 1 ! one\n"),
            ("a.bat", "cd a\n", ":: It is\nREM so\ncd a\n"),
            ("a.nim", "let a = 1\n", "#[ It\nis ]#\nlet a = 1 # one\n"),
            ("a.hbs", "<p>\n", "{{!-- It\nis --}}\n<p>\n"),
            ("a.j2", "<p>\n", "{# It is #}\n<p>\n"),
            ("a.erb", "<p>\n", "<%# It is %>\n<p>\n"),
            ("a.blade.php", "<p>\n", "{{-- It is --}}\n<p>\n"),
            ("a.s", "ret\n", "; It is\nret\n"),
            ("setup.cfg", "a = 1\n", "; It is\na = 1\n"),
            ("a.py", "a = 1\n", "a = 1  #one\n"),
            ("a.yaml", "a: 1\n", "a: 1 #one\n"),
            ("a.sh", "f more\n", "f more #one\n"),
            ("a.js", "f();\n", "f();//one\n"),
            ("a.js", "f() {\n", "f() {// one\n"),
            ("a.sql", "SELECT 1;\n", "SELECT 1;-- one\n"),
            ("a.html", "<p>a</p>\n", "<p>a</p><!-- one -->\n"),
            ("a.c", "int a;\n", "int a; /* one\nand two */\n"),
            ("a.c", "f(a, b);\n", "f(/* one */ a, /* two */ b);\n"),
        ] {
            assert_eq!(code(name, code_alone), code(name, with_comment), "{name}");
        }
    }

    #[test]
    fn seeming_comment_is_code() {
        for (name, one, other) in [
            ("a.rs", "a(\"x // 1\");\n", "a(\"x // 2\");\n"),
            ("a.py", "a = \"\"\"\n# 1\n\"\"\"\n", "a = \"\"\"\n# 2\n\"\"\"\n"),
            ("a.md", "# One\n", "# Two\n"),
            ("a.sh", "#!/bin/sh\n", "#!/bin/bash\n"),
            ("a.php", "#[A]\n", "#[B]\n"),
            ("a.c", "#define A 1\n", "#define A 2\n"),
            ("a.js", "a = 'http://a'\n", "a = 'http://b'\n"),
            ("a.js", "a = http://a\n", "a = http://b\n"),
            ("a.py", "a = b // 1\n", "a = b // 2\n"),
            ("a.py", "a = b // 1; c()\n", "a = b // 1; d()\n"),
            ("a.sass", "color: #fff\n", "color: #eee\n"),
            ("a.sh", "rm a/*.c; b a/*/x\n", "rm a/*.d; b a/*/x\n"),
            ("a.sh", "a=${b#c}\n", "a=${b#d}\n"),
            ("a.c", "f(\"/*\", a, \"*/\");\n", "f(\"/*\", b, \"*/\");\n"),
        ] {
            assert_ne!(code(name, one), code(name, other), "{name}");
        }
    }

    #[test]
    fn stubs_are_counted() {
        let stubs = |name: &str, text: &str| Hashes::of(name.as_bytes(), text.as_bytes()).stubs();
        assert_eq!(stubs("a.rs", "fn a() { todo!() }\nfn b() { unimplemented!() }\n"), 2);
        assert_eq!(
            stubs(
                "a.py",
                "def a():\n    pass\ndef b():\n    ...\ntry:\n    b()\nexcept A:\n    pass\n"
            ),
            2
        );
        for (name, text) in [
            ("a.py", "def a():\n    raise NotImplementedError\n"),
            ("a.py", "def a():\n    \"\"\"Adds.\"\"\"\n    pass\n"),
            ("a.py", "def a():\n    \"\"\"\n    Adds.\n    \"\"\"\n\n    pass\n"),
            ("a.py", "def a():\n    '''Adds.'''\n    ...\n"),
            ("a.py", "def a():\n    # Later.\n    pass\n"),
            ("a.py", "def a(): pass\n"),
            ("a.py", "async def a() -> int: ...\n"),
            ("a.py", "def a():  pass  # later\n"),
            ("a.py", "def a(\n    b,\n) -> int:\n    pass\n"),
            ("a.py", "try:\n    a()\nexcept A:\n    pass # TODO\n"),
            ("a.py", "raise Exception(\"Not yet\")\n"),
            ("a.rb", "def a\n  # TODO\nend\n"),
            ("a.rb", "def a(b)\n  # TODO: add\n\nend\n"),
            ("a.rb", "raise 'TODO'\n"),
            ("a.rb", "raise \"not yet\"\n"),
            ("a.java", "throw new UnsupportedOperationException();\n"),
            ("a.dart", "a() => throw UnimplementedError();\n"),
            ("a.js", "function a() { // TODO\n}\n"),
            ("a.js", "const a = () => {\n  // TODO: write it\n};\n"),
            ("a.js", "throw new Error(\"Not yet\");\n"),
            ("a.ts", "throw new Error('not yet done')\n"),
            ("a.ts", "return Promise.reject(new Error(`Not yet`))\n"),
            ("a.ts", "it.todo('adds')\n"),
            ("a.rs", "fn a() {\n    // TODO\n}\n"),
            ("a.rs", "panic!(\"not yet\")\n"),
            ("a.go", "func a() {\n\t// FIXME\n\t// TODO\n}\n"),
            ("a.c", "int a()\n{\n  /* TODO */\n}\n"),
            ("a.sh", "a() {\n  # TODO\n}\n"),
            ("a.ex", "def a(b) do\n  # TODO\nend\n"),
            ("a.php", "die('Not yet');\n"),
            ("a.py", "raise Exception('todo')\n"),
            ("a.go", "panic(\"todo\")\n"),
            ("a.txt", "TODO\n"),
        ] {
            assert_eq!(stubs(name, text), 1, "{name} {text}");
        }
        for (name, text) in [
            ("a.rs", "// TODO: be faster\nfn a() {}\n"),
            ("a.rs", "fn a() {\n    // TODO: be faster\n    b()\n}\n"),
            ("a.rs", "fn a() {}\n// TODO: more\n"),
            ("a.rs", "println!(\"not yet there\");\n"),
            ("a.py", "class A(Exception):\n    pass\n"),
            ("a.py", "class A(Exception):\n    \"\"\"Not yet.\"\"\"\n    pass\n"),
            ("a.py", "try:\n    a()\nexcept A:\n    pass\n"),
            ("a.py", "def a():\n    \"\"\"Pass.\n    pass\n    \"\"\"\n    return 1\n"),
            ("a.py", "def a():\n    # TODO: be faster\n    return 1\n"),
            ("a.py", "for a in b: pass\n"),
            ("a.rb", "def a\n  # adds\n  1\nend\n"),
            ("a.rb", "def a\nend\n"),
            ("a.js", "if (a) {\n  // nothing to do\n}\n"),
            ("a.js", "throw new Error('the door is not yet open')\n"),
            ("a.js", "const all = load('todo');\n"),
            ("a.md", "- It is created, and supported.\n"),
        ] {
            assert_eq!(stubs(name, text), 0, "{name} {text}");
        }
    }
}
