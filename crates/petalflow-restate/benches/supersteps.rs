//! What a superstep costs on Restate, beside the same with the SDK alone, in the same run against the same server:
//!
//! ```text
//! cargo bench --bench supersteps
//! ```

#![allow(
    missing_docs,
    reason = "the macros of the SDK make clients without documentation"
)]
#![allow(clippy::cast_precision_loss, reason = "the numbers are small")]

#[path = "../tests/support/mod.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod support;

use std::time::{Duration, Instant};

use petalflow::prelude::*;
use petalflow_restate::{Client, Endpoint, RestateFlow};
use restate_sdk::context::{
    ContextAwakeables as _, ContextClient as _, ContextReadState as _, ContextWriteState as _,
    ObjectContext, SharedObjectContext,
};
use restate_sdk::errors::HandlerError;
use restate_sdk::serde::Json;
use support::Server;

/// How many supersteps a measured thread has.
const SUPERSTEPS: u64 = 100;
/// How many threads run at once.
const THREADS: u64 = 100;
/// How many supersteps each of them has.
const SHORT: u64 = 10;

#[state]
struct Count {
    #[key(input)]
    limit: u64,
    #[key(sum)]
    round: u64,
    #[key(sum)]
    done: u64,
}

#[node(Count)]
async fn one(round: &u64, limit: &u64) -> (CountRound, CountDone, bool) {
    (CountRound(1), CountDone(1), round + 1 < *limit)
}

flow!(One(Count) { one -> match { true => one, false => END } });

flow!(Inline(Count) { one -> match { true => one, false => END } });

#[node(Count)]
async fn a() -> CountDone {
    CountDone(1)
}
#[node(Count)]
async fn b() -> CountDone {
    CountDone(1)
}
#[node(Count)]
async fn c() -> CountDone {
    CountDone(1)
}
#[node(Count)]
async fn d() -> CountDone {
    CountDone(1)
}
#[node(Count)]
async fn e() -> CountDone {
    CountDone(1)
}
#[node(Count)]
async fn f() -> CountDone {
    CountDone(1)
}
#[node(Count)]
async fn g() -> CountDone {
    CountDone(1)
}
#[node(Count)]
async fn h(round: &u64, limit: &u64) -> (CountRound, CountDone, Again) {
    let again = if round + 1 < *limit {
        Again::Yes
    } else {
        Again::No
    };
    (CountRound(1), CountDone(1), again)
}

#[derive(Route)]
enum Again {
    Yes,
    No,
}

flow! {
    Eight(Count) {
        START -> a & b & c & d & e & f & g & h;
        a -> END; b -> END; c -> END; d -> END; e -> END; f -> END; g -> END;
        h -> match { Yes => a & b & c & d & e & f & g & h, No => END };
    }
}

/// The same with the SDK: a virtual object whose handler calls a service and sends itself.
struct BareThreads;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct BareState {
    round: u64,
    limit: u64,
    width: u64,
    done: u64,
    waiting: Option<String>,
}

#[restate_sdk::object]
impl BareThreads {
    #[handler]
    async fn begin(
        &self,
        ctx: ObjectContext<'_>,
        state: Json<BareState>,
    ) -> Result<(), HandlerError> {
        ctx.set("state", state);
        ctx.object_client::<BareThreadsClient>(ctx.key())
            .advance(0)
            .send();
        Ok(())
    }

    #[handler]
    async fn advance(&self, ctx: ObjectContext<'_>, round: u64) -> Result<(), HandlerError> {
        let Some(Json(mut state)) = ctx.get::<Json<BareState>>("state").await? else {
            return Ok(());
        };
        if state.round != round {
            return Ok(());
        }
        let calls: Vec<_> = (0..state.width)
            .map(|_| {
                ctx.service_client::<BareNodesClient>()
                    .run(Json(state.clone()))
                    .call()
            })
            .collect();
        for call in calls {
            state.done += call.await?;
        }
        state.round += 1;
        let (next, ended) = (state.round, state.round >= state.limit);
        let waiting = if ended { state.waiting.take() } else { None };
        ctx.set("state", Json(state));
        if !ended {
            ctx.object_client::<BareThreadsClient>(ctx.key())
                .advance(next)
                .send();
        }
        if let Some(waiting) = waiting {
            ctx.resolve_awakeable(&waiting, ());
        }
        Ok(())
    }

