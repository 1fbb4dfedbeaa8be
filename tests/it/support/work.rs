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

/// Does the work of each task that is ticked in `after` and was not in `before`: what somebody ticks by hand is done.
pub fn work_on_ticked(root: &Path, list: &Path, before: &str, after: &str) {
    let is_ticked = |line: &&str| {
        let text = line.trim_start().trim_start_matches(['-', '*']).trim_start();
        text.starts_with("[x]") || text.starts_with("[X]")
    };
    let new = after.lines().filter(is_ticked).filter(|line| before.lines().all(|old| old != *line));
    let ids = new.filter_map(|line| line.split_once(']')?.1.split_whitespace().next());
    work_on(root, list, &ids.collect::<Vec<_>>());
}

fn add_line(path: &Path, id: &str) {
    let made = path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok());
    if let Some(mut file) =
        fs::File::options().create(true).append(true).open(path).ok().filter(|_| made)
    {
        writeln!(file, "the work of {id}").unwrap();
    }
}
