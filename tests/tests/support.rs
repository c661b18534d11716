//! Shared helpers for the tests: both forms of a flow, and a trace of what ran and what was dropped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use petalflow::graph::{GraphBuilder, GraphErrors, When};
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::thread::Outcome;
use petalflow::{Flow, Launch, RunError};
use petalflow_graph::{JoinIdx, NodeIdx, Source, Target, Via};

/// A list of names: most cases ask only in which order they came.
#[state]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Log {
    #[key(input, append)]
    pub(crate) xs: Vec<String>,
}

/// Texts, owned.
pub(crate) fn list<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(String::from).to_vec()
}

/// Nodes over [`Log`] that append their names.
macro_rules! appending {
    ($($node:ident)*) => {$(
        #[petalflow::node(crate::support::Log)]
        async fn $node() -> crate::support::LogXs {
            crate::support::LogXs(vec![stringify!($node).to_string()])
        }
    )*};
}

/// A flow in both forms: as written in `flow!`, and `built()` by the run-time builder from the same edges.
///
/// The nodes follow `nodes:`. A node that is not a function has a closure that adds it: `polish = |b| b.node_as(..)`.
macro_rules! flow_and_graph {
    ($name:ident($state:ty) { $($flow:tt)* } nodes: $($node:ident $(= $add:expr)?),* $(,)?) => {
        petalflow::flow! { $name($state) { $($flow)* } }

        impl $name {
            fn built() -> petalflow::Graph<$state> {
                crate::support::rebuild(stringify!($name), petalflow::Flow::plan(&Self::default()).graph(), &[$((stringify!($node), flow_and_graph!(@ $node $($add)?))),*])
            }
        }
    };
    (@ $node:ident) => { |builder| builder.node_as(stringify!($node), $node {}) };
    (@ $node:ident $add:expr) => { $add };
}

/// Runs something on both forms of a flow. Returns the result, which must be the same.
macro_rules! run_both {
    ($flow:ident, |$launch:ident| $body:expr) => {{
        let fixed = {
            let $launch = $flow::new();
            $body
        };
        let built = {
            let $launch = $flow::built().launch();
            $body
        };
        assert_eq!(
            fixed, built,
            "`flow!` (left) and the builder (right) differ"
        );
        fixed
    }};
}

/// Runs both forms of a flow over [`Log`], without input, and compares what its nodes appended.
macro_rules! assert_log {
    ($flow:ident, $expected:expr) => {
        assert_eq!(
            crate::support::run_both!($flow, |launch| launch.run(vec![]).await.unwrap().xs),
            $expected
        )
    };
}

pub(crate) use {appending, assert_log, flow_and_graph, run_both};

/// The final state of a run of a thread, which must neither fail nor pause.
pub(crate) async fn expect_finished<S: State>(
    run: impl IntoFuture<Output = Result<Outcome<S>, RunError>>,
) -> S {
    run.await.unwrap().into_finished().unwrap()
}

/// How a node is added to a builder.
pub(crate) type Add<S> = fn(GraphBuilder<S>) -> GraphBuilder<S>;

