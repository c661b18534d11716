//! The end of a type: whether the sums of a superstep fit in the types of their keys.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::time::Duration;

use super::{Write, WriteError, Writes};

/// The sums of a key of this type. Of a [`CheckedSum`], the inherent functions take precedence over those of
/// [`UncheckedSum`].
#[doc(hidden)]
#[derive(Debug)]
pub struct SumProbe<T>(PhantomData<T>);

/// A type whose sums can leave its range.
#[doc(hidden)]
pub trait CheckedSum: Copy + Debug {
    const NAME: &'static str;

    /// The sum. `None` if it does not fit.
    fn plus(self, other: Self) -> Option<Self>;
}

macro_rules! checked_sum {
    ($($name:ident)*) => {$(
        impl CheckedSum for $name {
            const NAME: &'static str = stringify!($name);

            fn plus(self, other: Self) -> Option<Self> {
                self.checked_add(other)
            }
        }
    )*};
}

checked_sum!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize Duration);

impl<T: CheckedSum> SumProbe<T> {
    /// Checks the writes of a superstep, in the order in which they fold, before they are applied.
    ///
    /// # Errors
    ///
    /// The first sum that does not fit.
    pub fn validate<'a>(
        current: &T,
        key: &'static str,
        writes: impl Iterator<Item = &'a Writes<T>>,
    ) -> Result<(), WriteError>
    where
        T: 'a,
    {
        let mut sum = *current;
        let mut problem = None;
        for write in writes.flat_map(Writes::iter) {
            match write {
                Write::Fold(written) => match sum.plus(*written) {
                    Some(fits) => sum = fits,
                    None => problem = problem.or(Some((sum, *written))),
                },
                // It drops all other writes of the superstep.
                Write::Overwrite(_) => return Ok(()),
            }
        }
        match problem {
            Some((sum, written)) => Err(too_large(key, sum, written)),
            None => Ok(()),
        }
    }

    /// Checks the input of a run, before it is added to the default of the key.
    ///
    /// # Errors
    ///
    /// If the sum does not fit.
    pub fn validate_input(current: &T, key: &'static str, input: &T) -> Result<(), WriteError> {
        match current.plus(*input) {
            Some(_) => Ok(()),
            None => Err(too_large(key, *current, *input)),
        }
    }
}

#[cold]
fn too_large<T: CheckedSum>(key: &'static str, sum: T, written: T) -> WriteError {
    let name = T::NAME;
    WriteError {
        key,
        problem: format!(
            "{sum:?} + {written:?} does not fit in a `{name}`; use a larger type, or `reduce = function`"
        ),
    }
}

/// The sums of a type that has no end, or whose `+=` decides what happens there.
#[doc(hidden)]
pub trait UncheckedSum<T> {
    fn validate<'a>(
        _: &T,
        _: &'static str,
        _: impl Iterator<Item = &'a Writes<T>>,
    ) -> Result<(), WriteError>
    where
        T: 'a,
    {
        Ok(())
    }

    fn validate_input(_: &T, _: &'static str, _: &T) -> Result<(), WriteError> {
        Ok(())
    }
}

impl<T> UncheckedSum<T> for SumProbe<T> {}
