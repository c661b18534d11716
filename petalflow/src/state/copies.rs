//! How a state is copied, if it can be.

use std::marker::PhantomData;

/// How a type is copied, if it can be: what is inherent wins over what a trait has.
#[doc(hidden)]
#[derive(Debug)]
pub struct CopyProbe<T>(PhantomData<T>);

impl<T: Clone> CopyProbe<T> {
    pub const COPY: Option<fn(&T) -> T> = Some(T::clone);
}

#[doc(hidden)]
pub trait NoCopy {
    type Of;
    const COPY: Option<fn(&Self::Of) -> Self::Of> = None;
}

impl<T> NoCopy for CopyProbe<T> {
    type Of = T;
}
