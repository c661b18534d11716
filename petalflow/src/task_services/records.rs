//! Records of a task: results of effects, and writes in case it does not finish.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_core::{Serialize, de::DeserializeOwned};

use super::caller_record::CallerRecord;
use super::{TaskRef, TaskServices};
use crate::checkpoint::{StoreChange, StoredWrite, WriteName};
use crate::error::BoxError;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use petalflow_store::codec::{decode, encode};

impl TaskServices {
    /// Stores a record of a task.
    pub(super) async fn store_record(
        &self,
        task: &TaskRef<'_>,
        name: WriteName<'_>,
        bytes: Vec<u8>,
    ) -> Result<(), ThreadError> {
        let write = StoredWrite::new(task.id, name, bytes.clone());
        let origin = self.origin(task.superstep);
        self.storage
            .write(self.namespace.as_str(), origin, vec![write])
            .await?;
        let mut inner = self.lock();
        match name {
            WriteName::Unfinished(key) => inner.unfinished.insert((task.id, key.into()), bytes),
            WriteName::Child(id) => {
                inner.children.insert(id);
                None
            }
            WriteName::Once(name) => inner.effects.insert((task.id, name.into()), bytes),
            _ => None,
        };
        Ok(())
    }

    /// Stores a write to a key in case the task does not finish, in place of an earlier one.
    pub(crate) async fn record_unfinished<T: Serialize>(
        &self,
        task: &TaskRef<'_>,
        key: &str,
        value: &T,
    ) -> Result<(), BoxError> {
        const METHOD: &str = "record_unfinished";
        task.check_alive(METHOD)?;
        let mut bytes = Vec::new();
        encode(&[(false, value)], &mut bytes)?;
        let stored = pin!(self.barrier_stored(task.superstep));
        task.while_alive(METHOD, stored).await?;
        self.has_records.store(true, Ordering::Release);
        let name = WriteName::Unfinished(key);
        match self.store_record(task, name, bytes).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.abort(task, METHOD, error.into()).await),
        }
    }

    /// The write to a key that an earlier run of the task has recorded. `None` if it has another type.
    pub(crate) fn unfinished<T: DeserializeOwned>(&self, task: TaskId, key: &str) -> Option<T> {
        let inner = self.lock();
        let bytes = inner.unfinished.get(&(task, key.to_string()))?;
        let [(_, value)]: [(bool, T); 1] = decode(bytes).ok()?;
        Some(value)
    }

    /// Records a write to a key in case that `caller`, the task in which this flow runs, does not finish. It is stored with the next
    /// checkpoint of this flow.
    pub(crate) fn record_for_caller<T: Serialize>(
        &self,
        (services, caller): (&Arc<TaskServices>, &TaskRef<'_>),
        key: &str,
        value: &T,
    ) -> Result<(), BoxError> {
        caller.check_alive("record_unfinished_of")?;
        let mut bytes = Vec::new();
        encode(&[(false, value)], &mut bytes)?;
        services.has_records.store(true, Ordering::Release);
        let of = (caller.id, key.to_string());
        services.lock().unfinished.insert(of.clone(), bytes);
        let (origin, services) = (services.origin(caller.superstep), Arc::clone(services));
        let record = CallerRecord {
            of: of.clone(),
            change: Box::new(move || services.unfinished_change(&of, origin)),
        };
        self.has_records.store(true, Ordering::Release);
        let mut inner = self.lock();
        inner.for_callers.retain(|other| other.of != record.of);
        inner.for_callers.push(record);
        Ok(())
    }

    /// The records of the tasks that run this flow, as changes beside its next checkpoint.
    pub(crate) fn take_caller_records(&self) -> Vec<StoreChange> {
        if !self.has_records.load(Ordering::Acquire) {
            return Vec::new();
        }
        let records = std::mem::take(&mut self.lock().for_callers);
        let changes = records.iter().filter_map(|record| (record.change)());
        changes.collect()
    }

    /// What a task has recorded of a key, as a change beside the barrier at which it was planned.
    fn unfinished_change(&self, of: &(TaskId, String), origin: u64) -> Option<StoreChange> {
        let bytes = self.lock().unfinished.get(of)?.clone();
        let (task, key) = of;
        let write = StoredWrite::new(*task, WriteName::Unfinished(key), bytes);
        Some(StoreChange::Write {
            namespace: self.namespace.to_string(),
            seq: origin,
            writes: vec![write],
        })
    }
}
