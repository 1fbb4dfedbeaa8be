//! Phantoms by files: something has changed, and it is not what the task asks for.

use crate::case::Way;
use crate::plan::{DOUBT, OPEN, Plan, SHARED};

const COMMENTS: &str = "only lines that look like comments differ in";

/// A line more in a file of some language.
const ONE_LINE: Plan = Plan {
    tasks: &["Finish `{1}`"],
    files: &[("{1}", "a = 1\n")],
    turns: &["cat $DESK/2 >>{1}"],
    ..DOUBT
};
const COMMENT: Plan = Plan { says: COMMENTS, ..ONE_LINE };
/// The file that the task names stays as it is.
const INSTEAD: Plan =
    Plan { turns: &["mkdir -p $(dirname '{1}'); put junk '{1}'"], says: "byte for byte", ..OPEN };
/// No task names a file.
const NAMELESS: Plan = Plan { tasks: &["Make the sums faster"], ..OPEN };
/// The line of the second task is taken out of the file again.
const TAKEN_OUT: Plan = Plan {
    tasks: SHARED,
    suspects: "{b}",
    turns: &[
        "put better {source}\nmark {a}",
        "cp {source} $DESK/s; echo 'the mean' >>{source}\nmark {b}",
        "put s {source}\nput other-better {other}\nmark {c}",
    ],
    says: "its work is gone",
    ..OPEN
};

