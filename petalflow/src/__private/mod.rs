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
mod route;
mod state;
#[cfg(feature = "tool")]
pub mod tool;

#[cfg(feature = "tool")]
pub use petalflow_macros::tools_impl;
pub use petalflow_macros::{StateAfterCfg, flow_documented};

pub use crate::delivery::{ItemProbe, NoItemCodec};
pub use crate::node::{key_output, last_output};
pub use crate::state::{
    Coder, CopyProbe, NoCoder, NoCopy, StateCodec, SumProbe, UncheckedSum, Values,
};
pub use data::{DataFor, Deserialize, Deserializer, MapAccess, Question, Slots, read_input};
pub use node::{
    Broken, KeyOf, Lazy, Optional, blocking, boxed_error, boxed_error_of, is_node, is_state,
    keys_named, spawn, written_once,
};
pub use petalflow_codec::{CodecError, FieldOutline};
pub use petalflow_graph::messages::KeyTraits;
pub use route::{Carried, Carries, Deliver, Deliverable, NotSent, OneType, Payload, PayloadType};
pub use state::{
    After, Checked, CloneFor, CloneWrites, DebugFor, DefaultFor, EqFor, Holds, KeyType, Lacks,
    Marks, NeedsDefault, NotClone, PartialEqFor, SharedFor, SkipsZero, applied, checked,
    debug_newtype, debug_struct, debug_update, fold_from_first, shared,
};
