//! The results of tasks as bytes, for a run that stores no checkpoints.

use std::sync::Arc;

use super::task_results::{load_finished, save_finished};
use crate::durable::record::dirty_keys::untracked;
use crate::durable::record::fingerprint::{Fingerprint, codec_of};
use crate::exec::{FinishedTask, TaskResult};
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::state::{State, StateCodec};
use petalflow_graph::NodeIdx;

/// Encodes and decodes the results of the tasks of a flow.
pub(crate) struct ResultCodec<S: State> {
    codec: StateCodec<S>,
    program: Fingerprint,
    plan: Arc<ExecutionPlan>,
}

impl<S: State> ResultCodec<S> {
    pub(crate) fn new(flow: &str, plan: &Arc<ExecutionPlan>) -> Result<Self, ThreadError> {
        Ok(ResultCodec {
            codec: codec_of()?,
            program: Fingerprint::of::<S>(flow, plan),
            plan: Arc::clone(plan),
        })
    }

    pub(crate) fn save(&self, result: &TaskResult<'_, S>) -> Result<Vec<u8>, ThreadError> {
        let node = self.plan.name(result.node);
        let lost = result
            .effects
            .update
            .written()
            .intersection(untracked::<S>());
        if let Some(key) = lost.first() {
            let key = S::KEYS[key].name;
            return Err(ThreadError::Request(format!(
                "node `{node}` writes key `{key}`, which is `untracked`, so it has no form in bytes; remove `untracked`"
            )));
        }
        save_finished(&self.codec, &self.program, &self.plan, result)
    }

    pub(crate) fn load(&self, node: NodeIdx, bytes: &[u8]) -> Result<FinishedTask<S>, ThreadError> {
        let name = self.plan.name(node);
        let known = (&self.program, &self.program.outline);
        load_finished(&self.codec, known, &self.plan, node, bytes)
            .map_err(ThreadError::value(format!("the result of node `{name}`")))?
            .ok_or_else(|| {
                ThreadError::Request(format!(
                    "the result of node `{name}` does not fit this program; another version of the program made it"
                ))
            })
    }
}
