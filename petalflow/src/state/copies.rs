//! Cloning of states that are `Clone`.

use std::marker::PhantomData;

/// The clone function of a type, if it is `Clone`: an inherent constant takes precedence over a trait's.
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
