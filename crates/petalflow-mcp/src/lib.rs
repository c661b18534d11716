//! An MCP client and an MCP server for petalflow tools.
//!
//! [`McpClient`] connects to an MCP server and offers its tools as [tools](petalflow::tool::Tool), with their
//! schemas. [`serve`] offers the tools of this program to any client of the Model Context Protocol, with resources and
//! prompts. The feature `http` adds clients and servers over HTTP, and the feature `oauth` signs in to servers over HTTP.
//!
//! ```
//! use petalflow_mcp::{self as mcp, McpClient};
//! use petalflow::prelude::*;
//! use petalflow::tool::{Tool, ToolContext};
//! use serde_json::json;
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! // In real life `McpClient::stdio("npx", ["-y", "some-server"])`, or `McpClient::http` with its address.
//! let server = McpClient::over("sums", || async {
//!     let (ours, theirs) = tokio::io::duplex(4096);
//!     tokio::spawn(mcp::serve(tools![add]).over(theirs));
//!     Ok(ours)
//! });
//! let tools = server.tools().await?;
//! let add = tools.get("add").unwrap();
//! let sum = add.call(json!({ "a": 1, "b": 2 }), &ToolContext::new("call-1")).await.unwrap();
//! assert_eq!(sum, json!({ "output": "3" }));
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bounded;
mod call;
mod changes;
mod client;
mod confirmation;
mod connect;
mod connection;
mod elicitation;
mod error;
mod handler;
#[cfg(feature = "http")]
mod http_client;
#[cfg(feature = "http")]
mod http_error;
#[cfg(feature = "http")]
mod http_options;
#[cfg(feature = "http")]
mod http_server;
mod log_reader;
mod logs;
mod media;
#[cfg(feature = "oauth")]
mod oauth;
mod offers;
mod options;
mod output_schema;
mod pages;
mod problem;
mod prompts;
#[cfg(feature = "oauth")]
mod redirect;
mod resource_content;
mod resources;
mod result;
mod sampling;
mod served;
mod served_changes;
mod served_completions;
mod served_prompts;
mod served_resources;
mod server;
mod session;
#[cfg(feature = "oauth")]
mod sign_in;
mod subscriptions;
mod task;
mod tool;
mod uri_template;

pub use call::ToolProgress;
pub use changes::ServerChange;
pub use client::McpClient;
pub use elicitation::{Elicitation, Elicited};
pub use error::McpError;
#[cfg(feature = "http")]
pub use http_options::RequestHeaders;
pub use logs::{LogLevel, LogMessage};
#[cfg(feature = "oauth")]
pub use oauth::{OAuth, OAuthCredentials, OAuthStore};
pub use prompts::{Completes, Prompt, PromptArgument};
pub use resource_content::ResourceContent;
pub use resources::{Resource, ResourceTemplate};
pub use served_changes::ListChangedNotifier;
pub use server::{McpServer, serve};
#[cfg(feature = "oauth")]
pub use sign_in::SignIn;
