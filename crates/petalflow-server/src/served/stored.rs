//! Threads of other programs in the store: they are read without the types of these programs.

use petalflow::async_trait;
use petalflow::checkpoint::{ThreadInfo, ThreadQuery};
use petalflow::thread::{
    CheckpointInfo, FollowedEvents, HistoryQuery, StoredThreads, ThreadError, ThreadFile,
};
use serde_json::{Value, json};

use super::facts::{Facts, FlowKind};
use super::question::Questions;
use super::threads::ReadThreads;
use super::view::{self, Shown};
use crate::MultitaskStrategy;
use crate::refusal::Refusal;

/// The threads of a flow whose program is not here.
pub(crate) struct StoredFlow {
    facts: Facts,
    threads: StoredThreads,
}

impl StoredFlow {
    /// The flow with this name in the store.
    pub(crate) fn new(name: &str, threads: &StoredThreads) -> Self {
        StoredFlow {
            facts: Facts {
                name: name.into(),
                stored_name: name.into(),
                kind: FlowKind::Stored,
                description: None,
                input: None,
                state: None,
                secrets: Vec::new(),
                attributes: Vec::new(),
                graph: json!({ "nodes": [], "edges": [] }),
                drawing: String::new(),
                trigger: None,
                multitask: MultitaskStrategy::default(),
                #[cfg(feature = "protocol")]
                holds_pieces: false,
            },
            threads: threads.clone(),
        }
    }

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, ThreadError> {
        let query = ThreadQuery {
            prefix: thread,
            limit: Some(1),
            ..ThreadQuery::default()
        };
        let listed = self.threads.list(query).await?;
        Ok(listed.into_iter().find(|info| info.id == thread))
    }
}

#[async_trait]
impl ReadThreads for StoredFlow {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn stored_name(&self) -> &str {
        &self.facts.stored_name
    }

    fn description(&self) -> Value {
        self.facts.value(json!({}))
    }

    async fn view(&self, thread: &str, checkpoint: Option<u64>) -> Result<Option<Value>, Refusal> {
        let Some(info) = self.info(thread).await? else {
            return Ok(None);
        };
        let snapshot = self.threads.snapshot(thread, checkpoint).await?;
        Ok(snapshot.map(|snapshot| {
            let open = &snapshot.interrupts;
            let shown = Shown {
                checkpoint: &snapshot.info,
                tasks: &snapshot.tasks,
                questions: open,
                waits: view::waits(&info, open, &Questions::default(), Vec::new),
                state: Value::Object(snapshot.keys),
            };
            view::value(&self.facts, &info, shown)
        }))
    }

    async fn history(
        &self,
        thread: &str,
        query: HistoryQuery,
    ) -> Result<Vec<CheckpointInfo>, Refusal> {
        Ok(self.threads.history(thread, query).await?)
    }

    async fn export(&self, _: &str) -> Result<ThreadFile, Refusal> {
        let flow = &self.facts.stored_name;
        Err(Refusal::forbidden(format!(
            "a thread of `{flow}` cannot be exported here: the program that knows which of its keys are secret is not here; \
             `petalflow threads export` takes their names"
        )))
    }

    fn follow(&self, thread: &str, number: u64) -> FollowedEvents {
        self.threads.follow(thread, number)
    }
}
