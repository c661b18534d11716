//! Agents by the protocols A2A and AG-UI.

#[cfg(feature = "a2a")]
pub(crate) mod a2a;
#[cfg(feature = "a2a")]
mod a2a_client;
#[cfg(feature = "ag-ui")]
pub(crate) mod ag_ui;
#[cfg(feature = "ag-ui")]
mod ag_ui_client;
#[cfg(all(feature = "openai", feature = "ag-ui"))]
mod citations;
pub(crate) mod guide;
#[cfg(all(feature = "a2a", feature = "ag-ui"))]
mod waits;
