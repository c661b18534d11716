//! Evaluations of agents: cases, scorers and a report.
//!
//! A [`Case`] has the messages of a user, and what is expected of the agent: an answer, or calls of tools. An
//! [`Evaluation`] runs each case, scores its turns with its [`Scorer`]s, and makes a [`Report`]. It is an ordinary future,
//! so it runs in a `#[test]` and in a program:
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow_agent::Agent;
//! use petalflow_eval::{Case, Evaluation, scorer};
//! # use petalflow_llm::{Reply, ScriptedModel};
//! use serde_json::json;
//!
//! /// The weather in a city.
//! #[tool]
//! fn weather(city: String) -> String {
//!     format!("{city}: sunny")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let case = Case::new("kyoto").turn("What shall I wear in Kyoto?", |turn| {
//!     turn.output("sunglasses").call("weather", json!({ "city": "Kyoto" }))
//! });
//! let report = Evaluation::new([case])
//!     .scorer(scorer::contains())
//!     .scorer(scorer::calls_in_order())
//!     .run(|_| {
//!         # let model = ScriptedModel::new([Reply::call("weather", json!({ "city": "Kyoto" })), "Take your sunglasses.".into()]);
//!         // In your program: the model of a cassette, see `CaseRun::cassette`.
//!         Ok(Agent::new(model).tool(weather {}))
//!     })
//!     .await;
//! report.assert_passed();
//! # Ok(())
//! # }
//! ```
//!
//! Cases are also read from files: [`cases_from_json`], `cases_from_yaml` (feature `yaml`), and ADK's eval sets
//! ([`cases_from_adk`]).
//!
//! With [`CaseRun::cassette`] the answers of the model are recorded at the first run and replayed later, so a test needs
//! no key and always has the same result. A [`Report`] is displayed as a table, and has the forms
//! [JSON](Report::to_json) and [`JUnit`](Report::to_junit).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod adk;
mod case;
mod error;
mod evaluation;
mod files;
mod junit;
mod report;
pub mod scorer;
mod table;
mod turn;

pub use adk::cases_from_adk;
pub use case::{Case, CaseTurn, ExpectedCall};
pub use error::EvalError;
pub use evaluation::{CaseRun, Evaluation};
pub use files::cases_from_json;
#[cfg(feature = "yaml")]
#[cfg_attr(docsrs, doc(cfg(feature = "yaml")))]
pub use files::cases_from_yaml;
pub use report::{CaseReport, Report, ScorerReport, TurnScore};
pub use scorer::{Score, Scorer};
pub use turn::Turn;
