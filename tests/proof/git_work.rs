//! Honest work that goes through git: branches, stashes, work trees, history.

use crate::git_tricks::IGNORED;
use crate::plan::{HONEST, Plan, TWO, at_top, in_git};

const ONE: Plan = Plan { fits: in_git, ..HONEST };
const SCRIPT: Plan = Plan { tasks: &["{1}"], turns: &["{2}"], ..ONE };
const BRANCH: &str = "git checkout -q -b work\nput better {source}\ngit commit -qam 'the total'\ngit checkout -q main";

pub const PLANS: &[Plan] = &[
    Plan {
        name: "taken from a stash",
        before: "put better {source}; git stash -q",
        turns: &["git stash pop -q"],
        ..ONE
    },
    Plan {
        name: "picked from a branch",
        each: &[
            "git cherry-pick work",
            "git cherry-pick -n work",
            "git checkout -q work -- {source}",
            "git merge -q --squash work",
        ],
        before: BRANCH,
        turns: &["{1}"],
        ..ONE
    },
    Plan {
        name: "moved onto another branch",
        before: BRANCH,
        turns: &["git -c rebase.autoStash=true rebase -q work"],
        ..ONE
    },
    Plan {
        name: "commit amended",
        turns: &[
            "put other-better {other}; git add -A -- . ':!specs'; git commit -qm 'a start'",
            "put better {source}; git add -A -- . ':!specs'; git commit -q --amend -m 'the total'",
        ],
        ..ONE
    },
    Plan {
        name: "commits made one in the end",
        tasks: TWO.tasks,
        turns: &[
            "put better {source}\nmark {a}\ngit add -A -- . ':!specs'; git commit -qm one",
            "put other-better {other}\n\
             mark {b}\n\
             git add -A -- . ':!specs'; git commit -qm two; git reset -q --soft HEAD~2; git commit -qm both",
        ],
        ..ONE
    },
    Plan {
        name: "branch for each task, merged",
        tasks: TWO.tasks,
        turns: &[
            "git checkout -q -b one; put better {source}; git commit -qm one -- {source}\nmark {a}",
            "git checkout -q main; git checkout -q -b two; put other-better {other}; git commit -qm two -- {other}\n\
             git checkout -q main; git merge -q one; git merge -q --no-edit two\nmark {b}",
        ],
        ..ONE
    },
    Plan {
        name: "made in a work tree, merged",
        turns: &["git worktree add -q -b side $DESK/side\n\
             put better $DESK/side/{source}; git -C $DESK/side commit -qam 'the total'\n\
             git merge -q side; git worktree remove --force $DESK/side"],
        fits: at_top,
        ..HONEST
    },
    Plan {
        name: "kept with LFS",
        tasks: &["Keep `data/all.bin` with LFS"],
        files: &[("data/all.bin", "many bytes\n")],
        turns: &[
            "echo '*.bin filter=lfs' >>.gitattributes; echo 'version https://git-lfs.github.com/spec/v1' >data/all.bin",
        ],
        ..ONE
    },
    Plan {
        name: "in a sparse checkout",
        before: "git sparse-checkout set --no-cone '/*' '!{old}'",
        turns: &["put better {source}"],
        fits: at_top,
        ..HONEST
    },
    Plan {
        name: "last change taken back, as asked",
        each: &[
            "git revert --no-edit HEAD",
            "git checkout -q HEAD~1 -- {source}",
            "put source {source}",
        ],
        tasks: &["Take the last change of {source} back"],
        before: "put better {source}; git commit -qam 'the total'",
        turns: &["{1}"],
        ..ONE
    },
    Plan {
        name: "file brought back from history",
        tasks: &["Bring `lost.txt` back"],
        files: &[("lost.txt", "lost\n")],
        before: "git rm -q lost.txt; git commit -qm 'without it'",
        turns: &["git checkout -q HEAD~1 -- lost.txt"],
        ..ONE
    },
    Plan {
        name: "conflict resolved",
        tasks: &["Merge the branch `side` into {source}"],
        before: "git checkout -q -b side; echo side >>{source}; git commit -qam side; git checkout -q main; \
                echo main >>{source}; git commit -qam main",
        turns: &[
            "git merge -q side; echo both >>{source}; git add {source}; git commit -qm merged",
        ],
        ..ONE
    },
    Plan {
        name: "git no longer tracks it",
        tasks: &["Take `local.cfg` out of git and leave it in place"],
        each: &[
            "git rm -q --cached local.cfg",
            "git rm -q --cached local.cfg; echo local.cfg >>.gitignore",
        ],
        files: &[("local.cfg", "a = 1\n")],
        turns: &["{1}; git commit -qm 'without it'"],
        second_word: "spool task done {a} --no-change 'it stays in place'",
        ..ONE
    },
    Plan {
        name: "ignored from now on",
        each: &[
            "Add `dist/` to `.gitignore` ¦ echo dist/ >>.gitignore",
            "Let git ignore the logs ¦ echo '*.log2' >>.gitignore",
            "Ignore what the build makes ¦ mkdir -p web; echo out/ >web/.gitignore",
        ],
        ..SCRIPT
    },
    Plan {
        name: "release",
        each: &[
            "Tag v1 and write `CHANGELOG.md` ¦ echo '# v1' >CHANGELOG.md; git tag v1",
            "Release 1.1 ¦ echo 1.1 >VERSION; git add VERSION; git commit -qm 1.1; git tag v1.1",
        ],
        ..SCRIPT
    },
    Plan {
        name: "nothing but git",
        each: &[
            "Rename the branch to `trunk` ¦ git branch -m trunk",
            "Push it ¦ git init -q --bare $DESK/far; git push -q $DESK/far HEAD",
            "Write a better message for the last commit ¦ git commit -q --amend -m better",
        ],
        turns: &["{2}\nspool task done {a} --no-change 'only git has changed'"],
        ..SCRIPT
    },
    Plan {
        name: "submodule led to another commit",
        tasks: &["Take the newest `vendor/library`"],
        before: "git init -q $DESK/library && (cd $DESK/library && echo 1 >one && git add -A && git commit -qm one)\n\
                 git submodule --quiet add $DESK/library vendor/library && git commit -qm 'the library'\n\
                 (cd $DESK/library && echo 2 >one && git commit -qam two)",
        turns: &[
            "(cd vendor/library && git pull -q); git add vendor/library; git commit -qm 'newer'",
        ],
        fits: at_top,
        ..HONEST
    },
    Plan {
        name: "work in an ignored repository",
        tasks: &["Mend the parser of the core"],
        each: &[
            "echo 2 >one; git commit -qam two",
            "echo 2 >one",
            "echo 3 >three; git add -A; git commit -qm three",
            "git rm -q two; git commit -qm 'one less'",
        ],
        before: IGNORED,
        turns: &["(cd parts/core; {1})"],
        fits: at_top,
        ..HONEST
    },
    Plan {
        name: "away for a while",
        tasks: TWO.tasks,
        turns: &[
            "put better {source}\nmark {a}\ngit stash -q -- {source}",
            "git stash pop -q\nput other-better {other}\nmark {a} {b}",
        ],
        ..ONE
    },
    Plan {
        name: "all in git, the loop's own files too",
        tasks: TWO.tasks,
        each: &[
            "git add -A; git commit -qm all",
            "git stash -q -u; git stash pop -q",
            "git commit -qam all; git clean -fdxq -e .speckit-state.json",
            "git checkout -q -b next; git add -A; git commit -qm all; git checkout -q main; git merge -q next",
            "git add -A; git commit -qm all; git reset -q --soft HEAD~1",
        ],
        turns: &["put better {source}\nmark {a}\n{1}", "put other-better {other}\nmark {b}"],
        ..ONE
    },
];
