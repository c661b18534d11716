//! Reasoning that a model writes into the text of its answer, between `<think>` and `</think>`.

use crate::ThinkTags;
use crate::stream::Delta;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Makes thoughts of the reasoning at the start of an answer. Such tags in the rest of it are text.
#[derive(Debug)]
pub(super) struct ThinkTagParser {
    state: State,
    /// The end of what has arrived that may be the start of a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing has arrived but space.
    Start,
    /// In the reasoning, of which nothing has arrived but space.
    Opened,
    Inside,
    /// After the reasoning, of which nothing has arrived but space.
    Closed,
    Text,
}

impl ThinkTagParser {
    pub(super) fn new(tags: ThinkTags) -> Self {
        ThinkTagParser {
            state: match tags {
                ThinkTags::Absent => State::Text,
                ThinkTags::Present => State::Start,
                ThinkTags::OpenedByPrompt => State::Opened,
            },
            held: String::new(),
        }
    }

    pub(super) fn read(&mut self, deltas: Vec<Delta>) -> Vec<Delta> {
        if self.state == State::Text {
            return deltas;
        }
        let mut read = Vec::with_capacity(deltas.len());
        for delta in deltas {
            match delta {
                Delta::Text(text) => self.text(&text, &mut read),
                other => {
                    // A call, for example, ends what was begun before it.
                    read.extend(self.rest());
                    read.push(other);
                }
            }
        }
        read
    }

    /// What is still held: no tag, since nothing follows.
    pub(super) fn rest(&mut self) -> Option<Delta> {
        let held = std::mem::take(&mut self.held);
        let is_space = held.trim().is_empty();
        match self.state {
            State::Inside => (!held.is_empty()).then_some(Delta::Thought(held)),
            State::Opened if !is_space => {
                self.state = State::Inside;
                Some(Delta::Thought(held))
            }
            State::Opened | State::Closed => None,
            State::Start | State::Text => {
                if !is_space {
                    self.state = State::Text;
                }
                (!held.is_empty()).then_some(Delta::Text(held))
            }
        }
    }

    fn text(&mut self, text: &str, read: &mut Vec<Delta>) {
        self.held.push_str(text);
        loop {
            match self.state {
                State::Start => match begins_with(&self.held, OPEN) {
                    Begins::Perhaps => return,
                    Begins::No => self.state = State::Text,
                    Begins::Yes(rest) => {
                        self.held = rest.to_string();
                        self.state = State::Opened;
                    }
                },
                // The model may open it although the prompt has done so.
                State::Opened => match begins_with(&self.held, OPEN) {
                    Begins::Perhaps => return,
                    Begins::No => {
                        self.held = self.held.trim_start().to_string();
                        self.state = State::Inside;
                    }
                    Begins::Yes(rest) => self.held = rest.to_string(),
                },
                State::Inside => {
                    let (thought, rest) = match self.held.split_once(CLOSE) {
                        Some((thought, rest)) => {
                            self.state = State::Closed;
                            (thought, rest)
                        }
                        None => self
                            .held
                            .split_at(self.held.len() - start_at_end(&self.held)),
                    };
                    if !thought.is_empty() {
                        read.push(Delta::Thought(thought.to_string()));
                    }
                    self.held = rest.to_string();
                    if self.state == State::Inside {
                        return;
                    }
                }
                State::Closed => {
                    let rest = self.held.trim_start();
                    if rest.is_empty() {
                        return;
                    }
                    self.held = rest.to_string();
                    self.state = State::Text;
                }
                State::Text => {
                    let held = std::mem::take(&mut self.held);
                    if !held.is_empty() {
                        read.push(Delta::Text(held));
                    }
                    return;
                }
            }
        }
    }
}

enum Begins<'t> {
    /// It does, with this rest.
    Yes(&'t str),
    /// It is too short to tell.
    Perhaps,
    No,
}

