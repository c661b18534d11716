//! Routes: the enums by which nodes choose the next node.

use std::any::{TypeId, type_name};

use crate::delivery::{Delivery, TypeName};

/// The routes of a type, at compile time.
///
/// ```
/// use petalflow::node::Routing;
/// use petalflow::{Each, Route};
///
/// #[derive(petalflow::Route)]
/// enum Plan { Write, Dig(Vec<String>) }
///
/// assert_eq!(Plan::NAMES, ["Write", "Dig"]);
/// assert_eq!(Plan::PAYLOADS, [false, true]);
/// assert!(<Vec<Plan> as Routing>::MANY && <Each<String> as Routing>::SENDS);
/// # let _ = (Plan::Write.index(), Plan::Dig(vec![]).index());
/// ```
pub trait Routing {
    /// The names of the routes; empty if only the edges decide.
    const NAMES: &'static [&'static str] = &[];
    /// Whether each route carries a payload.
    const PAYLOADS: &'static [bool] = &[];
    /// Whether any number of routes can be chosen, instead of exactly one.
    const MANY: bool = false;
    /// Whether the type is a routing decision.
    const ROUTES: bool = false;
    /// Whether it sends items to the targets of `each`.
    const SENDS: bool = false;
    /// Whether the names of the routes are known at run time only. See [`Routes`](super::Routes).
    const NAMED: bool = false;

    /// The type of the items and its name.
    #[doc(hidden)]
    fn items() -> Option<TypeName> {
        None
    }

    /// The payload type of the route with this index, if it is known.
    #[doc(hidden)]
    fn carried(route: usize) -> Option<Carried> {
        let _ = route;
        None
    }
}

/// A routing decision. Derive it for an enum: each variant is a route and can carry one value, which is delivered to
/// the target as its `#[item]`.
///
/// ```
/// use petalflow::Route;
///
/// #[derive(petalflow::Route)]
/// enum Verdict {
///     Revise,
///     Publish,
/// }
///
/// assert_eq!(<Verdict as petalflow::node::Routing>::NAMES, ["Revise", "Publish"]);
/// assert_eq!(Verdict::Publish.index(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route",
    label = "not a route",
    note = "derive it: `#[derive(Route)] enum {Self} {{ .. }}`"
)]
pub trait Route: Routing + Sized {
    /// The index of the route in [`NAMES`](Routing::NAMES).
    fn index(&self) -> u32;

    /// The payload, which is delivered to the target.
    fn payload(self) -> Option<Delivery> {
        None
    }
}

/// Looks up the payload type of a variant: `NAME` is a hash of the variant's name, equal in `#[derive(Route)]` and
/// `flow!`. A variant without a payload has no implementation.
#[doc(hidden)]
pub trait Carries<const NAME: u64> {
    /// The payload.
    type Payload: 'static;
}

/// Several routes, each with its payload.
impl<R: Carries<NAME>, const NAME: u64> Carries<NAME> for Vec<R> {
    type Payload = R::Payload;
}

/// The payload type of a route, for graphs that are built at run time. (Static flows use [`Carries`].)
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The type of the payload.
    pub whole: TypeName,
    /// The type of its items, if it is a list: an `each` edge delivers these.
    pub items: Option<TypeName>,
}

impl Carried {
    /// A single value.
    pub fn one<T: 'static>() -> Self {
        Carried {
            whole: (TypeId::of::<T>(), type_name::<T>()),
            items: None,
        }
    }

    /// A list.
    pub fn list<T: 'static>() -> Self {
        Carried {
            items: Some((TypeId::of::<T>(), type_name::<T>())),
            ..Carried::one::<Vec<T>>()
        }
    }
}
