//! A JSON string that arrives letter by letter.

/// The text between two quotes, as far as it has arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct JsonText {
    text: String,
    escape: Escape,
    /// The first half of a letter that is written in two.
    high: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Escape {
    #[default]
    None,
    /// After `\`.
    Begun,
    /// After `\u`: the digits, and how many there are.
    Code(u32, u8),
}

/// Whether a letter has ended the text.
pub(super) enum TextEnd {
    Open,
    Closed,
}

impl JsonText {
    /// What has arrived, without an escape that is not complete.
    pub(super) fn so_far(&self) -> &str {
        &self.text
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Adds a letter.
    pub(super) fn push(&mut self, letter: char) -> TextEnd {
        match std::mem::take(&mut self.escape) {
            Escape::None if letter == '\\' => self.escape = Escape::Begun,
            Escape::None if letter == '"' => {
                self.end_half();
                return TextEnd::Closed;
            }
            Escape::None => self.add(letter),
            Escape::Begun if letter == 'u' => self.escape = Escape::Code(0, 0),
            Escape::Begun => self.add(match letter {
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            }),
            Escape::Code(code, digits) => {
                let code = code * 16 + letter.to_digit(16).unwrap_or(0);
                if digits == 3 {
                    self.add_code(code);
                } else {
                    self.escape = Escape::Code(code, digits + 1);
                }
            }
        }
        TextEnd::Open
    }

    fn add(&mut self, letter: char) {
        self.end_half();
        self.text.push(letter);
    }

    fn add_code(&mut self, code: u32) {
        match (self.high.take(), code) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let both = 0x1_0000 + ((high - 0xD800) << 10) + (code - 0xDC00);
                self.text.extend(char::from_u32(both));
            }
            (before, 0xD800..=0xDBFF) => {
                self.high = before;
                self.end_half();
                self.high = Some(code);
            }
            (before, _) => {
                self.high = before;
                self.add(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }

    /// A half without its other half is no letter.
    fn end_half(&mut self) {
        if self.high.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
