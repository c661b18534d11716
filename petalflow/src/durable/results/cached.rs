//! Cached results of nodes. They have the stored form of finished tasks.

use std::sync::Arc;
use std::time::Duration;

use super::task_results::{load_into, save_finished};
use crate::cache::{Cache, RunCache};
use crate::durable::record::fingerprint::Fingerprint;
use crate::erased::{AnyCodec, AnyEffects, AnyState};
use crate::exec::{CachedResult, TaskEnd, TaskResult};
use crate::future::BoxFuture;
use crate::node::{ManagedValues, Scope};
use crate::state::KeySet;

struct CacheEntry {
    cache: Arc<dyn Cache>,
    codec: AnyCodec,
    fingerprint: Fingerprint,
    key: Vec<u8>,
    lifetime: Duration,
}

/// The cache entry of a task. `None` if its node is not cached, the run has no cache, or something that the node depends on
/// cannot be stored.
pub(crate) fn find_cached(
    flow: &str,
    scope: &Scope,
    state: &dyn AnyState,
) -> Option<Box<dyn CachedResult>> {
    let plan = &scope.shared.plan;
    let lifetime = plan.policies[scope.node.index()].cache?;
    let cache = scope.managed().and_then(ManagedValues::get::<RunCache>)?;
    let ty = state.ty();
    let codec = (ty.codec)()?;
    let mut key = Vec::new();
    add_part(&mut key, flow.as_bytes());
    add_part(&mut key, plan.stored_name(scope.node).as_bytes());
    let reads = plan.reads(scope.node);
    if !reads
        .unwrap_or(KeySet::ALL)
        .intersection(ty.untracked)
        .is_empty()
    {
        return None;
    }
    let mut bytes = Vec::new();
    let is_read = |key: &usize| reads.is_none_or(|reads| reads.contains(*key));
    for read in (0..ty.keys.len()).filter(is_read) {
        add_part(&mut key, ty.keys[read].id.as_bytes());
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
        fingerprint: Fingerprint::of(ty, flow, plan),
        key,
        lifetime,
    }))
}

impl CachedResult for CacheEntry {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        effects: &'a mut dyn AnyEffects,
    ) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let Some(bytes) = self.cache.get(&self.key).await else {
                return false;
            };
            // The result of an earlier program may not fit any more. Then the node runs.
            let (plan, known) = (
                &scope.shared.plan,
                (&self.fingerprint, &self.fingerprint.outline),
            );
            let loaded = load_into(self.codec, known, plan, scope.node, &bytes, effects);
            let fits = matches!(loaded, Ok(Some(_)));
            if !fits {
                effects.clear();
            }
            fits
        })
    }

    fn save<'a>(&'a self, scope: &'a Scope, effects: &'a dyn AnyEffects) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let not_stored = effects.written().intersection(self.codec.ty.untracked);
            let plan = &scope.shared.plan;
            if not_stored.is_empty()
                && let Ok(bytes) = save_finished(
                    self.codec,
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
