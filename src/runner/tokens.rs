//! Tokens of an iteration: `wt-usage` where it is there, else the agent's own report, else an estimate (spec 001).
