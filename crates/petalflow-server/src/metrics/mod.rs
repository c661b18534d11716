//! What Prometheus reads of a server: counts and times of its process, and what waits in the store.

mod labels;
mod models;
mod node;
mod run;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::ThreadStatus;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use labels::{NodeLabels, OfFlow, RequestLabels, RouteLabels, RunLabels, ThreadLabels};

pub use models::ModelMetrics;
pub(crate) use node::NodeEvent;

/// The flow of threads that none of the flows of the server has.
pub(crate) const OTHER: &str = "other";

/// The upper ends of the buckets of times, in seconds: a node may take milliseconds, and an agent an hour.
const BUCKETS: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0, 900.0, 3_600.0,
];

fn times() -> Histogram {
    Histogram::new(BUCKETS)
}

fn gauged(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
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
    threads: Family<ThreadLabels, Gauge>,
    due: Gauge,
}

impl Metrics {
    /// `models`: the numbers of the models that the program measures.
    pub(crate) fn new(models: &ModelMetrics) -> Self {
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
        metrics.registry = Arc::new(metrics.registered(models));
        metrics
    }

    /// A response begins, this long after its request. Ids are not in the route.
    pub(crate) fn request(&self, method: String, route: String, status: u16, time: Duration) {
        let of_route = RouteLabels {
            method: method.clone(),
            route: route.clone(),
        };
        let times = self.request_seconds.get_or_create(&of_route);
        times.observe(time.as_secs_f64());
        let labels = RequestLabels {
            method,
            route,
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// The store has this many threads of this flow with this status.
    pub(crate) fn set_threads(&self, flow: &str, status: ThreadStatus, count: u64) {
        let labels = ThreadLabels {
            flow: flow.to_string(),
            status: status.as_str(),
        };
        let threads = self.threads.get_or_create(&labels);
        threads.set(gauged(count));
    }

    /// The store has this many threads that are due.
    pub(crate) fn set_due(&self, count: u64) {
        self.due.set(gauged(count));
    }

    /// All numbers, in the format of `OpenMetrics`.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }

    fn registered(&self, models: &ModelMetrics) -> Registry {
        let mut registry = Registry::default();
        models.register(&mut registry);
        let all = registry.sub_registry_with_prefix("petalflow");
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
            "Threads of the store, by flow and status",
            self.threads.clone(),
        );
        all.register(
            "threads_due",
            "Threads of the store whose time has come and that no run has continued",
            self.due.clone(),
        );
        registry
    }
}
