//! Compaction: what a model reads of a long conversation.
//!
//! A [`Compactor`] decides when the messages of an agent are too many, which of them stay, and what replaces the others.
//! The policies are [`LastMessages`], [`TokenWindow`], [`Summary`], [`Replaced`] (a function of your own), and your own
//! types:
//!
//! ```
//! use petalflow_agent::Agent;
//! use petalflow_agent::compaction::{LastMessages, Summary};
//! # use petalflow_llm::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! # let (model, small) = (ScriptedModel::from_fn(|r| r.messages.len().to_string()), ScriptedModel::from_fn(|_| "They counted."));
//! let agent = Agent::new(model).compaction(Summary::new(small, LastMessages::new(4)));
//! let mut talk = agent.run("1").await?;
//! for number in 2..100 {
//!     talk = agent.run(talk.next_input(number.to_string())).await?;
//!     assert!(talk.answer().parse::<usize>()? <= 4);
//! }
//! assert_eq!(talk.events.len(), 198, "the conversation has all messages");
//! # Ok(())
//! # }
//! ```
//!
//! The conversation keeps all events: only the messages that the model reads are cut. With
//! [`Agent::remove_cut_events`](crate::Agent::remove_cut_events), events that no model reads any more stay in the
//! checkpoints only. A call and its result stay
//! together. The instructions and the tools are not part of the messages, and always stay. So does the last request, even
//! if many calls come after it. A result that comes after its call was cut brings the call back.
//!
//! A compaction is a step of its own. Its result is stored before the model is asked, and is not computed again when a
//! thread resumes.

mod compactor;
mod event;
mod replaced;
mod stored;
mod summary;
mod windows;

pub(crate) use compactor::Requests;
pub use compactor::{CompactionContext, Compactor, ContextSize};
pub use event::CompactionEvent;
pub use replaced::Replaced;
pub use stored::StoredEvents;
pub use summary::Summary;
pub use windows::{LastMessages, TokenWindow};
