//! The real Claude Code, driven end to end.

#![allow(clippy::disallowed_methods, reason = "a test is its own door to the environment")]

mod adopting;
mod alive;
mod arming;
mod band;
mod cancelling;
mod checkout;
mod continuing;
mod converge;
mod coordinator;
mod evidence;
mod headless;
#[path = "../it/support/hostile_words.rs"]
mod hostile_words;
#[path = "../it/support/left_out.rs"]
mod left_out;
mod long_sessions;
mod neighbours;
#[path = "../it/support/once.rs"]
mod once;
mod packaging;
mod pausing;
mod ralph;
#[path = "../release/server.rs"]
mod release_server;
mod released;
mod reviewed;
mod safety;
mod screen;
mod scripted_model;
mod spec_kit;
mod support;
mod the_loop;
mod tier;
mod trouble;
mod tutorial;
mod user_commands;
mod workshop;
