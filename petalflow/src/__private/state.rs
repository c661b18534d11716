//! For the code of `#[state]`, which names everything of the runtime through this module.

use std::marker::PhantomData;

use petalflow_graph::messages;
use serde_core::{Serialize, de::DeserializeOwned};

use crate::migration::Migrate;

pub use std::clone::Clone;
pub use std::cmp::PartialEq;
pub use std::convert::From;
pub use std::default::Default;
pub use std::fmt::{self, Debug};
pub use std::option::Option::{self, None, Some};
pub use std::primitive::{bool, str, usize};
pub use std::result::Result::{self, Ok};
pub use std::vec::Vec;

pub use petalflow_graph::messages::KeyTraits;
pub use petalflow_store::codec::{FieldOutline, Reducer};

pub use super::data::{
    Deserialize, Deserializer, MapAccess, ReadInput, explicit, or_default, or_initial, read_input,
    read_key, required,
};
pub use crate::checkpoint::{Attribute, AttributeKind};
pub use crate::error::BoxError;
pub use crate::node::key::codec::fields_of_key;
pub use crate::node::{Effects, Inbox, Key, Output, Receivable, WriteOutput};
pub use crate::state::codec::KeyCodec;
pub use crate::state::functions::{Input, KeyFunctions};
pub use crate::state::{
    Durable, Indexed, IndexedKey, KeyFlag, KeyMeta, KeySet, State, Update, Volatile, WriteError,
    Writes, reduce,
};

/// The version of stored values, and the function that migrates lower versions to it.
pub type Migration = (u32, Migrate);

/// The type of a key's value.
pub type Value<K> = <K as Key>::Value;

/// Applies the write of a node.
#[inline]
pub fn apply<K: Key>(key: K, effects: &mut Effects<K::State>) -> Result<(), BoxError> {
    effects.update.write::<K>(key.into_value())
}

/// Adds a key of the input to an update.
pub fn push<K: Key>(value: K::Value, update: &mut Update<K::State>) {
    update.push::<K>(value);
}

/// The value of a key of a new state: the one that is set, the default, or the one of the input.
pub fn value<K: Key>(values: &mut Update<K::State>) -> Option<K::Value> {
    values.value::<K>()
}

/// Whether two values are equal.
pub fn equal<T>(left: &T, right: &T) -> bool
where
    for<'a> &'a T: PartialEq,
{
    left == right
}

/// All fields of a state.
pub fn fields(keys: &[fn() -> Vec<FieldOutline>]) -> Vec<FieldOutline> {
    keys.iter().flat_map(|fields| fields()).collect()
}

/// The type of a key, from its newtype: generated code names the type without repeating it.
pub trait Holds {
    type Value;
}

/// The traits of a key's type, as constants: an inherent constant has precedence over one of [`Lacks`].
#[derive(Debug)]
pub struct KeyType<T: ?Sized>(PhantomData<T>);

impl<T: Clone> KeyType<T> {
    pub const CLONE: bool = true;
}

impl<T: Send + Sync> KeyType<T> {
    pub const SHARED: bool = true;
}

impl<T: Serialize> KeyType<T> {
    pub const SERIALIZE: bool = true;
}

impl<T: DeserializeOwned> KeyType<T> {
    pub const DESERIALIZE: bool = true;
}

pub trait Lacks {
    const CLONE: bool = false;
    const SHARED: bool = false;
    const SERIALIZE: bool = false;
    const DESERIALIZE: bool = false;
}

impl<T: ?Sized> Lacks for KeyType<T> {}

impl<T: ?Sized> KeyType<T> {
    /// Fails if a state cannot keep values of the type.
    ///
    /// The struct may depend on the result: rustc reports nothing that follows from a constant that has failed.
    #[track_caller]
    pub const fn check(key: &str, ty: &str, traits: KeyTraits) -> usize {
        match messages::unfit_key(key, ty, traits) {
            Some(text) => panic!("{}", text.as_str()),
            None => 0,
        }
    }

    /// Fails if an answer of the type cannot be stored. The result is for [`Checked`].
    #[track_caller]
    pub const fn answer(ty: &str, serialize: bool, deserialize: bool) -> usize {
        match messages::unfit_answer(ty, serialize, deserialize) {
            Some(text) => panic!("{}", text.as_str()),
            None => 0,
        }
    }

    /// Fails: a value of this type cannot be read back.
    #[track_caller]
    pub const fn borrows(key: &str, ty: &str) -> usize {
        panic!("{}", messages::borrowed_key(key, ty).as_str())
    }
}

/// The same type, if the check with this result has succeeded. If not, a type with an error, of which rustc reports nothing.
pub trait Checked<const RESULT: usize> {
    type Type;
}

impl<T, const RESULT: usize> Checked<RESULT> for T {
    type Type = T;
}

/// The future of a node, of a type that depends on the check of a value from the run.
pub fn checked<const RESULT: usize, F>(future: F) -> <F as Checked<RESULT>>::Type {
    future
}

/// The default of a key that is not part of the input.
#[diagnostic::on_unimplemented(
    message = "a key of type `{Self}` needs a default, because nothing has written it when the run starts",
    label = "has no `Default`",
    note = "derive `Default` for the type, give the key `#[key(default = ..)]`, or make it `#[key(input)]`"
)]
pub trait NeedsDefault {
    fn initial() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> NeedsDefault for T {
    fn initial() -> Self {
        T::default()
    }
}

/// The zero value of a `skip_zero` key.
#[diagnostic::on_unimplemented(
    message = "`skip_zero` cannot tell whether a `{Self}` is zero",
    label = "needs `Default` and `PartialEq`",
    note = "`skip_zero` ignores writes that equal the type's default: derive `Default` and `PartialEq`, or drop `skip_zero`"
)]
pub trait SkipsZero {
    fn zero() -> Self;
    fn is_zero(&self) -> bool;
}

#[diagnostic::do_not_recommend]
impl<T: Default + PartialEq> SkipsZero for T {
    fn zero() -> Self {
        T::default()
    }

    fn is_zero(&self) -> bool {
        *self == T::default()
    }
}

/// Traits with a lifetime, for conditional bounds: with `where for<'a> T: DefaultFor<'a>` there is no impl for a `T` without
/// `Default`, and `where T: Default` would be an error. `KEY` distinguishes the bounds of two keys of one type.
macro_rules! conditional {
    ($($name:ident: $of:path;)*) => {$(
        pub trait $name<'a, const KEY: usize = 0>: $of {}

        #[diagnostic::do_not_recommend]
        impl<T: $of, const KEY: usize> $name<'_, KEY> for T {}
    )*};
}

conditional! {
    DebugFor: Debug;
    DefaultFor: Default;
}
