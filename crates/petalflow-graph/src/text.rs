//! Text for constant evaluation, which has no `String`.

use std::fmt;

const CAPACITY: usize = 512;

/// A line of at most 512 bytes. Constant evaluation can build it.
///
/// A longer line is cut at a character boundary.
///
/// ```
/// # use petalflow_graph::Text;
/// const LINE: Text = Text::new("node `").push("audit").push("` is unreachable");
/// assert_eq!(LINE.as_str(), "node `audit` is unreachable");
/// ```
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
    cut: bool,
}

impl Text {
    /// A line with this text.
    pub const fn new(text: &str) -> Self {
        Text {
            bytes: [0; CAPACITY],
            len: 0,
            cut: false,
        }
        .push(text)
    }

    /// The line followed by this text.
    #[must_use]
    pub const fn push(mut self, piece: &str) -> Self {
        let piece = piece.as_bytes();
        // Nothing is appended after a cut, because text after a gap would change the meaning.
        let room = if self.cut { 0 } else { CAPACITY - self.len };
        let mut take = if piece.len() < room {
            piece.len()
        } else {
            room
        };
        // A continuation byte after the cut means that the cut is inside a character.
        while take > 0 && take < piece.len() && piece[take] & 0xc0 == 0x80 {
            take -= 1;
        }
        let mut i = 0;
        while i < take {
            self.bytes[self.len] = piece[i];
            self.len += 1;
            i += 1;
        }
        self.cut = self.cut || take < piece.len();
        self
    }

    /// The line followed by a name in backticks.
    #[must_use]
    pub const fn name(self, name: &str) -> Self {
        self.push("`").push(name).push("`")
    }

    /// The line followed by a number.
    #[must_use]
    pub const fn number(self, mut number: usize) -> Self {
        let mut digits = [b'0'; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            #[expect(clippy::cast_possible_truncation, reason = "a digit is below ten")]
            let digit = (number % 10) as u8;
            digits[at] = b'0' + digit;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        match std::str::from_utf8(digits.split_at(at).1) {
            Ok(digits) => self.push(digits),
            Err(_) => self,
        }
    }

    /// The line.
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => unreachable!(),
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let text = Text::new(&"a".repeat(511)).push("é").push("b");
        assert_eq!(text.as_str(), "a".repeat(511));
        assert_eq!(
            Text::new("n ").number(0).push(" ").number(1070).as_str(),
            "n 0 1070"
        );
    }
}
