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
//!
//! What every store is held to (`store_contract!`) and what crashes flows (`crashes`) comes with the feature `testing`,
//! which a program turns on among its `dev-dependencies`: it is as much code as the engine.

#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod contract;
#[cfg(feature = "testing")]
mod crash;
mod flow_lock;
mod reducer;

#[cfg(all(feature = "testing", feature = "memory"))]
#[cfg_attr(docsrs, doc(cfg(feature = "memory")))]
pub use contract::MemoryUnderTest;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub use contract::StoreUnderTest;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub use crash::{Crashed, Crashes, Fault, Moment, Mortal, Script, Window, crashes};
pub use flow_lock::check_flow_lock;
pub use reducer::check_reducer;

#[doc(inline)]
pub use crate::__assert_flow_lock as assert_flow_lock;
#[cfg(all(feature = "testing", feature = "memory"))]
#[cfg_attr(docsrs, doc(cfg(feature = "memory")))]
#[doc(inline)]
pub use crate::__memory_contract as memory_contract;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
#[doc(inline)]
pub use crate::__store_contract as store_contract;
