//! What is different on Windows.

mod files;
mod person;
mod runner;
