//! The functions and types for generated code. Only the macros of petalflow may use them: semver does not apply.
#![allow(missing_docs, clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![allow(
    clippy::manual_async_fn,
    reason = "`Send` is explicit, and not inferred"
)]
#![allow(
    clippy::unused_self,
    clippy::return_self_not_must_use,
    reason = "called by generated code only"
)]

mod data;
#[cfg(rust_analyzer)]
pub mod editor {
    pub use crate::editor::*;
}
pub mod flow;
mod node;
pub mod route;
pub mod state;
#[cfg(feature = "tool")]
pub mod tool;

#[cfg(feature = "tool")]
pub use petalflow_macros::tools_impl;
pub use petalflow_macros::{StateAfterCfg, flow_documented};

pub use crate::delivery::{ItemProbe, NoItemCodec};
pub use crate::node::{key_output, last_output};
pub use data::{Deserialize, Question};
pub use node::{
    Broken, KeyOf, Lazy, Optional, blocking, boxed_error_of, keys_named, spawn, written_once,
};
pub use route::{Carried, Carries, Deliverable};
pub use state::{Checked, Holds, KeyType, Lacks, checked};
