//! What a person sees: the lines of a loop, the live line, the terminal's title.
