//! Whatever becomes of history and specification between the arming and the review, in any order: what was asked for at the arming
//! is judged, or nothing passes.

use crate::review::support::Built;
use crate::support::amounts::few_or_all;
use crate::support::dice::Dice;
use crate::support::limited::Limited;

const LIST: &str = "specs/001-login/tasks.md";
/// What is pinned: each id, and the line that a person reads.
const PINNED: [(&str, &str); 7] = [
    ("US1.1", "1. **Given** a password, **When** it is right, **Then** the person is in"),
    ("US1.2", "2. **Given** no password, **When** it is asked for, **Then** the person waits"),
    ("FR-001", "- **FR-001**: System MUST check the password"),
    ("FR-002", "- **FR-002**: System MUST log each try"),
    ("FR-003", "- **FR-003**: System MUST mask keys"),
    ("FR-004", "- **FR-004**: System MUST end a session after an hour"),
    ("SC-001", "- **SC-001**: Nobody waits for more than a second"),
];
/// What happens to the history. A step that is not possible, such as a rebase of the only commit, changes nothing.
const TO_HISTORY: [&str; 9] = [
    "git commit -q --allow-empty -m more",
    "git commit -q --allow-empty --amend -m amended",
    "git reset -q --soft HEAD~1 && git commit -q --allow-empty --amend -m squashed",
    "git rebase -q --exec 'git commit -q --allow-empty --amend -m again' HEAD~2",
    "base=$(git rev-parse HEAD); git commit -q --allow-empty -m other; git replace -f $base HEAD",
    "rm -rf .git; git init -q; git add -A; git commit -q -m begin",
    "git switch -q -c branch-$at; git commit -q --allow-empty -m aside; git branch -q -D main",
    "echo a >> notes.md; git add -A; git stash -q",
    "git stash pop -q",
];
/// Changes of the specification `$S`, with one requirement `$R`.
const TO_SPECIFICATION: [&str; 13] = [
    "sed -i \"/$R/d\" $S",
    "sed -i \"/$R/s/MUST/may well/; /$R/s/person/machine/\" $S",
    "sed -i \"s/$R/FR-009/\" $S",
    "grep \"$R\" $S >> $S.moved; sed -i \"/$R/d\" $S; cat $S.moved >> $S; rm $S.moved",
    "sed -i \"s/^.*$R.*$/<!-- & -->/\" $S",
    "sed -i \"s/^.*$R.*$/```\\n&\\n```/\" $S",
    "sed -i \"s/^.*$R.*$/## Out of scope\\n\\n&/\" $S",
    "sed -i 's/FR-001/FR-00X/; s/FR-002/FR-001/; s/FR-00X/FR-002/' $S",
    "echo \"- **FR-01$((at % 10))**: System MUST do more\" >> $S",
    "cp $S specs/other-$at.md; rm $S; ln -s ../other-$at.md $S",
    "grep -v \"$R\" $S > specs/other-$at.md; rm $S; ln -s ../other-$at.md $S",
    "cp $S $S.new; mv $S.new $S; touch -d 2001-01-01 $S",
    "printf '# Login\\n\\n- **FR-001**: System MUST check the password\\n' > $S",
];
/// A reader that is content with each requirement that the packet names.
const CONTENT: &str = r#"ids=$(sed -n '/^<<< .* what each id stands for$/,/^>>> /s/^\([A-Z][^: ]*\): .*/\1/p' "$DESK/asked")
all() { for id in $ids; do printf "$1" "$id"; done; }
"#;

