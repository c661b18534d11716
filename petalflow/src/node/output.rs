//! The result types of nodes.

use super::{Carried, Effects, Route, Routing};
use crate::error::BoxError;
use crate::state::{KeySet, State};

/// A result type of nodes over `S`: a typed key, a tuple of them (up to eight), an `Option` of one, `()`, or any of
/// these in a `Result`. A route or an [`Each`](super::Each) comes last.
///
/// Implement it for your own types:
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::node::{Effects, Output};
/// use petalflow::state::KeySet;
/// use petalflow::BoxError;
///
/// #[state]
/// struct Essay {
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// /// One note.
/// struct Note(&'static str);
///
/// impl Output<Essay> for Note {
///     const MAY_WRITE: KeySet = <EssayNotes as Output<Essay>>::MAY_WRITE;
///     const MUST_WRITE: KeySet = <EssayNotes as Output<Essay>>::MUST_WRITE;
///     type Routing = ();
///     fn apply(self, effects: &mut Effects<Essay>) -> Result<(), BoxError> {
///         EssayNotes(vec![self.0.into()]).apply(effects)
///     }
/// }
///
/// #[node(Essay)]
/// async fn write_note() -> Note {
///     Note("written")
/// }
///
/// flow!(WriteNote(Essay) { write_note });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(WriteNote::run(()).await?.notes, ["written"]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a node over `{S}` cannot return `{Self}`",
    label = "not a key of `{S}`, nor a route",
    note = "return a typed key (state + key, such as `EssayDraft(..)`), a tuple of keys, `()`, any of them in a `Result`; a route (`#[derive(Route)]`) comes last, or `Each(items)` for an edge with `each`; a node that waits is an `async fn` that returns the key itself"
)]
pub trait Output<S>: Sized {
    /// The keys that it can write. Two nodes that can write the same key conflict in one superstep.
    const MAY_WRITE: KeySet;
    /// The keys that it always writes. Later nodes can read them.
    const MUST_WRITE: KeySet;
    /// The keys that one value writes twice.
    const WRITES_TWICE: KeySet = KeySet::NONE;
    /// The routing type: `()` if only the edges decide, a route, or an `Each`.
    type Routing: Routing;

    /// Records the writes and the routing decision.
    ///
    /// # Errors
    ///
    /// The node's own error, or a write that its key rejects.
    fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError>
    where
        S: State;
}

/// An [`Output`] without a routing decision. It can come before the last member of a tuple.
///
/// ```
/// use petalflow::node::{Effects, Output, WriteOutput};
/// use petalflow::state::KeySet;
/// use petalflow::BoxError;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String, #[key(append)] notes: Vec<String> }
///
/// /// One note.
/// struct Note(&'static str);
///
/// impl Output<Essay> for Note {
///     const MAY_WRITE: KeySet = <EssayNotes as Output<Essay>>::MAY_WRITE;
///     const MUST_WRITE: KeySet = <EssayNotes as Output<Essay>>::MUST_WRITE;
///     type Routing = ();
///     fn apply(self, effects: &mut Effects<Essay>) -> Result<(), BoxError> {
///         EssayNotes(vec![self.0.into()]).apply(effects)
///     }
/// }
///
/// impl WriteOutput<Essay> for Note {}
///
/// #[node(Essay)]
/// async fn write() -> (Note, EssayDraft) {
///     (Note("begun"), EssayDraft("…".into()))
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Write::run(()).await?.notes, ["begun"]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand here in what a node over `{S}` returns",
    label = "not a key of `{S}`",
    note = "only typed keys may come before the last place of a tuple, or in an `Option`; a route or an `Each` comes last, and is not optional"
)]
pub trait WriteOutput<S>: Output<S> {}

/// Writes of keys that come from outside of a run, as for [`Decision::edit`](crate::interrupt::Decision::edit). Every
/// [`WriteOutput`] is one: a typed key, a tuple of them, an `Option` of one, or `()`.
///
/// ```
/// use petalflow::interrupt::Resume;
/// use petalflow::node::KeyWrites;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     draft: String,
///     score: u32,
/// }
///
/// fn corrected(writes: impl KeyWrites<Essay>) -> Resume<Essay> {
///     Resume::new().update(writes)
/// }
///
/// let resume = corrected((EssayDraft("Petals".into()), EssayScore(5)));
/// # let _ = resume;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a write of keys of `{S}`",
    label = "not a key of `{S}`",
    note = "write typed keys here (state + key, such as `EssayDraft(..)`), or a tuple of them; a route or an `Each` belongs to a node, and is given with `thread.update(Edit::new(..).by(\"node\"))`"
)]
pub trait KeyWrites<S>: WriteOutput<S> {}

#[diagnostic::do_not_recommend]
impl<S, T: WriteOutput<S>> KeyWrites<S> for T {}

/// Fails to compile if a node over the state cannot return the type in the last place of a tuple.
pub const fn last_output<S, T: Output<S>>() -> usize {
    0
}

