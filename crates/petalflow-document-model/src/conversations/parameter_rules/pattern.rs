//! Patterns of texts.

use regex::{Error, RegexBuilder};

/// How large a compiled pattern may be, in bytes, and how large one is that costs little.
const MAX_SIZE: usize = 1 << 20;
const SMALL: usize = 1 << 14;

/// What a pattern costs that is not small: about the ratio of the sizes.
const LARGE_COST: u32 = 128;

/// What the parameters of a document may cost together. So a document of repetitions is read in bounded time.
#[derive(Debug)]
pub(crate) struct Budget {
    patterns: u32,
    /// How many unknown keywords are compared with the known ones.
    pub(super) names: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            patterns: 4_096,
            names: crate::conversations::names::MAX_COMPARED,
        }
    }
}

/// Whether a pattern can be used. The error says what is wrong after `has the pattern ..`.
pub(super) fn check(pattern: &str, budget: &mut Budget) -> Result<(), String> {
    match build(pattern, SMALL, 1, budget) {
        Err(Problem::TooLarge) => build(pattern, MAX_SIZE, LARGE_COST, budget),
        built => built,
    }
    .map_err(|problem| match problem {
        Problem::TooLarge => {
            "which is too large: use shorter repetitions, or `maxLength`".to_owned()
        }
        Problem::NoBudget => {
            "but the document has too many large patterns: use shorter repetitions, or `maxLength`"
                .to_owned()
        }
        Problem::Syntax(reason) => format!("which cannot be used: {reason}"),
    })
}

enum Problem {
    TooLarge,
    NoBudget,
    Syntax(String),
}

fn build(pattern: &str, size: usize, cost: u32, budget: &mut Budget) -> Result<(), Problem> {
    let rest = budget.patterns.checked_sub(cost);
    budget.patterns = rest.ok_or(Problem::NoBudget)?;
    let built = RegexBuilder::new(pattern)
        .size_limit(size)
        .dfa_size_limit(size)
        .nest_limit(50)
        .build();
    built.map(drop).map_err(|error| match error {
        Error::CompiledTooBig(_) => Problem::TooLarge,
        // The last line says what is wrong; those before it show where.
        Error::Syntax(text) => {
            let last = text.lines().last().unwrap_or_default();
            Problem::Syntax(last.trim_start_matches("error: ").to_owned())
        }
        other => Problem::Syntax(other.to_string()),
    })
}
