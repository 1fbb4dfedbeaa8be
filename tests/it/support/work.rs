//! The work of a scripted agent: each task that it ticks has something behind it.

use std::fs;
use std::io::Write;
use std::path::Path;

/// Does the work of these tasks of a list: a line more in each file that the task names, and in one that no task names.
pub fn work_on(root: &Path, list: &Path, ids: &[&str]) {
    let text = fs::read(list).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    for id in ids {
        let is_its =
            |line: &&str| line.split_whitespace().any(|word| word.eq_ignore_ascii_case(id));
        let block = text.lines().skip_while(|line| !is_its(line));
        let is_task = |line: &&str| line.trim_start().starts_with("- [");
        let rest = block.clone().skip(1).take_while(|line| !is_task(line));
        let words = block.take(1).chain(rest).flat_map(str::split_whitespace);
        let named = words.map(|word| word.trim_matches(['`', ',', '.']));
        for path in named.filter(|word| word.contains('/') && word.contains('.')) {
            add_line(&root.join(path), id);
        }
        add_line(&root.join("work/log"), id);
    }
}

fn add_line(path: &Path, id: &str) {
    let made = path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok());
    if let Some(mut file) =
        fs::File::options().create(true).append(true).open(path).ok().filter(|_| made)
    {
        writeln!(file, "the work of {id}").unwrap();
    }
}
