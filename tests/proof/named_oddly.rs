//! Honest work that is named or done in unusual ways.

use crate::case::{Case, Kind, Way};
use crate::disguised::with_place;
use crate::layout::Layout;

const BOTH_WAYS: &[Way] = &[Way::Hand, Way::Spool];

fn any(_: &Layout) -> bool {
    true
}

const fn kind(name: &'static str, cases: usize, make: fn(&Layout, usize) -> Case) -> Kind {
    Kind { name, cases, ways: BOTH_WAYS, fits: any, make }
}

pub const KINDS: &[Kind] = &[
    kind("place in a file", 20, place),
    kind("task in another language", 8, languages),
    kind("folder renamed or deleted", 8, folders),
    kind("words of code", 12, words_of_code),
    kind("text about the feature", 8, texts),
    kind("name with a blank or other letters", 4, names),
    kind("package with the same paths", 4, package),
];

fn task(layout: &Layout, text: impl Into<String>) -> Case {
    Case::new(layout, &[(layout.id(1), text.into())])
}

fn done(layout: &Layout, work: &str) -> String {
    format!("{work}\nmark {}", layout.id(1))
}

fn place(layout: &Layout, number: usize) -> Case {
    let work = format!("put better {}", layout.source);
    task(layout, with_place(layout, number)).turn(done(layout, &work))
}

/// German and Chinese: nothing in the words says that a file is to go, or to have another name.
fn languages(layout: &Layout, number: usize) -> Case {
    let (old, new) = (layout.old, layout.renamed);
    let moved = format!("mkdir -p $(dirname {new}); mv {old} {new}");
    let gone = format!("rm {old}");
    let (text, work) = match number % 4 {
        0 => (format!("Nimm {old} heraus, das niemand braucht"), gone),
        1 => (format!("Benenne {old} in {new} um"), moved),
        2 => (format!("把 {old} 去掉"), gone),
        _ => (format!("把 {old} 改名为 {new}"), moved),
    };
    task(layout, text).turn(done(layout, &work))
}

fn folders(layout: &Layout, number: usize) -> Case {
    let folder = layout.old.rsplit_once('/').map_or("src", |(folder, _)| folder);
    let (renamed, deleted) = (format!("mv {folder} {folder}_new"), format!("rm -r {folder}"));
    let (text, work) = match number % 4 {
        0 => (format!("Rename the folder {folder}/ to {folder}_new/"), renamed),
        1 => ("Give the folder of the sources another name".to_owned(), renamed),
        2 => (format!("Delete `{folder}/`"), deleted),
        _ => (format!("Get rid of everything in {folder}/"), deleted),
    };
    task(layout, text).turn(done(layout, &work))
}

fn words_of_code(layout: &Layout, number: usize) -> Case {
    let text = [
        "Use `fs.readFile` and `path.join` for it",
        "Handle `\"foo.bar\"` and say `n/a` for x/y",
        "Replace `s/foo/bar/g` by `tr`",
        "Return `application/json` or `text/event-stream`",
        "The regular expression `\\d+\\.js` counts",
        "Use `@scope/pkg/` from npm",
        "Call `self.sums.add` in `Sums.total`",
        "Take `jest\\.config\\.js` as a pattern",
        "Add `GET /api/v1/sums.json`",
        "Add https://example.com/a/b.html#x",
        "Use `std::io::Error`",
        "Set `Cache-Control: max-age=1`",
    ][number % 12];
    task(layout, text).turn(done(layout, &format!("put better {}", layout.source)))
}

fn texts(layout: &Layout, number: usize) -> Case {
    let (text, file) = [
        ("Write specs/001-sums/quickstart.md", "quickstart.md"),
        ("Write down what is known", "research.md"),
        ("Sum up the decisions", "research.md"),
        ("Update the plan", "plan.md"),
    ][number % 4];
    task(layout, text).turn(done(layout, &format!("echo '# It is so' >>specs/001-sums/{file}")))
}

fn names(layout: &Layout, number: usize) -> Case {
    let name = ["my notes.md", "größe.md", "文档.md", "it's.md"][number % 4];
    let work = format!("mkdir -p docs; echo x >\"docs/{name}\"");
    task(layout, format!("Write `docs/{name}`")).turn(done(layout, &work))
}

/// The task means the file of the second package, and one of that path is at the top.
fn package(layout: &Layout, _: usize) -> Case {
    let source = layout.source;
    let text = format!("Add the total in {source} of the second package");
    task(layout, text).turn(done(layout, &format!("put better second/{source}")))
}
