//! Keys whose values are search attributes of threads.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{KeySet, State};
use crate::checkpoint::{Attribute, AttributeKind};

/// A type of keys that `#[key(indexed)]` can have: `bool`, integers, floats, texts, and an `Option` of these.
///
/// Implement it for a type of your own, such as an enum or a time, to say as what it is found.
///
/// ```
/// use petalflow::checkpoint::{Attribute, AttributeKind};
/// use petalflow::prelude::*;
/// use petalflow::state::Indexed;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, Default, Serialize, Deserialize)]
/// enum Priority {
///     #[default]
///     Low,
///     High,
/// }
///
/// impl Indexed for Priority {
///     const KIND: AttributeKind = AttributeKind::Text;
///
///     fn attribute(&self) -> Option<Attribute> {
///         Some(match self {
///             Priority::Low => "low".into(),
///             Priority::High => "high".into(),
///         })
///     }
/// }
///
/// #[state]
/// struct Ticket {
///     #[key(input, indexed)]
///     priority: Priority,
///     #[key(indexed)]
///     owner: Option<String>,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the index of threads cannot have values of type `{Self}`",
    label = "cannot be `indexed`",
    note = "an `indexed` key is a `bool`, an integer, a float, a `String`, or an `Option` of one of these: index another key, or implement `petalflow::state::Indexed` for a type of your own"
)]
pub trait Indexed {
    /// The type as which it is found.
    const KIND: AttributeKind;

    /// The value in the index, of the type [`KIND`](Self::KIND). `None` if a thread with this value has no such attribute.
    fn attribute(&self) -> Option<Attribute>;
}

macro_rules! indexed {
    ($($kind:ident: $($ty:ty)*;)*) => {$($(
        impl Indexed for $ty {
            const KIND: AttributeKind = AttributeKind::$kind;

            fn attribute(&self) -> Option<Attribute> {
                Some((*self).into())
            }
        }
    )*)*};
}

indexed! {
    Bool: bool;
    Number: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64;
    Text: &'static str;
}

macro_rules! indexed_texts {
    ($($ty:ty)*) => {$(
        impl Indexed for $ty {
            const KIND: AttributeKind = AttributeKind::Text;

            fn attribute(&self) -> Option<Attribute> {
                let text: &str = self;
                Some(text.into())
            }
        }
    )*};
}

indexed_texts!(String Box<str> Arc<str> Cow<'static, str>);

#[diagnostic::do_not_recommend]
impl<T: Indexed> Indexed for Option<T> {
    const KIND: AttributeKind = T::KIND;

    fn attribute(&self) -> Option<Attribute> {
        self.as_ref()?.attribute()
    }
}

/// An indexed key in the table of its state. `node::key` makes it.
#[doc(hidden)]
pub struct IndexedKey<S> {
    pub(crate) index: usize,
    /// The name in storage.
    pub(crate) name: &'static str,
    pub(crate) kind: Option<AttributeKind>,
    pub(crate) attribute: fn(&S) -> Option<Attribute>,
}

impl_debug!([S] IndexedKey<S>);

/// The search attributes of a state of which these keys have a value.
pub(crate) fn attributes<S: State>(state: &S, written: KeySet) -> BTreeMap<String, Attribute> {
    let indexed = S::INDEXED.iter();
    let indexed = indexed.filter(|key| written.contains(key.index));
    indexed
        .filter_map(|key| Some((key.name.into(), (key.attribute)(state)?)))
        .collect()
}

/// The names and types of the search attributes that threads over this state can have.
///
/// ```
/// use petalflow::checkpoint::AttributeKind;
/// use petalflow::prelude::*;
/// use petalflow::state::attribute_kinds;
///
/// #[state]
/// struct Order {
///     #[key(input, indexed)]
///     amount: u32,
/// }
///
/// assert_eq!(attribute_kinds::<Order>(), [("amount", AttributeKind::Number)]);
/// ```
pub fn attribute_kinds<S: State>() -> Vec<(&'static str, AttributeKind)> {
    let indexed = S::INDEXED.iter();
    indexed
        .filter_map(|key| Some((key.name, key.kind?)))
        .collect()
}
