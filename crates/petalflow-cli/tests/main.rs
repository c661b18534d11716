//! Tests of the program: each starts it as users do.

mod chat;
#[cfg(feature = "bedrock")]
mod clouds;
mod graphs;
mod guide;
mod help;
mod hostile;
mod program;
mod run;
mod serve;
#[cfg(unix)]
mod servers;
mod terminal;
mod threads;
mod tools;
mod validate;
