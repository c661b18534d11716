//! Helpers for testing flows and what they are made of.
//!
//! A node needs none: it is called as the function that it is. A flow runs under paused time
//! (`#[tokio::test(start_paused = true)]`), where timeouts and waits take no time.
//!
//! ```
//! # use petalflow::prelude::*;
//! # #[state]
//! # struct Essay { #[key(input)] topic: String, draft: String }
//! #[node(Essay)]
//! async fn write(topic: &str) -> EssayDraft {
//!     EssayDraft(format!("about {topic}"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // In a test:
//! assert_eq!(write("petals").await.0, "about petals");
//! # }
//! ```

pub mod contract;
mod crash;
mod flow_lock;
mod reducer;

pub use contract::StoreUnderTest;
pub use crash::{Crashed, Crashes, Fault, Moment, Mortal, Script, Window, crashes};
pub use flow_lock::{Lockable, check_flow_lock};
pub use reducer::check_reducer;

#[doc(inline)]
pub use crate::{__assert_flow_lock as assert_flow_lock, __store_contract as store_contract};
