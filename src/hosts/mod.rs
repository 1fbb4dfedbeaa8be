//! The agents that start the hook, a room each: what they say, what they read, where they write down what was said.

pub mod claude;