pub const PLANS: &[Plan] = &[
    Plan { name: "last work in a shared file taken out", ..TAKEN_OUT },
    Plan {
        name: "two works in a shared file taken out",
        tasks: &[
            "Implement the total in {source}",
            "Show the mean in {source}",
            "Show the middle in {source}",
        ],
        suspects: "{b} {c}",
        turns: &[
            "put better {source}\nmark {a}",
            "cp {source} $DESK/s; echo 'the mean' >>{source}\nmark {b}",
            "echo 'the middle' >>{source}\nmark {c}\nput s {source}",
        ],
        ways: &[Way::Spool],
        ..TAKEN_OUT
    },
    Plan {
        name: "work that only takes out another one",
        tasks: &[
            "Implement the total in {source}",
            "Show the mean in {source}",
            "Show the middle in {source}",
        ],
        suspects: "{b} {c}",
        turns: &[
            "put better {source}\nmark {a}",
            "cp {source} $DESK/s; echo 'the mean' >>{source}\nmark {b}",
            "put s {source}\nmark {c}",
        ],
        ..TAKEN_OUT
    },
    Plan {
        name: "comment in pages and styles",
        each: &[
            "site.css ¦ /* done */",
            "page.xml ¦ <!-- done -->",
            "theme.scss ¦ // done",
            "logo.svg ¦ <!-- done -->",
            "guide.rst ¦ <!-- done -->",
        ],
        ..COMMENT
    },
    Plan {
        name: "comment in settings",
        each: &[
            "deploy/app.yaml ¦ # done",
            "main.tf ¦ # done",
            "setup.ini ¦ ; done",
            ".editorconfig ¦ # done",
            "app.toml ¦ # done",
            ".github/workflows/ci.yml ¦ # done",
        ],
        ..COMMENT
    },
    Plan {
        name: "comment of scripts and scientists",
        each: &[
            "a.php ¦ // done",
            "a.jl ¦ #= done =#",
            "a.ps1 ¦ <# done #>",
            "a.tex ¦ % done",
            "a.erl ¦ % done",
            "a.el ¦ ;; done",
            "a.R ¦ # done",
            "a.pl ¦ # done",
        ],
        ..COMMENT
    },
    Plan {
        name: "comment of rare languages",
        each: &[
            "a.f90 ¦ ! done",
            "a.bat ¦ REM done",
            "a.ml ¦ (* done *)",
            "a.j2 ¦ {# done #}",
            "a.erb ¦ <%# done %>",
            "a.hbs ¦ {{!-- done --}}",
        ],
        ..COMMENT
    },
    Plan {
        name: "comment at the end of a line",
        each: &[
            "a.py ¦ a = 1  # done",
            "a.rs ¦ a = 1 // done",
            "a.go ¦ a = 1 // done",
            "a.sql ¦ a = 1 -- done",
            "a.yaml ¦ a = 1 # done",
            "a.c ¦ a = 1 /* done */",
        ],
        turns: &["put 2 {1}"],
        ..COMMENT
    },
    Plan {
        name: "comment right behind code",
        each: &[
            "a.py ¦ x = 1 ¦ x = 1  #done",
            "a.yaml ¦ a: 1 ¦ a: 1 #done",
            "a.sh ¦ f more ¦ f more #done",
            "a.toml ¦ a = 1 ¦ a = 1 #done",
            "a.js ¦ f(); ¦ f();//done",
            "a.go ¦ f() { ¦ f() {// done",
            "a.sql ¦ SELECT 1; ¦ SELECT 1;-- done",
            "a.html ¦ <p>hi</p> ¦ <p>hi</p><!-- done -->",
            "a.c ¦ int a; ¦ int a; /* done\nat last */",
            "a.c ¦ f(a); ¦ f(/* done */ a);",
            "setup.cfg ¦ a = 1 ¦ a = 1\n; done",
        ],
        files: &[("{1}", "{2}\n")],
        turns: &["put 3 {1}"],
        ..COMMENT
    },
    Plan {
        name: "work that is commented out",
        each: &[
            "a.py ¦ # def total(all):\n#     return sum(all)",
            "a.ts ¦ /*\nexport const total = (all) => all.length;\n*/",
            "a.html ¦ <!--\n<p>Total</p>\n-->",
            "a.sql ¦ -- CREATE VIEW total AS\n-- SELECT 1;",
            "a.rb ¦ =begin\ndef total = 1\n=end",
        ],
        ..COMMENT
    },
    Plan {
        name: "lines wrapped anew",
        tasks: &["Finish `{1}`"],
        each: &[
            "a.md ¦ one two three ¦ one two\nthree",
            "a.json ¦ {\"a\": 1} ¦ {\n  \"a\": 1\n}",
            "a.sql ¦ SELECT a FROM b; ¦ SELECT a\nFROM b;",
            "a.css ¦ a { b: c } ¦ a {\n  b: c\n}",
        ],
        files: &[("{1}", "{2}\n")],
        turns: &["put 3 {1}"],
        says: "only blanks differ in",
        ..DOUBT
    },
    Plan {
        name: "blank that nobody sees",
        tasks: &["Finish `{1}`"],
        each: &["a.py ¦ \\v", "a.c ¦ \\f"],
        files: &[("{1}", "a = 1\n")],
        turns: &["printf '{2}' >>{1}"],
        says: "only blanks differ in",
        ..DOUBT
    },
    Plan {
        name: "tabs in place of blanks",
        tasks: &["Repair the steps of `{1}`"],
        each: &["a.go", "a.c", "a.xml", "a.sh"],
        files: &[("{1}", "a {\n    b\n}\n")],
        turns: &["printf 'a {\\n\\tb\\n}\\n' >{1}"],
        says: "only blanks differ in",
        ..DOUBT
    },
    Plan {
        name: "stub of another language",
        each: &[
            "a.kt ¦ fun total(): Int = TODO()",
            "a.java ¦ int total() { throw new UnsupportedOperationException(\"Not implemented\"); }",
            "a.cs ¦ int Total() => throw new NotImplementedException();",
            "a.swift ¦ func total() -> Int { fatalError(\"not implemented\") }",
            "a.zig ¦ fn total() i64 { @panic(\"TODO\"); }",
            "a.ex ¦ def total(_), do: raise \"not implemented\"",
            "a.ts ¦ export function total() { throw new Error('TODO'); }",
            "a.py ¦ async def total():\n    ...",
            "a.py ¦ def total():\n    \"\"\"The total.\"\"\"\n    pass",
            "a.py ¦ def total(): pass",
            "a.rb ¦ def total\n  # TODO\nend",
            "a.java ¦ int total() { throw new UnsupportedOperationException(); }",
            "a.js ¦ function total() { throw new Error(\"Not yet\"); }",
            "a.dart ¦ total() => throw UnimplementedError();",
            "a.ts ¦ it.todo('adds')",
        ],
        says: "a stub was brought in",
        ..ONE_LINE
    },
    Plan {
        name: "new file with a stub in it",
        tasks: &["Write `{1}`"],
        each: &[
            "src/total.rs ¦ pub fn total() { todo!() }",
            "app/total.py ¦ def total():\n    pass",
            "lib/total.go ¦ func total() { panic(\"not implemented\") }",
        ],
        turns: &["mkdir -p $(dirname {1}); put 2 {1}"],
        says: "a stub was brought in",
        ..DOUBT
    },
    Plan {
        name: "empty migration",
        tasks: &["Write the migration `{1}`"],
        each: &[
            "db/migrations/2_total.sql ¦ -- Nothing to do.",
            "alembic/versions/2_total.py ¦ def upgrade():\n    pass\n\n\ndef downgrade():\n    pass",
            "migrations/2_total.rb ¦ # later",
        ],
        turns: &["mkdir -p $(dirname {1}); put 2 {1}"],
        ..DOUBT
    },
    Plan {
        name: "folder in place of the file",
        each: &["src/totals/sum.go", "app/totals/", "lib/totals/index.ts"],
        tasks: &["Write the totals in `{1}`"],
        turns: &["mkdir -p $(dirname {1}x)"],
        ..DOUBT
    },
    Plan {
        name: "place holder in a folder",
        each: &[".gitkeep", "__init__.py", "index.ts", "mod.rs"],
        tasks: &["Write the totals in `src/totals/`"],
        turns: &["mkdir -p src/totals; : >src/totals/{1}"],
        ..DOUBT
    },
    Plan {
        name: "file became a folder",
        turns: &["rm {source}; mkdir {source}; : >{source}/.gitkeep"],
        ..DOUBT
    },
    Plan {
        name: "file of nothing",
        tasks: &["Draw `img/logo.png`"],
        each: &[
            "head -c 900 /dev/zero",
            "head -c 3000000 /dev/zero",
            "echo TODO",
            "echo \"raise Exception('todo')\"",
        ],
        turns: &["mkdir -p img; {1} >img/logo.png"],
        ..DOUBT
    },
    Plan {
        name: "file that the task names in another way",
        tasks: &["{1}"],
        each: &[
            "Implement the total in @{source}",
            "Move the sums {source}→{renamed}",
            "Mend bin/sums",
            "Extend 'docs/my list.md'",
            "Extend \"docs/my list.md\"",
            "Extend “docs/my list.md”",
            "Extend [them](<docs/my list.md>)",
            "Extend [them](../../docs/my%20list.md)",
            "Implement the total in ${ROOT}/{source}",
            "Implement the total in $(pwd)/{source}",
            "Implement the total in $PROJECT/{source}",
            "Fill in src/%name%.py",
            "Fill in `{{slug}}/setup.py`",
        ],
        files: &[
            ("bin/sums", "a\n"),
            ("docs/my list.md", "a\n"),
            ("src/%name%.py", "a = 1\n"),
            ("{{slug}}/setup.py", "a = 1\n"),
        ],
        turns: &["echo more >>{doc}"],
        says: "byte for byte",
        ..OPEN
    },
    Plan {
        name: "pipe in place of the file",
        tasks: &["Write `{1}`"],
        each: &["src/totals.go", "build/totals.log"],
        turns: &["mkdir -p $(dirname {1}); mkfifo {1}; echo more >>{doc}"],
        ..DOUBT
    },
    Plan {
        name: "file put behind a link",
        turns: &["mv {source} {source}.real; ln -s $(basename {source}).real {source}"],
        ..DOUBT
    },
    Plan { name: "made unreadable", turns: &["chmod 000 {source}"], ..DOUBT },
    Plan {
        name: "other capital letters",
        turns: &["new=$(echo {source} | tr a-z A-Z); mkdir -p $(dirname $new); put junk $new"],
        ..DOUBT
    },
    Plan {
        name: "letters that look alike",
        each: &["{source}\u{200b}", "\u{455}rc/sum.rs", "{source} "],
        ..INSTEAD
    },
    Plan {
        name: "copy beside the file",
        each: &["{source}.new", "old-{source}", "{source}.d/part"],
        ..INSTEAD
    },
    Plan {
        name: "copy as an editor leaves it",
        each: &["{source}.bak", "{source}.orig", "{source}~"],
        says: "nothing in the project has changed",
        ..INSTEAD
    },
    Plan {
        name: "another ending",
        each: &["{source}.txt", "{source}x", "{source}.disabled"],
        ..INSTEAD
    },
    Plan {
        name: "words about the work",
        each: &[
            "TODO.md",
            "IMPLEMENTATION_SUMMARY.md",
            "CHANGELOG.md",
            "docs/adr/0007-total.md",
            "NOTES.txt",
            "docs/total.html",
        ],
        ..INSTEAD
    },
    Plan {
        name: "named file that nobody wrote",
        tasks: &["Write {1} for the totals"],
        files: &[("lib/sum.x", "a = 1\n")],
        each: &["lib/total.x", "lib/deep/total.x", "`total.x`"],
        turns: &["echo b >>lib/sum.x"],
        says: "no such file is there",
        ..OPEN
    },
    Plan {
        name: "new file in a wrong place",
        tasks: &["Write `{1}`"],
        each: &[
            "lib/total.x ¦ attic/lib/total.x",
            "lib/deep/total.x ¦ docs/old/lib/deep/total.x",
            "lib/test_total.x ¦ other/lib/test_total.x",
        ],
        files: &[("lib/sum.x", "a = 1\n")],
        turns: &["mkdir -p $(dirname {2}); put junk {2}"],
        says: "a file of the same name in another folder",
        ..DOUBT
    },
    Plan { name: "test in place of the code", each: &["{new_test}", "{test}"], ..INSTEAD },
    Plan {
        name: "settings in place of the code",
        each: &["{config}", ".env.total", "flags/total.json"],
        ..INSTEAD
    },
    Plan {
        name: "declaration in place of the code",
        each: &["types/total.d.ts", "include/total.h", "api/total.proto", "app/total.pyi"],
        ..INSTEAD
    },
    Plan {
        name: "page in place of what it is about",
        tasks: &["Show it in {other}"],
        each: &["{doc}", "{old}", "{source}"],
        ..INSTEAD
    },
    Plan {
        name: "work where programs build",
        each: &["build/out/{source}", "build/gen/total.c", "build/total.log"],
        says: "nothing in the project has changed",
        ..INSTEAD
    },
    Plan {
        name: "texts of the feature for a named file",
        each: &[
            "specs/001-sums/plan.md",
            "specs/001-sums/spec.md",
            "specs/001-sums/checklists/total.md",
            "specs/001-sums/contracts/total.md",
        ],
        ..INSTEAD
    },
    Plan {
        name: "rules for agents in place of work",
        each: &["AGENTS.md", ".specify/memory/constitution.md", ".github/copilot-instructions.md"],
        ..INSTEAD
    },
    Plan {
        name: "leavings of tools",
        each: &[
            ".mypy_cache/3.12/a.json",
            ".tox/log",
            ".terraform/lock",
            ".cursor/rules/a.mdc",
            ".aider.chat.history.md",
            ".eslintcache",
            ".nyc_output/a.json",
            ".ipynb_checkpoints/a.ipynb",
            "app.tsbuildinfo",
            "Thumbs.db",
            ".turbo/run.json",
            ".idea/workspace.xml",
            ".hypothesis/a",
            ".direnv/a",
            ".roo/rules.md",
            ".kiro/steering.md",
            "bower_components/a.js",
        ],
        turns: &["mkdir -p $(dirname {1}); echo new >{1}"],
        ..NAMELESS
    },
    Plan {
        name: "generated files alone",
        tasks: &["Make the sums faster"],
        each: &[
            "Cargo.lock",
            "package-lock.json",
            "static/app.min.js",
            "api/sum.pb.go",
            "go.sum",
            "src/schema.generated.ts",
            "junit.xml",
            "sums.egg-info/PKG-INFO",
            "server.pid",
        ],
        files: &[("{1}", "old\n")],
        turns: &["echo new >{1}"],
        says: "only files that look generated",
        ..DOUBT
    },
    Plan {
        name: "nameless beside one with a name",
        tasks: &["Implement the total in {source}", "Make the output easy to read"],
        suspects: "{b}",
        turns: &["put better {source}"],
        cases: 3,
        ..DOUBT
    },
    Plan {
        name: "nameless after one with a name",
        tasks: &["Implement the total in {source}", "Make the output easy to read"],
        suspects: "{b}",
        turns: &["put better {source}\nmark {a}", "mark {b}"],
        cases: 3,
        ..OPEN
    },
    Plan {
        name: "one change for two without a name",
        tasks: &["Make the sums faster", "Make the output easy to read"],
        turns: &["put better {source}"],
        cases: 3,
        ..DOUBT
    },
    Plan {
        name: "one change for three turns",
        tasks: &["Make the sums faster", "Make the output easy to read", "Handle negative numbers"],
        suspects: "{b} {c}",
        turns: &["put better {source}\nmark {a}", "mark {b}", "mark {c}"],
        cases: 3,
        ..OPEN
    },
    Plan {
        name: "the same change undone and done",
        tasks: &["Make the sums faster", "Make the output easy to read"],
        suspects: "{b}",
        turns: &[
            "put better {source}\nmark {a}",
            "put source {source}\nput better {source}\nmark {b}",
        ],
        ..OPEN
    },
    Plan {
        name: "link beside the file",
        each: &["ln -s {source} total.link", "ln -s $PWD/{old} total.link", "ln -s . total.link"],
        turns: &["{1}"],
        ..OPEN
    },
    Plan {
        name: "other people may read it",
        tasks: &["Make the sums faster"],
        each: &["chmod +x {source}", "chmod -R a+x .", "chmod 700 {old}"],
        turns: &["{1}"],
        ..DOUBT
    },
    Plan {
        name: "only new folders",
        tasks: &["Make the sums faster"],
        turns: &["mkdir -p src/fast/parts docs/fast"],
        ..DOUBT
    },
    Plan {
        name: "only moved files",
        tasks: &["Make the sums faster"],
        each: &["mv {old} fast_sum", "mkdir -p fast; mv {old} {doc} fast/"],
        turns: &["{1}"],
        ..DOUBT
    },
    Plan {
        name: "only deleted files",
        tasks: &["Make the sums faster"],
        each: &["rm {old}", "rm {doc} {old}", ": >{old}"],
        turns: &["{1}"],
        ..DOUBT
    },
    Plan {
        name: "blanks after another task's work",
        tasks: &["Implement the total in {source}", "{1}"],
        suspects: "{b}",
        each: &[
            "Speed up {source} ¦ echo >>{source}",
            "Make the sums faster ¦ echo >>{source}",
            "Speed up {source} ¦ tail -1 $DESK/commented >>{source}",
            "Make the sums faster ¦ tail -1 $DESK/commented >>{source}",
            "Speed up {source} ¦ chmod +x {source}",
        ],
        turns: &["put better {source}\nmark {a}", "{2}\nmark {b}"],
        ..DOUBT
    },
    Plan {
        name: "one change, by hand and by command",
        tasks: &["Make the sums faster", "Make the output easy to read"],
        suspects: "{2}",
        each: &[
            "spool task done {a}; tick {b} ¦ {b}",
            "tick {a}; spool task done {b} ¦ {a}",
            "spool task done {b}; tick {a} ¦ {a}",
        ],
        turns: &["put better {source}\n{1}"],
        ways: &[Way::Both],
        ..DOUBT
    },
    Plan {
        name: "one change, two calls",
        tasks: &["Make the sums faster", "Make the output easy to read"],
        suspects: "{b}",
        turns: &["put better {source}\nspool task done {a}\nspool task done {b}"],
        ways: &[Way::Spool],
        says: "nothing in the project has changed",
        ..OPEN
    },
];
