//! What counts as work in a project, held against git itself.

mod ignored;
mod support;
mod tree;
