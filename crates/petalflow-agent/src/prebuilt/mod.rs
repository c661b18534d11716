//! Flows that many programs need, written as a user would write them: with `#[state]`, `#[node]` and `flow!`. Use
//! them unchanged, or copy the file and change it.
//!
//! | flow | what it does |
//! | --- | --- |
//! | [`ThinkAndAct`] | a model thinks and calls tools until it has an answer (`ReAct`) |
//! | [`Supervise`] | a model gives work to the members of a team, one after the other |
//! | [`Reflect`] | a draft is criticized and revised until the critic accepts it |
//! | [`AskExpert`] | a model selects the expert who answers |
//! | [`ReadDocuments`] | each document is read by itself, in parallel, and the findings are combined |
//!
//! All use the run's managed [`Model`](petalflow_llm::nodes::Model). Each is a flow like any other: it runs on
//! threads, sends events (with the [decisions](DecisionEvent) of its model), and can be a node of another flow.

mod decide;
mod decision_event;
mod experts;
mod map_reduce;
mod react;
mod reflection;
mod supervisor;
mod team;

pub use decision_event::DecisionEvent;
pub use experts::{AskExpert, Choice, Inquiry, InquiryInput};
pub use map_reduce::{ReadDocuments, Reading, ReadingInput};
pub use react::{ReAct, ReActInput, ThinkAndAct};
pub use reflection::{Reflect, Reflection, ReflectionInput};
pub use supervisor::{Note, Project, ProjectInput, Supervise};
pub use team::Team;
