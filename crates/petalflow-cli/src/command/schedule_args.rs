//! The schedules of documents on the command line.

use petalflow_server::{Missed, Schedule, ServerBuilder};
use serde_json::Value;

use crate::exit::{Exit, Failure, Result};

/// When graphs begin by themselves.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ScheduleArgs {
    /// Begin a run of this graph at the times of a cron line, such as `letters=0 9 * * MON-FRI`. May be given once for each graph
    /// without a trigger
    #[arg(long = "schedule", value_name = "GRAPH=LINE")]
    schedules: Vec<String>,

    /// The input of the runs of a schedule, as JSON: `letters={"name": "Ann"}`
    #[arg(long = "schedule-input", value_name = "GRAPH=JSON")]
    inputs: Vec<String>,

    /// The time zone of the schedules, such as `Europe/Berlin`
    #[arg(long = "schedule-zone", value_name = "ZONE", default_value = "UTC")]
    zone: String,

    /// What happens to times at which no server ran: `skip`, `latest` or `all`
    #[arg(long = "schedule-missed", value_name = "TIMES", default_value = "skip")]
    missed: MissedArg,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MissedArg {
    Skip,
    Latest,
    All,
}

impl ScheduleArgs {
    /// Whether a schedule begins runs of this graph.
    pub(super) fn names(&self, graph: &str) -> bool {
        let mut schedules = self.schedules.iter();
        schedules.any(|schedule| {
            let name = schedule.split_once('=').map(|(name, _)| name);
            name == Some(graph)
        })
    }

    pub(super) fn add_to(&self, mut builder: ServerBuilder) -> Result<ServerBuilder> {
        let missed = match self.missed {
            MissedArg::Skip => Missed::Skip,
            MissedArg::Latest => Missed::Latest,
            MissedArg::All => Missed::All,
        };
        for schedule in &self.schedules {
            let (graph, line) = named("schedule", schedule)?;
            let schedule = Schedule::new(graph, graph, line)
                .zone(&self.zone)
                .missed(missed)
                .input(self.input(graph)?);
            builder = builder.schedule(schedule);
        }
        Ok(builder)
    }

    /// The input for a graph. The last one counts.
    fn input(&self, graph: &str) -> Result<Value> {
        let mut found = Value::Null;
        for input in &self.inputs {
            let (name, json) = named("schedule-input", input)?;
            if name == graph {
                found = serde_json::from_str(json).map_err(|error| {
                    let text = format_args!("the input of schedule `{graph}` is not JSON: {error}");
                    Failure::new(Exit::Input, text)
                })?;
            }
        }
        Ok(found)
    }
}

fn named<'t>(option: &str, text: &'t str) -> Result<(&'t str, &'t str)> {
    text.split_once('=').ok_or_else(|| {
        let text = format_args!("`--{option} {text}` names no graph");
        Failure::new(Exit::Usage, text).hint(format_args!("write `--{option} GRAPH=..`"))
    })
}