/// Fails to compile if a node over the state cannot return the type before the last place of a tuple.
pub const fn key_output<S, T: WriteOutput<S>>() -> usize {
    0
}

impl Routing for () {}

#[diagnostic::do_not_recommend]
impl<S> Output<S> for () {
    const MAY_WRITE: KeySet = KeySet::NONE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = ();

    fn apply(self, _: &mut Effects<S>) -> Result<(), BoxError>
    where
        S: State,
    {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<S> WriteOutput<S> for () {}

impl<S, T: WriteOutput<S>> Output<S> for Option<T> {
    const MAY_WRITE: KeySet = T::MAY_WRITE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    const WRITES_TWICE: KeySet = T::WRITES_TWICE;
    type Routing = ();

    fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError>
    where
        S: State,
    {
        self.map_or(Ok(()), |output| output.apply(effects))
    }
}

impl<S, T: WriteOutput<S>> WriteOutput<S> for Option<T> {}

impl<S, T: Output<S>, E: IntoBoxError> Output<S> for Result<T, E> {
    const MAY_WRITE: KeySet = T::MAY_WRITE;
    const MUST_WRITE: KeySet = T::MUST_WRITE;
    const WRITES_TWICE: KeySet = T::WRITES_TWICE;
    type Routing = T::Routing;

    fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError>
    where
        S: State,
    {
        self.map_err(Into::into)?.apply(effects)
    }
}

/// An error of a node: any type that converts to a boxed error.
#[diagnostic::on_unimplemented(
    message = "a node cannot fail with a `{Self}`",
    label = "not an error",
    note = "implement `std::error::Error` for it (`#[derive(thiserror::Error)]`), or use `petalflow::Result`; it must be `Send` and `Sync`"
)]
pub trait IntoBoxError: Into<BoxError> {}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> IntoBoxError for E {}

/// Any number of routes. None ends the path. A route that occurs several times is taken once, and delivers each of its
/// payloads, in the order of the list.
impl<R: Route> Routing for Vec<R> {
    const NAMES: &'static [&'static str] = R::NAMES;
    const PAYLOADS: &'static [bool] = R::PAYLOADS;
    const MANY: bool = true;
    const ROUTES: bool = true;

    fn carried(route: usize) -> Option<Carried> {
        R::carried(route)
    }
}

#[diagnostic::do_not_recommend]
impl<S, R: Route + Output<S>> Output<S> for Vec<R> {
    const MAY_WRITE: KeySet = KeySet::NONE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = Self;

    fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError>
    where
        S: State,
    {
        effects.choose_none();
        for route in self {
            let index = route.index();
            effects.choose_also(index);
            if let Some(payload) = route.payload() {
                effects.send(Some(index), payload);
            }
        }
        Ok(())
    }
}

/// `match { true => a, false => b }`.
impl Routing for bool {
    const NAMES: &'static [&'static str] = &["false", "true"];
    const PAYLOADS: &'static [bool] = &[false, false];
    const ROUTES: bool = true;
}

#[diagnostic::do_not_recommend]
impl<S> Output<S> for bool {
    const MAY_WRITE: KeySet = KeySet::NONE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = bool;

    fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError>
    where
        S: State,
    {
        effects.choose(u32::from(self));
        Ok(())
    }
}

macro_rules! tuple {
    ($($key:ident)*; $last:ident) => {
        // rustc lists the implementations, and the tuples would be all that it shows. The macro checks the members first.
        #[diagnostic::do_not_recommend]
        impl<S, $($key: WriteOutput<S>,)* $last: Output<S>> Output<S> for ($($key,)* $last,) {
            const MAY_WRITE: KeySet = KeySet::NONE $(.union($key::MAY_WRITE))* .union($last::MAY_WRITE);
            const MUST_WRITE: KeySet = KeySet::NONE $(.union($key::MUST_WRITE))* .union($last::MUST_WRITE);
            const WRITES_TWICE: KeySet = {
                #[allow(unused_mut)]
                let mut seen = KeySet::NONE;
                #[allow(unused_mut)]
                let mut twice = KeySet::NONE;
                $(
                    twice = twice.union($key::WRITES_TWICE).union(seen.intersection($key::MAY_WRITE));
                    seen = seen.union($key::MAY_WRITE);
                )*
                twice.union($last::WRITES_TWICE).union(seen.intersection($last::MAY_WRITE))
            };
            type Routing = $last::Routing;

            #[allow(non_snake_case)]
            fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError> where S: State {
                let ($($key,)* $last,) = self;
                $($key.apply(effects)?;)*
                $last.apply(effects)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<S, $($key: WriteOutput<S>,)* $last: WriteOutput<S>> WriteOutput<S> for ($($key,)* $last,) {}
    };
}

tuple!(; A);
tuple!(A; B);
tuple!(A B; C);
tuple!(A B C; D);
tuple!(A B C D; E);
tuple!(A B C D E; F);
tuple!(A B C D E F; G);
tuple!(A B C D E F G; H);
tuple!(A B C D E F G H; I);
