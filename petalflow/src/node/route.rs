//! Routes: the enum by which a node says where to go next.

use std::any::{TypeId, type_name};

use super::Routing;
use crate::delivery::{Delivery, TypeName};

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
/// assert_eq!(<Verdict as petalflow::Routing>::NAMES, ["Revise", "Publish"]);
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
