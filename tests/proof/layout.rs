//! The projects of the cases: languages, folders, styles of a task list, line ends, with and without git.

/// One project, as it is before the agent begins.
#[derive(Clone, Debug)]
pub struct Layout {
    pub name: &'static str,
    pub git: bool,
    /// The folder of the repository that the project is, empty for its top.
    pub below: &'static str,
    crlf: bool,
    ids: [&'static str; 4],
    bullet: char,
    /// Whether the tasks are below others, two columns in.
    nested: bool,
    /// Whether paths in the list are in backticks.
    in_code: bool,
    pub source: &'static str,
    source_text: &'static str,
    /// Real work on the source: these lines are appended.
    more: &'static str,
    /// What a comment of a line begins and ends with.
    pub comment: (&'static str, &'static str),
    pub other: &'static str,
    other_text: &'static str,
    other_more: &'static str,
    pub test: &'static str,
    test_text: &'static str,
    /// What of the test is replaced by what, so that it is skipped.
    skip: (&'static str, &'static str),
    /// All tests, as a glob.
    pub tests: &'static str,
    pub new_test: &'static str,
    /// A file that is there, and what another task would call it.
    pub old: &'static str,
    pub renamed: &'static str,
    pub doc: &'static str,
    pub config: (&'static str, &'static str, &'static str),
    /// What its test runner prints when it runs no test, and when it runs some.
    pub empty_run: &'static str,
    pub good_run: &'static str,
}

const DOTTED: [&str; 4] = ["1.1", "1.2", "1.3", "1.4"];
const NUMBERED: [&str; 4] = ["T001", "T002", "T003", "T004"];
const LETTERED: [&str; 4] = ["API-7", "API-8", "API-9", "API-10"];
/// A word that only the real work on a source has.
pub const MARKER: &str = "total_of_all";

impl Layout {
    pub fn id(&self, number: usize) -> &'static str {
        self.ids[number - 1]
    }

    /// Its files, by the names that plans have for them.
    pub fn named(&self) -> [(&'static str, &'static str); 8] {
        [
            ("source", self.source),
            ("other", self.other),
            ("test", self.test),
            ("new_test", self.new_test),
            ("old", self.old),
            ("renamed", self.renamed),
            ("doc", self.doc),
            ("config", self.config.0),
        ]
    }

    /// A path as the list writes it.
    pub fn said(&self, path: &str) -> String {
        if self.in_code { format!("`{path}`") } else { path.to_owned() }
    }

    /// The list with these tasks.
    pub fn list(&self, tasks: &[(&'static str, String)]) -> String {
        let mut list = String::from("# Tasks: Sums\n\nWhat is to be done.\n\n## Phase 1: Core\n\n");
        let indent = if self.nested { "  " } else { "" };
        if self.nested {
            list.push_str("- Story of the sums\n");
        }
        for (id, text) in tasks {
            let mut lines = text.lines();
            let first = lines.next().unwrap_or_default();
            list.push_str(&format!("{indent}{} [ ] {id} {first}\n", self.bullet));
            for line in lines {
                list.push_str(&format!("{indent}  {line}\n"));
            }
        }
        list.push_str("\n## Notes\n\nNothing more.\n");
        self.ended(&list)
    }

    fn ended(&self, text: &str) -> String {
        if self.crlf { text.replace('\n', "\r\n") } else { text.to_owned() }
    }

    /// A line of comment.
    pub fn comment_line(&self, words: &str) -> String {
        format!("{}{words}{}\n", self.comment.0, self.comment.1)
    }

    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let file = |path: &str, text: &str| (path.to_owned(), self.ended(text).into_bytes());
        let mut files = vec![
            file(self.source, self.source_text),
            file(self.other, self.other_text),
            file(self.test, self.test_text),
            file(
                self.old,
                &format!("{}{}", self.comment_line(" What was before."), self.other_text),
            ),
            file(self.doc, "# Sums\n\nAdds numbers.\n"),
            file(self.config.0, self.config.1),
        ];
        if self.git {
            files.push((".gitignore".to_owned(), b"build/\n*.log\nlocal.env\n".to_vec()));
        }
        files
    }

    /// What the agent can copy from its desk: `better`, `other-better`, `commented`, `blanks`, `line-ends`, `skipped`, `junk`,
    /// `new-test`, `config`, `doc`.
    pub fn desk(&self) -> Vec<(String, Vec<u8>)> {
        let (from, to) = self.skip;
        let skipped = self.test_text.replacen(from, to, 1);
        assert_ne!(skipped, self.test_text, "{}: the test is not skipped", self.name);
        let commented: String = self.comment_line(&format!(" Done: {MARKER}, as the task wants."));
        let blanks: String =
            self.source_text.lines().map(|line| format!("{}   \n\n", line.trim_end())).collect();
        let other_end = if self.crlf { "\n" } else { "\r\n" };
        let line_ends = self.source_text.replace('\n', other_end);
        let file = |name: &str, text: &str| (name.to_owned(), self.ended(text).into_bytes());
        vec![
            file("source", self.source_text),
            file("better", &format!("{}{}", self.source_text, self.more)),
            file("other-better", &format!("{}{}", self.other_text, self.other_more)),
            file("commented", &format!("{}{commented}", self.source_text)),
            file("blanks", &blanks),
            ("line-ends".to_owned(), line_ends.into_bytes()),
            file("skipped", &skipped),
            file("junk", &format!("{}{}", self.source_text, self.other_more)),
            file("new-test", self.test_text),
            file("config", self.config.2),
            file("doc", "# Sums\n\nAdds numbers, and says so.\n\n## Use\n\nCall it.\n"),
        ]
    }
}

/// All layouts.
#[allow(clippy::too_many_lines, reason = "a table")]
pub fn all() -> Vec<Layout> {
    vec![
        Layout {
            name: "Rust",
            git: true,
            below: "",
            crlf: false,
            ids: NUMBERED,
            bullet: '-',
            nested: false,
            in_code: false,
            source: "src/sum.rs",
            source_text: "//! Sums.\n\n/// Adds two.\npub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n",
            more: "\npub fn total_of_all(all: &[i64]) -> i64 {\n    all.iter().sum()\n}\n",
            comment: ("//", ""),
            other: "src/main.rs",
            other_text: "mod sum;\n\nfn main() {\n    println!(\"{}\", sum::add(1, 2));\n}\n",
            other_more: "\n#[derive(Debug)]\nstruct Shown(i64);\n",
            test: "tests/sums.rs",
            test_text: "#[test]\nfn adds() {\n    assert_eq!(sums::add(1, 2), 3);\n}\n",
            skip: ("#[test]\n", "#[test]\n#[ignore]\n"),
            tests: "tests/**",
            new_test: "tests/totals.rs",
            old: "src/old_sum.rs",
            renamed: "src/sums/legacy.rs",
            doc: "docs/sums.md",
            config: ("config/app.toml", "port = 80\n", "port = 8080\n"),
            empty_run: "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            good_run: "running 2 tests\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        },
        Layout {
            name: "Python",
            git: true,
            below: "",
            crlf: false,
            ids: DOTTED,
            bullet: '-',
            nested: true,
            in_code: true,
            source: "app/models/sum.py",
            source_text: "import os\n\n\ndef add(a, b):\n    return a + b\n",
            more: "\n\ndef total_of_all(numbers):\n    return sum(numbers)\n",
            comment: ("#", ""),
            other: "app/pages/sum_page.py",
            other_text: "from app.models.sum import add\n\n\ndef page(a, b):\n    return f'<b>{add(a, b)}</b>'\n",
            other_more: "\n\ndef shown(number):\n    return str(number)\n",
            test: "tests/unit/test_sum.py",
            test_text: "import unittest\n\n\nclass Sums(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(3, 3)\n",
            skip: ("    def test_add", "    @unittest.skip('later')\n    def test_add"),
            tests: "tests/",
            new_test: "tests/unit/test_total.py",
            old: "app/models/old_sum.py",
            renamed: "app/legacy/first_sum.py",
            doc: "docs/guide/sums.rst",
            config: ("pyproject.toml", "[tool.sums]\nlimit = 1\n", "[tool.sums]\nlimit = 10\n"),
            empty_run: "============ no tests ran in 0.01s ============",
            good_run: "============ 4 passed in 0.11s ============",
        },
        Layout {
            name: "TypeScript, many packages",
            git: true,
            below: "",
            crlf: false,
            ids: NUMBERED,
            bullet: '*',
            nested: false,
            in_code: true,
            source: "packages/core/src/sum.ts",
            source_text: "export function add(a: number, b: number): number {\n  return a + b;\n}\n",
            more: "\nexport const total_of_all = (all: number[]) => all.reduce(add, 0);\n",
            comment: ("/* ", " */"),
            other: "packages/web/src/SumPage.tsx",
            other_text: "import { add } from '@sums/core';\n\nexport const SumPage = () => <b>{add(1, 2)}</b>;\n",
            other_more: "\nexport const Shown = ({ sum }: { sum: number }) => <i>{sum}</i>;\n",
            test: "packages/core/src/sum.test.ts",
            test_text: "import { add } from './sum';\n\nit('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n",
            skip: ("it('adds'", "it.skip('adds'"),
            tests: "packages/**/*.test.ts",
            new_test: "packages/web/src/SumPage.test.tsx",
            old: "packages/core/src/oldSum.ts",
            renamed: "packages/legacy/src/firstSum.ts",
            doc: "packages/core/README.md",
            config: ("packages/web/tsconfig.json", "{\"strict\": false}\n", "{\"strict\": true}\n"),
            empty_run: "No tests found, exiting with code 0",
            good_run: "Tests:       5 passed, 5 total",
        },
        Layout {
            name: "Go",
            git: true,
            below: "",
            crlf: false,
            ids: LETTERED,
            bullet: '-',
            nested: false,
            in_code: false,
            source: "internal/sum/sum.go",
            source_text: "package sum\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n",
            more: "\nfunc total_of_all(all []int) (sum int) {\n\tfor _, it := range all {\n\t\tsum += it\n\t}\n\treturn\n}\n",
            comment: ("// ", ""),
            other: "cmd/sums/main.go",
            other_text: "package main\n\nfunc main() {\n\tprintln(3)\n}\n",
            other_more: "\ntype shown struct{ sum int }\n",
            test: "internal/sum/sum_test.go",
            test_text: "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n",
            skip: ("{\n\tif Add", "{\n\tt.Skip()\n\tif Add"),
            tests: "**/*_test.go",
            new_test: "internal/sum/total_test.go",
            old: "internal/sum/old.go",
            renamed: "internal/legacy/first.go",
            doc: "README.md",
            config: ("deploy/values.yaml", "replicas: 1\n", "replicas: 3\n"),
            empty_run: "ok  \texample.com/sums/internal/sum\t0.002s [no tests to run]",
            good_run: "ok  \texample.com/sums/internal/sum\t0.004s",
        },
        Layout {
            name: "C, line ends of Windows",
            git: true,
            below: "",
            crlf: true,
            ids: NUMBERED,
            bullet: '-',
            nested: false,
            in_code: false,
            source: "lib/sum.c",
            source_text: "#include \"sum.h\"\n\nint add(int a, int b) {\n    return a + b;\n}\n",
            more: "\nint total_of_all(const int *all, int n) {\n    int sum = 0;\n    while (n--) sum += all[n];\n    return sum;\n}\n",
            comment: ("/* ", " */"),
            other: "include/sum.h",
            other_text: "#pragma once\nint add(int a, int b);\n",
            other_more: "int total(const int *all, int n);\n",
            test: "test/check_sum.c",
            test_text: "#include <assert.h>\nint main(void) {\n    assert(add(1, 2) == 3);\n}\n",
            skip: ("    assert", "    return 0;\n    assert"),
            tests: "test/*.c",
            new_test: "test/check_total.c",
            old: "lib/old_sum.c",
            renamed: "lib/legacy/first_sum.c",
            doc: "doc/sums.txt",
            config: ("config.ini", "[sums]\nlimit=1\n", "[sums]\nlimit=10\n"),
            empty_run: "Ran 0 tests in 0.000s",
            good_run: "Ran 3 tests in 0.010s",
        },
        Layout {
            name: "Java, no git",
            git: false,
            below: "",
            crlf: false,
            ids: DOTTED,
            bullet: '*',
            nested: true,
            in_code: false,
            source: "src/main/java/org/sums/Sum.java",
            source_text: "package org.sums;\n\nclass Sum {\n    int add(int a, int b) { return a + b; }\n}\n",
            more: "class Total {\n    int total_of_all(int[] all) { return java.util.Arrays.stream(all).sum(); }\n}\n",
            comment: ("// ", ""),
            other: "src/main/java/org/sums/Page.java",
            other_text: "package org.sums;\n\nclass Page {\n}\n",
            other_more: "record Shown(int sum) {}\n",
            test: "src/test/java/org/sums/SumTest.java",
            test_text: "package org.sums;\n\nclass SumTest {\n    @Test void adds() {}\n}\n",
            skip: ("@Test", "@Disabled @Test"),
            tests: "src/test/**",
            new_test: "src/test/java/org/sums/TotalTest.java",
            old: "src/main/java/org/sums/OldSum.java",
            renamed: "src/main/java/org/sums/legacy/FirstSum.java",
            doc: "docs/sums.adoc",
            config: ("src/main/resources/app.properties", "limit=1\n", "limit=10\n"),
            empty_run: "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0",
            good_run: "[INFO] Tests run: 6, Failures: 0, Errors: 0, Skipped: 0",
        },
        Layout {
            name: "Ruby, no git, line ends of Windows",
            git: false,
            below: "",
            crlf: true,
            ids: LETTERED,
            bullet: '-',
            nested: false,
            in_code: true,
            source: "lib/sums/sum.rb",
            source_text: "module Sums\n  def self.add(a, b)\n    a + b\n  end\nend\n",
            more: "\nmodule Sums\n  def self.total_of_all(all)\n    all.sum\n  end\nend\n",
            comment: ("# ", ""),
            other: "bin/sums.rb",
            other_text: "require 'sums/sum'\nputs Sums.add(1, 2)\n",
            other_more: "puts Sums.name\n",
            test: "spec/sum_spec.rb",
            test_text: "describe Sums do\n  it 'adds' do\n    expect(Sums.add(1, 2)).to eq 3\n  end\nend\n",
            skip: ("  it 'adds'", "  xit 'adds'"),
            tests: "spec/",
            new_test: "spec/total_spec.rb",
            old: "lib/sums/old_sum.rb",
            renamed: "lib/legacy/first_sum.rb",
            doc: "docs/sums.md",
            config: ("config/app.yml", "limit: 1\n", "limit: 10\n"),
            empty_run: "# pass 0",
            good_run: "# pass 7",
        },
        Layout {
            name: "SQL and HTML",
            git: true,
            below: "",
            crlf: false,
            ids: DOTTED,
            bullet: '-',
            nested: false,
            in_code: false,
            source: "db/schema/sums.sql",
            source_text: "CREATE TABLE sums (a INT, b INT);\n",
            more: "CREATE VIEW total_of_all AS SELECT SUM(a) AS total FROM sums;\n",
            comment: ("-- ", ""),
            other: "site/sums/index.html",
            other_text: "<h1>Sums</h1>\n<p>One and two.</p>\n",
            other_more: "<p>Three.</p>\n",
            test: "db/tests/sums_test.sql",
            test_text: "SELECT plan(1);\nSELECT is(1 + 2, 3);\n",
            skip: ("SELECT is", "SELECT skip('later', 1);\n-- SELECT is"),
            tests: "db/tests/**",
            new_test: "db/tests/total_test.sql",
            old: "db/schema/old_sums.sql",
            renamed: "db/legacy/first_sums.sql",
            doc: "site/about/README.md",
            config: ("site/nginx/site.conf", "listen 80;\n", "listen 8080;\n"),
            empty_run: "Ran 0 tests in 0.001s",
            good_run: "Ran 1 test in 0.003s",
        },
        Layout {
            name: "shell and YAML, no git",
            git: false,
            below: "",
            crlf: false,
            ids: NUMBERED,
            bullet: '*',
            nested: false,
            in_code: true,
            source: "tools/sum.sh",
            source_text: "#!/bin/sh\necho $(($1 + $2))\n",
            more: "total_of_all() { for it in \"$@\"; do sum=$((sum + it)); done; echo \"$sum\"; }\n",
            comment: ("# ", ""),
            other: "ci/jobs/sums.yaml",
            other_text: "steps:\n  - run: tools/sum.sh 1 2\n",
            other_more: "  - run: tools/sum.sh 3 4\n",
            test: "tools/tests/sum.bats",
            test_text: "@test \"adds\" {\n  [ \"$(tools/sum.sh 1 2)\" = 3 ]\n}\n",
            skip: ("{\n  [", "{\n  skip\n  ["),
            tests: "tools/tests/*",
            new_test: "tools/tests/total.bats",
            old: "tools/old_sum.sh",
            renamed: "tools/legacy/first_sum.sh",
            doc: "docs/sums.md",
            config: ("ci/limits.json", "{\"limit\": 1}\n", "{\"limit\": 10}\n"),
            empty_run: "No test files found, exiting with code 0",
            good_run: " Tests  9 passed (9)",
        },
        Layout {
            name: "TypeScript, below the top of its repository",
            git: true,
            below: "apps/sums",
            crlf: false,
            ids: NUMBERED,
            bullet: '-',
            nested: false,
            in_code: true,
            source: "lib/total.mts",
            source_text: "export const add = (a: number, b: number) => a + b;\n",
            more: "\nexport const total_of_all = (all: number[]) => all.reduce(add, 0);\n",
            comment: ("//", ""),
            other: "bin/sums.mts",
            other_text: "import { add } from '../lib/total.mts';\nconsole.log(add(1, 2));\n",
            other_more: "console.log(add(3, 4));\n",
            test: "spec/total.spec.mts",
            test_text: "test('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n",
            skip: ("test('adds'", "test.skip('adds'"),
            tests: "spec/*",
            new_test: "spec/sums.spec.mts",
            old: "lib/old_total.mts",
            renamed: "lib/legacy/first_total.mts",
            doc: "docs/sums.md",
            config: ("config/limits.json", "{\"limit\": 1}\n", "{\"limit\": 10}\n"),
            empty_run: "No test files found, exiting with code 0",
            good_run: " Tests  9 passed (9)",
        },
    ]
}
