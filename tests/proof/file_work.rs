//! Honest work of which a file shows something, in many languages and forms.

use crate::plan::{HONEST, Plan, in_git, without_git};

/// A file that was there gets other content.
const CHANGED: Plan =
    Plan { tasks: &["{3}"], files: &[("{1}", "a = 1\n")], turns: &["cat $DESK/2 >>{1}"], ..HONEST };
/// A file is new.
const NEW: Plan =
    Plan { tasks: &["{3}"], turns: &["mkdir -p \"$(dirname '{1}')\"; put 2 '{1}'"], ..HONEST };
const SCRIPT: Plan = Plan { tasks: &["{1}"], turns: &["{2}"], ..HONEST };

pub const PLANS: &[Plan] = &[
    Plan {
        name: "empty file that is asked for",
        tasks: &["{2}"],
        each: &[
            "src/sums/__init__.py ¦ Add `src/sums/__init__.py`",
            "data/.gitkeep ¦ Keep the folder `data/` in git",
            "site/.nojekyll ¦ Add `site/.nojekyll`",
            "app/py.typed ¦ Mark the package as typed with `app/py.typed`",
        ],
        turns: &["mkdir -p $(dirname {1}); : >{1}"],
        ..HONEST
    },
    Plan {
        name: "rights of a file",
        each: &[
            "Make `tools/run.sh` executable ¦ chmod +x tools/run.sh",
            "Take the right to run away from `tools/run.sh` ¦ chmod -x tools/run.sh",
            "Let the script run ¦ chmod 755 tools/run.sh",
        ],
        files: &[("tools/run.sh", "#!/bin/sh\n")],
        before: "[ '{2}' = 'chmod -x tools/run.sh' ] && chmod +x tools/run.sh; true",
        ..SCRIPT
    },
    Plan {
        name: "link led elsewhere",
        tasks: &["Let `current` lead to the second version"],
        files: &[("v1/a.txt", "1\n"), ("v2/a.txt", "2\n")],
        before: "ln -s v1 current",
        turns: &["ln -sfn v2 current"],
        ..HONEST
    },
    Plan {
        name: "words that are no files of the project",
        tasks: &["{1}"],
        each: &[
            "Don't print its name; it isn't asked for in {source}",
            "Show 'cannot open sums.csv' as an error",
            "Support 100% of what {source} counts",
            "Read ~/.config/sums.toml in {source}",
            "Write the cache to ${XDG_CACHE_HOME}/src/sums.db",
            "Read $HOME/src/sums.toml at the beginning",
            "Print `%s/%s.txt` for each sum",
            "Add GET /sums/{id}/parts.json",
            "Call https://example.com/%7Bid%7D/sum.json",
        ],
        files: &[("src/kept", "1\n")],
        turns: &["put better {source}"],
        ..HONEST
    },
    Plan {
        name: "endings, patterns and templates",
        tasks: &["{1}"],
        each: &[
            "Format all `.py` files",
            "Support `.csv` and `.json` uploads",
            "Render `.md` pages, emit `.d.ts`",
            "Add license headers to `*.py`, not to `*.test.ts`",
            "Make `docs/<name>.md` pages",
            "Make `<name>.md` pages",
            "Write decisions as `docs/NNNN-title.md`",
            "Write a `docs/page-N.md` for each sum",
            "Keep a log in docs/YYYY-MM-DD.md",
            "Serve `docs/?.md` and `docs/:id.md`",
            "Serve `docs/page[1-3].md` and `docs/[name].md`",
            "Serve `docs/$name.md` by `config/$ENV.json`",
            "Show docs/a.md+docs/b.md or docs/a.md..docs/c.md",
            "Import `lib/sum.js` in the app",
        ],
        files: &[
            ("docs/guide.md", "# Guide\n"),
            ("config/local.json", "{}\n"),
            ("data/a.csv", "1\n"),
            ("lib/sum.ts", "a\n"),
            ("lib/a.py", "a\n"),
            ("run.sh", "a\n"),
        ],
        turns: &["put better {source}"],
        ..HONEST
    },
    Plan {
        name: "new file below another folder",
        tasks: &["Write `models/sum.x`"],
        files: &[("app/main.x", "a\n")],
        turns: &["mkdir -p app/models; echo a >app/models/sum.x"],
        ..HONEST
    },
    Plan {
        name: "removed beside a file with the same bytes",
        tasks: &["Delete `attic/sums.txt`"],
        files: &[("attic/sums.txt", "one\n")],
        turns: &["rm attic/sums.txt; echo one >other.txt"],
        cases: 2,
        ..HONEST
    },
    Plan {
        name: "names with blanks and of templates",
        tasks: &["{2}"],
        each: &[
            "docs/my sums.md ¦ Write 'docs/my sums.md'",
            "docs/our sums.md ¦ Write “docs/our sums.md”",
            "{{slug}}/new.py ¦ Add `{{slug}}/new.py`",
            "src/%name%.py ¦ Add src/%name%.py",
        ],
        turns: &["mkdir -p \"$(dirname '{1}')\"; echo 'a = 1' >'{1}'"],
        ..HONEST
    },
    Plan {
        name: "dot files",
        each: &[
            ".editorconfig ¦ root = true ¦ Add `.editorconfig`",
            ".nvmrc ¦ 22 ¦ Fix the version of Node.js in `.nvmrc`",
            ".env.example ¦ SERVER= ¦ List the variables in `.env.example`",
            ".dockerignore ¦ build/ ¦ Leave the builds out of the image",
        ],
        ..NEW
    },
    Plan {
        name: "translation",
        each: &[
            "locales/de.json ¦ {\"sum\": \"Summe\"} ¦ Translate `locales/en.json` into German, in `locales/de.json`",
            "po/fr.po ¦ msgstr \"somme\" ¦ Translate the messages into French",
            "res/values-ja/strings.xml ¦ <string>合計</string> ¦ Add Japanese in `res/values-ja/strings.xml`",
        ],
        ..NEW
    },
    Plan {
        name: "migration of a database",
        each: &[
            "db/migrate/2_total.sql ¦ ALTER TABLE sums ADD total INT; ¦ Write the migration `db/migrate/2_total.sql`",
            "alembic/versions/2.py ¦ def upgrade():\n    op.add_column('total') ¦ Add the column for the total",
            "migrations/0002_total.rb ¦ add_column :sums, :total ¦ Migrate the sums in `migrations/`",
        ],
        ..NEW
    },
    Plan {
        name: "dependency raised",
        tasks: &["{2}"],
        each: &[
            "package.json ¦ Raise `left-pad` to 2.0 in `package.json`",
            "go.mod ¦ Raise the newest dependencies",
            "requirements.txt ¦ Pin `requests` in requirements.txt",
            "Gemfile ¦ Take `rails` 8 in the Gemfile",
            "pom.xml ¦ Take JUnit 6",
        ],
        files: &[("{1}", "1.0\n"), ("deps.lock", "1.0\n")],
        turns: &["echo 2.0 >{1}; echo 2.0 >deps.lock"],
        ..HONEST
    },
    Plan {
        name: "lock file alone",
        tasks: &["{2}"],
        each: &[
            "Cargo.lock ¦ Update `Cargo.lock`",
            "package-lock.json ¦ Repair the audit findings",
            "uv.lock ¦ Lock the dependencies anew",
        ],
        files: &[("{1}", "old\n")],
        turns: &["echo new >{1}"],
        ..HONEST
    },
    Plan {
        name: "infrastructure as text",
        each: &[
            "main.tf ¦ resource \"a\" \"b\" {} ¦ Add the bucket in `main.tf`",
            "Dockerfile ¦ USER app ¦ Run as another user in the Dockerfile",
            "docker-compose.yml ¦ restart: always ¦ Let the service start again",
            ".github/workflows/ci.yml ¦ - run: make ¦ Build in `.github/workflows/ci.yml`",
            "chart/values.yaml ¦ replicas: 3 ¦ Three replicas, see `chart/`",
            "ansible/site.yml ¦ - hosts: all ¦ Roll it out to all hosts",
        ],
        ..CHANGED
    },
    Plan {
        name: "contract of a service",
        each: &[
            "api/openapi.yaml ¦ /total: {} ¦ Add `GET /total` to `api/openapi.yaml`",
            "proto/sum.proto ¦ message Total {} ¦ Add the message `Total`",
            "schema.graphql ¦ type Total { a: Int } ¦ Add `Total` to schema.graphql",
            "schemas/sum.json ¦ {\"type\": \"object\"} ¦ Describe the sum as a schema",
        ],
        ..CHANGED
    },
    Plan {
        name: "notebook",
        tasks: &["Plot the totals in `notebooks/sums.ipynb`"],
        files: &[("notebooks/sums.ipynb", "{\"cells\": []}\n")],
        turns: &["echo '{\"cells\": [{\"source\": \"plot(total)\"}]}' >notebooks/sums.ipynb"],
        ..HONEST
    },
    Plan {
        name: "styles",
        each: &[
            "site.css ¦ .total { color: red } ¦ Make the total red in `site.css`",
            "theme.scss ¦ $gap: 2px; ¦ Narrow the gap",
            "tailwind.config.js ¦ theme = {} ¦ Use the new colors",
        ],
        ..CHANGED
    },
    Plan {
        name: "picture",
        tasks: &["{1}"],
        each: &[
            "Make `img/logo.png` smaller",
            "Draw the logo anew",
            "Replace the picture img/logo.png",
        ],
        files: &[("img/logo.png", "\u{0}PNG old")],
        turns: &["printf '\\211PNG\\000new' >img/logo.png"],
        ..HONEST
    },
    Plan {
        name: "large file that is new",
        tasks: &["Add the data set data/all.bin"],
        turns: &["mkdir -p data; head -c 3000000 /dev/zero | tr '\\000' x >data/all.bin"],
        ..HONEST
    },
    Plan {
        name: "code moved between files",
        each: &[
            "Move `add` from {source} to {other}",
            "Bring the sums together in {other}",
            "Take the sums out of {source}",
        ],
        tasks: &["{1}"],
        turns: &["cat {source} >>{other}; head -1 {other} >{source}"],
        ..HONEST
    },
    Plan {
        name: "file split in two",
        tasks: &["Split {source} in two"],
        turns: &["mkdir -p $(dirname {new_test}); cat {source} >{new_test}; put better {source}"],
        ..HONEST
    },
    Plan {
        name: "symbol renamed everywhere",
        tasks: &["Call `add` `plus` everywhere"],
        turns: &["for file in {source} {other} {test} {doc}; do echo plus >>$file; done"],
        ..HONEST
    },
    Plan {
        name: "lines taken out",
        each: &[
            "Remove the old switch from {source}",
            "Delete the dead code of {source}",
            "Take `add` out",
        ],
        tasks: &["{1}"],
        turns: &["sed '$d' {source} >$DESK/h; put h {source}"],
        ..HONEST
    },
    Plan {
        name: "remark taken out",
        tasks: &["{3}"],
        each: &[
            "a.py ¦ # TODO: sum up ¦ Remove the TODO in `a.py`",
            "a.rs ¦ // Dead. ¦ Remove the remarks that nobody needs",
            "a.sql ¦ -- old ¦ Clean up `a.sql`",
        ],
        files: &[("{1}", "{2}\na = 1\n")],
        turns: &["echo 'a = 1' >{1}"],
        ..HONEST
    },
    Plan {
        name: "whole project formatted",
        each: &[
            "Run the formatter on all files",
            "Indent with two blanks everywhere",
            "Format {source} and {other}",
        ],
        tasks: &["{1}"],
        turns: &[
            "for file in {source} {other} {test}; do sed 's/^/  /' $file >$DESK/f; put f $file; done",
        ],
        ..HONEST
    },
    Plan {
        name: "encoding and marks of a file",
        tasks: &["{3}"],
        each: &[
            "{ cat a.txt; } | iconv -f latin1 -t utf-8 ¦ gr\\303\\274n\\n ¦ Bring `a.txt` to UTF-8 once more",
            "tail -c +4 a.txt ¦ \\357\\273\\277one\\n ¦ Take the mark at the beginning of `a.txt` out",
            "{ cat a.txt; echo; } ¦ one ¦ End `a.txt` with a new line",
            "sort a.txt ¦ b\\na\\n ¦ Sort `a.txt`",
        ],
        before: "printf '{2}' >a.txt",
        turns: &["{1} >$DESK/a; put a a.txt"],
        ..HONEST
    },
    Plan {
        name: "line ends by settings of git",
        tasks: &["Use the line ends of Windows in {doc}"],
        turns: &["echo '* text=auto' >.gitattributes\n\
             sed 's/\\r*$/\\r/' {doc} >$DESK/d; cmp -s $DESK/d {doc} && tr -d '\\r' <{doc} >$DESK/d; put d {doc}"],
        fits: in_git,
        ..HONEST
    },
    Plan {
        name: "name in other capital letters",
        each: &["Rename `Guide.md` to `guide.md`", "Write all names of files in small letters"],
        tasks: &["{1}"],
        files: &[("Guide.md", "# Guide\n")],
        turns: &["mv Guide.md g; mv g guide.md"],
        ..HONEST
    },
    Plan {
        name: "two names exchanged",
        tasks: &["Let `a.txt` and `b.txt` change their names"],
        files: &[("a.txt", "one\n"), ("b.txt", "two\n")],
        turns: &["mv a.txt c; mv b.txt a.txt; mv c b.txt"],
        ..HONEST
    },
    Plan {
        name: "moved and changed",
        tasks: &["Move {old} to {renamed} and add the total"],
        turns: &["mkdir -p $(dirname {renamed}); mv {old} {renamed}; echo total >>{renamed}"],
        ..HONEST
    },
    Plan {
        name: "client made from a contract",
        tasks: &["Generate the client from `api.yaml` into `client/`"],
        files: &[("api.yaml", "total\n")],
        turns: &[
            "mkdir -p client/a; for n in 1 2 3 4 5 6 7 8; do echo total >client/a/$n.ts; done",
        ],
        ..HONEST
    },
    Plan {
        name: "dependency taken into the project",
        tasks: &["Take the library into `vendor/left/`"],
        turns: &["mkdir -p vendor/left; for n in $(seq 200); do echo $n >vendor/left/$n.c; done"],
        ..HONEST
    },
    Plan {
        name: "letters made of two",
        tasks: &["Write `docs/größe.md`"],
        turns: &["mkdir -p docs; echo size >\"docs/gro\u{308}ße.md\""],
        ..HONEST
    },
    Plan {
        name: "file that is named as an absolute path",
        each: &["/srv/app/{source}", "/home/me/work/{source}", "~/work/{source}", "C:\\work\\a.c"],
        tasks: &["Implement the total in `{1}`"],
        turns: &["put better {source}"],
        ..HONEST
    },
    Plan {
        name: "files that a pattern names",
        each: &[
            "Add the total to `**/*.x`",
            "Add the total to `lib/{sum,total}.x`",
            "Add the total to all `*.x` files of lib/",
        ],
        tasks: &["{1}"],
        files: &[("lib/sum.x", "a\n"), ("lib/total.x", "a\n")],
        turns: &["echo total >>lib/sum.x; echo total >>lib/total.x"],
        ..HONEST
    },
    Plan {
        name: "files in the lines below",
        tasks: &["Show the totals\nFiles:\n- {source}\n- {other}\nDo not touch {config}."],
        turns: &["put better {source}; put other-better {other}"],
        ..HONEST
    },
    Plan {
        name: "file that is only an example",
        each: &["As in {old}: sum up more than two", "Follow the style of {old} for the totals"],
        tasks: &["{1}"],
        turns: &["put better {source}"],
        second_word: "spool task done {a} --elsewhere 'the example stays as it is'",
        says: "byte for byte",
        ..HONEST
    },
    Plan {
        name: "input is named and not the output",
        each: &[
            "Apply `total.patch` ¦ put better {source}",
            "Import `in.csv` into the table ¦ echo 1,2 >>{other}",
        ],
        files: &[("total.patch", "+total\n"), ("in.csv", "1,2\n")],
        second_word: "spool task done {a} --elsewhere 'what it names is only read'",
        says: "byte for byte",
        ..SCRIPT
    },
    Plan {
        name: "work beside much that programs leave",
        turns: &["put better {source}\n\
             for path in .pytest_cache/a __pycache__/a.pyc node_modules/a/b.js .venv/a build/a.o .coverage .DS_Store; do mkdir -p $(dirname $path); echo $path >$path; done"],
        ..HONEST
    },
    Plan {
        name: "secret that git ignores",
        tasks: &["{2}"],
        each: &[
            "local.env ¦ Put the address into `local.env`",
            "build/config.log ¦ Set the level in `build/config.log`",
        ],
        turns: &["mkdir -p $(dirname {1}); echo SERVER=a >{1}"],
        ..HONEST
    },
    Plan {
        name: "program that is built",
        tasks: &["Build the release into `build/app`"],
        turns: &["mkdir -p build; head -c 3000 /dev/zero >build/app"],
        second_word: "spool task done {a} --no-change 'git ignores what is built'",
        fits: in_git,
        ..HONEST
    },
    Plan {
        name: "folder in which something is new",
        each: &[
            "Add the models in `src/models/` ¦ src/models/a.py",
            "Fill `docs/` ¦ docs/a/b/c.md",
            "Put an example below examples/ ¦ examples/one/a.txt",
        ],
        turns: &["mkdir -p $(dirname {2}); echo a >{2}"],
        ..SCRIPT
    },
    Plan {
        name: "database that was there",
        tasks: &["Add the first sums to `data/sums.sqlite`"],
        files: &[("data/sums.sqlite", "SQLite\u{0}")],
        turns: &["printf 'SQLite\\000\\001' >data/sums.sqlite"],
        ..HONEST
    },
    Plan {
        name: "git begins",
        tasks: &["Make the project a repository of git"],
        turns: &[
            "echo '*.log' >.gitignore; git init -q; git add -A; git commit -qm 'the beginning'",
        ],
        fits: without_git,
        ..HONEST
    },
    Plan {
        name: "folder of an agent that a task names",
        each: &[
            "Add the command `.claude/commands/sum.md` ¦ .claude/commands/sum.md",
            "Write the rule .cursor/rules/sum.mdc ¦ .cursor/rules/sum.mdc",
            "Set the tab width in `.vscode/settings.json` ¦ .vscode/settings.json",
            "Tell Codex of the sums in `.codex/` ¦ .codex/prompts/sum.md",
        ],
        turns: &["mkdir -p $(dirname {2}); echo 'Sum up.' >{2}"],
        ..SCRIPT
    },
    Plan {
        name: "folder of an agent that no task names",
        tasks: &["Give Claude Code a command for the sums"],
        turns: &["mkdir -p .claude/commands; echo 'Sum up.' >.claude/commands/sum.md"],
        second_word: "spool task done {a} --no-change 'the command is in the folder of the agent'",
        ..HONEST
    },
    Plan {
        name: "file of an earlier task removed, as asked",
        tasks: &[
            "Write a draft in {renamed}",
            "Remove {renamed}",
            "Implement the total in {source}",
        ],
        each: &["rm {renamed}", "rm {renamed}; put other-better {other}"],
        turns: &[
            "mkdir -p $(dirname {renamed}); echo draft >{renamed}\nmark {a}",
            "{1}\nmark {b}",
            "put better {source}\nmark {c}",
        ],
        ..HONEST
    },
    Plan {
        name: "ignored folder that a task names",
        tasks: &["Build the page into `out/`"],
        before: "echo out/ >>.gitignore",
        turns: &["mkdir -p out; echo a >out/page.js"],
        ..HONEST
    },
];
