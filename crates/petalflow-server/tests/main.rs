//! The server: requests in, threads out.

mod access;
mod answers;
#[cfg(any(feature = "openai", all(feature = "a2a", feature = "ag-ui")))]
mod asking;
mod bulk;
mod deliveries;
mod durable;
mod early_answers;
mod export;
mod flows;
mod hostile;
mod idempotency;
#[cfg(feature = "agent")]
mod inbox;
mod killed;
mod kit;
mod listing;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "memory")]
mod memory;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "agent")]
mod multitask;
#[cfg(feature = "notify")]
mod notifications;
#[cfg(feature = "openai")]
mod openai;
#[cfg(all(
    feature = "a2a",
    feature = "ag-ui",
    feature = "mcp",
    feature = "memory",
    feature = "openai",
    feature = "schedules"
))]
mod openapi;
#[cfg(feature = "agent")]
mod partial_outputs;
#[cfg(any(feature = "a2a", feature = "ag-ui"))]
mod protocols;
mod remote;
mod retention;
mod schedules;
mod setup;
mod sleeping;
mod sockets;
mod steering;
mod stored;
#[cfg(feature = "studio")]
mod studio;
mod versions;
mod waiting;
