//! A schedule: a flow that begins threads at planned times.

use std::sync::Arc;

use croner::Cron;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Value, json};

use super::Missed;
use super::plan::Plan;
use super::record::{Handled, Record};
use crate::error::SetupError;
use crate::name::check_name;
use crate::served::ServedThreads;

/// A flow, an agent or a document that begins threads at the times of a cron line. The id of a thread has the planned time, so
/// that of several processes with one store, one begins it.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
/// use petalflow_documents::kinds::TriggerAuth;
/// use petalflow_server::{Missed, Schedule, Server};
/// use serde_json::json;
///
/// #[state]
/// struct Report {
///     #[key(input)]
///     team: String,
///     text: String,
/// }
///
/// #[node(Report)]
/// async fn write(team: &str) -> ReportText {
///     ReportText(format!("What {team} has done today."))
/// }
///
/// flow!(Reports(Report) { write });
///
/// # fn main() -> petalflow::Result<()> {
/// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
/// let evening = Schedule::new("evening", "Reports", "0 18 * * MON-FRI")
///     .zone("Europe/Berlin")
///     .input(json!({ "team": "sales" }))
///     .missed(Missed::Latest);
/// let server = Server::builder(&InMemoryStore::new())
///     .flow(Reports::new())
///     .schedule(evening)
///     .threads(auth)
///     .build()?;
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    name: String,
    flow: String,
    cron: String,
    zone: String,
    input: Value,
    missed: Missed,
}

/// A schedule whose cron line and time zone are read.
pub(crate) struct ReadSchedule {
    pub(crate) schedule: Schedule,
    pub(crate) plan: Plan,
    /// Whether the program has it, and not a client.
    pub(crate) is_of_program: bool,
}

impl Schedule {
    /// A schedule of the flow with this name, at the times of a cron line, in UTC.
    ///
    /// The line has 5 fields: minute, hour, day of the month, month and day of the week; or 6 with the second as the first one.
    /// Names of months and days, `L` for the last day, `#` for the nth weekday of a month, and `@daily` and the like are known.
    ///
    /// A time in the hour that is left out when summer begins is at the end of this hour. A time in the hour that is repeated when
    /// summer ends is once. A line with `*` or `*/n` for the hour is in each hour that passes.
    pub fn new(name: impl Into<String>, flow: impl Into<String>, cron: impl Into<String>) -> Self {
        Schedule {
            name: name.into(),
            flow: flow.into(),
            cron: cron.into(),
            zone: "UTC".into(),
            input: Value::Null,
            missed: Missed::default(),
        }
    }

    /// Sets the time zone, such as `Europe/Berlin`.
    #[must_use]
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = zone.into();
        self
    }

    /// Sets the input of each thread, as a client would send it. The default is `null`.
    #[must_use]
    pub fn input(mut self, input: impl Into<Value>) -> Self {
        self.input = input.into();
        self
    }

    /// Sets what happens to times at which no server ran.
    #[must_use]
    pub fn missed(mut self, missed: Missed) -> Self {
        self.missed = missed;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn flow(&self) -> &str {
        &self.flow
    }

    pub(crate) fn input_value(&self) -> Value {
        self.input.clone()
    }

    pub(crate) fn missed_times(&self) -> Missed {
        self.missed
    }

    /// Reads the cron line and the time zone, and checks the input.
    pub(crate) fn read(self, flows: &[Arc<dyn ServedThreads>]) -> Result<ReadSchedule, SetupError> {
        check_name(&self.name)?;
        let wrong = |problem: String| SetupError::Schedule {
            name: self.name.clone(),
            problem,
        };
        let cron: Cron = self
            .cron
            .parse()
            .map_err(|error| wrong(format!("`{}` is not a cron line: {error}", self.cron)))?;
        let zone = TimeZone::get(&self.zone).map_err(|_| {
            let zone = &self.zone;
            wrong(format!(
                "there is no time zone `{zone}`; one is `Europe/Berlin`"
            ))
        })?;
        let mut flows = flows.iter();
        let flow = flows.find(|flow| flow.facts().name == self.flow);
        let flow = flow.ok_or_else(|| wrong(format!("there is no flow `{}`", self.flow)))?;
        let input = flow.check_input(self.input.clone().into());
        input.map_err(|refusal| wrong(refusal.text().to_string()))?;
        let plan = Plan { cron, zone };
        if plan.after(jiff::Timestamp::now()).next().is_none() {
            return Err(wrong(format!("`{}` is never", self.cron)));
        }
        Ok(ReadSchedule {
            schedule: self,
            plan,
            is_of_program: true,
        })
    }
}

/// What clients see of a schedule.
#[derive(Serialize)]
struct View<'a> {
    name: &'a str,
    flow: &'a str,
    cron: &'a str,
    /// The cron line in words.
    text: String,
    zone: &'a str,
    missed: &'static str,
    /// Who has defined it.
    source: &'static str,
    input: &'a Value,
    paused: bool,
    next: Vec<String>,
    /// A time that a process with a wrong clock has stored. The scheduler corrects it.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_ahead: Option<String>,
}

/// How many of the next planned times clients see.
const NEXT: usize = 5;

impl ReadSchedule {
    pub(crate) fn view(&self, now: jiff::Timestamp, record: &Record) -> Value {
        let Schedule {
            name,
            flow,
            cron,
            zone,
            input,
            missed,
        } = &self.schedule;
        let next = self.plan.after(now).take(NEXT);
        json!(View {
            name,
            flow,
            cron,
            text: self.plan.cron.describe(),
            zone,
            missed: missed.as_str(),
            source: if self.is_of_program {
                "program"
            } else {
                "client"
            },
            input,
            paused: record.paused,
            next: next.map(|time| time.to_string()).collect(),
            clock_ahead: match record.handled(now) {
                Handled::Ahead(stored) => Some(stored.to_string()),
                Handled::Until(_) => None,
            },
        })
    }
}
