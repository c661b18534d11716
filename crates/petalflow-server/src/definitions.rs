//! Definitions of clients: values with names, each in a thread of the store, so that all processes with the store have them.

use std::sync::Arc;

use petalflow::Launch;
use petalflow::checkpoint::{Store, ThreadQuery};
use petalflow::prelude::*;
use petalflow::thread::{Edit, Retention, Thread, ThreadError, Threads};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::refusal::Refusal;

#[state]
pub(crate) struct Stored {
    /// The definition in JSON.
    #[key(input)]
    definition: String,
}

/// A flow has a node.
#[node(Stored)]
pub(crate) async fn keep() {}

/// The definitions of one kind in a store. Their flow names the kind.
pub(crate) struct Definitions<F: Flow<State = Stored>> {
    /// What the ids of all of them begin with.
    prefix: &'static str,
    store: Arc<dyn Store>,
    threads: Threads<F>,
}

impl<F: Flow<State = Stored>> Definitions<F> {
    pub(crate) fn new(launch: Launch<F>, prefix: &'static str, store: &Arc<dyn Store>) -> Self {
        let threads = launch.store(store);
        Definitions {
            prefix,
            store: Arc::clone(store),
            threads: threads.retention(Retention::max_checkpoints(1)),
        }
    }

    /// The names of all definitions.
    pub(crate) async fn names(&self) -> Result<Vec<String>, Refusal> {
        let all = ThreadQuery {
            prefix: self.prefix,
            ..ThreadQuery::default()
        };
        let found = self.store.threads(all).await?.into_iter();
        let names = found.filter_map(|info| Some(info.id.strip_prefix(self.prefix)?.to_string()));
        Ok(names.collect())
    }

    /// The definition with this name. `None` if nobody has made it.
    pub(crate) async fn find<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Refusal> {
        let Some(snapshot) = self.thread(name).snapshot().await? else {
            return Ok(None);
        };
        let read = serde_json::from_str(&snapshot.state.definition);
        let read = read.map_err(|error| {
            ThreadError::Request(format!("the definition `{}{name}`: {error}", self.prefix))
        })?;
        Ok(Some(read))
    }

    /// Stores a definition, which replaces one with the same name. Returns whether it is new.
    pub(crate) async fn set(&self, name: &str, value: &impl Serialize) -> Result<bool, Refusal> {
        let text = serde_json::to_string(value);
        let text = text.map_err(|error| ThreadError::Request(error.to_string()))?;
        let thread = self.thread(name);
        let edit = Edit::new(StoredDefinition(text.clone()));
        match thread.update(edit).await {
            Ok(_) => Ok(false),
            Err(ThreadError::Unknown { .. }) => {
                // Its flow waits for nobody.
                let _finished = thread.run(text).await?;
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes a definition. Returns whether there was one.
    pub(crate) async fn delete(&self, name: &str) -> Result<bool, Refusal> {
        match self.thread(name).info().await? {
            Some(_) => {
                self.thread(name).delete().await?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Deletes the definitions that were made before this time, in milliseconds since 1970 (UTC). Returns their names.
    pub(crate) async fn delete_before(&self, time_ms: u64) -> Result<Vec<String>, Refusal> {
        let old = ThreadQuery {
            prefix: self.prefix,
            updated_before_ms: Some(time_ms),
            ..ThreadQuery::default()
        };
        let mut names = Vec::new();
        for info in self.store.threads(old).await? {
            let name = info.id.strip_prefix(self.prefix).unwrap_or(&info.id);
            self.delete(name).await?;
            names.push(name.to_string());
        }
        Ok(names)
    }

    fn thread(&self, name: &str) -> Thread<F> {
        self.threads.thread(format!("{}{name}", self.prefix))
    }
}
