//! Protocols by which clients talk with agents and conversations. `turn` is what all of them share: it begins a turn and
//! reads what happens in it, in a form that belongs to no protocol.

#[cfg(feature = "a2a")]
pub(crate) mod a2a;
#[cfg(any(feature = "a2a", feature = "ag-ui", feature = "mcp"))]
pub(crate) mod admit;
#[cfg(feature = "ag-ui")]
pub(crate) mod ag_ui;
pub(crate) mod auth;
#[cfg(any(feature = "a2a", feature = "openai"))]
pub(crate) mod clock;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
#[cfg(feature = "openai")]
pub(crate) mod openai;
#[cfg(any(feature = "a2a", feature = "ag-ui", feature = "openai"))]
pub(crate) mod queued;
#[cfg(any(feature = "a2a", feature = "ag-ui", feature = "openai"))]
pub(crate) mod requests;
pub(crate) mod turn;
#[cfg(any(feature = "a2a", feature = "openai"))]
pub(crate) mod turn_start;
#[cfg(any(feature = "a2a", feature = "ag-ui"))]
pub(crate) mod waits;
