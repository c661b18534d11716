//! The versions of Anthropic's models.

/// The version in the name of a model, such as 4.6 in `claude-sonnet-4-6`. 0.0 if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ModelVersion(u32, u32);

/// The tool for a computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComputerTool {
    /// The set of tools.
    Set,
    /// One tool, with its version and the value of the header `anthropic-beta`.
    Single {
        version: &'static str,
        beta: &'static str,
    },
}

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

    /// The tool for a computer that a model takes. `None` if it takes none.
    pub(super) fn computer_of(model: &str) -> Option<ComputerTool> {
        let (version, beta) = match ModelVersion::of(model) {
            version if version >= ModelVersion(4, 8) => return Some(ComputerTool::Set),
            ModelVersion(4, 6 | 7) => ("computer_20251124", "computer-use-2025-11-24"),
            ModelVersion(4, 5) if model.contains("opus") => {
                ("computer_20251124", "computer-use-2025-11-24")
            }
            ModelVersion(4, 0..=5) | ModelVersion(3, 7) => {
                ("computer_20250124", "computer-use-2025-01-24")
            }
            ModelVersion(3, 5) if model.contains("sonnet") && !model.contains("20240620") => {
                ("computer_20241022", "computer-use-2024-10-22")
            }
            _ => return None,
        };
        Some(ComputerTool::Single { version, beta })
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
    fn f44_5_each_model_has_its_tool_for_a_computer() {
        for (model, expected) in [
            ("claude-3-5-sonnet-20240620", None),
            ("claude-3-5-haiku-20241022", None),
            ("claude-3-haiku-20240307", None),
            ("claude-3-5-sonnet-20241022", Some("computer_20241022")),
            ("claude-3-7-sonnet-latest", Some("computer_20250124")),
            ("claude-opus-4-20250514", Some("computer_20250124")),
            ("claude-sonnet-4-5-20250929", Some("computer_20250124")),
            ("claude-haiku-4-5", Some("computer_20250124")),
            ("claude-opus-4-5-20251101", Some("computer_20251124")),
            ("claude-sonnet-4-6", Some("computer_20251124")),
            ("claude-opus-4-8", Some("set")),
            ("claude-haiku-5", Some("set")),
            ("MiniMax-M2", None),
        ] {
            let tool = ModelVersion::computer_of(model).map(|tool| match tool {
                ComputerTool::Set => "set",
                ComputerTool::Single { version, .. } => version,
            });
            assert_eq!(tool, expected, "{model}");
        }
    }

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
