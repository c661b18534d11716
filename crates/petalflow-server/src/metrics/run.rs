//! The numbers of a run.

use std::collections::HashMap;

use petalflow::checkpoint::ThreadStatus;
use petalflow::event::TaskId;
use tokio::time::Instant;

use super::Metrics;
use super::labels::{NodeLabels, OfFlow, RunLabels};
use super::node::{NodeEvent, Step};

/// A run that is measured. If it is dropped, it is not in progress any more.
pub(crate) struct MeasuredRun {
    metrics: Metrics,
    flow: String,
    begun: Instant,
    /// When the tasks have begun that have not ended.
    tasks: HashMap<TaskId, Instant>,
}

impl Metrics {
    /// A run of this flow begins.
    pub(crate) fn run(&self, flow: String) -> MeasuredRun {
        self.running.inc();
        let labels = OfFlow { flow: flow.clone() };
        self.begun.get_or_create(&labels).inc();
        MeasuredRun {
            metrics: self.clone(),
            flow,
            begun: Instant::now(),
            tasks: HashMap::new(),
        }
    }
}

impl MeasuredRun {
    pub(crate) fn node(&mut self, event: &NodeEvent) {
        match event.step {
            Step::Begun => {
                let now = Instant::now();
                self.tasks.entry(event.task).or_insert(now);
            }
            Step::Ended(outcome) => {
                // One whose result was in a cache has not begun.
                let Some(begun) = self.tasks.remove(&event.task) else {
                    return;
                };
                let labels = NodeLabels {
                    flow: self.flow.clone(),
                    node: event.node.to_string(),
                    outcome,
                };
                let times = self.metrics.node_seconds.get_or_create(&labels);
                times.observe(begun.elapsed().as_secs_f64());
            }
        }
    }

    /// The run has ended. `None`: the store does not say how.
    pub(crate) fn ended(self, status: Option<ThreadStatus>) {
        let flow = OfFlow {
            flow: self.flow.clone(),
        };
        let times = self.metrics.run_seconds.get_or_create(&flow);
        times.observe(self.begun.elapsed().as_secs_f64());
        let labels = RunLabels {
            flow: flow.flow,
            status: status.map_or("unknown", ThreadStatus::as_str),
        };
        self.metrics.ended.get_or_create(&labels).inc();
    }
}

impl Drop for MeasuredRun {
    fn drop(&mut self) {
        self.metrics.running.dec();
    }
}
