//! The plugin's files, carried inside of `spool`, so that files and programs are never of two versions.

/// One file of the plugin.
#[derive(Debug, Clone, Copy)]
pub struct PluginFile {
    /// The path below the plugin's root, with `/` between its parts.
    pub path: &'static str,
    /// The whole content.
    pub content: &'static [u8],
}

macro_rules! plugin_files {
    ($($path:literal $(from $source:literal)?),* $(,)?) => {
        &[$(plugin_files!(one $path $($source)?)),*]
    };
    (one $path:literal) => { plugin_files!(one $path $path) };
    (one $path:literal $source:literal) => {
        PluginFile { path: $path, content: include_bytes!(concat!("../../", $source)) }
    };
}

/// All files of the plugin but its programs, sorted by path.
pub const FILES: &[PluginFile] = plugin_files![
    ".claude-plugin/icon.png",
    // The one of the checkout may lead to a release; an assembled plugin offers itself.
    ".claude-plugin/marketplace.json" from "src/plugin/marketplace.json",
    ".claude-plugin/plugin.json",
    "LICENSE",
    "README.md",
    "agents/qa-engineer.md",
    "agents/spec-executor.md",
    "commands/cancel-ralph.md",
    "commands/cancel.md",
    "commands/implement.md",
    "commands/ralph-loop.md",
    "commands/status.md",
    "commands/ulw-loop.md",
    "hooks/hooks.json",
    "hooks/view.tsx",
];
