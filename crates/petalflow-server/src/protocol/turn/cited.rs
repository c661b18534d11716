//! The sources that a message cites, for protocols that count in characters of the whole message.

use std::ops::Range;

use petalflow_llm::native::Source;
use petalflow_llm::{ChatMessage, Part};
use serde::Serialize;

/// A passage of a message, and the source that it cites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CitedPassage {
    /// The characters in the text of the message.
    #[serde(flatten)]
    pub(crate) characters: Range<usize>,
    pub(crate) source: Source,
}

impl CitedPassage {
    /// All of a message.
    pub(super) fn all(message: &ChatMessage) -> Vec<Self> {
        let mut cited = Vec::new();
        // The characters before the last text, and the last text.
        let (mut before, mut last) = (0, "");
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    before += last.chars().count();
                    last = &text.text;
                }
                Part::Citation(citation) => {
                    let range = citation.range.clone().unwrap_or(0..last.len());
                    let characters = |end: usize| {
                        let text = last.get(..end).unwrap_or(last);
                        before + text.chars().count()
                    };
                    cited.push(CitedPassage {
                        characters: characters(range.start)..characters(range.end),
                        source: citation.source.clone(),
                    });
                }
                _ => {}
            }
        }
        cited
    }
}

#[cfg(test)]
mod tests {
    use petalflow_llm::Role;
    use petalflow_llm::native::Citation;

    use super::*;

    #[test]
    fn f44_5_passages_count_in_characters_of_the_message() {
        let source = Source::Web {
            url: "https://a.example".into(),
            title: None,
        };
        let cited = |range| {
            Part::Citation(Citation {
                range,
                ..Citation::of(source.clone())
            })
        };
        let parts = vec![
            Part::text("äö"),
            Part::text("über"),
            cited(Some(0..2)),
            cited(None),
            cited(Some(1..90)),
        ];
        let found = CitedPassage::all(&ChatMessage::new(Role::Assistant, parts));
        let ranges: Vec<_> = found.iter().map(|found| found.characters.clone()).collect();
        // A range that is not one of the text is never a reason to fail.
        assert_eq!(ranges, [2..3, 2..6, 6..6]);
    }
}
