//! Human in the loop: questions that a run waits for, and their answers.
//!
//! A node calls [`Context::ask`](crate::Context::ask) with a type that derives [`Ask`](trait@Ask), and
//! [`Thread::answer`](crate::thread::Thread::answer) answers. `interrupt before publish` in a flow waits for a
//! [`Decision`], with which the thread is resumed:
//!
//! ```
//! use petalflow::checkpoint::InMemoryStore;
//! use petalflow::interrupt::{Decision, Ask};
//! use petalflow::prelude::*;
//!
//! #[derive(serde::Serialize, Ask)]
//! #[ask(answer = bool)]
//! struct MayPost {
//!     text: String,
//! }
//!
//! #[state]
//! struct Post {
//!     #[key(input)]
//!     text: String,
//! }
//!
//! #[node(Post)]
//! async fn review(text: &str, cx: Context) -> petalflow::Result<()> {
//!     let yes = cx.ask(MayPost { text: text.into() }).await?;
//!     if yes { Ok(()) } else { Err("declined".into()) }
//! }
//!
//! #[node(Post)]
//! async fn publish(text: &str) {
//!     println!("{text}");
//! }
//!
//! flow! {
//!     Publish(Post) {
//!         START -> review -> publish;
//!         interrupt before publish;
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
//! let asked = thread.run("hello".to_string()).await?;
//! assert_eq!(asked.interrupts()[0].node, "review");
//! let asked = thread.answer::<MayPost>(true).await?;
//! assert_eq!(asked.interrupts()[0].node, "publish");
//! thread.resume(Decision::approve().by("Ann")).await?.into_finished()?;
//! # Ok(())
//! # }
//! ```

mod decision;
mod guard;
mod resume;

pub use crate::question::{
    Answer, AnswerError, Ask, Expiry, Interrupt, InterruptId, InterruptKind,
};
pub use decision::Decision;
pub(crate) use decision::DecisionAction;
pub use guard::Guard;
pub use petalflow_macros::Ask;
pub use resume::Resume;
