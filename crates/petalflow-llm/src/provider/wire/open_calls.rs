//! The calls of a response whose arguments arrive in pieces.

/// How much of a JSON object has arrived.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    has_begun: bool,
    depth: usize,
    in_text: bool,
    is_escaped: bool,
}

impl Arguments {
    pub(super) fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            if self.is_escaped {
                self.is_escaped = false;
                continue;
            }
            match byte {
                b'\\' if self.in_text => self.is_escaped = true,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.has_begun |= !byte.is_ascii_whitespace();
        }
    }

    /// Whether nothing has arrived.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_begun
    }

    /// Whether nothing can follow.
    pub(super) fn is_whole(&self) -> bool {
        self.has_begun && self.depth == 0 && !self.in_text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_whole_at_the_last_bracket() {
        let mut arguments = Arguments::default();
        for piece in [" ", "{\"a\": ", "\"}\\\"}", "\", \"b\": [{}", "]"] {
            arguments.push(piece);
            assert!(!arguments.is_whole(), "{piece}");
        }
        arguments.push("}");
        assert!(arguments.is_whole());
        assert!(!arguments.is_empty());
        assert!(Arguments::default().is_empty());
    }
}
