//! The memory of all regular expressions of a document.

use crate::expression::Expression;

/// The largest size of the compiled patterns of a document, in bytes.
const MAX_PATTERNS: usize = 32 << 20;

/// Sums up the patterns of the expressions of a document.
#[derive(Default)]
pub(super) struct Patterns(usize);

impl Patterns {
    /// Parses an expression, or says what is wrong with it. After the patterns are too large, nothing is parsed.
    pub(super) fn parse(&mut self, expression: &str) -> Result<Option<Expression>, String> {
        let mut read = None;
        if self.0 <= MAX_PATTERNS {
            let parsed = Expression::parse(expression).map_err(|error| error.to_string())?;
            self.0 += parsed.pattern_bytes();
            read = Some(parsed);
        }
        if self.0 > MAX_PATTERNS {
            return Err(format!(
                "the regular expressions of the document need more than {MAX_PATTERNS} bytes together"
            ));
        }
        Ok(read)
    }
}
