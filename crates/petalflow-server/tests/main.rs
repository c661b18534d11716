//! The server: requests in, threads out.

mod answers;
mod deliveries;
mod durable;
mod flows;
mod hostile;
mod killed;
mod kit;
#[cfg(feature = "openai")]
mod openai;
mod setup;
mod sockets;
mod steering;
mod versions;
