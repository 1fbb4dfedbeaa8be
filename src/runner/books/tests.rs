//! The books on the disk: what stands in them after every step, and after every kind of death.
