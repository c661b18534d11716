//! Looks up the result of a task in the cache of the run.
//!
//! Only the interface is here. [`FindCached`] is in the settings of a run that has a cache, so a program that caches nothing
//! does not contain the code that encodes values.

use crate::erased::{AnyEffects, AnyState};
use crate::future::BoxFuture;
use crate::node::Scope;

/// Finds the cache entry of a task of the named flow. `None` if the task cannot be cached.
pub(crate) type FindCached = fn(&str, &Scope, &dyn AnyState) -> Option<Box<dyn CachedResult>>;

/// The entry of one task in the run's cache.
pub(crate) trait CachedResult: Send + Sync {
    /// Copies the cached result into `effects`. Returns whether there was one.
    fn load<'a>(&'a self, scope: &'a Scope, effects: &'a mut dyn AnyEffects)
    -> BoxFuture<'a, bool>;

    /// Stores the result, if all of it can be stored.
    fn save<'a>(&'a self, scope: &'a Scope, effects: &'a dyn AnyEffects) -> BoxFuture<'a, ()>;
}
