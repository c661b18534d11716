//! For the code of `#[derive(Route)]`.

pub use std::option::Option::{self, None, Some};
pub use std::primitive::{bool, str, u32, usize};
pub use std::result::Result;

pub use crate::delivery::Delivery;
pub use crate::error::BoxError;
pub use crate::node::{Carried, Carries, Effects, Output, Route, Routing};
pub use crate::state::{CanStore, KeySet, State};

/// Records a route, and sends its payload.
#[inline]
pub fn choose<S: State, R: Route>(route: R, effects: &mut Effects<S>) -> Result<(), BoxError> {
    let index = route.index();
    effects.choose(index);
    if let Some(payload) = route.payload() {
        effects.send(Some(index), payload);
    }
    Ok(())
}

/// The payload of a variant. `Payload(value).deliver()` delivers a `Vec` as a list, also behind an alias: the inherent method
/// has precedence over that of the trait.
#[derive(Debug)]
pub struct Payload<T>(pub T);

impl<T: Send + Sync + 'static> Payload<Vec<T>> {
    pub fn deliver(self) -> Delivery {
        Delivery::list(self.0)
    }
}

/// Any other payload is one value.
pub trait Deliver {
    fn deliver(self) -> Delivery;
}

impl<T: Send + Sync + 'static> Deliver for Payload<T> {
    fn deliver(self) -> Delivery {
        Delivery::one(self.0)
    }
}

/// A payload that cannot be delivered. [`Deliverable`] reports it.
pub trait NotSent {
    fn deliver(&self) -> Delivery;
}

impl<T> NotSent for Payload<T> {
    fn deliver(&self) -> Delivery {
        unreachable!("a program with such a payload does not compile")
    }
}

/// A payload that can be delivered.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel along an edge",
    label = "needs to be `Send`, `Sync` and without borrowed data",
    note = "the node that takes it may run on another thread: use `Arc` for `Rc`, and owned values"
)]
pub trait Deliverable {
    const SENT: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Deliverable for T {}

/// The type of a payload, by the same precedence as [`Payload`].
#[derive(Debug)]
pub struct PayloadType<T>(std::marker::PhantomData<T>);

impl<T: 'static> PayloadType<Vec<T>> {
    pub fn carried() -> Option<Carried> {
        Some(Carried::list::<T>())
    }
}

/// Any other payload is one value.
pub trait OneType {
    fn carried() -> Option<Carried>;
}

impl<T: 'static> OneType for PayloadType<T> {
    fn carried() -> Option<Carried> {
        Some(Carried::one::<T>())
    }
}
