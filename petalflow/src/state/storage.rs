//! Which values may live in a state or travel along an edge.

use serde::{Serialize, de::DeserializeOwned};

/// The [`Storage`](super::State::Storage) of a state whose runs can be stored: its values implement serde's traits.
#[derive(Clone, Copy, Debug)]
pub enum Durable {}

/// The [`Storage`](super::State::Storage) of `#[state(volatile)]`: values need no serde, and runs cannot be stored.
#[derive(Clone, Copy, Debug)]
pub enum Volatile {}

/// Says that a state of this storage can hold a `T`, as a key's value or as what an edge delivers.
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be kept in a state that may be stored",
    label = "needs `Clone`, `Serialize` and `Deserialize`",
    note = "derive `Clone, serde::Serialize, serde::Deserialize` for it, or mark the state `#[state(volatile)]`"
)]
pub trait Keeps<T> {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static> Keeps<T> for Durable {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Keeps<T> for Volatile {}
