//! The loop: gather, ask `decide`, carry out.
