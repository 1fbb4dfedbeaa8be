//! What a person asks of a running loop from another terminal: stop, pause, resume.
