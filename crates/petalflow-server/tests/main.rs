//! The server: requests in, threads out.

mod answers;
mod deliveries;
mod durable;
mod flows;
mod hostile;
mod killed;
mod kit;
#[cfg(any(feature = "a2a", feature = "ag-ui"))]
mod protocols;
mod setup;
mod sockets;
mod steering;
mod versions;
