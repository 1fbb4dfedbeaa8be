//! Where the systems differ: files, folders, names, standard input, processes, signals, terminals. Nothing above knows on
//! which system it runs, but for `src/exec`, which runs programs, and `src/runner/process`.

mod unix;

pub use unix::*;
