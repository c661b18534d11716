//! The end of a type: whether the sums of a superstep fit in the types of their keys.

use std::any::Any;
use std::time::Duration;

use super::{Write, WriteError, Writes};

/// Checks the writes to a key with the reducer `sum`, in the order in which they fold, before they are applied. A type
/// without a largest value, or whose `+=` decides what happens there, passes.
///
/// # Errors
///
/// The first sum that does not fit.
pub(crate) fn check_sum<T: Clone + 'static>(
    key: &'static str,
    current: &T,
    writes: &[&Writes<T>],
) -> Result<(), WriteError> {
    if !has_end(current) {
        return Ok(());
    }
    let mut sum = current.clone();
    let mut problem = None;
    for writes in writes {
        for write in writes.iter() {
            match write {
                Write::Fold(written) => {
                    if let Err(sum) = add(&mut sum, written) {
                        problem = problem.or(Some(sum));
                    }
                }
                // It drops all other writes of the superstep.
                Write::Overwrite(_) => return Ok(()),
            }
        }
    }
    match problem {
        Some(problem) => Err(WriteError { key, problem }),
        None => Ok(()),
    }
}

macro_rules! checked_sum {
    ($($name:ident)*) => {
        /// Whether the type has a largest value. `TypeId`s are constants, so the optimizer leaves one case.
        #[inline]
        fn has_end(value: &dyn Any) -> bool {
            $(value.is::<$name>() ||)* false
        }

        /// Adds a value to another one of the same type. Fails if the sum does not fit.
        #[inline]
        fn add(sum: &mut dyn Any, written: &dyn Any) -> Result<(), String> {
            $(if let (Some(sum), Some(written)) = (sum.downcast_mut::<$name>(), written.downcast_ref::<$name>()) {
                return match sum.checked_add(*written) {
                    Some(fits) => {
                        *sum = fits;
                        Ok(())
                    }
                    None => Err(too_large(stringify!($name), sum, written)),
                };
            })*
            Ok(())
        }
    };
}

checked_sum!(u32 u64 usize i32 i64 u8 u16 u128 i8 i16 i128 isize Duration);

#[cold]
fn too_large(name: &str, sum: &dyn std::fmt::Debug, written: &dyn std::fmt::Debug) -> String {
    format!(
        "{sum:?} + {written:?} does not fit in a `{name}`; use a larger type, or `reduce = function`"
    )
}
