//! Tests of the program: each starts it as users do.

mod acp;
mod bulk;
mod chat;
#[cfg(feature = "bedrock")]
mod clouds;
mod graphs;
mod guide;
mod help;
mod hostile;
#[cfg(unix)]
mod new;
mod options;
mod pipes;
mod program;
mod replay;
mod run;
mod serve;
#[cfg(all(unix, feature = "client", feature = "serve"))]
mod served_threads;
#[cfg(unix)]
mod servers;
mod terminal;
mod tests_of_documents;
mod threads;
mod tools;
mod validate;
