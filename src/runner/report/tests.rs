//! The report: what it says of loops that live, are dead, and have ended.
