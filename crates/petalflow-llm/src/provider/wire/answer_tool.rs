//! The tool whose arguments are the answer: its call is read as the text of the answer.

use serde_json::Value;

use super::response_data::ResponseData;
use crate::stream::Delta;

/// The call of the tool, as far as it has arrived.
#[derive(Debug)]
pub(super) struct AnswerTool {
    name: String,
    /// The index of its first call.
    index: Option<usize>,
    arguments: String,
    /// The number of calls of other tools.
    others: usize,
    /// Whether the last content was its call. The signature of a call is not that of a text.
    is_last: bool,
}

impl AnswerTool {
    pub(super) fn new(name: String) -> Self {
        AnswerTool {
            name,
            index: None,
            arguments: String::new(),
            others: 0,
            is_last: false,
        }
    }

    /// The content with the call as text.
    pub(super) fn read(&mut self, deltas: Vec<Delta>) -> Vec<Delta> {
        deltas
            .into_iter()
            .filter_map(|delta| self.one(delta))
            .collect()
    }

    fn one(&mut self, delta: Delta) -> Option<Delta> {
        match delta {
            Delta::Call {
                index,
                id,
                name,
                arguments,
            } => {
                if self.index.is_none() && name.as_ref() == Some(&self.name) {
                    self.index = Some(index);
                }
                self.is_last = self.index == Some(index);
                if self.is_last {
                    self.arguments.push_str(&arguments);
                    return (!arguments.is_empty()).then_some(Delta::Text(arguments));
                }
                // The calls after it move up.
                let index = index - usize::from(self.index.is_some_and(|own| own < index));
                self.others = self.others.max(index + 1);
                Some(Delta::Call {
                    index,
                    id,
                    name,
                    arguments,
                })
            }
            Delta::Signature(_) | Delta::Origin { index: None, .. } if self.is_last => None,
            Delta::Origin {
                index: Some(index),
                origin,
            } => match self.index {
                Some(own) if own == index => None,
                own => {
                    let before = own.is_some_and(|own| own < index);
                    let index = Some(index - usize::from(before));
                    Some(Delta::Origin { index, origin })
                }
            },
            other => {
                self.is_last = false;
                Some(other)
            }
        }
    }

    /// The answer. It ends the response unless other tools are called too.
    pub(super) fn finish(&self, data: &mut ResponseData) -> Option<Value> {
        self.index?;
        if self.others == 0 {
            data.calls_are_the_answer();
        }
        let answer = serde_json::from_str(&self.arguments);
        answer.ok().filter(Value::is_object)
    }
}
