//! Effects of a task that run once.

use serde_core::{Serialize, de::DeserializeOwned};
use std::any::type_name;
use std::future::Future;
use std::pin::pin;

use super::within_effect::Within;
use super::{NAME_OF_EFFECT, TaskRef, TaskServices};
use crate::checkpoint::{StoreError, StoredWrite, WriteName};
use crate::error::BoxError;
use crate::future::BoxFuture;
#[cfg(feature = "engine")]
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use petalflow_store::codec::{decode, encode};

impl TaskServices {
    /// Runs an effect, unless its result is already recorded. The record is in the store before this returns.
    pub(crate) async fn once<T, E>(
        &self,
        task: &TaskRef<'_>,
        name: &str,
        effect: impl Future<Output = Result<T, E>>,
    ) -> Result<T, BoxError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<BoxError>,
    {
        task.check_alive("once")?;
        self.reserve(task, "once", name, || NAME_OF_EFFECT.into())?;
        let mut call = self.call_effect(task.id);
        let key = (task.id, name.to_string());
        let mut recorded = self.lock().effects.get(&key).cloned();
        if recorded.is_none() {
            let stored = pin!(self.barrier_stored(task.superstep));
            task.while_alive("once", stored).await?;
            recorded = match self.confirm_claim(task, name).await {
                Ok(recorded) => recorded,
                Err(error) => return Err(self.abort(task, "once", error.into()).await),
            };
        }
        if let Some(bytes) = recorded {
            #[cfg(feature = "engine")]
            if self.storage.store.enters_effect(task.id, name) {
                // While it counts as called, the task waits for nothing.
                drop(call);
                let effect = pin!(effect);
                let has_asked = || {
                    let asked = (task.id, name.to_string());
                    self.lock().asked_within.contains(&asked)
                };
                Within::new(task.id, name, effect).until(has_asked).await;
            }
            self.skip_requests(task, name);
            return decode(&bytes).map_err(|error| {
                format!(
                    "the record of the effect `{name}` in node `{}` cannot be read as `{}`: {error}; an earlier program has recorded another type. To run the effect again, give it another name, or fork the thread at its newest checkpoint (`Thread::fork`) and resume it",
                    task.node,
                    type_name::<T>()
                )
                .into()
            });
        }
        #[cfg(feature = "engine")]
        if self.storage.store.refuses_effect(task.id, name) {
            // While it counts as called, the task waits for nothing.
            drop(call);
            return Err(self.leave_for_good(task.id).await);
        }
        call.begin(task).await?;
        let value = if self.notes_requests() {
            Within::new(task.id, name, pin!(effect)).await
        } else {
            effect.await
        };
        let value = value.map_err(Into::into)?;
        let mut bytes = Vec::new();
        encode(&value, &mut bytes)?;
        // Otherwise every later run of the node would fail.
        decode::<T>(&bytes).map_err(|error| {
            format!(
                "the result of the effect `{name}` in node `{}` is a `{}` that cannot be read back: {error}; the effect has run, and its result is not recorded",
                task.node,
                type_name::<T>()
            )
        })?;
        let stored = self.store_record(task, WriteName::Once(name), bytes).await;
        // The run may end now.
        drop(call);
        match stored {
            Ok(()) => Ok(value),
            Err(error) => Err(self.abort(task, "once", error.into()).await),
        }
    }

    /// Leaves a task unfinished: the run replays what was recorded, and does not run what was not.
    #[cfg(feature = "engine")]
    pub(crate) async fn leave_for_good(&self, task: TaskId) -> BoxError {
        self.hold();
        self.leave(task);
        std::future::pending().await
    }

    /// Confirms that the run still has its thread. If its claim has expired, another run may have had the thread since: if it has
    /// continued, this is an error. If it has only recorded the effect of this task, returns the record.
    ///
    /// Boxed, so that no program compiles it again.
    fn confirm_claim<'a>(
        &'a self,
        task: &'a TaskRef<'_>,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, ThreadError>> {
        Box::pin(async move {
            let Some(claim) = &self.storage.claim else {
                return Ok(None);
            };
            if claim.confirm().await? {
                return Ok(None);
            }
            if !self.storage.claim_again().await? {
                let thread = self.storage.thread.to_string();
                return Err(StoreError::ClaimLost { thread }.into());
            }
            let origin = self.origin(task.superstep);
            let writes = self.storage.writes(self.namespace.as_str(), origin).await?;
            let name = WriteName::Once(name).to_string();
            let recorded = |write: &StoredWrite| write.task == task.id && write.name == name;
            let recorded = writes.into_iter().find(recorded);
            Ok(recorded.map(|write| write.bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use petalflow_graph::NodeIdx;

    use super::super::{AttemptLife, StoredMark};
    use super::*;
    use crate::checkpoint::{Durability, InMemoryStore, Retention, ThreadStorage};
    use crate::ids::{Namespace, TaskId};

    /// The services of a run whose superstep has the records of an earlier run.
    #[tokio::test]
    async fn the_barrier_forgets_the_records_of_its_tasks() {
        let store = Arc::new(InMemoryStore::new());
        let storage = ThreadStorage::new(store, "ann".into(), "Pay".into());
        let stored = StoredMark::default();
        stored.set(9);
        let answers = Arc::default();
        let (root, settings) = (Namespace::ROOT, (Durability::Sync, Retention::ALL));
        let mut services = TaskServices::new(storage, settings, root, 0, answers, stored);
        let (earlier, mut result) = (TaskId::of(&[b"earlier"]), Vec::new());
        encode(&1, &mut result).unwrap();
        let write = StoredWrite::new(earlier, WriteName::Once("charge"), result);
        services.restore(&[write]).unwrap();
        let life = AttemptLife::endless();
        for superstep in 1_u64..=3 {
            let task = TaskRef {
                id: TaskId::of(&[&superstep.to_le_bytes()]),
                at: NodeIdx::new(0),
                node: "pay",
                index: None,
                attempt: 1,
                superstep,
                life: &life,
            };
            let charged = services.once(&task, "charge", async { Ok::<_, BoxError>(superstep) });
            assert_eq!(charged.await.unwrap(), superstep);
            let again = services.once(&task, "charge", async { Ok::<_, BoxError>(0) });
            assert!(again.await.is_err(), "the name was used in this superstep");
            services.forget_tasks();
            let inner = services.lock();
            assert_eq!((inner.effects.len(), inner.used_names.len()), (0, 0));
        }
    }
}
