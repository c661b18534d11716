//! Results of nodes that a cache may know.
//!
//! Reached through [`Find`] alone, which stands in the settings of a run that has a cache: a program that caches nothing
//! then contains neither this nor what it takes to store its values.

use std::sync::Arc;
use std::time::Duration;

use super::fork::JobEnd;
use super::stored::{Program, load_finished, save_finished, untracked};
use crate::cache::{Cache, CacheOfRun};
use crate::future::BoxFuture;
use crate::node::{Effects, ManagedValues, Scope};
use crate::state::{KeySet, State, StateCodec, Update as _};

/// Finds the place of a task of a flow: [`find`].
pub(crate) type Find<S> = fn(&str, &Scope, &S) -> Option<Box<dyn Place<S>>>;

/// Where the result of one task stands in the run's cache.
pub(crate) trait Place<S: State>: Send + Sync {
    /// Takes the result from the cache, if it knows it.
    fn look<'a>(&'a self, scope: &'a Scope, effects: &'a mut Effects<S>) -> BoxFuture<'a, bool>;

    /// Puts the result into the cache, if all of it can be stored.
    fn keep<'a>(&'a self, scope: &'a Scope, effects: &'a Effects<S>) -> BoxFuture<'a, ()>;
}

struct PlaceOf<S: State> {
    cache: Arc<dyn Cache>,
    codec: StateCodec<S>,
    program: Program,
    key: Vec<u8>,
    lasts: Duration,
}

/// The place of a task. `None` where its node is not cached, the run has no cache, or something that the node depends on
/// cannot be stored.
pub(crate) fn find<S: State>(flow: &str, scope: &Scope, state: &S) -> Option<Box<dyn Place<S>>> {
    let plan = &scope.shared.plan;
    let lasts = plan.policies[scope.node as usize].cache?;
    let cache = scope.managed().and_then(ManagedValues::get::<CacheOfRun>)?;
    let codec = S::codec()?;
    let mut key = Vec::new();
    part(&mut key, flow.as_bytes());
    part(&mut key, plan.stored_name(scope.node).as_bytes());
    let reads = plan.reads[scope.node as usize];
    if !reads
        .unwrap_or(KeySet::ALL)
        .intersection(untracked::<S>())
        .is_empty()
    {
        return None;
    }
    let mut bytes = Vec::new();
    let is_read = |at: &usize| reads.is_none_or(|reads| reads.contains(*at));
    for at in (0..S::KEYS.len()).filter(is_read) {
        part(&mut key, S::KEYS[at].id.as_bytes());
        bytes.clear();
        (codec.save)(state, at, &mut bytes).ok()?;
        part(&mut key, &bytes);
    }
    if let Some(delivery) = &scope.delivery
        && plan.takes[scope.node as usize]
    {
        let item = plan.items[scope.node as usize]?;
        bytes.clear();
        (item.save)(
            delivery,
            scope.item.get().map(|item| item as usize),
            &mut bytes,
        )
        .ok()?;
        part(&mut key, &bytes);
    }
    Some(Box::new(PlaceOf {
        cache: Arc::clone(&cache.0),
        codec,
        program: Program::of::<S>(flow, plan),
        key,
        lasts,
    }))
}

impl<S: State> Place<S> for PlaceOf<S> {
    fn look<'a>(&'a self, scope: &'a Scope, effects: &'a mut Effects<S>) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let Some(bytes) = self.cache.get(&self.key).await else {
                return false;
            };
            // What an earlier program left may not fit any more: then the node runs.
            let (plan, known) = (&scope.shared.plan, (&self.program, &self.program.outline));
            match load_finished(&self.codec, known, plan, scope.node, &bytes) {
                Ok(Some(finished)) => {
                    *effects = finished.effects;
                    true
                }
                Ok(None) | Err(_) => false,
            }
        })
    }

    fn keep<'a>(&'a self, scope: &'a Scope, effects: &'a Effects<S>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let lost = effects.update.written().intersection(untracked::<S>());
            let plan = &scope.shared.plan;
            if lost.is_empty()
                && let Ok(bytes) = save_finished(
                    &self.codec,
                    &self.program,
                    plan,
                    scope.node,
                    effects,
                    &JobEnd::Done,
                )
            {
                self.cache.put(&self.key, bytes, self.lasts).await;
            }
        })
    }
}

/// Length-prefixed, so that no two lists of parts give one key.
#[inline]
fn part(key: &mut Vec<u8>, bytes: &[u8]) {
    key.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    key.extend_from_slice(bytes);
}