/// The graph of a static flow, built again edge by edge.
pub(crate) fn rebuild<S: State>(
    name: &str,
    graph: &petalflow_graph::Graph,
    nodes: &[(&str, Add<S>)],
) -> Graph<S> {
    let mut builder = Graph::builder(name);
    for node in graph.nodes() {
        let (_, add) = nodes
            .iter()
            .find(|(name, _)| *name == node.name)
            .unwrap_or_else(|| panic!("`nodes:` leaves out `{}`", node.name));
        builder = add(builder);
        if node.deferred {
            builder = builder.defer(&*node.name);
        }
        // A guard is a closure, so it is for `nodes:` to say.
        if node.before == When::Always {
            builder = builder.interrupt_before(&*node.name);
        }
        if node.after == When::Always {
            builder = builder.interrupt_after(&*node.name);
        }
        if let Some(id) = &node.stored {
            builder = builder.id(&*node.name, &**id);
        }
    }
    let name_of = |node: NodeIdx| graph.node(node).name.to_string();
    let source = |source| match source {
        Source::Start => Some(START.to_string()),
        Source::Node(node) => Some(name_of(node)),
        Source::Join(_) => None,
    };
    let target = |target| match target {
        Target::End => Some(END.to_string()),
        Target::Node(node) => Some(name_of(node)),
        Target::Join(_) => None,
    };
    for edge in graph.edges() {
        let (Some(from), Some(to)) = (source(edge.from), target(edge.to)) else {
            continue;
        };
        builder = match &edge.via {
            Via::Plain => builder.edge(from, to),
            Via::Each => builder.each(from, to),
            Via::Route(route) => builder.route(from, &**route, to),
            Via::RouteEach(route) => builder.route_each(from, &**route, to),
            Via::Catch => builder.catch(from, to),
        };
    }
    for join in JoinIdx::all(graph.joins as usize) {
        let sides = || {
            graph
                .edges()
                .iter()
                .filter(|edge| edge.to == Target::Join(join))
                .filter_map(|edge| source(edge.from))
        };
        for edge in graph
            .edges()
            .iter()
            .filter(|edge| edge.from == Source::Join(join))
        {
            builder = builder.join(sides(), target(edge.to).expect("a join leads to nodes"));
        }
    }
    builder.build().unwrap_or_else(|errors| panic!("{errors}"))
}

/// What happened, in order: a managed value that nodes write to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub(crate) fn record(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|line| *line == what)
            .count()
    }

    /// A guard that records `dropped …` when it is dropped.
    pub(crate) fn guard(&self, what: &str) -> Guard {
        Guard(self.clone(), what.to_string())
    }
}

/// Records when it is dropped.
#[derive(Debug)]
pub(crate) struct Guard(Trace, String);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.record(format!("dropped {}", self.1));
    }
}

/// Counts what is in flight, and remembers the most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Arc<(AtomicUsize, AtomicUsize)>);

impl Gauge {
    pub(crate) fn enter(&self) -> InGauge {
        let now = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.1.fetch_max(now, Ordering::SeqCst);
        InGauge(self.clone())
    }

    pub(crate) fn peak(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }

    pub(crate) fn now(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }
}

/// One that is in flight.
#[derive(Debug)]
pub(crate) struct InGauge(Gauge);

impl Drop for InGauge {
    fn drop(&mut self) {
        self.0.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Polls a future once.
pub(crate) async fn poll_once<T: Future>(future: &mut std::pin::Pin<Box<T>>) -> Poll<T::Output> {
    std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// The error of a run that must fail.
pub(crate) fn expect_error<S>(result: Result<S, RunError>) -> RunError {
    result.err().unwrap_or_else(|| panic!("the run must fail"))
}

/// The kind of error of a run that must fail.
pub(crate) fn kind<S>(result: Result<S, RunError>) -> RunErrorKind {
    expect_error(result).kind().clone()
}

/// A run that is stopped by a token that its nodes hold.
pub(crate) async fn with_token<F: Flow<State = Log>>(launch: Launch<F>) -> Result<Log, RunError> {
    let token = CancelToken::new();
    launch
        .manage(token.clone())
        .cancel_with(&token)
        .run(vec![])
        .await
}

/// Why a run that must fail has stopped, and what was committed before.
pub(crate) fn expect_stopped(result: Result<Log, RunError>) -> (RunErrorKind, Vec<String>) {
    let error = expect_error(result);
    let committed = error.state::<Log>().expect("it has begun").xs.clone();
    (error.kind().clone(), committed)
}

fn expect_refused<S: State>(builder: GraphBuilder<S>) -> GraphErrors {
    builder
        .build()
        .err()
        .unwrap_or_else(|| panic!("the graph must be refused"))
}

/// The codes of what is wrong with a graph, in order.
pub(crate) fn codes<S: State>(builder: GraphBuilder<S>) -> Vec<&'static str> {
    expect_refused(builder)
        .diagnostics()
        .iter()
        .map(|diagnostic| diagnostic.rule.code())
        .collect()
}

/// The first thing that is wrong with a graph, in words.
pub(crate) fn refusal<S: State>(builder: GraphBuilder<S>) -> String {
    expect_refused(builder).diagnostics()[0].to_string()
}
