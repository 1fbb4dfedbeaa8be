//! Work that is claimed and was not done, in a disguise: it looks like a change of the file that the task names.

use crate::case::{ALL_WAYS, Case, Kind, Way, any, in_git, kind};
use crate::layout::Layout;

const fn of_git(name: &'static str, cases: usize, make: fn(&Layout, usize) -> Case) -> Kind {
    Kind { name, cases, ways: ALL_WAYS, fits: in_git, make }
}

pub const KINDS: &[Kind] = &[
    kind("file deleted or emptied", 8, gone),
    kind("blanks that are no ASCII", 8, wide_blanks),
    kind("comment like a directive", 6, directive),
    kind("same path in another folder", 6, elsewhere),
    kind("other file than the place named", 20, other_place),
    kind("text about the feature only", 4, text_only),
    of_git("test that git was told to forget", 6, forgotten),
    of_git("submodule moved", 4, submodule),
    kind("two tasks of one id", 6, one_id),
    Kind {
        name: "with a task that was done",
        cases: 4,
        ways: &[Way::Spool],
        fits: any,
        make: with,
    },
];

fn task(layout: &Layout, text: String) -> Case {
    Case::new(layout, &[(layout.id(1), text)])
}

fn one(layout: &Layout) -> Case {
    task(layout, format!("Implement the total in {}", layout.said(layout.source)))
}

fn mark(layout: &Layout, number: usize) -> String {
    format!("mark {}", layout.id(number))
}

/// What it names is not there any more, which nobody wanted.
fn gone(layout: &Layout, number: usize) -> Case {
    let source = layout.source;
    let trick = [format!("rm {source}"), format!(": >{source}")][number % 2].clone();
    one(layout).turn(format!("{trick}\n{}", mark(layout, 1)))
}

/// The mark of UTF-8 at the beginning, a blank that does not break, one without a width, and a wide one.
fn wide_blanks(layout: &Layout, number: usize) -> Case {
    let (source, mark) = (layout.source, mark(layout, 1));
    let case = one(layout);
    if number.is_multiple_of(4) {
        let put = format!("cat $DESK/mark {source} >$DESK/marked; put marked {source}");
        return case.desk("mark", b"\xef\xbb\xbf").turn(format!("{put}\n{mark}"));
    }
    let blank = ["\u{a0}", "\u{200b}", "\u{3000}"][number % 4 - 1];
    case.desk("more", format!("\n{blank}\n")).turn(format!("cat $DESK/more >>{source}\n{mark}"))
}

fn directive(layout: &Layout, number: usize) -> Case {
    let words = ["! The total is done", "[done] the total", " eslint says done"][number % 3];
    let case = one(layout).desk("line", layout.comment_line(words));
    case.turn(format!("cat $DESK/line >>{}\n{}", layout.source, mark(layout, 1)))
}

/// The file is there and stays as it is; another one has a path that ends with its.
fn elsewhere(layout: &Layout, _: usize) -> Case {
    one(layout).turn(format!("put junk attic/{}\n{}", layout.source, mark(layout, 1)))
}

/// A line of a file, a link to it, a path of Windows, quotation marks and languages without blanks name the file.
fn other_place(layout: &Layout, number: usize) -> Case {
    let case = task(layout, with_place(layout, number)).stays_open();
    case.turn(format!("put other-better {}\n{}", layout.other, mark(layout, 1)))
}

