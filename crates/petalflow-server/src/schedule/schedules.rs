//! The schedules of a server.

use std::sync::Arc;

use axum::http::StatusCode;
use petalflow::checkpoint::Store;
use tokio::sync::Notify;

use super::definition::{Definition, ScheduleDefinition, definitions};
use super::record::Records;
use super::schedule::{ReadSchedule, Schedule};
use crate::definitions::Definitions;
use crate::error::SetupError;
use crate::refusal::Refusal;
use crate::served::ServedThreads;

/// The schedules of a server.
pub(crate) struct Schedules {
    /// Those of the program.
    pub(crate) of_program: Vec<Arc<ReadSchedule>>,
    pub(crate) records: Records,
    definitions: Definitions<ScheduleDefinition>,
    /// Wakes what begins the threads.
    pub(crate) changed: Notify,
}

impl Schedules {
    /// Reads the schedules. The mistakes of all of them are reported.
    pub(crate) fn read(
        schedules: Vec<Schedule>,
        flows: &[Arc<dyn ServedThreads>],
        store: &Arc<dyn Store>,
        errors: &mut Vec<SetupError>,
    ) -> Self {
        let mut read = Vec::<Arc<ReadSchedule>>::new();
        for schedule in schedules {
            let name = schedule.name().to_string();
            if read.iter().any(|known| known.schedule.name() == name) {
                errors.push(SetupError::DuplicateSchedule { name });
                continue;
            }
            match schedule.read(flows) {
                Ok(schedule) => read.push(Arc::new(schedule)),
                Err(error) => errors.push(error),
            }
        }
        Schedules {
            of_program: read,
            records: Records::new(store),
            definitions: definitions(store),
            changed: Notify::new(),
        }
    }

    /// The schedule of the program with this name.
    fn find_of_program(&self, name: &str) -> Option<&Arc<ReadSchedule>> {
        let mut schedules = self.of_program.iter();
        schedules.find(|known| known.schedule.name() == name)
    }

    /// The names of the schedules that clients have defined.
    pub(crate) async fn defined(&self) -> Result<Vec<String>, Refusal> {
        let mut names = self.definitions.names().await?;
        // The program has the name since then.
        names.retain(|name| self.find_of_program(name).is_none());
        Ok(names)
    }

    /// The schedule with this name.
    pub(crate) async fn find(
        &self,
        name: &str,
        flows: &[Arc<dyn ServedThreads>],
    ) -> Result<Arc<ReadSchedule>, Refusal> {
        if let Some(schedule) = self.find_of_program(name) {
            return Ok(Arc::clone(schedule));
        }
        let found: Option<Definition> = self.definitions.find(name).await?;
        let found = found.ok_or_else(|| unknown(name))?;
        let read = found.named(name).read(flows).map_err(unfit)?;
        Ok(Arc::new(ReadSchedule {
            is_of_program: false,
            ..read
        }))
    }

    /// Defines a schedule, or changes one that a client has defined. The times up to now are not begun. Returns whether it is new.
    pub(crate) async fn define(
        &self,
        name: &str,
        definition: Definition,
        flows: &[Arc<dyn ServedThreads>],
    ) -> Result<bool, Refusal> {
        self.must_be_defined(name, "changed")?;
        definition.clone().named(name).read(flows).map_err(unfit)?;
        let now = self.records.now().await?;
        self.records.load(name, now).await?;
        self.records.set_handled(name, now).await?;
        let is_new = self.definitions.set(name, &definition).await?;
        self.changed.notify_one();
        Ok(is_new)
    }

    /// Deletes a schedule that a client has defined, and what the store keeps of it. Its threads stay.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), Refusal> {
        self.must_be_defined(name, "deleted")?;
        if !self.definitions.delete(name).await? {
            return Err(unknown(name));
        }
        Ok(self.records.delete(name).await?)
    }

    fn must_be_defined(&self, name: &str, done: &str) -> Result<(), Refusal> {
        if self.find_of_program(name).is_none() {
            return Ok(());
        }
        let text = format!(
            "schedule `{name}` is one of the program, and cannot be {done} here: pause it, or change the program"
        );
        Err(Refusal::new(StatusCode::CONFLICT, text))
    }
}

fn unknown(name: &str) -> Refusal {
    Refusal::not_found(format!("there is no schedule `{name}`"))
}

fn unfit(error: SetupError) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
}
