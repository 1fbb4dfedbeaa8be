//! Examples changed at random: by bytes, lines, numbers and words, and put together from two.

/// Numbers that follow from a seed.
pub struct Dice(u64);

/// What is put in: signs that mean something in JSON, YAML and Markdown, and what often goes wrong.
const WORDS: [&[u8]; 48] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"-",
    b"- ",
    b"---\n",
    b"#",
    b"|",
    b">",
    b"&a",
    b"*a",
    b"!",
    b"%",
    b"?",
    b"`",
    b"```\n",
    b"~~~\n",
    b"- [ ] ",
    b"- [x] ",
    b"T001 ",
    b"null",
    b"true",
    b"false",
    b"0",
    b"-1",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e999",
    b"\"\"",
    b"\\ud83d",
    b"\\u0000",
    b"\0",
    b"\x1b[2J",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"!",
];

impl Dice {
    /// Dice that show the same after the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }

    /// An example with a few changes.
    pub fn change(&mut self, examples: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = examples[self.below(examples.len())].clone();
        // A long one is cut to some of its lines: each change then has a better chance to matter.
        if bytes.len() > 4_096 {
            let start = self.below(bytes.len());
            let end = (start + 4_096).min(bytes.len());
            bytes = bytes[start..end].to_vec();
        }
        for _ in 0..=self.below(4) {
            self.change_once(&mut bytes, examples);
        }
        bytes
    }

    fn change_once(&mut self, bytes: &mut Vec<u8>, examples: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        match self.below(8) {
            0 => drop(bytes.splice(at..(at + 1 + self.below(8)).min(bytes.len()), [])),
            1 => drop(bytes.splice(at..at, WORDS[self.below(WORDS.len())].iter().copied())),
            2 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            3 => {
                let end = (at + self.below(8)).min(bytes.len());
                drop(bytes.splice(at..end, WORDS[self.below(WORDS.len())].iter().copied()));
            }
            4 => bytes.truncate(at),
            5 => self.put_in_a_piece(bytes, at, examples),
            _ => self.change_lines(bytes),
        }
    }

    /// Puts a piece of another example in, once or many times.
    fn put_in_a_piece(&mut self, bytes: &mut Vec<u8>, at: usize, examples: &[Vec<u8>]) {
        let other = &examples[self.below(examples.len())];
        let start = self.below(other.len() + 1);
        let end = (start + self.below(64)).min(other.len());
        let times = if self.below(8) == 0 { 50 } else { 1 };
        bytes.splice(at..at, other[start..end].repeat(times));
    }

    fn change_lines(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> =
            bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(4) {
            0 => drop(lines.remove(one)),
            1 => lines.insert(other, lines[one].clone()),
            2 => lines.swap(one, other),
            _ => {
                let indent = vec![b' '; self.below(6)];
                let blanks = lines[one].iter().take_while(|byte| **byte == b' ').count();
                lines[one].splice(..blanks, indent);
            }
        }
        *bytes = lines.join(&b'\n');
    }
}
