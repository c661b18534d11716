//! The versions of Anthropic's models.

/// The version in the name of a model, such as 4.6 in `claude-sonnet-4-6`. 0.0 if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ModelVersion(u32, u32);

impl ModelVersion {
    pub(super) fn of(model: &str) -> Self {
        let claude = model.find("claude").map_or("", |start| &model[start..]);
        // A longer number is a date.
        let number = |part: &str| part.parse().ok().filter(|_| part.len() <= 2);
        let mut parts = claude
            .split(['-', '.', '@'])
            .skip_while(|part| number(part).is_none());
        let major = parts.next().and_then(number).unwrap_or(0);
        ModelVersion(major, parts.next().and_then(number).unwrap_or(0))
    }

    /// Whether the model takes the set of tools for a computer.
    pub(super) fn has_computer(self) -> bool {
        self >= ModelVersion(4, 8)
    }

    /// The maximum number of tokens in a response, which must be in the request.
    pub(super) fn max_tokens(self) -> u32 {
        match self {
            ModelVersion(3, 7) => 64_000,
            ModelVersion(0, _) | ModelVersion(3, 5) => 8_192,
            ModelVersion(..=3, _) => 4_096,
            version if version < ModelVersion(4, 5) => 32_000,
            _ => 64_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        for (model, version) in [
            ("claude-sonnet-4-6", (4, 6)),
            ("claude-opus-4-20250514", (4, 0)),
            ("claude-opus-4-5-20251101", (4, 5)),
            ("claude-3-5-sonnet-latest", (3, 5)),
            ("claude-3-haiku-20240307", (3, 0)),
            ("anthropic/claude-sonnet-4.5", (4, 5)),
            ("claude-haiku-5", (5, 0)),
            ("MiniMax-M2", (0, 0)),
        ] {
            assert_eq!(
                ModelVersion::of(model),
                ModelVersion(version.0, version.1),
                "{model}"
            );
        }
    }
}
