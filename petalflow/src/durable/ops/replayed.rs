//! What a replay compares: checkpoints and results as the program of today reads them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::checkpoint::{Header, Outline, Stored, ThreadStorage};
use crate::durable::load::checkpoint::{load_checkpoint, records};
use crate::durable::load::replay::logs;
use crate::durable::load::untyped;
use crate::durable::record::dirty_keys::KeyEntries;
use crate::durable::record::fingerprint::{Fingerprint, codec_of};
use crate::durable::results::task_results::adopt;
use crate::flow::AnyFlow;
use crate::outcome::ThreadError;
use petalflow_store::codec::to_form;

/// A checkpoint as this program reads it.
pub(crate) struct ReadCheckpoint {
    pub(crate) header: Header,
    /// The keys that have a value, by their stored names.
    pub(crate) keys: BTreeMap<String, Value>,
}

/// Reads a checkpoint of the thread's own flow.
pub(crate) async fn read_checkpoint(
    flow: &dyn AnyFlow,
    storage: &ThreadStorage,
    namespace: &str,
    seq: u64,
) -> Result<Option<ReadCheckpoint>, ThreadError> {
    let (program, codec) = (program(flow), codec_of(flow.state_type())?);
    let loaded = load_checkpoint(storage, namespace, Some(seq), codec, &program).await?;
    let Some(loaded) = loaded else {
        return Ok(None);
    };
    let mut entries = KeyEntries::default();
    entries.save_all(codec, &*loaded.state, loaded.written)?;
    let keys = entries
        .get()
        .map(|key| (key.id.to_string(), to_form(key.bytes)));
    Ok(Some(ReadCheckpoint {
        keys: keys.collect(),
        header: loaded.record.header,
    }))
}

/// Reads a checkpoint of a sub-flow, whose types are not known here, and the outline of the program that wrote it.
pub(crate) async fn read_untyped(
    storage: &ThreadStorage,
    namespace: &str,
    seq: u64,
) -> Result<Option<(ReadCheckpoint, Outline)>, ThreadError> {
    let Some(Stored { chain, .. }) = storage.read(namespace, Some(seq)).await? else {
        return Ok(None);
    };
    let mut records = records(storage, &chain)?;
    let base = records.first().map(|first| first.header.outline.clone());
    let outline = base.flatten().unwrap_or_default();
    let logs = logs(&mut records);
    let keys = untyped::values(logs.iter()).map_err(ThreadError::value("the value of a key"))?;
    let read = records.pop().map(|record| ReadCheckpoint {
        header: record.header,
        keys: keys.into_iter().collect(),
    });
    Ok(read.map(|read| (read, outline)))
}

/// The outline of this program, and the version of its state.
pub(crate) fn outline_of(flow: &dyn AnyFlow) -> (Outline, u32) {
    let program = program(flow);
    (program.outline, program.version)
}

/// The record of a result as if this program had made it, so that its keys are read by their types and not by who wrote them. `None` if
/// it cannot be decoded.
pub(crate) fn adopted_result(flow: &dyn AnyFlow, bytes: &[u8]) -> Option<Vec<u8>> {
    adopt(&program(flow), bytes).ok()
}

fn program(flow: &dyn AnyFlow) -> Fingerprint {
    Fingerprint::of(flow.state_type(), flow.stored_name(), &flow.plan())
}