/// Whether a text begins with the tag, after space.
fn begins_with<'t>(text: &'t str, tag: &str) -> Begins<'t> {
    let text = text.trim_start();
    match text.strip_prefix(tag) {
        Some(rest) => Begins::Yes(rest),
        None if tag.starts_with(text) => Begins::Perhaps,
        None => Begins::No,
    }
}

/// The length of the end of a text that may be the start of the closing tag.
fn start_at_end(text: &str) -> usize {
    let lengths = (1..CLOSE.len()).rev();
    let mut lengths = lengths.filter(|length| text.ends_with(&CLOSE[..*length]));
    lengths.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thought and the text of an answer that arrives in pieces of this length.
    fn read(tags: ThinkTags, answer: &str, length: usize) -> (String, String) {
        let mut parser = ThinkTagParser::new(tags);
        let letters: Vec<char> = answer.chars().collect();
        let pieces = letters
            .chunks(length)
            .map(|piece| piece.iter().collect::<String>());
        let mut deltas: Vec<Delta> = pieces
            .flat_map(|piece| parser.read(vec![Delta::Text(piece)]))
            .collect();
        deltas.extend(parser.rest());
        let (mut thought, mut text) = (String::new(), String::new());
        for delta in deltas {
            match delta {
                Delta::Thought(piece) => {
                    assert!(text.is_empty(), "the thought comes first");
                    thought.push_str(&piece);
                }
                Delta::Text(piece) => text.push_str(&piece),
                other => panic!("{other:?}"),
            }
        }
        (thought, text)
    }

    #[test]
    fn f44_reasoning_at_the_start_is_a_thought_however_it_is_cut() {
        use ThinkTags::{Absent, OpenedByPrompt, Present};
        for (tags, answer, thought, text) in [
            (
                Present,
                "<think>\nI look.\n</think>\n\nIt is 5.",
                "I look.\n",
                "It is 5.",
            ),
            (Present, "\n <think>a < b </ b</think>5", "a < b </ b", "5"),
            (Present, "<think></think>\n\n5", "", "5"),
            (Present, "<think>never closed", "never closed", ""),
            (Present, "<think>a</thi", "a</thi", ""),
            (
                Present,
                "It is <think>no</think>.",
                "",
                "It is <think>no</think>.",
            ),
            (Present, "<thing>5", "", "<thing>5"),
            (Present, "<thi", "", "<thi"),
            (Present, " ", "", " "),
            (
                Present,
                "<think>a</think>5<think>b</think>",
                "a",
                "5<think>b</think>",
            ),
            (OpenedByPrompt, "I look.\n</think>\n5", "I look.\n", "5"),
            (OpenedByPrompt, "<think>\nI look.</think>5", "I look.", "5"),
            (OpenedByPrompt, "\n</think>5", "", "5"),
            (Absent, "<think>a</think>5", "", "<think>a</think>5"),
        ] {
            for length in 1..=answer.len() {
                let expected = (thought.to_string(), text.to_string());
                assert_eq!(read(tags, answer, length), expected, "{answer} by {length}");
            }
        }
    }

    #[test]
    fn f44_other_content_ends_the_start_of_a_tag() {
        let call = || Delta::Call {
            index: 0,
            id: None,
            name: Some("look".into()),
            arguments: String::new(),
        };
        let text = |text: &str| Delta::Text(text.into());
        let mut parser = ThinkTagParser::new(ThinkTags::Present);
        assert_eq!(
            parser.read(vec![text("<thi"), call()]),
            [text("<thi"), call()]
        );
        assert_eq!(parser.read(vec![text("<think>")]), [text("<think>")]);
        let mut parser = ThinkTagParser::new(ThinkTags::Present);
        let read = parser.read(vec![text("<think>a</"), call(), text("b</think>c")]);
        let thought = |text: &str| Delta::Thought(text.into());
        assert_eq!(
            read,
            [thought("a"), thought("</"), call(), thought("b"), text("c")]
        );
    }
}
