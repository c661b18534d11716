//! What Prometheus reads of a server: counts and times of its process, and what waits in the store.

mod http;
mod labels;
mod node;
mod requests;
mod run;

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use labels::{NodeLabels, OfFlow, OfStatus, RequestLabels, RouteLabels, RunLabels};

pub(crate) use http::metrics;
pub(crate) use node::NodeEvent;
pub(crate) use requests::measured;

/// The upper ends of the buckets of times, in seconds: a node may take milliseconds, and an agent an hour.
const BUCKETS: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0, 900.0, 3_600.0,
];

fn times() -> Histogram {
    Histogram::new(BUCKETS)
}

type Times<L> = Family<L, Histogram, fn() -> Histogram>;

/// The numbers of a server. Each has its own.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    begun: Family<OfFlow, Counter>,
    ended: Family<RunLabels, Counter>,
    run_seconds: Times<OfFlow>,
    running: Gauge,
    node_seconds: Times<NodeLabels>,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Times<RouteLabels>,
    threads: Family<OfStatus, Gauge>,
    due: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut metrics = Metrics {
            registry: Arc::default(),
            begun: Family::default(),
            ended: Family::default(),
            run_seconds: Family::new_with_constructor(times as fn() -> Histogram),
            running: Gauge::default(),
            node_seconds: Family::new_with_constructor(times as fn() -> Histogram),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(times as fn() -> Histogram),
            threads: Family::default(),
            due: Gauge::default(),
        };
        metrics.registry = Arc::new(metrics.registered());
        metrics
    }

    fn registered(&self) -> Registry {
        let mut all = Registry::with_prefix("petalflow");
        all.register(
            "runs_begun",
            "Runs that this process has begun",
            self.begun.clone(),
        );
        all.register(
            "runs_ended",
            "Runs of this process that have ended, by the status of their threads then",
            self.ended.clone(),
        );
        all.register(
            "run_seconds",
            "How long runs of this process took",
            self.run_seconds.clone(),
        );
        all.register(
            "runs_in_progress",
            "Runs of this process that have not ended",
            self.running.clone(),
        );
        all.register(
            "node_seconds",
            "How long nodes took, with their retries",
            self.node_seconds.clone(),
        );
        all.register(
            "http_requests",
            "Requests that this process has answered",
            self.requests.clone(),
        );
        all.register(
            "http_request_seconds",
            "How long requests took until their responses began",
            self.request_seconds.clone(),
        );
        all.register(
            "threads",
            "Threads of the store that have not finished, up to 1000 of each status",
            self.threads.clone(),
        );
        all.register(
            "threads_due",
            "Threads of the store whose time has come and that no run has continued, up to 1000",
            self.due.clone(),
        );
        all
    }
}
