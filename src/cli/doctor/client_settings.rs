//! Claude Code's settings files as plain data: their settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::environment::Environment;
use crate::store::read;

/// The longest settings file that is read, in bytes.
const MOST: u64 = 1 << 20;

/// An existing settings file.
#[derive(Debug)]
pub struct SettingsFile {
    /// The organization manages it.
    pub is_managed: bool,
    pub path: PathBuf,
    /// `null` for an unreadable file.
    pub content: Value,
    /// Why the file could not be read.
    pub fault: Option<String>,
}

impl SettingsFile {
    /// All existing files, weakest first.
    pub fn all(environment: &Environment, project: &Path) -> Vec<Self> {
        let mut places = vec![(false, environment.claude_folder().join("settings.json"))];
        if project.join(".claude") != environment.claude_folder() {
            places.push((false, project.join(".claude").join("settings.json")));
            places.push((false, project.join(".claude").join("settings.local.json")));
        }
        places.push((true, environment.managed_settings.join("managed-settings.json")));
        let mut dropped_in: Vec<PathBuf> =
            fs::read_dir(environment.managed_settings.join("managed-settings.d"))
                .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
                .unwrap_or_default();
        dropped_in.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        dropped_in.sort();
        places.extend(dropped_in.into_iter().map(|path| (true, path)));
        places.retain(|(_, path)| path.exists());
        places.into_iter().map(|(is_managed, path)| Self::read(is_managed, path)).collect()
    }

    fn read(is_managed: bool, path: PathBuf) -> Self {
        let fault = match read::read(&path, MOST) {
            Ok(content) => match serde_json::from_slice(without_mark(&content.bytes)) {
                Ok(content) => return Self { is_managed, path, content, fault: None },
                Err(error) => error.to_string(),
            },
            Err(problem) => problem.to_string(),
        };
        Self { is_managed, path, content: Value::Null, fault: Some(fault) }
    }

    /// The file sets `key` to true.
    pub fn says(&self, key: &str) -> bool {
        self.content[key] == Value::Bool(true)
    }
}

/// Removes the byte order mark of some editors on Windows.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// The client's variables with their sources: settings override the shell, and later files override earlier ones.
pub fn variables(
    settings: &[SettingsFile],
    environment: &Environment,
) -> BTreeMap<String, (String, String)> {
    let mut found: BTreeMap<String, (String, String)> = environment
        .client_variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (value.clone(), "the environment".to_owned())))
        .collect();
    for file in settings {
        let Some(environment) = file.content["env"].as_object() else { continue };
        for (name, value) in environment {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            found.insert(name.clone(), (value, format!("`{}`", file.path.display())));
        }
    }
    found
}
