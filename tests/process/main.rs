//! One run of an agent program, with real processes: its limits, its output, its end, and that nothing
//! of its tree is left.

mod cost;
mod driver;
mod end;
mod hearing;
mod keeper;
mod limits;
mod output;
mod start;
mod support;
