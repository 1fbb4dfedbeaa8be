//! When a test with a real agent program is played: in the gate and by night, or by night alone.

/// Makes a test of an expression. The gate and the night play a `gate` test; only the night plays a `night` test, because
/// `scripts/nightly` includes the tests that are ignored.
macro_rules! play {
    (gate $test:ident $play:expr) => {
        #[test]
        fn $test() {
            $play;
        }
    };
    (night $test:ident $play:expr) => {
        #[test]
        #[ignore = "nightly"]
        fn $test() {
            $play;
        }
    };
}
pub(crate) use play;
