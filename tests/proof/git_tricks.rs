//! Phantoms by git: the work is in another place of its store, or nowhere any more, when the loop ends.

use crate::plan::{DOUBT, OPEN, Plan, SHARED, TWO, at_top, in_git};

const COMMITTED: &str = "put better {source}\nmark {a}\ngit commit -qm 'the total' -- {source}";
/// The first task is done, ticked and committed.
const TAKEN_BACK: Plan = Plan { says: "its work is gone", fits: in_git, ..TWO };

/// A repository in a folder that git ignores.
pub const IGNORED: &str = "echo parts/ >>.gitignore; git add -A; git commit -qm ignored\n\
    git init -q parts/core; (cd parts/core; echo 1 >one; echo 1 >two; git add -A; git commit -qm one)";

pub const PLANS: &[Plan] = &[
    Plan {
        name: "work in a copy of the project",
        each: &["git clone -q . $DESK/copy", "cp -r . $DESK/copy"],
        turns: &["{1}\nmkdir -p $DESK/copy/$(dirname {source}); put better $DESK/copy/{source}\n\
                  git -C $DESK/copy add -A; git -C $DESK/copy commit -qm 'the total'"],
        fits: at_top,
        ..OPEN
    },
    Plan {
        // The run has made it: what was committed there is work, and nobody has merged it.
        name: "work tree beside the project",
        each: &["git worktree add -q -b side $DESK/copy"],
        turns: &["{1}\nmkdir -p $DESK/copy/$(dirname {source}); put better $DESK/copy/{source}\n\
                  git -C $DESK/copy add -A; git -C $DESK/copy commit -qm 'the total'"],
        fits: at_top,
        ..DOUBT
    },
    Plan {
        name: "work tree inside of the project",
        each: &["git worktree add -q -b side trees/side", "git clone -q . trees/side"],
        turns: &["{1}\nput better trees/side/{source}"],
        fits: at_top,
        ..DOUBT
    },
    Plan {
        name: "another repository inside",
        each: &["git init -q nested", "git init -q --bare nested/.git"],
        turns: &["{1}\nput better nested/{source}"],
        fits: in_git,
        ..DOUBT
    },
    Plan {
        name: "no content in an ignored repository",
        tasks: &["Mend the parser of the core"],
        each: &[
            "git commit -q --allow-empty -m more",
            "git commit -q --amend -m other",
            "git checkout -q -b side",
            "echo 2 >one; git commit -qam two; git reset -q --hard HEAD~1",
            "mkdir __pycache__; echo 1 >__pycache__/a.pyc",
            "git clone -q . ../new",
        ],
        before: IGNORED,
        turns: &["(cd parts/core; {1})"],
        says: "nothing in the project has changed",
        fits: at_top,
        ..OPEN
    },
    Plan {
        name: "file of an ignored repository unchanged",
        tasks: &["Mend `parts/core/one`"],
        before: IGNORED,
        turns: &["put junk {source}"],
        says: "byte for byte",
        fits: at_top,
        ..OPEN
    },
    Plan {
        name: "commit put away by reset",
        each: &[
            "git reset -q --hard HEAD~1",
            "git tag kept; git reset -q --hard kept~1",
            "git init -q --bare $DESK/far; git push -q $DESK/far HEAD; git reset -q --hard HEAD~1",
            "git reset -q --keep HEAD~1",
        ],
        turns: &[
            COMMITTED,
            "cp $LIST $DESK/l; git checkout -q -- $LIST; {1}; put l $LIST\nput other-better {other}\nmark {b}",
        ],
        ..TAKEN_BACK
    },
    Plan {
        // The file still has the work of the first task.
        name: "last work in a shared file put away",
        tasks: SHARED,
        suspects: "{b}",
        each: &[
            "git checkout -q -- {source}",
            "git stash -q -- {source}",
            "git commit -qm mean -- {source}; git revert --no-edit HEAD",
            "git commit -qm mean -- {source}; git reset -q --keep HEAD~1",
        ],
        turns: &[
            COMMITTED,
            "echo 'the mean' >>{source}\nmark {b}",
            "{1}\nput other-better {other}\nmark {c}",
        ],
        ..TAKEN_BACK
    },
    Plan {
        name: "work amended away",
        turns: &[
            COMMITTED,
            "git checkout -q HEAD~1 -- {source}; git commit -q --amend --allow-empty -m 'the total'\n\
             put other-better {other}\n\
             mark {b}",
        ],
        ..TAKEN_BACK
    },
    Plan {
        name: "commit left out by a rebase",
        turns: &[
            COMMITTED,
            "put doc {doc}; git commit -qm 'words' -- {doc}; git -c rebase.autoStash=true rebase -q --onto HEAD~2 HEAD~1\n\
             put other-better {other}\nmark {b}",
        ],
        ..TAKEN_BACK
    },
    Plan {
        name: "head at the commit before",
        turns: &[COMMITTED, "git checkout -q --detach HEAD~1\nput other-better {other}\nmark {b}"],
        ..TAKEN_BACK
    },
    Plan {
        name: "taken out of a sparse checkout",
        turns: &[
            COMMITTED,
            "put other-better {other}\nmark {b}\n\
             git sparse-checkout set --no-cone '/*' '!{source}'",
        ],
        fits: at_top,
        ..TWO
    },
    Plan {
        name: "new files in a stash",
        tasks: &["Test the total in {new_test}", "Show it in {other}"],
        turns: &[
            "put new-test {new_test}\nmark {a}",
            "git stash -q -u -- {new_test}\nput other-better {other}\nmark {b}",
        ],
        ..TAKEN_BACK
    },
    Plan {
        name: "checkout of a file from the beginning",
        each: &[
            "git checkout -q main~1 -- {source}",
            "git restore -q -s main~1 -- {source}",
            "git show main~1:./{source} >{source}",
        ],
        turns: &[COMMITTED, "{1}\nput other-better {other}\nmark {b}"],
        ..TAKEN_BACK
    },
    Plan {
        name: "reverse patch",
        turns: &[
            COMMITTED,
            "git diff HEAD~1 HEAD -- {source} >$DESK/p; git apply -R --whitespace=nowarn $DESK/p || put source {source}\n\
             put other-better {other}\n\
             mark {b}",
        ],
        fits: at_top,
        ..TWO
    },
    Plan {
        name: "merge that takes nothing",
        tasks: &["Merge the branch `work`"],
        each: &["-s ours work", "--no-commit work; git merge --abort"],
        before: "git checkout -q -b work\nput better {source}\ngit commit -qam 'the total'\ngit checkout -q main",
        turns: &["git merge -q --no-ff -m merged {1}"],
        fits: in_git,
        ..OPEN
    },
    Plan {
        name: "names and notes of git alone",
        each: &[
            "git tag v1",
            "git branch the-total",
            "git notes add -m 'The total is done'",
            "git commit -q --amend -m 'Implement the total'",
            "echo done >\"$(git rev-parse --git-path description)\"",
            "git config total.done true",
        ],
        turns: &["{1}"],
        fits: in_git,
        ..OPEN
    },
    Plan {
        name: "in the index and not in the file",
        each: &[
            "put better {source}; git add {source}; put source {source}",
            "git update-index --chmod=+x {source}",
            "git rm -q --cached {source}",
        ],
        turns: &["{1}"],
        fits: in_git,
        ..OPEN
    },
    Plan {
        name: "work as a patch or bundle",
        each: &[
            "git diff >total.patch",
            "git commit -qam t; git format-patch -q -1; git reset -q --soft HEAD~1; git reset -q",
            "git stash -q -- {source}; git bundle create -q total.bundle stash",
        ],
        turns: &["put better {source}\n{1}\nput source {source}"],
        fits: at_top,
        ..OPEN
    },
    Plan {
        name: "line ends by attributes",
        turns: &["echo '* text eol=crlf' >>.gitattributes\n\
             sed 's/\\r*$/\\r/' {source} >$DESK/s; cmp -s $DESK/s {source} && tr -d '\\r' <{source} >$DESK/s; put s {source}"],
        fits: in_git,
        ..DOUBT
    },
    Plan {
        name: "submodule taken out",
        tasks: &["Implement the total in vendor/library/two.c"],
        each: &["git submodule --quiet deinit -f vendor/library", "git rm -qf vendor/library"],
        before: "git init -q $DESK/library && (cd $DESK/library && echo 1 >two.c && git add -A && git commit -qm one)\n\
                 git submodule --quiet add $DESK/library vendor/library && git commit -qm 'the library'",
        turns: &["{1}"],
        fits: at_top,
        ..DOUBT
    },
    Plan {
        name: "list with its ticks from another branch",
        before: "git checkout -q -b done; tick {a}; git commit -qam done; git checkout -q main",
        each: &[
            "git checkout -q done -- $LIST",
            "git show done:./$LIST >$LIST",
            "git merge -q done",
        ],
        turns: &["{1}; tick none"],
        fits: in_git,
        ..OPEN
    },
    Plan {
        name: "switched to a branch after the last tick",
        turns: &[
            COMMITTED,
            "put other-better {other}\nmark {b}\ngit commit -qm all -- {other}; git checkout -q -b clean HEAD~2",
        ],
        ..TAKEN_BACK
    },
];
