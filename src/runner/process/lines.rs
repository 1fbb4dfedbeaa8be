//! Output cut into lines, in bounded memory.

use memchr::memchr;

/// In bytes; the rest of a longer line is skipped.
pub const LONGEST: usize = 8 << 20;
/// Bytes of memory that are kept for the next line's beginning.
const KEPT: usize = 256 << 10;

/// Cuts output into lines, in bounded memory.
#[derive(Debug, Default)]
pub struct LineSplitter {
    begun: Vec<u8>,
    skipping: bool,
}

impl LineSplitter {
    /// Hands on each whole line, without its end.
    pub fn take(&mut self, mut piece: &[u8], line: &mut dyn FnMut(&[u8])) {
        while let Some(end) = memchr(b'\n', piece) {
            let (part, rest) = (&piece[..end], &piece[end + 1..]);
            piece = rest;
            // The usual line comes in one piece, and is not copied.
            if self.begun.is_empty() && !self.skipping && part.len() <= LONGEST {
                line(without_return(part));
                continue;
            }
            self.keep(part, line);
            self.end(line);
        }
        self.keep(piece, line);
    }

    /// Hands on the text behind the last line break, if there is any.
    pub fn finish(&mut self, line: &mut dyn FnMut(&[u8])) {
        if !self.begun.is_empty() {
            self.end(line);
        }
    }

    fn keep(&mut self, part: &[u8], line: &mut dyn FnMut(&[u8])) {
        if self.skipping {
            return;
        }
        let room = LONGEST - self.begun.len();
        self.begun.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() > room {
            line(&self.begun);
            self.forget();
            self.skipping = true;
        }
    }

    fn end(&mut self, line: &mut dyn FnMut(&[u8])) {
        if !self.skipping {
            line(without_return(&self.begun));
        }
        self.forget();
        self.skipping = false;
    }

    fn forget(&mut self) {
        self.begun.clear();
        self.begun.shrink_to(KEPT);
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut seen = Vec::new();
        let mut lines = LineSplitter::default();
        for piece in pieces {
            lines.take(piece, &mut |line| seen.push(line.to_vec()));
        }
        lines.finish(&mut |line| seen.push(line.to_vec()));
        seen
    }

    #[test]
    fn lines_join_across_pieces() {
        let text = b"one\r\n\ntwo\xff\nlast";
        let expected: Vec<&[u8]> = vec![b"one", b"", b"two\xff", b"last"];
        assert_eq!(lines(&[text]), expected);
        for cut in 0..text.len() {
            assert_eq!(lines(&[&text[..cut], &text[cut..]]), expected, "{cut}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines(&bytes), expected);
    }

    #[test]
    fn long_line_comes_cut() {
        let long = vec![b'a'; LONGEST];
        for rest in [&b"b\nnext\n"[..], b"bbb", b"b\nnext"] {
            let seen = lines(&[&long[..1000], &long[1000..], rest]);
            assert_eq!(seen[0].len(), LONGEST);
            assert!(seen[0] == long, "something else than the line's beginning was handed on");
            assert_eq!(seen.len(), if rest.ends_with(b"bbb") { 1 } else { 2 });
            assert!(seen.get(1).is_none_or(|next| next == b"next"));
        }
        assert_eq!(lines(&[&long, b"\n"]), [long]);
    }
}
