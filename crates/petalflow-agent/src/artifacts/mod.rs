//! Artifacts: files that nodes, tools and agents write and read, such as a report or a picture.
//!
//! An artifact has a name, a media type and bytes. It belongs to a thread or to a user. Writing it again adds a version.
//! [`Artifacts`] are stored [in memory](Artifacts::in_memory), in a [`Folder`], in a database through a store of petalflow
//! ([`InStore`]), or in an [`ArtifactStore`] of your own.
//!
//! Nodes and tools receive the artifacts of their thread as a managed value:
//!
//! ```
//! use petalflow::checkpoint::InMemoryStore;
//! use petalflow::prelude::*;
//! use petalflow_agent::artifacts::{ArtifactFolder, Artifacts};
//!
//! #[state]
//! struct Report {
//!     #[key(input)]
//!     text: String,
//!     version: u32,
//! }
//!
//! #[node(Report)]
//! async fn save(text: &str, files: Managed<ArtifactFolder>) -> petalflow::Result<ReportVersion> {
//!     Ok(ReportVersion(files.write("report.txt", "text/plain", text.as_bytes()).await?))
//! }
//!
//! flow!(Save(Report) { save });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let artifacts = Artifacts::in_memory();
//! let launch = Save::new().manage_with(artifacts.for_threads());
//! let thread = launch.store(&InMemoryStore::new()).thread("ann");
//! thread.run("first".to_string()).await?;
//! thread.run("second".to_string()).await?;
//!
//! let files = artifacts.thread("ann")?;
//! assert_eq!(files.read("report.txt").await?.ok_or("missing")?.text()?, "second");
//! assert_eq!(files.read_version("report.txt", 1).await?.ok_or("missing")?.text()?, "first");
//! # Ok(())
//! # }
//! ```
//!
//! A write takes full effect or none, also if the process dies. A node that runs again after a crash writes again: use
//! [`Context::once`](petalflow::Context::once) around a write that must not be repeated.

mod artifact;
mod content;
mod error;
mod folder;
mod handle;
mod in_store;
mod name;
mod store;

pub use artifact::Artifact;
pub use error::ArtifactError;
pub use folder::Folder;
pub use handle::{ArtifactFolder, Artifacts};
pub use in_store::InStore;
pub use name::Owner;
pub use store::{ArtifactStore, Place};