    #[handler]
    async fn subscribe(&self, ctx: ObjectContext<'_>, id: String) -> Result<(), HandlerError> {
        if let Some(Json(mut state)) = ctx.get::<Json<BareState>>("state").await? {
            if state.round >= state.limit {
                ctx.resolve_awakeable(&id, ());
            } else {
                state.waiting = Some(id);
                ctx.set("state", Json(state));
            }
        }
        Ok(())
    }

    #[handler]
    async fn wait(&self, ctx: SharedObjectContext<'_>) -> Result<(), HandlerError> {
        let (id, ended) = ctx.awakeable::<()>();
        ctx.object_client::<BareThreadsClient>(ctx.key())
            .subscribe(id)
            .send();
        ended.await?;
        Ok(())
    }
}

struct BareNodes;

#[restate_sdk::service]
impl BareNodes {
    #[handler]
    async fn run(
        &self,
        _ctx: restate_sdk::context::Context<'_>,
        state: Json<BareState>,
    ) -> Result<u64, HandlerError> {
        Ok(u64::from(state.0.limit > 0))
    }
}

/// Serves the bare services with `TCP_NODELAY`, as petalflow does.
async fn serve_bare(definition: restate_sdk::endpoint::Builder, port: u16) {
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let endpoint = restate_sdk::hyper::HyperEndpoint::new(definition.build());
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port))
        .await
        .expect("a port");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).expect("a socket");
            let endpoint = endpoint.clone();
            tokio::spawn(async move {
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::default());
                server
                    .serve_connection(TokioIo::new(stream), endpoint)
                    .await
            });
        }
    });
}

async fn call(http: &reqwest::Client, url: String, body: Option<String>) {
    let request = http.post(url);
    let request = match body {
        Some(body) => request
            .header("content-type", "application/json")
            .body(body),
        None => request,
    };
    let answer = request.send().await.expect("an answer");
    assert!(answer.status().is_success(), "{:?}", answer.text().await);
}

async fn bare(http: &reqwest::Client, ingress: &str, id: &str, width: u64, limit: u64) -> Duration {
    let state = BareState {
        round: 0,
        limit,
        width,
        done: 0,
        waiting: None,
    };
    let begun = Instant::now();
    let body = serde_json::to_string(&state).expect("it is JSON");
    call(
        http,
        format!("{ingress}/BareThreads/{id}/begin"),
        Some(body),
    )
    .await;
    call(http, format!("{ingress}/BareThreads/{id}/wait"), None).await;
    begun.elapsed()
}

async fn ours<F: Flow<State = Count>>(client: &Client<F>, id: &str, limit: u64) -> Duration {
    let begun = Instant::now();
    let thread = client.thread(id);
    thread.begin(limit).await.expect("it begins");
    let rest = thread.wait().await.expect("it ends");
    let took = begun.elapsed();
    assert_eq!(
        rest.status,
        petalflow::checkpoint::ThreadStatus::Finished,
        "{:?}",
        rest.failure
    );
    took
}

/// The processor time of this process and of the server. It says more than the time on a busy machine. Zero where there is no `/proc`.
fn processor_time(server: &Server) -> Duration {
    // In hundredths of a second, as Linux reports it to programs.
    let ticks = |process: String| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        fields
            .skip(11)
            .take(2)
            .filter_map(|ticks| ticks.parse::<u64>().ok())
            .sum::<u64>()
    };
    let server = server
        .process()
        .map_or(0, |process| ticks(process.to_string()));
    Duration::from_millis(10 * (ticks("self".into()) + server))
}

fn per_superstep(took: Duration, supersteps: u64) -> f64 {
    took.as_secs_f64() * 1_000.0 / supersteps as f64
}

