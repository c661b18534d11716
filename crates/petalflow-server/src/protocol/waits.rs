//! What a turn waits for, in the form that A2A and AG-UI share: a text, data, and the JSON Schema of the answer.

use petalflow_agent::Pending;
use serde_json::{Map, Value, json};

use super::requests::Begins;
use super::turn::{PersonAnswer, TurnInput};
use crate::call_decision::CallDecision;
use crate::refusal::Refusal;
use crate::served::{AnswerBody, OpenQuestion, field};
pub(crate) use crate::served::{Wait, WaitKind};

/// The answers of one request.
pub(crate) enum Answers {
    /// To what the conversation waits for.
    Turn(Vec<PersonAnswer>),
    /// To a question of the flow.
    Question { id: String, body: AnswerBody },
}

impl Answers {
    /// What a request with these answers does: the input of a turn, or the answer to a question, which has no input.
    pub(crate) fn with_input(self, input: TurnInput) -> Begins {
        match self {
            Answers::Turn(answers) => Begins::Input(TurnInput { answers, ..input }),
            Answers::Question { id, body } => Begins::Answer { id, body },
        }
    }
}

/// The answer to one thing.
pub(crate) enum Answered {
    Person(PersonAnswer),
    Question { id: String, body: AnswerBody },
}

/// Everything that a turn waits for, in the order of the requests.
pub(crate) fn all<'a>(
    pending: impl IntoIterator<Item = &'a Pending>,
    questions: &[OpenQuestion],
) -> Vec<Wait> {
    let pending = pending.into_iter().filter_map(Wait::of_pending);
    pending.chain(questions.iter().map(Wait::from)).collect()
}

impl Wait {
    /// Reads an answer. `Err` says what is wrong with it, and changes nothing.
    pub(crate) fn read(&self, answer: Value) -> Result<Answered, Refusal> {
        let id = self.id.clone();
        Ok(match self.kind {
            WaitKind::Confirmation => {
                Answered::Person(PersonAnswer::Decision(decision(id, answer)?))
            }
            WaitKind::Credential => Answered::Person(PersonAnswer::Credential {
                id,
                credential: field(answer, "credential"),
            }),
            WaitKind::Result => Answered::Person(PersonAnswer::Result {
                id,
                content: field(answer, "result"),
            }),
            WaitKind::Question | WaitKind::Approval => {
                let body = AnswerBody::of(match answer {
                    Value::Bool(approved) if self.kind == WaitKind::Approval => {
                        json!({ "approved": approved })
                    }
                    answer => answer,
                });
                Answered::Question { id, body }
            }
        })
    }

    /// The answer in a text: `yes` or `no` where a person decides, and the text itself as an answer to a question. `None`
    /// if the text is not clear.
    pub(crate) fn in_text(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        match self.kind {
            WaitKind::Confirmation | WaitKind::Approval => {
                let word = text.trim_end_matches(['.', '!']).to_lowercase();
                match &*word {
                    "yes" | "approve" | "approved" | "confirm" => Some(true.into()),
                    "no" | "reject" | "rejected" | "refuse" => Some(false.into()),
                    _ => None,
                }
                .map(|approve: Value| match self.kind {
                    WaitKind::Confirmation => json!({ "approve": approve }),
                    _ => approve,
                })
            }
            WaitKind::Question => Some(text.into()),
            WaitKind::Credential | WaitKind::Result => None,
        }
    }
}

/// A decision must say clearly whether the call is made.
fn decision(id: String, answer: Value) -> Result<CallDecision, Refusal> {
    let mut fields = match answer {
        Value::Object(fields) => fields,
        other => Map::from_iter([("approve".to_string(), other)]),
    };
    fields.insert("id".into(), id.clone().into());
    serde_json::from_value(fields.into()).map_err(|error| {
        unfit(format!(
            "the answer to `{id}` is no decision: {error}; send an object with `approve`: `true` or `false`"
        ))
    })
}

/// A request that does not fit what the thread waits for.
pub(crate) fn unfit(text: impl Into<String>) -> Refusal {
    Refusal::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, text)
}

/// A request that does not fit what the thread does now: another caller may have been faster.
#[cfg(feature = "ag-ui")]
pub(crate) fn conflict(text: impl Into<String>) -> Refusal {
    Refusal::new(axum::http::StatusCode::CONFLICT, text)
}

/// All answers of a request. A question of a flow is answered alone.
pub(crate) fn together(answers: Vec<Answered>) -> Result<Answers, Refusal> {
    let count = answers.len();
    let mut persons = Vec::new();
    for answer in answers {
        match answer {
            Answered::Person(answer) => persons.push(answer),
            Answered::Question { id, body } if count == 1 => {
                return Ok(Answers::Question { id, body });
            }
            Answered::Question { .. } => {
                return Err(unfit(
                    "a question of a flow is answered alone: send one answer, and the others after it",
                ));
            }
        }
    }
    Ok(Answers::Turn(persons))
}

#[cfg(test)]
mod tests {
    use petalflow::tool::ToolCall;

    use super::*;

    fn confirmation() -> Wait {
        let call = ToolCall {
            id: "c".into(),
            name: "wipe".into(),
            ..ToolCall::default()
        };
        let (id, hint) = ("q".to_string(), String::new());
        Wait::of_pending(&Pending::Confirmation { id, call, hint }).expect("it has an id")
    }

    fn approves(answer: Value) -> Option<bool> {
        match confirmation().read(answer).ok()? {
            Answered::Person(PersonAnswer::Decision(decision)) => Some(decision.approve),
            _ => None,
        }
    }

    #[test]
    fn only_a_clear_decision_is_one() {
        assert_eq!(approves(json!({ "approve": true })), Some(true));
        assert_eq!(approves(json!(false)), Some(false));
        for unclear in [
            json!({}),
            json!("yes"),
            json!({ "approve": 1 }),
            json!({ "aprove": true }),
        ] {
            assert_eq!(approves(unclear), None);
        }
        let text = |text| confirmation().in_text(text);
        assert_eq!(text(" Yes. "), Some(json!({ "approve": true })));
        assert_eq!(text("no"), Some(json!({ "approve": false })));
        assert_eq!(text("yes, but not today"), None);
    }
}
