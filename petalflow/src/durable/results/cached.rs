//! Cached results of nodes. They have the stored form of finished tasks.

use std::sync::Arc;
use std::time::Duration;

use super::task_results::{load_finished, save_finished};
use crate::cache::{Cache, RunCache};
use crate::durable::record::dirty_keys::untracked;
use crate::durable::record::fingerprint::Fingerprint;
use crate::exec::{CachedResult, TaskEnd, TaskResult};
use crate::future::BoxFuture;
use crate::node::{Effects, ManagedValues, Scope};
use crate::state::{KeySet, State, StateCodec};

struct CacheEntry<S: State> {
    cache: Arc<dyn Cache>,
    codec: StateCodec<S>,
    fingerprint: Fingerprint,
    key: Vec<u8>,
    lifetime: Duration,
}

/// The cache entry of a task. `None` if its node is not cached, the run has no cache, or something that the node depends on
/// cannot be stored.
pub(crate) fn find_cached<S: State>(
    flow: &str,
    scope: &Scope,
    state: &S,
) -> Option<Box<dyn CachedResult<S>>> {
    let plan = &scope.shared.plan;
    let lifetime = plan.policies[scope.node.index()].cache?;
    let cache = scope.managed().and_then(ManagedValues::get::<RunCache>)?;
    let codec = S::codec()?;
    let mut key = Vec::new();
    add_part(&mut key, flow.as_bytes());
    add_part(&mut key, plan.stored_name(scope.node).as_bytes());
    let reads = plan.reads(scope.node);
    if !reads
        .unwrap_or(KeySet::ALL)
        .intersection(untracked::<S>())
        .is_empty()
    {
        return None;
    }
    let mut bytes = Vec::new();
    let is_read = |key: &usize| reads.is_none_or(|reads| reads.contains(*key));
    for read in (0..S::KEYS.len()).filter(is_read) {
        add_part(&mut key, S::KEYS[read].id.as_bytes());
        bytes.clear();
        (codec.save)(state, read, &mut bytes).ok()?;
        add_part(&mut key, &bytes);
    }
    if let Some(details) = scope.details()
        && let Some(delivery) = &details.delivery
        && plan.takes_item(scope.node)
    {
        let item = plan.item(scope.node)?;
        bytes.clear();
        (item.save)(delivery, details.item, &mut bytes).ok()?;
        add_part(&mut key, &bytes);
    }
    Some(Box::new(CacheEntry {
        cache: Arc::clone(&cache.0),
        codec,
        fingerprint: Fingerprint::of::<S>(flow, plan),
        key,
        lifetime,
    }))
}

impl<S: State> CachedResult<S> for CacheEntry<S> {
    fn load<'a>(&'a self, scope: &'a Scope, effects: &'a mut Effects<S>) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let Some(bytes) = self.cache.get(&self.key).await else {
                return false;
            };
            // The result of an earlier program may not fit any more. Then the node runs.
            let (plan, known) = (
                &scope.shared.plan,
                (&self.fingerprint, &self.fingerprint.outline),
            );
            match load_finished(&self.codec, known, plan, scope.node, &bytes) {
                Ok(Some(finished)) => {
                    *effects = finished.effects;
                    true
                }
                Ok(None) | Err(_) => false,
            }
        })
    }

    fn save<'a>(&'a self, scope: &'a Scope, effects: &'a Effects<S>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let not_stored = effects.update.written().intersection(untracked::<S>());
            let plan = &scope.shared.plan;
            if not_stored.is_empty()
                && let Ok(bytes) = save_finished(
                    &self.codec,
                    &self.fingerprint,
                    plan,
                    &TaskResult {
                        id: scope.task_id(),
                        node: scope.node,
                        effects,
                        end: &TaskEnd::Done,
                    },
                )
            {
                self.cache.put(&self.key, bytes, self.lifetime).await;
            }
        })
    }
}

/// Adds a part to a key, after its length, so that different lists of parts give different keys.
fn add_part(key: &mut Vec<u8>, bytes: &[u8]) {
    key.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    key.extend_from_slice(bytes);
}