#[tokio::main]
async fn main() {
    let Some(server) = Server::start().await else {
        return;
    };
    let limit = SUPERSTEPS + 1;
    let one = RestateFlow::new(One::new().limit(limit))
        .place("one", "pool")
        .expect("a node");
    let inline = RestateFlow::new(Inline::new().limit(limit));
    let mut eight = RestateFlow::new(Eight::new().limit(limit));
    for node in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        eight = eight.place(node, "pool").expect("a node");
    }
    let driver = Endpoint::new()
        .threads(&one)
        .and_then(|it| it.threads(&eight));
    let driver = driver
        .and_then(|it| it.threads(&inline))
        .expect("good names");
    let host = Endpoint::new()
        .nodes(&one, "pool")
        .and_then(|it| it.nodes(&eight, "pool"));
    let driver = driver.bind("127.0.0.1:0").await.expect("a port");
    let host = host
        .expect("good names")
        .bind("127.0.0.1:0")
        .await
        .expect("a port");
    let [three, four] = support::free_ports();
    serve_bare(
        restate_sdk::endpoint::Builder::new().bind(BareThreads),
        three,
    )
    .await;
    serve_bare(restate_sdk::endpoint::Builder::new().bind(BareNodes), four).await;
    let urls = [driver.address().port(), host.address().port(), three, four];
    tokio::spawn(driver.serve());
    tokio::spawn(host.serve());
    for port in urls {
        let url = format!("http://127.0.0.1:{port}");
        server
            .admin()
            .register(&url)
            .await
            .expect("it is registered");
    }
    let (http, ingress) = (support::http(), server.ingress());
    let (one, eight) = (Client::new(&one, &ingress), Client::new(&eight, &ingress));
    let inline = Client::new(&inline, &ingress);
    for round in 0..3 {
        let bare_one = bare(&http, &ingress, &format!("one-{round}"), 1, SUPERSTEPS).await;
        let bare_eight = bare(&http, &ingress, &format!("eight-{round}"), 8, SUPERSTEPS).await;
        let ours_one = ours(&one, &format!("one-{round}"), SUPERSTEPS).await;
        let ours_eight = ours(&eight, &format!("eight-{round}"), SUPERSTEPS).await;
        let ours_inline = ours(&inline, &format!("inline-{round}"), SUPERSTEPS).await;
        println!(
            "ms per superstep: one placed node {:.1} (bare {:.1}), eight {:.1} (bare {:.1}), one inline {:.1}",
            per_superstep(ours_one, SUPERSTEPS),
            per_superstep(bare_one, SUPERSTEPS),
            per_superstep(ours_eight, SUPERSTEPS),
            per_superstep(bare_eight, SUPERSTEPS),
            per_superstep(ours_inline, SUPERSTEPS),
        );
        let (begun, used) = (Instant::now(), processor_time(&server));
        let threads = (0..THREADS).map(|thread| {
            let (http, ingress) = (http.clone(), ingress.clone());
            tokio::spawn(async move {
                bare(&http, &ingress, &format!("t{round}-{thread}"), 1, SHORT).await
            })
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.await.expect("it ends");
        }
        let (bare_all, bare_used) = (
            begun.elapsed(),
            processor_time(&server).saturating_sub(used),
        );
        let (begun, used) = (Instant::now(), processor_time(&server));
        let threads = (0..THREADS).map(|thread| {
            let one = one.clone();
            tokio::spawn(async move { ours(&one, &format!("t{round}-{thread}"), SHORT).await })
        });
        for thread in threads.collect::<Vec<_>>() {
            thread.await.expect("it ends");
        }
        let (all, used) = (
            begun.elapsed(),
            processor_time(&server).saturating_sub(used),
        );
        println!(
            "{THREADS} threads at once: {:.0} supersteps per second (bare {:.0}), ratio {:.2}; processor time {:.2} ms per superstep (bare {:.2})",
            (THREADS * SHORT) as f64 / all.as_secs_f64(),
            (THREADS * SHORT) as f64 / bare_all.as_secs_f64(),
            bare_all.as_secs_f64() / all.as_secs_f64(),
            per_superstep(used, THREADS * SHORT),
            per_superstep(bare_used, THREADS * SHORT),
        );
    }
}
