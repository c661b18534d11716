//! Schedules that clients define: how the store keeps them, so that each process with the store begins their threads.

use std::sync::Arc;

use petalflow::checkpoint::{Store, ThreadQuery};
use petalflow::prelude::*;
use petalflow::thread::{Edit, Retention, Thread, ThreadError, Threads};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Missed, Schedule};
use crate::refusal::Refusal;

/// What the ids of all definitions begin with.
const PREFIX: &str = "petalflow.schedule.definition:";

/// A schedule without its name, as clients send it and as the store has it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    flow: String,
    cron: String,
    #[serde(default = "utc")]
    zone: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    missed: MissedTimes,
}

/// The names of [`Missed`] for clients.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum MissedTimes {
    #[default]
    Skip,
    Latest,
    All,
}

fn utc() -> String {
    "UTC".into()
}

impl Definition {
    /// The schedule with this name.
    pub(crate) fn named(self, name: &str) -> Schedule {
        let missed = match self.missed {
            MissedTimes::Skip => Missed::Skip,
            MissedTimes::Latest => Missed::Latest,
            MissedTimes::All => Missed::All,
        };
        let schedule = Schedule::new(name, self.flow, self.cron);
        schedule.zone(self.zone).input(self.input).missed(missed)
    }
}

#[state]
pub(crate) struct Stored {
    /// The definition in JSON.
    #[key(input)]
    definition: String,
}

/// A flow has a node.
#[node(Stored)]
async fn keep() {}

flow!(ScheduleDefinition(Stored) { keep });

/// The definitions of a store.
pub(crate) struct Definitions {
    store: Arc<dyn Store>,
    threads: Threads<ScheduleDefinition>,
}

impl Definitions {
    pub(crate) fn new(store: &Arc<dyn Store>) -> Self {
        let threads = ScheduleDefinition::new().store(store);
        Definitions {
            store: Arc::clone(store),
            threads: threads.retention(Retention::max_checkpoints(1)),
        }
    }

    /// The names of all definitions.
    pub(crate) async fn names(&self) -> Result<Vec<String>, Refusal> {
        let all = ThreadQuery {
            prefix: PREFIX,
            ..ThreadQuery::default()
        };
        let found = self.store.threads(all).await?.into_iter();
        let names = found.filter_map(|info| Some(info.id.strip_prefix(PREFIX)?.to_string()));
        Ok(names.collect())
    }

    /// The schedule with this name. `None` if nobody has defined it.
    pub(crate) async fn find(&self, name: &str) -> Result<Option<Schedule>, Refusal> {
        let Some(snapshot) = self.thread(name).snapshot().await? else {
            return Ok(None);
        };
        let definition: Definition =
            serde_json::from_str(&snapshot.state.definition).map_err(|error| {
                ThreadError::Request(format!("the definition of schedule `{name}`: {error}"))
            })?;
        Ok(Some(definition.named(name)))
    }

    /// Stores a definition, which replaces one with the same name. Returns whether it is new.
    pub(crate) async fn set(&self, name: &str, definition: &Definition) -> Result<bool, Refusal> {
        let text = serde_json::to_string(definition)
            .map_err(|error| ThreadError::Request(error.to_string()))?;
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

    fn thread(&self, name: &str) -> Thread<ScheduleDefinition> {
        self.threads.thread(format!("{PREFIX}{name}"))
    }
}
