//! Regular expressions with limits.

use regex::{Regex, RegexBuilder};

/// The largest size of a compiled pattern, in bytes.
const PATTERN_LIMIT: usize = 1 << 20;

/// Compiles a regular expression of a document. Matching takes time in proportion to the text.
///
/// ```
/// use petalflow_expression::compile;
///
/// assert!(compile("^a+$").is_ok_and(|pattern| pattern.is_match("aaa")));
/// assert!(compile("(").is_err());
/// ```
///
/// # Errors
///
/// In words: the text is not a regular expression, or it needs more than 1 MiB when it is compiled.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .size_limit(PATTERN_LIMIT)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => {
                format!("the pattern needs more than {limit} bytes: use smaller repetitions")
            }
            error => {
                // The message ends with the reason; before it are the pattern and a marker in several lines.
                let text = error.to_string();
                let reason = text.lines().last().unwrap_or_default();
                format!("`{pattern}` is not a regular expression: {reason}")
            }
        })
}
