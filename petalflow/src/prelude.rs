//! The names that most flows use: `use petalflow::prelude::*;`.
//!
//! ```
//! use petalflow::prelude::*;
//!
//! #[state]
//! struct Greeting {
//!     text: String,
//! }
//!
//! #[node(Greeting)]
//! async fn greet() -> GreetingText {
//!     GreetingText("hello".into())
//! }
//!
//! flow!(Greet(Greeting) { greet });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! assert_eq!(Greet::run(()).await?.text, "hello");
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "builder")]
#[cfg_attr(docsrs, doc(cfg(feature = "builder")))]
pub use crate::Graph;
pub use crate::graph::{END, START};
pub use crate::interrupt::Ask;
pub use crate::node::Key;
#[cfg(feature = "tool")]
#[cfg_attr(docsrs, doc(cfg(feature = "tool")))]
pub use crate::tools;
pub use crate::{
    Context, Each, Flow, Launch, Managed, NodeError, Overwrite, Route, State, flow, node, state,
};
// The macro only, without the module of the same name.
#[cfg(feature = "tool")]
#[cfg_attr(docsrs, doc(cfg(feature = "tool")))]
pub use petalflow_macros::tool;
#[cfg(not(feature = "tool"))]
#[doc(hidden)]
pub use petalflow_macros::tool;
