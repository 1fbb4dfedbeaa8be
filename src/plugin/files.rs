//! The plugin's files, embedded in `spool`, so that files and programs always have the same version.

#[derive(Debug, Clone, Copy)]
pub struct PluginFile {
    /// Below the plugin's root, with `/`.
    pub path: &'static str,
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

/// All files but the programs, sorted by path.
pub const FILES: &[PluginFile] = plugin_files![
    ".claude-plugin/icon.png",
    // The checkout's own file may lead to a release; an assembled plugin offers itself.
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
