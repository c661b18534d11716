//! For the code of `#[state]`.

use std::fmt;
use std::marker::PhantomData;

use petalflow_graph::messages::{self, KeyTraits};
use serde_core::{Serialize, de::DeserializeOwned};

use crate::error::BoxError;
use crate::state::{KeySet, ThreadSafe, Write, WriteError, Writes, reduce};

/// The keys that an update writes.
#[derive(Clone, Copy, Debug)]
pub struct Marks<const W: usize> {
    written: [u64; W],
    overwritten: [u64; W],
}

impl<const W: usize> Default for Marks<W> {
    fn default() -> Self {
        Marks {
            written: [0; W],
            overwritten: [0; W],
        }
    }
}

impl<const W: usize> Marks<W> {
    /// The written keys.
    pub fn written(&self) -> KeySet {
        KeySet::of_words(&self.written)
    }

    /// The overwritten keys.
    pub fn overwritten(&self) -> KeySet {
        KeySet::of_words(&self.overwritten)
    }

    /// Adds a write to the key with this index. Fails if the key does not accept it.
    pub fn push<T>(
        &mut self,
        writes: &mut Writes<T>,
        value: T,
        overwrite: bool,
        index: usize,
        key: &'static str,
        exclusive: bool,
    ) -> Result<(), WriteError> {
        let (word, bit) = (index / 64, 1 << (index % 64));
        let overwritten = self.overwritten[word] & bit != 0;
        if overwrite {
            if overwritten {
                return Err(WriteError::second_overwrite(key));
            }
            self.overwritten[word] |= bit;
            writes.push(Write::Overwrite(value));
        } else if overwritten {
            // An overwrite replaces the other writes.
        } else if exclusive && self.written[word] & bit != 0 {
            return Err(WriteError::second_write(key));
        } else {
            writes.push(Write::Fold(value));
        }
        self.written[word] |= bit;
        Ok(())
    }

    /// Adds a write to a key, given as its index, its name, and whether it is exclusive.
    pub fn write<T>(
        &mut self,
        writes: &mut Writes<T>,
        value: T,
        key: &'static (usize, &'static str, bool),
    ) -> Result<(), BoxError> {
        let (word, bit) = (key.0 / 64, 1 << (key.0 % 64));
        if self.written[word] & bit != 0 {
            return self.write_again(writes, value, key);
        }
        self.written[word] |= bit;
        writes.push_first(value);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn write_again<T>(
        &mut self,
        writes: &mut Writes<T>,
        value: T,
        &(index, name, exclusive): &'static (usize, &'static str, bool),
    ) -> Result<(), BoxError> {
        Ok(self.push(writes, value, false, index, name, exclusive)?)
    }

    /// Returns the written keys, and clears the marks.
    pub fn take(&mut self) -> KeySet {
        let written = self.written();
        *self = Marks::default();
        written
    }
}

/// The result of applying one key.
pub fn applied(result: Result<(), WriteError>) -> Result<(), BoxError> {
    result.map_err(Into::into)
}

/// Folds like [`Writes::fold_into`]. If the key has no value, the first write becomes the value.
pub fn fold_from_first<T>(
    writes: &mut Writes<T>,
    current: &mut T,
    overwritten: bool,
    mut first: bool,
    fold: fn(&mut T, T),
) -> bool {
    writes.fold_into(current, overwritten, |current, value| {
        if std::mem::take(&mut first) {
            reduce::replace(current, value);
        } else {
            fold(current, value);
        }
    })
}

/// `Debug` for the newtype of a key.
pub fn debug_newtype(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    value: &dyn fmt::Debug,
) -> fmt::Result {
    f.debug_tuple(name).field(value).finish()
}

/// `Debug` for a struct of these fields.
pub fn debug_struct(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    fields: &[(&str, &dyn fmt::Debug)],
) -> fmt::Result {
    let mut f = f.debug_struct(name);
    for (name, value) in fields {
        f.field(name, value);
    }
    f.finish()
}

/// `Debug` for an update: the written keys.
pub fn debug_update(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    written: KeySet,
    fields: &[(&str, &dyn fmt::Debug)],
) -> fmt::Result {
    let mut f = f.debug_struct(name);
    for (key, (name, value)) in fields.iter().enumerate() {
        if written.contains(key) {
            f.field(name, value);
        }
    }
    f.finish()
}

/// `Clone` for the writes of a key. `CloneWrites(writes).cloned()` also compiles for a type without `Clone`, which
/// [`KeyType::check`] reports: the inherent method has precedence if it exists.
#[derive(Debug)]
pub struct CloneWrites<'a, T>(pub &'a Writes<T>);

impl<T: Clone> CloneWrites<'_, T> {
    pub fn cloned(self) -> Writes<T> {
        self.0.clone()
    }
}

pub trait NotClone {
    type Writes;
    fn cloned(self) -> Self::Writes;
}

impl<T> NotClone for CloneWrites<'_, T> {
    type Writes = Writes<T>;

    fn cloned(self) -> Writes<T> {
        unreachable!("a program with such a key does not compile")
    }
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

/// Fails to compile if threads cannot share values of the type.
pub const fn shared<T: ThreadSafe>() -> usize {
    0
}

/// The same type, if there is no error in the type `C`.
pub trait After<C> {
    type Type;
}

impl<T, C> After<C> for T {
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

/// Traits with a lifetime, for conditional bounds: with `where for<'a> T: DebugFor<'a>` there is no impl for a `T` without
/// `Debug`, and `where T: Debug` would be an error. `KEY` distinguishes the bounds of two keys of one type.
macro_rules! conditional {
    ($($name:ident: $of:path $(, $more:path)*;)*) => {$(
        pub trait $name<'a, const KEY: usize = 0>: $of $(+ $more)* {}

        #[diagnostic::do_not_recommend]
        impl<T: $of $(+ $more)*, const KEY: usize> $name<'_, KEY> for T {}
    )*};
}

conditional! {
    CloneFor: Clone;
    DebugFor: fmt::Debug;
    DefaultFor: Default;
    EqFor: Eq;
    SharedFor: ThreadSafe;
}

pub trait PartialEqFor<'a>: PartialEq {
    /// `==` without the warning of rustc for function pointers.
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[diagnostic::do_not_recommend]
impl<T: PartialEq> PartialEqFor<'_> for T {}
