//! When a test with the real agent programs is played: in the gate, or by night with all that is left out there.

/// Makes a test of an expression: `gate` is played in the gate too, `night` by `scripts/nightly` alone, which includes what is
/// ignored.
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
