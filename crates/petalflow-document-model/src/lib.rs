//! Internal to petalflow: documents in JSON and YAML, what they say, and everything that is wrong with them, without the
//! engine. Depend on `petalflow-documents` or `petalflow-conversations`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`source`] | texts as values with their positions, and reports of mistakes |
//! | `expression` | the language of conditions (feature `documents`) |
//! | `documents` | graph definitions and agent workflows (feature `documents`) |
//! | `conversations` | conversation flows (feature `conversations`) |
//!
//! The macros of `petalflow-document-macros` check documents with this crate while a program compiles.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "conversations")]
#[cfg_attr(docsrs, doc(cfg(feature = "conversations")))]
pub mod conversations;
#[cfg(feature = "documents")]
#[cfg_attr(docsrs, doc(cfg(feature = "documents")))]
pub mod documents;
#[cfg(feature = "documents")]
#[cfg_attr(docsrs, doc(cfg(feature = "documents")))]
pub mod expression;
pub mod source;
