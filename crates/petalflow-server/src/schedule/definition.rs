//! Schedules that clients define: how the store keeps them, so that each process with the store begins their threads.

use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Missed, Schedule};
use crate::definitions::{Definitions, Stored, keep};

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

flow!(pub(crate) ScheduleDefinition(Stored) { keep });

/// The definitions of a store.
pub(crate) fn definitions(store: &Arc<dyn Store>) -> Definitions<ScheduleDefinition> {
    Definitions::new(ScheduleDefinition::new(), PREFIX, store)
}
