//! What a text has to say: a test that fails shows all of the text.

/// A text that is looked through for words.
pub trait Has {
    /// Fails unless the text has these words.
    fn has(&self, words: &str) -> &Self;

    /// Fails unless the text has all of these words.
    fn has_all(&self, words: &[&str]) -> &Self;
}

impl Has for str {
    #[track_caller]
    fn has(&self, words: &str) -> &Self {
        assert!(self.contains(words), "`{words}` is missing in:\n{self}");
        self
    }

    #[track_caller]
    fn has_all(&self, words: &[&str]) -> &Self {
        for words in words {
            self.has(words);
        }
        self
    }
}
