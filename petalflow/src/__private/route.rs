//! What `#[derive(Route)]` expands to calls into.

use crate::delivery::Delivery;

pub use crate::node::{Carried, Carries};

/// What a variant carries, on its way. `Payload(value).deliver()` delivers a `Vec` as a list, also behind an alias: its
/// inherent method wins over the trait's.
#[derive(Debug)]
pub struct Payload<T>(pub T);

impl<T: Send + Sync + 'static> Payload<Vec<T>> {
    pub fn deliver(self) -> Delivery {
        Delivery::list(self.0)
    }
}

/// Everything else is one value.
pub trait Deliver {
    fn deliver(self) -> Delivery;
}

impl<T: Send + Sync + 'static> Deliver for Payload<T> {
    fn deliver(self) -> Delivery {
        Delivery::one(self.0)
    }
}

/// What can neither be delivered as a list nor as one value, of which [`Sent`] says so.
pub trait NotSent {
    fn deliver(&self) -> Delivery;
}

impl<T> NotSent for Payload<T> {
    fn deliver(&self) -> Delivery {
        unreachable!("a program with such a payload does not compile")
    }
}

/// What a variant can carry.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel along an edge",
    label = "needs to be `Send`, `Sync` and without borrowed data",
    note = "the node that takes it may run on another thread: use `Arc` for `Rc`, and owned values"
)]
pub trait Sent {
    const SENT: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Sent for T {}

/// The type of a payload, told as [`Payload`] delivers it: the inherent function of a `Vec` wins over the trait's.
#[derive(Debug)]
pub struct PayloadType<T>(std::marker::PhantomData<T>);

impl<T: 'static> PayloadType<Vec<T>> {
    pub fn carried() -> Option<Carried> {
        Some(Carried::list::<T>())
    }
}

/// Everything else is one value.
pub trait OneType {
    fn carried() -> Option<Carried>;
}

impl<T: 'static> OneType for PayloadType<T> {
    fn carried() -> Option<Carried> {
        Some(Carried::one::<T>())
    }
}
