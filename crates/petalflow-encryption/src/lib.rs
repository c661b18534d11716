//! Signs or encrypts what [petalflow] stores.
//!
//! [`ProtectedStore`] is a store over any other store. It seals each payload before the inner store receives it, and refuses
//! each payload that was changed, moved or made without the key.
//!
//! ```
//! use petalflow::checkpoint::InMemoryStore;
//! use petalflow::prelude::*;
//! use petalflow_encryption::{Encryption, ProtectedStore, SecretKey};
//!
//! #[state]
//! struct Chat {
//!     #[key(input, append)]
//!     lines: Vec<String>,
//! }
//!
//! #[node(Chat)]
//! async fn reply(lines: &[String]) -> ChatLines {
//!     ChatLines(vec![format!("{} so far", lines.len())])
//! }
//!
//! flow!(Talk(Chat) { reply });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let key = SecretKey::generate()?;
//! let store = ProtectedStore::new(InMemoryStore::new(), Encryption::new(key));
//! let thread = Talk::new().store(&store).thread("ann");
//! let chat = thread.run(vec!["hello".to_string()]).await?.into_finished()?;
//! assert_eq!(chat.lines, ["hello", "1 so far"]);
//! # Ok(())
//! # }
//! ```
//!
//! * [`Signing`] signs payloads (HMAC-SHA-256). A reader of the store can still read them.
//! * [`Encryption`] encrypts them (XChaCha20-Poly1305).
//! * [`Protection`] is the trait behind both, for a protection of your own.
//!
//! The bytes are described in `docs/reference/checkpoint-format.md`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod encrypt;
mod key;
mod key_ring;
mod protection;
mod sealed;
mod sign;
mod store;

pub use encrypt::Encryption;
pub use key::{KeyError, SecretKey};
pub use protection::Protection;
pub use sign::Signing;
pub use store::ProtectedStore;
