//! The values that edges deliver: items of `each`, payloads of routes.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;

use super::{Effects, Output, Routing};
use crate::delivery::{Delivery, TypeName};
use crate::error::BoxError;
use crate::state::{CanStore, KeySet, State, ThreadSafe};

/// Items for the target of `each`: the target runs once per item, all in the next superstep.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Survey {
///     #[key(append)]
///     found: Vec<String>,
/// }
///
/// #[node(Survey)]
/// async fn plan() -> Each<String> {
///     Each(vec!["roses".into(), "tulips".into()])
/// }
///
/// #[node(Survey)]
/// async fn research(#[item] topic: &str) -> SurveyFound {
///     SurveyFound(vec![format!("all about {topic}")])
/// }
///
/// flow!(Report(Survey) { plan -> each research });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let survey = Report::run(()).await?;
/// assert_eq!(survey.found, ["all about roses", "all about tulips"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Each<T>(pub Vec<T>);

impl<T> FromIterator<T> for Each<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Each(items.into_iter().collect())
    }
}

impl<T: 'static> Routing for Each<T> {
    const SENDS: bool = true;

    fn items() -> Option<TypeName> {
        Some((TypeId::of::<T>(), type_name::<T>()))
    }
}

impl<S: State<Storage: CanStore<T>>, T: ThreadSafe> Output<S> for Each<T> {
    const MAY_WRITE: KeySet = KeySet::NONE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = Each<T>;

    fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError> {
        effects.send(None, Delivery::list(self.0));
        Ok(())
    }
}

/// A node whose `#[item]` is a `T`. Implemented by [`#[node]`](macro@crate::node).
///
/// ```
/// use petalflow::node::AcceptsItem;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Log { #[key(append)] lines: Vec<String> }
/// #[node(Log)]
/// async fn visit(#[item] page: &u32) -> LogLines {
///     LogLines(vec![format!("page {page}")])
/// }
///
/// /// A crawler that can be given any node which visits pages.
/// fn crawl<N: petalflow::node::Node<Log> + AcceptsItem<u32>>(visit: N) -> Graph<Log> {
///     let builder = Graph::builder("crawl").node_fn("list", |_: &Log, _| async { Each(vec![1_u32, 2]) });
///     builder.node(visit).each("list", N::NAME).build().unwrap()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(crawl(visit {}).run(()).await?.lines, ["page 1", "page 2"]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "PF020: node `{Self}` does not take a `{T}` as its item",
    label = "its `#[item]` is of another type",
    note = "the `#[item]` parameter of the target must be a reference to what the edge delivers"
)]
pub trait AcceptsItem<T> {
    /// Called by generated code where the two types must match.
    #[doc(hidden)]
    fn fits(_: Sent<Self, T>)
    where
        Self: Sized,
    {
    }
}

/// A value of type `T` for the node `B`. The types are checked by the call `<_ as AcceptsItem<_>>::fits(sent)`: for a
/// bound on a trait, rustc would also print the line of this crate.
#[doc(hidden)]
#[derive(Debug)]
pub struct Sent<B, T>(pub PhantomData<(B, T)>);
