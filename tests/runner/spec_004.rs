//! Spec 004 (`spool ralph`): its scenarios by their names.
