//! Evidence of work, gathered without starting a program: commits, files, and the task list.

pub(crate) mod comments;
pub(crate) mod commits;
pub mod contents;
mod differences;
pub(crate) mod entries;
pub mod grown;
pub mod ignored;
pub(crate) mod index;
pub(crate) mod pattern;
pub(crate) mod progress;
pub(crate) mod task_list;
pub mod tree;
pub(crate) mod work_trees;
