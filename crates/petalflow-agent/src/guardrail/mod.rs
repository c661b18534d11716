//! Guardrails: checks of what the user says, of what the model answers, and of the calls of tools.
//!
//! A [`Guardrail`] has a name, and returns a [`Verdict`]: the content passes, is rewritten, or is blocked with a message;
//! or the run fails. [`Agent::guardrail`](crate::Agent::guardrail) adds it for an agent and all agents below it.
//! Guardrails that need one check only are made of a closure, by [`on_input`], [`on_output`] and [`on_tool_call`]:
//!
//! ```
//! use petalflow_agent::Agent;
//! use petalflow_agent::guardrail::{self, Verdict};
//! # use petalflow_llm::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! # let model = ScriptedModel::new(["never asked"]);
//! let no_cards = guardrail::on_input("no card numbers", |message| async move {
//!     let digits = message.text().chars().filter(char::is_ascii_digit).count();
//!     Ok(if digits < 13 { Verdict::Pass } else { Verdict::block("Please do not send card numbers.") })
//! });
//! let talk = Agent::new(model).guardrail(no_cards).run("Mine is 4000 1234 5678 9010.").await?;
//! assert_eq!(talk.answer(), "Please do not send card numbers.");
//! assert_eq!(talk.events[1].guardrails[0].guardrail, "no card numbers");
//! # Ok(())
//! # }
//! ```
//!
//! | check | content | blocked |
//! | --- | --- | --- |
//! | input | the message that begins a turn, also that of an agent that was called | the message is the answer of the turn; no model reads the turn later |
//! | output | each answer of the model that has text, or that it gives with a tool for structured answers, and the result of a task: its text, or its JSON if the agent has an [output type](crate::Agent::output) | the message replaces the answer and its calls, and ends the turn, or the task with it as the result |
//! | tool call | each call, with its arguments | the call is not made, and the model reads the message as its error |
//!
//! The checks of an input run before the model is asked, one after the other. A guardrail that
//! [runs beside the model](Guardrail::runs_beside_model) saves this time: its check of the input runs while the model
//! answers, and a verdict that is not [`Verdict::Pass`] drops the request and closes its connection. Its check of the
//! output also gets the text so far of a streamed answer. Without such guardrails, the pieces of an answer that has checks
//! reach no listener before the whole answer was checked.
//!
//! An error of a check ends the run: what cannot be checked does not pass.

mod check;
mod closure;
mod verdict;

pub use crate::guardrail_event::{GuardrailAction, GuardrailEvent, GuardrailStage};
pub use check::{Guardrail, GuardrailContext};
pub use closure::{ClosureGuardrail, on_input, on_output, on_tool_call};
pub use verdict::Verdict;
