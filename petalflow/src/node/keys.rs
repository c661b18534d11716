//! Keys that a node value reads together.

use super::Key;
use crate::state::KeySet;

/// The keys that a node value reads together: one key, a tuple of up to four keys, or `()` for none.
///
/// A type that is generic over keys, such as `Llm<ChatMessages, (ChatCustomer, ChatToday)>` of `petalflow-llm`, names with it
/// which keys its closures read. So the checks of a flow know them.
///
/// ```
/// use petalflow::node::Keys;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Chat {
///     #[key(input)]
///     customer: String,
///     visits: u32,
/// }
///
/// fn greeting<P: Keys<Chat>>(chat: &Chat, greet: impl Fn(P::Values<'_>) -> String) -> String {
///     greet(P::values(chat))
/// }
///
/// # #[node(Chat)]
/// # async fn greet(chat: &Chat) {
/// let text = greeting::<(ChatCustomer, ChatVisits)>(chat, |(customer, visits)| format!("{customer}, {visits}"));
/// # assert_eq!(text, "Ann, 0");
/// # }
/// # flow!(Greet(Chat) { greet });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// #     Greet::run("Ann".to_string()).await?;
/// #     Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key of `{S}`, and not a tuple of its keys",
    label = "names no keys of `{S}`",
    note = "write a key, such as `ChatCustomer`, a tuple of up to four keys, or `()`"
)]
pub trait Keys<S>: 'static {
    /// References to the values: one for a key, a tuple for a tuple.
    type Values<'a>
    where
        S: 'a;
    /// The keys.
    const SET: KeySet;

    /// The current values.
    fn values(state: &S) -> Self::Values<'_>;
}

impl<K: Key> Keys<K::State> for K {
    type Values<'a>
        = &'a K::Value
    where
        K::State: 'a;
    const SET: KeySet = KeySet::of(K::INDEX);

    fn values(state: &K::State) -> &K::Value {
        K::get(state)
    }
}

impl<S> Keys<S> for () {
    type Values<'a>
        = ()
    where
        S: 'a;
    const SET: KeySet = KeySet::NONE;

    fn values(_: &S) {}
}

/// The tuples.
macro_rules! tuples {
    ($(($($key:ident),+);)+) => {$(
        impl<S: crate::State, $($key: Key<State = S>),+> Keys<S> for ($($key,)+) {
            type Values<'a>
                = ($(&'a $key::Value,)+)
            where
                S: 'a;
            const SET: KeySet = KeySet::NONE$(.with($key::INDEX))+;

            fn values(state: &S) -> Self::Values<'_> {
                ($($key::get(state),)+)
            }
        }
    )+};
}

tuples! {
    (A, B);
    (A, B, C);
    (A, B, C, D);
}
