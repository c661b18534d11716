//! Typed keys, which nodes return to write them.

pub(crate) mod codec;
mod functions;
mod indexed;
mod update;

use super::{Effects, Output, Routing, WriteOutput};
use crate::checkpoint::{Attribute, AttributeKind};
use crate::state::{KeyMeta, KeySet, State, WriteError, Writes, check_sum, reduce};

/// A typed state key: the newtype that [`#[state]`](macro@crate::state) generates for a field. Its name is the state's
/// name followed by the field's name.
///
/// Node values are generic over the keys they use:
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
/// }
///
/// fn name_of<K: Key>() -> &'static str {
///     K::NAME
/// }
/// assert_eq!(name_of::<EssayTopic>(), "topic");
/// ```
pub trait Key: WriteOutput<Self::State> + Send + 'static {
    /// The state of the key.
    type State: State;
    /// The type of the key's value.
    type Value: Clone + Send + Sync + 'static;
    /// The name of the field.
    const NAME: &'static str;
    /// The index of the field in [`State::KEYS`].
    const INDEX: usize;
    /// The properties of the key.
    const META: KeyMeta;

    /// Creates a write of this value.
    fn new(value: Self::Value) -> Self;

    /// The value to write.
    fn into_value(self) -> Self::Value;

    /// The current value of the key.
    fn get(state: &Self::State) -> &Self::Value;

    /// The current value of the key, to fold writes into it.
    #[doc(hidden)]
    fn get_mut(state: &mut Self::State) -> &mut Self::Value;

    /// The writes to the key.
    #[doc(hidden)]
    fn slot(slots: &<Self::State as State>::Slots) -> &Writes<Self::Value>;

    /// The writes to the key, to change them.
    #[doc(hidden)]
    fn slot_mut(slots: &mut <Self::State as State>::Slots) -> &mut Writes<Self::Value>;

    /// The default of the key. `None` if its first value always comes from the input.
    #[doc(hidden)]
    fn initial() -> Option<Self::Value> {
        None
    }

    /// Folds a write into the value: the reducer of the key.
    #[doc(hidden)]
    fn fold(current: &mut Self::Value, written: Self::Value) {
        reduce::replace(current, written);
    }

    /// Whether a write of the value is ignored: see `skip_zero`.
    #[doc(hidden)]
    fn is_zero(_: &Self::Value) -> bool {
        false
    }

    /// The type of its search attribute. `None` if it is not `indexed`.
    #[doc(hidden)]
    const ATTRIBUTE: Option<AttributeKind> = None;

    /// The value of its search attribute.
    #[doc(hidden)]
    fn attribute(_: &Self::Value) -> Option<Attribute> {
        None
    }

    /// Checks the writes of a superstep, in the order in which they fold, before they are applied.
    #[doc(hidden)]
    fn check(current: &Self::Value, writes: &[&Writes<Self::Value>]) -> Result<(), WriteError> {
        check_sum(Self::NAME, current, writes)
    }
}

/// A key that takes messages: writes from outside, while a thread runs, waits or rests. `#[key(inbox)]` and `#[key(receive)]` implement
/// it. See [`Thread::send`](crate::thread::Thread::send).
///
/// ```
/// use petalflow::node::Inbox;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Trip {
///     #[key(append, inbox)]
///     wishes: Vec<String>,
/// }
///
/// fn name_of<K: Inbox>() -> &'static str {
///     K::NAME
/// }
/// assert_eq!(name_of::<TripWishes>(), "wishes");
/// ```
#[diagnostic::on_unimplemented(
    message = "the key `{Self}` takes no messages",
    label = "not a key with `inbox`",
    note = "add `inbox` to the options of the key: `#[key(append, inbox)]`; or `receive`, if a node receives the messages"
)]
pub trait Inbox: Key {}

/// A key whose messages nodes receive one by one. `#[key(receive)]` implements it. See [`Context::receive`](super::Context::receive).
///
/// ```
/// use petalflow::node::Receivable;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Order {
///     #[key(receive)]
///     payment: u32,
/// }
///
/// fn name_of<K: Receivable>() -> &'static str {
///     K::NAME
/// }
/// assert_eq!(name_of::<OrderPayment>(), "payment");
/// ```
#[diagnostic::on_unimplemented(
    message = "no node can receive messages of the key `{Self}`",
    label = "not a key with `receive`",
    note = "add `receive` to the options of the key: `#[key(receive)]`"
)]
pub trait Receivable: Inbox {}

/// A write that replaces the value of the key, without its reducer.
///
/// All other writes to the key in the same superstep are dropped, before and after it. Two overwrites of one key in a
/// superstep are an error.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Log {
///     #[key(input, append)]
///     lines: Vec<String>,
/// }
///
/// #[node(Log)]
/// async fn clear() -> Overwrite<LogLines> {
///     Overwrite(LogLines(vec!["fresh".into()]))
/// }
///
/// flow!(Clear(Log) { clear });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let log = Clear::run(vec!["old".to_string()]).await?;
/// assert_eq!(log.lines, ["fresh"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overwrite<K>(pub K);

impl<S: State, K: Key<State = S>> Output<S> for Overwrite<K> {
    const MAY_WRITE: KeySet = KeySet::of(K::INDEX);
    const MUST_WRITE: KeySet = KeySet::of(K::INDEX);
    type Routing = ();

    fn apply(self, effects: &mut Effects<S>) -> crate::error::Result<()> {
        Ok(effects.update.add::<K>(self.0.into_value(), true)?)
    }
}

impl<S: State, K: Key<State = S>> WriteOutput<S> for Overwrite<K> {}

const _: () = {
    // `()` has no routes. Keys rely on it.
    assert!(<() as Routing>::NAMES.is_empty());
};
