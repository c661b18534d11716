//! The types that a state or an edge can hold.

use serde_core::{Serialize, de::DeserializeOwned};

use super::State;

/// The [`Storage`](super::State::Storage) of a state whose runs can be stored: its values implement serde's traits.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::state::Durable;
///
/// /// Only takes flows whose runs can be stored.
/// fn store<F: Flow<State: State<Storage = Durable>>>(flow: &F) -> String {
///     format!("{} goes to disk", flow.name())
/// }
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// assert_eq!(store(&Write), "Write goes to disk");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Durable {}

/// The [`Storage`](super::State::Storage) of `#[state(volatile)]`: its values need no serde, and its runs cannot be
/// stored.
///
/// ```
/// use petalflow::prelude::*;
/// use std::sync::Arc;
///
/// #[state(volatile)]
/// struct Session {
///     #[key(input)]
///     // Neither `Serialize` nor `Deserialize`.
///     on_reply: Option<Arc<dyn Fn(&str) + Send + Sync>>,
/// }
///
/// #[node(Session)]
/// async fn reply(on_reply: Option<&Arc<dyn Fn(&str) + Send + Sync>>) {
///     if let Some(on_reply) = on_reply {
///         on_reply("hello");
///     }
/// }
///
/// flow!(Reply(Session) { reply });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// Reply::run(SessionInput { on_reply: Some(Arc::new(|text| assert_eq!(text, "hello"))) }).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Volatile {}

/// A state with this storage can hold a `T`, as the value of a key or as what an edge delivers.
///
/// ```
/// use petalflow::state::{CanStore, Durable, Volatile};
///
/// fn can_store<S: CanStore<T>, T>(_: &T) -> bool {
///     true
/// }
///
/// #[derive(Clone)]
/// struct Connection;
///
/// assert!(can_store::<Durable, _>(&"text".to_string()));
/// assert!(can_store::<Volatile, _>(&Connection), "`Durable` cannot store it: it has no serde");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be stored, but runs over this state may be stored",
    label = "needs `Clone`, `Serialize` and `Deserialize`",
    note = "derive `Clone, serde::Serialize, serde::Deserialize` for it, or mark the state `#[state(volatile)]`"
)]
pub trait CanStore<T> {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static> CanStore<T> for Durable {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> CanStore<T> for Volatile {}

/// A state whose runs can be stored: one without `volatile`.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::state::Storable;
///
/// #[state]
/// struct Essay { draft: String }
///
/// fn stored<S: Storable>() -> &'static str {
///     S::NAME
/// }
///
/// assert_eq!(stored::<Essay>(), "Essay");
/// ```
#[diagnostic::on_unimplemented(
    message = "runs over `{Self}` cannot be stored",
    label = "the state `{Self}` is `volatile`",
    note = "write `#[state]` for `#[state(volatile)]`, and derive `Clone, serde::Serialize, serde::Deserialize` for the types of its keys; or run the flow without a store. A generic function requires it: `where F::State: petalflow::state::Storable`"
)]
pub trait Storable: State<Storage: Stores> {}

#[diagnostic::do_not_recommend]
impl<S: State<Storage: Stores>> Storable for S {}

/// The [`Storage`](super::State::Storage) of a [`Storable`] state: [`Durable`].
///
/// ```
/// use petalflow::state::{Durable, Stores};
///
/// fn stores<S: Stores>() {}
///
/// stores::<Durable>();
/// ```
pub trait Stores {}

impl Stores for Durable {}

/// A result that [`Context::once`](crate::Context::once) can record.
///
/// ```
/// use petalflow::state::Recordable;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Receipt(String);
///
/// fn record<T: Recordable>(_: &T) {}
///
/// record(&Receipt("receipt 7".into()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`once` cannot record a `{Self}`",
    label = "not `Serialize` and `Deserialize`",
    note = "the result is stored, so that a crash does not repeat the effect: derive `serde::Serialize` and `serde::Deserialize` for it, or let the effect return a part that has both"
)]
pub trait Recordable: Serialize + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Recordable for T {}

/// A type that can be shared between threads: a [`Managed`](crate::Managed) value, for example.
///
/// ```
/// use petalflow::state::ThreadSafe;
///
/// fn share<T: ThreadSafe>(_: T) {}
///
/// share(std::sync::Arc::new("petals".to_string()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared by nodes that run on several threads",
    label = "not `Send` and `Sync`",
    note = "use `Arc` for `Rc`, a `Mutex` or an atomic for a `Cell`, and `dyn Fn() + Send + Sync` for `dyn Fn()`"
)]
pub trait ThreadSafe: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> ThreadSafe for T {}
