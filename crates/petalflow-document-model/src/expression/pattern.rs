//! Regular expressions with limits.

use regex::{Regex, RegexBuilder};

use crate::expression::error::shown;

/// The largest size of a compiled pattern, in bytes.
const PATTERN_LIMIT: usize = 1 << 20;

/// The largest size of the compiled patterns of one expression, in bytes.
pub(crate) const PATTERN_BUDGET: usize = 4 << 20;

/// Compiles a regular expression of a document. Matching takes time in proportion to the text.
///
/// ```
/// use petalflow_document_model::expression::compile;
///
/// assert!(compile("^a+$").is_ok_and(|pattern| pattern.is_match("aaa")));
/// assert!(compile("(").is_err());
/// ```
///
/// # Errors
///
/// In words: the text is not a regular expression, or it needs more than 1 MiB when it is compiled.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    compile_with_limit(pattern, PATTERN_LIMIT).map_err(|error| problem(pattern, error))
}

/// Compiles a regular expression, and takes the memory that it needs from a budget.
pub(crate) fn compile_within(pattern: &str, budget: &mut usize) -> Result<Regex, String> {
    // `regex` does not report the size of a pattern, so increasing limits are tried.
    for size in [1 << 14, 1 << 16, 1 << 18, PATTERN_LIMIT] {
        if size > *budget {
            return Err(format!(
                "the regular expressions of the expression need more than {PATTERN_BUDGET} bytes together"
            ));
        }
        match compile_with_limit(pattern, size) {
            Err(regex::Error::CompiledTooBig(_)) if size < PATTERN_LIMIT => {}
            compiled => {
                *budget -= size;
                return compiled.map_err(|error| problem(pattern, error));
            }
        }
    }
    unreachable!("the last size is the limit of a pattern")
}

fn compile_with_limit(pattern: &str, size: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(size).build()
}

/// An error in words.
fn problem(pattern: &str, error: regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("the pattern needs more than {limit} bytes: use smaller repetitions")
        }
        error => {
            // The message ends with the reason; before it are the pattern and a marker in several lines.
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default();
            format!("`{}` is not a regular expression: {reason}", shown(pattern))
        }
    }
}
