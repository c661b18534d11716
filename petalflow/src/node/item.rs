//! What edges deliver: items of `each`, payloads of routes.

use std::any::{Any, TypeId, type_name};
use std::sync::Arc;

use super::{Chooses, Effects, Output};
use crate::state::Keeps;
use crate::{BoxError, KeySet, State};

/// Items for the target of `each`: one run of it per item, all in the next superstep.
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

impl<T: 'static> Chooses for Each<T> {
    const SENDS: bool = true;

    fn items() -> Option<(TypeId, &'static str)> {
        Some((TypeId::of::<T>(), type_name::<T>()))
    }
}

impl<S: State<Storage: Keeps<T>>, T: Send + Sync + 'static> Output<S> for Each<T> {
    const MAY: KeySet = KeySet::NONE;
    const MUST: KeySet = KeySet::NONE;
    type Then = Each<T>;

    fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError> {
        effects.send(None, Delivery::list(self.0));
        Ok(())
    }
}

/// Says that a node's `#[item]` is a `T`. Written by [`#[node]`](macro@crate::node).
#[diagnostic::on_unimplemented(
    message = "PF020: node `{Self}` does not take a `{T}` as its item",
    label = "its `#[item]` is of another type",
    note = "the `#[item]` parameter of the target must be a reference to what the edge delivers"
)]
pub trait Takes<T> {
    /// Only there to be called where the two must fit.
    #[doc(hidden)]
    fn fits(_: crate::__private::flow::Sent<Self, T>)
    where
        Self: Sized,
    {
    }
}

/// Something on its way along an edge: one value, or a list of which each task gets an item. Shared by those tasks.
#[derive(Clone)]
pub struct Delivery(Arc<Parcel<dyn Any + Send + Sync>>);

struct Parcel<T: ?Sized> {
    list: Option<List>,
    value: T,
}

/// How to reach into a value that is a list.
#[derive(Clone, Copy)]
struct List {
    len: usize,
    at: for<'a> fn(&'a (dyn Any + Send + Sync), usize) -> Option<&'a (dyn Any + Send + Sync)>,
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Delivery")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl Delivery {
    /// One value.
    pub fn one<T: Send + Sync + 'static>(value: T) -> Self {
        Delivery(Arc::new(Parcel { list: None, value }))
    }

    /// A list: an `each` edge delivers its items, any other edge the whole.
    pub fn list<T: Send + Sync + 'static>(items: Vec<T>) -> Self {
        let list = List {
            len: items.len(),
            at: |list, index| Some(list.downcast_ref::<Vec<T>>()?.get(index)?),
        };
        Delivery(Arc::new(Parcel {
            list: Some(list),
            value: items,
        }))
    }

    /// How many items there are for an `each` edge.
    pub fn len(&self) -> usize {
        self.0.list.map_or(1, |list| list.len)
    }

    /// Whether there is no item for an `each` edge.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index, or the whole, if it is a `T`.
    pub fn get<T: 'static>(&self, index: Option<usize>) -> Option<&T> {
        let Parcel { list, value } = &*self.0;
        match (index, list) {
            (Some(index), Some(list)) => (list.at)(value, index)?.downcast_ref(),
            _ => value.downcast_ref(),
        }
    }
}
