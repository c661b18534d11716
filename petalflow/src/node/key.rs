//! Typed keys, which nodes return to write them.

use super::{Effects, Output, Routing, WriteOutput};
use crate::state::{KeySet, State, WriteError};

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

    /// Creates a write of this value.
    fn new(value: Self::Value) -> Self;

    /// The value to write.
    fn into_value(self) -> Self::Value;

    /// The current value of the key.
    fn get(state: &Self::State) -> &Self::Value;

    /// Adds the value to an update.
    #[doc(hidden)]
    fn push(
        value: Self::Value,
        overwrite: bool,
        update: &mut <Self::State as State>::Update,
    ) -> Result<(), WriteError>;
}

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
        Ok(K::push(self.0.into_value(), true, &mut effects.update)?)
    }
}

impl<S: State, K: Key<State = S>> WriteOutput<S> for Overwrite<K> {}

const _: () = {
    // `()` has no routes. Keys rely on it.
    assert!(<() as Routing>::NAMES.is_empty());
};