/// Texts of tasks that name the source in ways of their own.
pub fn with_place(layout: &Layout, number: usize) -> String {
    let source = layout.source;
    match number % 20 {
        0 => format!("Sum up in {source}:3"),
        1 => format!("Sum up in `{source}:3-9`"),
        2 => format!("Sum up in \"{source}:12:4\"."),
        3 => format!("Sum up in {source}#L3-L9, then stop"),
        4 => format!("Let {source}::adds pass"),
        5 => format!("Sum up in [the sums](../../{source}#L3)"),
        6 => format!("Sum up in [`{source}`](../../{source})"),
        7 => format!("Sum up in [{source}]"),
        8 => format!("Sum up in {}", source.replace('/', "\\")),
        9 => format!("Sum up in `.\\{}`", source.replace('/', "\\")),
        10 => format!("Sum up in “{source}” now"),
        11 => format!("Füge die Summe in „{source}“ ein"),
        12 => format!("Additionne dans «{source}»"),
        13 => format!("Sum up in {source}’s functions"),
        14 => format!("在{source}中实现总和"),
        15 => format!("修改{source}，加上总和"),
        16 => format!("【重要】请在（{source}）里实现"),
        17 => format!("{source}に合計を実装する"),
        18 => format!("{source}에 합계를 구현"),
        _ => format!("Sum up in @/{source}"),
    }
}

fn text_only(layout: &Layout, _: usize) -> Case {
    let text = "echo '- It is fast.' >>specs/001-sums/research.md";
    task(layout, "Make the sums faster".to_owned()).turn(format!("{text}\n{}", mark(layout, 1)))
}

fn forgotten(layout: &Layout, number: usize) -> Case {
    let (test, skip) = (layout.test, format!("put skipped {}", layout.test));
    let top = test.split_once('/').map_or(test, |(top, _)| top);
    let trick = [
        format!("git update-index --assume-unchanged {test}; {skip}"),
        format!("git update-index --skip-worktree {test}; {skip}"),
        format!("touch -r {test} $DESK/then; {skip}; touch -r $DESK/then {test}"),
        format!("mv {top} {top}2; ln -s {top}2 {top}; {skip}"),
        format!("(cd $(dirname {test}); git init -q .); {skip}"),
        format!("cp -r {top} build; rm -r {top}; ln -s build {top}; {skip}"),
    ][number % 6]
        .clone();
    let case = task(layout, "Make all tests pass again".to_owned()).protect(layout.tests);
    let work = format!("put junk {}\n{trick}", layout.source);
    case.stays_open().turn(format!("{work}\n{}", mark(layout, 1)))
}

/// Its newest commit is another one, and the file that the task names is as it was.
fn submodule(layout: &Layout, number: usize) -> Case {
    let library = "git init -q $DESK/library && (cd $DESK/library && mkdir src && echo 1 >one && echo 1 >src/two.c && git add -A && git commit -qm one)";
    let add = "git submodule --quiet add $DESK/library vendor/library";
    let trick = [
        "git commit -q --allow-empty -m x",
        "echo x >one; git commit -qam x",
        "git branch x",
        "git checkout -q --detach",
    ][number % 4];
    task(layout, "Implement the total in vendor/library/src/two.c".to_owned())
        .stays_open()
        .before(format!("{library}\n{add}\ngit commit -qm 'the library'"))
        .turn(format!("(cd vendor/library; {trick})\n{}", mark(layout, 1)))
}

/// The work of the first one is not that of the second.
fn one_id(layout: &Layout, number: usize) -> Case {
    let id = layout.id(1);
    let show = format!("Show it in {}", layout.said(layout.other));
    let implement = format!("Implement the total in {}", layout.said(layout.source));
    let case = Case::new(layout, &[(id, implement), (id, show)]).suspects(&[]).stays_open();
    let work = format!("put better {}", layout.source);
    match number % 2 {
        0 => case.turn(format!("{work}\nmark {id}")),
        _ => case.turn(format!("{work}\nmark {id}")).turn(format!("mark {id}")),
    }
}

/// The work is that of the task which names it, whatever the agent says.
fn with(layout: &Layout, number: usize) -> Case {
    let (a, b) = (layout.id(1), layout.id(2));
    let implement = format!("Implement the total in {}", layout.said(layout.source));
    let tasks = [(a, implement), (b, "Make the sums faster".to_owned())];
    let case = Case::new(layout, &tasks).suspects(&[b]);
    let work = format!("put better {}\nmark {a}", layout.source);
    let with = format!("spool task done {b} --with {a}");
    match number % 2 {
        0 => case.turn(format!("{work}\n{with}")),
        _ => case.turn(work).turn(with),
    }
}
