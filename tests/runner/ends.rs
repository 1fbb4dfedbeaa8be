//! Each end: its status in the state file, its line on the screen, its exit code.
