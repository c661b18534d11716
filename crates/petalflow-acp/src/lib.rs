//! Agents in editors: an [`AcpServer`] is an agent of the Agent Client Protocol, which Zed, Neovim and many other editors
//! speak.
//!
//! An editor starts the program and talks with it over standard input and output. Each of its sessions is a thread of a
//! store, so a session continues after the program was killed. Permissions are [confirmations](petalflow_agent::Pending),
//! plans are those of [`Agent::plan`](petalflow_agent::Agent::plan), and changes of files are shown as diffs.
//!
//! ```no_run
//! use petalflow::checkpoint::InMemoryStore;
//! use petalflow_acp::{AcpServer, SessionAgent};
//! use petalflow_agent::deep::{ApprovalPolicy, Calls, DeepAgent, Workspace};
//! use petalflow_llm::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let model = ScriptedModel::new(["Done."]); // Or `ProviderModel::new("gpt-5-mini")?`.
//! let server = AcpServer::new(&InMemoryStore::new(), move |session| {
//!     let files = Workspace::folder(session.folder())?;
//!     let agent = DeepAgent::new(model.clone()).workspace(files.clone()).build();
//!     let policy = ApprovalPolicy::new().ask(Calls::to("{write,edit}_file"))?;
//!     Ok(SessionAgent::from(agent.approvals(policy)).files(files))
//! });
//! server.stdio().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The feature `mcp` gives the agent the tools of the MCP servers that the editor names.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod call;
mod called;
mod client;
mod elicitation;
mod error;
mod handlers;
mod prompt;
mod question;
mod remembered;
mod said;
mod server;
mod session;
mod session_agent;
mod sessions;
mod settings;
mod setup;
mod turn;
mod updates;

pub use error::AcpError;
pub use server::AcpServer;
pub use session_agent::SessionAgent;
pub use setup::SessionSetup;