impl Dice {
    /// A few steps, as one script. Half of the cases leave the specification as it is.
    fn rewrites(&mut self) -> String {
        let mut script = vec!["S=specs/001-login/spec.md".to_owned()];
        for who in ["AUTHOR", "COMMITTER"] {
            script.push(format!("export GIT_{who}_NAME=a GIT_{who}_EMAIL=a@example.org"));
        }
        let is_same = self.below(2) == 0;
        for at in 0..=self.below(5) {
            let words = ["password, ", "no pass", "FR-001", "FR-002", "FR-003", "FR-004", "SC-001"];
            let step = match self.below(2) {
                0 if !is_same => self.one_of(&TO_SPECIFICATION),
                _ => self.one_of(&TO_HISTORY),
            };
            let added = ["true", "git add -A"][self.below(2)];
            script.push(format!("at={at} R='{}'\n{step}\n{added}", self.one_of(&words)));
        }
        script.push("git add -A; git commit -q -m last\n".to_owned());
        script.join("\n")
    }
}

/// The project, whose specification has all that is pinned, and one open task.
fn project() -> Built {
    let lines = PINNED.map(|(_, line)| line);
    let built = Built::with_spec(&format!(
        "# Login\n\n### User Story 1 - Sign in (Priority: P1)\n\n**Acceptance Scenarios**:\n\n{}\n\n## Requirements\n\n{}\n",
        lines[..2].join("\n"),
        lines[2..].join("\n"),
    ));
    built.write(LIST, "- [ ] T001 Write src/more.rs\n");
    built.write("notes.md", "notes\n");
    built.commit("open tasks");
    built
}

/// Whether a review passes that was armed before these rewrites, by hand or by a loop whose agent makes them.
fn passes(built: &Built, rewrites: &str, is_loop: bool) -> bool {
    let met = r#"{\"id\":\"%s\",\"verdict\":\"met\",\"evidence\":[{\"file\":\"src/login.rs\",\"line\":3,\"quote\":\"check(password)\"}]}"#;
    if is_loop {
        let form = met.replace('\\', r"\\") + r"\\n";
        let read = format!(
            "printf '%s' \"$*\" > \"$DESK/asked\"\ncode=$(sed -n 's/.*The code of this review is `\\([0-9a-f]*\\)`.*/\\1/p' \"$DESK/asked\")\n{CONTENT}result \"REVIEW $code\\\\n$(all '{form}')END $code\""
        );
        let work = format!(
            "echo more >> src/more.rs\nsed -i 's/\\[ \\]/[x]/' {LIST}\n{{ {rewrites} }} >/dev/null 2>&1\nresult worked"
        );
        built.worker_and_reader(&work, &read);
        return built.loop_with("--review --max-iterations 1").code == Some(0);
    }
    built.worker_and_reader("exit 1", "exit 1");
    built.spool("start 001-login --review").run().with_code(0);
    built.command("sh").args(["-c", rewrites]).finish();
    let form = met.replace('\\', "") + "\\n";
    built.script(&format!(
        "cp \"$DESK/prompt-$n\" \"$DESK/asked\"\n{CONTENT}echo \"REVIEW $code\"; all '{form}'; echo \"END $code\""
    ));
    built.review("").code == Some(0)
}

#[test]
fn rewrites_pass_nothing_unjudged() {
    // By hand, and in a loop.
    let (mut passed, mut refused) = ([0_u32; 2], [0_u32; 2]);
    for seed in 0..few_or_all(40, 300) {
        let mut dice = Dice(seed);
        let (is_loop, rewrites) = (dice.below(4) == 0, dice.rewrites());
        let built = project();
        if !passes(&built, &rewrites, is_loop) {
            refused[usize::from(is_loop)] += 1;
            continue;
        }
        passed[usize::from(is_loop)] += 1;
        let (review, asked) = (built.last(), built.read("../desk/asked"));
        for (id, line) in PINNED {
            let judged = review["requirements"].as_array().unwrap().iter();
            let is_judged = judged.filter(|one| one["id"] == id && one["verdict"] == "met").count();
            assert_eq!(is_judged, 1, "seed {seed}, {id}: {rewrites}\n{review:#}");
            assert!(asked.contains(line), "seed {seed}, {line}: {rewrites}\n{asked}");
        }
    }
    let some = |of: [u32; 2]| of.into_iter().all(|count| count > 0);
    assert!(some(passed) && some(refused), "{passed:?} passed, {refused:?} refused");
}
