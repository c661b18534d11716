//! The schedules of a server.

use std::sync::Arc;

use petalflow::checkpoint::Store;

use super::record::Records;
use super::schedule::{ReadSchedule, Schedule};
use crate::error::SetupError;
use crate::refusal::Refusal;
use crate::served::ServedThreads;

/// The schedules of a server.
pub(crate) struct Schedules {
    pub(crate) schedules: Vec<ReadSchedule>,
    pub(crate) records: Records,
}

impl Schedules {
    /// Reads the schedules. The mistakes of all of them are reported.
    pub(crate) fn read(
        schedules: Vec<Schedule>,
        flows: &[Arc<dyn ServedThreads>],
        store: &Arc<dyn Store>,
        errors: &mut Vec<SetupError>,
    ) -> Self {
        let mut read = Vec::<ReadSchedule>::new();
        for schedule in schedules {
            let name = schedule.name().to_string();
            if read.iter().any(|known| known.schedule.name() == name) {
                errors.push(SetupError::DuplicateSchedule { name });
                continue;
            }
            match schedule.read(flows) {
                Ok(schedule) => read.push(schedule),
                Err(error) => errors.push(error),
            }
        }
        Schedules {
            schedules: read,
            records: Records::new(store),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Result<&ReadSchedule, Refusal> {
        let mut schedules = self.schedules.iter();
        let found = schedules.find(|known| known.schedule.name() == name);
        found.ok_or_else(|| Refusal::not_found(format!("there is no schedule `{name}`")))
    }
}
