//! Routes: the enum by which a node says where to go next.

use std::any::{TypeId, type_name};

use crate::delivery::{Delivery, TypeName};

/// The compile-time side of a choice: which routes there are.
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
    /// The names of the routes; none where the edges alone decide.
    const NAMES: &'static [&'static str] = &[];
    /// For each route whether it carries a payload.
    const PAYLOADS: &'static [bool] = &[];
    /// Picks any number of routes rather than exactly one.
    const MANY: bool = false;
    /// Is a choice at all.
    const ROUTES: bool = false;
    /// Sends items to the targets of `each`.
    const SENDS: bool = false;

    /// The type of these items, with its name.
    #[doc(hidden)]
    fn items() -> Option<TypeName> {
        None
    }

    /// What a route carries, by its index; `None` also where that is not known.
    #[doc(hidden)]
    fn carried(route: usize) -> Option<Carried> {
        let _ = route;
        None
    }
}

/// A choice among named ways on. Derive it for an enum; each variant is a route and may carry one value, which is
/// delivered to the target as its `#[item]`.
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
    /// Its index in [`NAMES`](Routing::NAMES).
    fn index(&self) -> u32;

    /// What it carries to the target.
    fn payload(self) -> Option<Delivery>;
}

/// Type-level look-up of a variant's payload: `NAME` is a hash of the variant's name, the same in `#[derive(Route)]` and
/// `flow!`. A variant without a payload has none of these.
#[doc(hidden)]
pub trait Carries<const NAME: u64> {
    /// The payload.
    type Payload: 'static;
}

/// Several routes, each with its payload.
impl<R: Carries<NAME>, const NAME: u64> Carries<NAME> for Vec<R> {
    type Payload = R::Payload;
}

/// What a route carries, for graphs that are built at run time. (Static flows ask [`Carries`].)
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The value.
    pub whole: TypeName,
    /// Its items, if it is a list: what an `each` edge delivers.
    pub items: Option<TypeName>,
}

impl Carried {
    /// One value.
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
