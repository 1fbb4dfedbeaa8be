//! A person's permissions between "nothing of its own" and "all", translated for each agent program.

use anyhow::{Result, bail};

use crate::text::{line, nearest};

/// A person's rules for tools, and extra arguments for the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// `None` leaves the choice to the program.
    pub mode: Option<String>,
    /// Tools that may run without asking.
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    /// Passed on unchanged.
    pub arguments: Vec<String>,
}

/// How an agent program takes permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepts {
    /// The name that people use.
    pub title: &'static str,
    /// One line on what the program denies without permissions.
    pub denies: &'static str,
    /// The flag, and its values.
    pub mode: Option<(&'static str, &'static [&'static str])>,
    pub allow: Option<ToolRule>,
    pub deny: Option<ToolRule>,
    /// Where the program's own files take permissions.
    pub settings: &'static str,
    pub letters: Letters,
    /// Flags that the runner sets, or that would lead the program elsewhere; separated by blanks.
    pub own: &'static str,
    /// Flags for which `spool ralph` has one: theirs, and ours.
    pub ours: &'static [(&'static str, &'static str)],
}

/// How an agent program reads a word such as `-abc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// The letters behind the first are its value.
    WithValue,
    /// All letters are flags.
    InGroups,
}

/// How an agent program takes one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRule {
    /// The flag is repeated for each tool.
    Flag(&'static str),
    /// A rule in a variable, which takes only a tool's name.
    Name,
    /// One of these kinds. The runner itself compares them with the program's requests.
    Asked(&'static str),
}

/// Modes that permit everything.
const ALL: &[&str] = &["bypassPermissions", "danger-full-access", "yolo"];

impl Permissions {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Nothing is permitted beyond the program's own rules.
    pub fn permits_nothing(&self) -> bool {
        self.mode.is_none() && self.allow.is_empty()
    }

    /// Leaves out whatever [`Accepts::refuse`] refuses.
    pub fn arguments(&self, accepts: &Accepts) -> Vec<String> {
        let mut arguments = Vec::new();
        if let (Some((flag, _)), Some(mode)) = (accepts.mode, &self.mode) {
            arguments.push(format!("{flag}={mode}"));
        }
        for (rule, tools) in [(accepts.allow, &self.allow), (accepts.deny, &self.deny)] {
            if let Some(ToolRule::Flag(flag)) = rule {
                // One word: a program that takes a list would swallow the next argument as a tool.
                arguments.extend(tools.iter().map(|tool| format!("{flag}={tool}")));
            }
        }
        arguments.extend(self.arguments.iter().cloned());
        arguments
    }
}

impl Accepts {
    /// Refuses permissions that the program cannot take, and says what to do instead.
    pub fn refuse(&self, permissions: &Permissions) -> Result<()> {
        let title = self.title;
        if let Some(mode) = &permissions.mode {
            self.refuse_mode(mode)?;
        }
        for (flag, rule, tools) in
            [("--allow", self.allow, &permissions.allow), ("--deny", self.deny, &permissions.deny)]
        {
            for tool in tools {
                let is_name = |tool: &str| {
                    tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-*".contains(&byte))
                };
                match rule {
                    None => bail!(
                        "{title} has no flag for `{flag}`\nsay in {} what it may do, or leave it out",
                        self.settings
                    ),
                    Some(ToolRule::Name) if !is_name(tool) => bail!(
                        "`{flag} {}` is no name of a tool of {title}\nname the tool alone; finer rules go into {}",
                        line(tool),
                        self.settings
                    ),
                    Some(ToolRule::Asked(kinds)) if !kinds.split(", ").any(|kind| kind == tool) => {
                        bail!(
                            "`{flag} {}` is no kind of tool that {title} asks for\nit is one of {kinds}",
                            line(tool)
                        )
                    }
                    Some(_) => {}
                }
            }
        }
        if let Some(first) = permissions.arguments.first().filter(|first| !first.starts_with('-')) {
            bail!(
                "`{}` is no flag of {title}\nwhat it gets of its own begins with a flag",
                line(first)
            );
        }
        permissions.arguments.iter().try_for_each(|argument| self.refuse_argument(argument))
    }

    fn refuse_mode(&self, mode: &str) -> Result<()> {
        let (title, shown) = (self.title, line(mode));
        if ALL.contains(&mode) {
            bail!("`--permission-mode {shown}` permits everything\nuse --allow-all, which says so");
        }
        let Some((_, modes)) = self.mode else {
            bail!(
                "{title} has no permission modes\nsay in {} what it may do, or leave `--permission-mode` out",
                self.settings
            );
        };
        if !modes.contains(&mode) {
            let meant = nearest(mode, modes.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            bail!("`{shown}` is no permission mode of {title}{meant}\nit has {}", modes.join(", "));
        }
        Ok(())
    }

    /// Finds a flag in every spelling, and with its value in the same word.
    fn refuse_argument(&self, argument: &str) -> Result<()> {
        let title = self.title;
        let long = |flag: &str| {
            let name = flag.strip_prefix("--")?.split('=').next()?;
            Some(name.replace(['-', '_'], "").to_ascii_lowercase())
        };
        let is = |flag: &str| match (long(flag), flag.strip_prefix('-')) {
            (Some(name), _) => long(argument) == Some(name),
            (None, Some(letter)) => {
                let is_in_group = self.letters == Letters::InGroups
                    && !argument.starts_with("--")
                    && argument.strip_prefix('-').is_some_and(|group| {
                        group.split('=').next().is_some_and(|letters| letters.contains(letter))
                    });
                let is_long = argument.strip_prefix("--").and_then(|flag| flag.split('=').next());
                argument.starts_with(flag) || is_in_group || is_long == Some(letter)
            }
            (None, None) => false,
        };
        if argument == "--" {
            bail!("`--` cannot be handed to {title}: what follows would be part of the prompt");
        }
        if let Some((flag, ours)) = self.ours.iter().find(|(flag, _)| is(flag)) {
            bail!("`{flag}` cannot be handed to {title}\nuse {ours} of `spool ralph`");
        }
        if let Some(flag) = self.own.split_whitespace().find(|flag| is(flag)) {
            bail!(
                "`{flag}` cannot be handed to {title}, because it would change what the runner relies on\nleave it out"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::harness::{HarnessChoice, harness};

    fn refused(choice: &HarnessChoice, permissions: &Permissions) -> String {
        let harness = harness(choice).unwrap();
        let error = harness.accepts().unwrap().refuse(permissions).err();
        error.map_or_else(String::new, |error| error.to_string())
    }

    fn with(arguments: &[&str]) -> Permissions {
        Permissions {
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            ..Permissions::default()
        }
    }

    const KNOWN: [HarnessChoice; 5] = [
        HarnessChoice::Claude,
        HarnessChoice::Codex,
        HarnessChoice::Copilot,
        HarnessChoice::Gemini,
        HarnessChoice::Opencode,
    ];

    #[test]
    fn own_permissions_are_refused() {
        for (choice, flags) in [
            (
                HarnessChoice::Claude,
                &[
                    "-p",
                    "--print",
                    "--output-format=text",
                    "-cx",
                    "--allowedTools=Bash",
                    "--disallowed-tools",
                    "--permission-mode",
                    "--model=x",
                    "--dangerously-skip-permissions",
                ][..],
            ),
            (
                HarnessChoice::Codex,
                &["--json", "-mx", "--sandbox=read-only", "-s", "-C/", "--cd", "--yolo"],
            ),
            (
                HarnessChoice::Gemini,
                &["--approvalMode=yolo", "--approval_mode", "-y", "--allowedTools", "-o", "--acp"],
            ),
            (
                HarnessChoice::Copilot,
                &["--allow-all", "--allow-tool=x", "--usage-output-file", "--silent"],
            ),
            (HarnessChoice::Opencode, &["--auto", "--format", "--session=x", "--dir", "-m"]),
        ] {
            for flag in flags {
                let why = refused(&choice, &with(&[flag]));
                assert!(why.contains("cannot be handed to"), "{choice:?} {flag}: {why}");
                let later = refused(&choice, &with(&["--other", "value", flag]));
                assert!(!later.is_empty(), "{choice:?} {flag}");
            }
        }
        for (choice, flags) in [
            (HarnessChoice::Gemini, &["-dy", "-dp", "--y", "--p", "--o=text", "--m"][..]),
            (HarnessChoice::Opencode, &["-fc", "--m", "--s", "--c"]),
            (HarnessChoice::Claude, &["--p", "--c", "--r"]),
            (HarnessChoice::Codex, &["--worktree", "--s"]),
        ] {
            for flag in flags {
                let why = refused(&choice, &with(&[flag]));
                assert!(why.contains("cannot be handed to"), "{choice:?} {flag}: {why}");
            }
        }
        // The letters of a value are none.
        assert_eq!(refused(&HarnessChoice::Codex, &with(&["-cmodel_verbosity=low", "--Cc"])), "");
        assert_eq!(refused(&HarnessChoice::Claude, &with(&["-dapi,hooks"])), "");
        for choice in &KNOWN {
            assert_eq!(refused(choice, &with(&["--some-flag", "value", "--other=x"])), "");
            assert!(refused(choice, &with(&["value"])).contains("is no flag of"));
            assert!(refused(choice, &with(&["--some-flag", "--", "x"])).contains("the prompt"));
        }
    }

    #[test]
    fn unknown_mode_proposes_one() {
        let mode =
            |mode: &str| Permissions { mode: Some(mode.to_owned()), ..Permissions::default() };
        let claude = |word| refused(&HarnessChoice::Claude, &mode(word));
        assert_eq!(claude("acceptEdits"), "");
        assert!(
            claude("acceptedits").contains("did you mean `acceptEdits`?"),
            "{}",
            claude("acceptedits")
        );
        for choice in &KNOWN {
            for all in ALL {
                assert!(
                    refused(choice, &mode(all)).contains("use --allow-all"),
                    "{choice:?} {all}"
                );
            }
        }
        assert!(
            refused(&HarnessChoice::Copilot, &mode("plan")).contains("has no permission modes")
        );
        assert_eq!(refused(&HarnessChoice::Codex, &mode("workspace-write")), "");
        assert_eq!(refused(&HarnessChoice::Gemini, &mode("auto_edit")), "");
    }

    #[test]
    fn untold_tools_are_refused() {
        let allow =
            |tool: &str| Permissions { allow: vec![tool.to_owned()], ..Permissions::default() };
        let deny =
            |tool: &str| Permissions { deny: vec![tool.to_owned()], ..Permissions::default() };
        assert_eq!(refused(&HarnessChoice::Claude, &allow("Bash(git *)")), "");
        assert_eq!(refused(&HarnessChoice::Copilot, &deny("shell(git push)")), "");
        assert_eq!(refused(&HarnessChoice::Opencode, &deny("bash")), "");
        assert!(
            refused(&HarnessChoice::Opencode, &deny("bash(rm *)")).contains("name the tool alone")
        );
        assert!(refused(&HarnessChoice::Codex, &allow("shell")).contains("no flag for `--allow`"));
        assert!(refused(&HarnessChoice::Gemini, &deny("x")).contains("no flag for `--deny`"));
    }
}
