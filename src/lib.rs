//! One engine that decides whether a loop goes on, and the drivers that ask it.
