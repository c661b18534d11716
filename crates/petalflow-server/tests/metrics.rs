//! Numbers for Prometheus, and what a server says of itself.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::{InMemoryStore, Store, StoreChange, StoredCheckpoint, ThreadStatus};
use petalflow::prelude::*;
use petalflow_agent::Agent;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::{LlmError, LlmRequest, Reply, ScriptedModel, TokenUsage};
use petalflow_server::{Access, ModelMetrics, ServedFlow, Server};
use petalflow_testing::CountingStore;
use serde_json::json;

use crate::kit::{Response, call, get, send, wait_until_settled};

#[state]
struct Count {
    #[key(input)]
    by: u64,
    total: u64,
}

#[node(Count)]
async fn add(by: &u64) -> petalflow::Result<CountTotal> {
    match *by {
        0 => Err("there is nothing to count".into()),
        by => Ok(CountTotal(by)),
    }
}

flow!(Counts(Count) { add });

fn server(store: &(impl Store + Clone)) -> Server {
    Server::builder(store)
        .serve_flow(ServedFlow::new(Counts::new()))
        .threads(TriggerAuth::HeaderToken {
            header: "Authorization".into(),
            token: "Bearer secret".into(),
        })
        .access(|request| match request.headers.get("x-user") {
            Some(user) => Access::label("user", user.to_str().unwrap_or_default()),
            None => Access::All,
        })
        .build()
        .expect("the settings are right")
}

async fn request(router: &Router, method: &str, path: &str, body: &str) -> Response {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("authorization", "Bearer secret");
    let request = request.body(Body::from(body.to_string()));
    send(router, request.expect("a request")).await
}

/// The value of this line.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(' '))
    });
    let value = line.and_then(|line| line.rsplit_once(' '));
    let (_, value) = value.unwrap_or_else(|| panic!("no {name}: {text}"));
    value.parse().expect("a number")
}

#[tokio::test]
async fn f43_prometheus_reads_runs_nodes_threads_and_requests() {
    let store = InMemoryStore::new();
    let server = server(&store);
    let router = server.router();
    for (id, by) in [("a", 1), ("b", 2), ("c", 0)] {
        let body = json!({ "id": id, "input": { "by": by } }).to_string();
        let begun = request(&router, "POST", "/flows/Counts/threads", &body).await;
        let events = format!("/threads/{}/events", begun.thread());
        request(&router, "GET", &events, "").await;
    }
    let later = json!({ "input": { "by": 1 }, "at": "2001-01-01T00:00:00Z" }).to_string();
    request(&router, "POST", "/flows/Counts/threads", &later).await;
    request(&router, "GET", "/nowhere/at/all", "").await;
    // The numbers of a run are there when it has ended.
    server.drain(std::time::Duration::from_secs(30)).await;

    let read = request(&router, "GET", "/metrics", "").await;
    assert_eq!(read.status, StatusCode::OK, "{read:?}");
    let kind = &read.headers["content-type"];
    assert!(
        kind.to_str()
            .is_ok_and(|kind| kind.starts_with("application/openmetrics-text"))
    );
    let text = &read.text;
    assert!(text.ends_with("# EOF\n"), "{text}");
    for (name, expected) in [
        ("petalflow_runs_begun_total{flow=\"Counts\"}", 3.0),
        (
            "petalflow_runs_ended_total{flow=\"Counts\",status=\"finished\"}",
            2.0,
        ),
        (
            "petalflow_runs_ended_total{flow=\"Counts\",status=\"failed\"}",
            1.0,
        ),
        ("petalflow_runs_in_progress", 0.0),
        ("petalflow_run_seconds_count{flow=\"Counts\"}", 3.0),
        (
            "petalflow_node_seconds_count{flow=\"Counts\",node=\"add\",outcome=\"finished\"}",
            2.0,
        ),
        (
            "petalflow_node_seconds_count{flow=\"Counts\",node=\"add\",outcome=\"failed\"}",
            1.0,
        ),
        (
            "petalflow_http_requests_total{method=\"POST\",route=\"/flows/{flow}/threads\",status=\"202\"}",
            4.0,
        ),
        (
            "petalflow_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"}",
            1.0,
        ),
        (
            "petalflow_threads{flow=\"Counts\",status=\"finished\"}",
            2.0,
        ),
        ("petalflow_threads{flow=\"Counts\",status=\"failed\"}", 1.0),
        (
            "petalflow_threads{flow=\"Counts\",status=\"sleeping\"}",
            1.0,
        ),
        ("petalflow_threads{flow=\"Counts\",status=\"waiting\"}", 0.0),
        ("petalflow_threads{flow=\"other\",status=\"running\"}", 0.0),
        ("petalflow_threads_due", 1.0),
    ] {
        let found = value(text, name);
        assert!(
            (found - expected).abs() < f64::EPSILON,
            "{name} {found}\n{text}"
        );
    }
}

#[tokio::test]
async fn f43_prometheus_reads_two_counts_of_the_store() {
    let store = CountingStore::default();
    let append = async |thread: &str, flow: Option<&str>| {
        let checkpoint = StoredCheckpoint {
            seq: 1,
            base: 1,
            created_ms: 1,
            bytes: Vec::new(),
        };
        let mut changes = vec![StoreChange::Append {
            namespace: String::new(),
            checkpoint,
            after: None,
            settled: 0..0,
        }];
        changes.extend(flow.map(|flow| StoreChange::Status {
            flow: flow.into(),
            status: ThreadStatus::Waiting,
            due_ms: None,
        }));
        let applied = store.apply(thread, &changes, None).await;
        applied.expect("it is stored");
    };
    append("Counts:a", Some("Counts")).await;
    append("elsewhere", Some("Essay")).await;
    append("begins", None).await;
    let router = server(&store).router();
    for (next, threads) in [("Counts:b", 1.0), ("Counts:c", 2.0)] {
        store.take();
        let text = request(&router, "GET", "/metrics", "").await.text;
        assert_eq!(store.take().reads, ["thread_counts", "thread_counts"]);
        for (labels, expected) in [
            ("flow=\"Counts\",status=\"waiting\"", threads),
            ("flow=\"other\",status=\"waiting\"", 1.0),
            ("flow=\"other\",status=\"running\"", 1.0),
        ] {
            let found = value(&text, &format!("petalflow_threads{{{labels}}}"));
            assert!((found - expected).abs() < f64::EPSILON, "{labels}: {text}");
        }
        append(next, Some("Counts")).await;
    }
}

#[tokio::test]
async fn f43_metrics_are_for_callers_who_may_see_all_threads() {
    let router = server(&InMemoryStore::new()).router();
    let read = get(&router, "/metrics").await;
    assert_eq!(read.status, StatusCode::UNAUTHORIZED, "{read:?}");
    let of_user = Request::get("/metrics").header("authorization", "Bearer secret");
    let of_user = of_user.header("x-user", "ann").body(Body::empty());
    let read = send(&router, of_user.expect("a request")).await;
    assert_eq!(read.status, StatusCode::FORBIDDEN, "{read:?}");
    assert!(read.error().contains("you may not see metrics"), "{read:?}");
}

#[tokio::test]
async fn f43_a_server_says_what_it_is() {
    let server = Server::builder(&InMemoryStore::new()).serve_flow(ServedFlow::new(Counts::new()));
    let server = server.threads(TriggerAuth::None).build().expect("right");
    let info = get(&server.router(), "/info").await.json();
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(info["flows"], json!([{ "name": "Counts", "kind": "flow" }]));
    assert_eq!(
        info["store"],
        json!({ "type": "InMemoryStore", "shared": false })
    );
    let features = info["features"].as_array().expect("features");
    assert!(features.contains(&json!("metrics")), "{info}");
    let thread = call(
        &server.router(),
        "POST",
        "/flows/Counts/threads",
        json!({ "input": { "by": 1 } }),
    )
    .await;
    wait_until_settled(&server.router(), &thread.thread()).await;
}

#[tokio::test]
async fn f43_prometheus_reads_calls_of_models() {
    let models = ModelMetrics::new();
    let used = TokenUsage {
        input: 10,
        output: 4,
        total: 14,
        cost: 0.5,
        ..TokenUsage::default()
    };
    let model = ScriptedModel::from_fn(move |request: &LlmRequest| {
        match &*request.messages.last().expect("a message").text() {
            "fail" => Reply::text("").broken(LlmError::request("the key of the model is wrong")),
            text => Reply::text(format!("You said {text}.")).with_usage(used),
        }
    });
    let model = model.with_name("gemini");
    let agent = Agent::new(models.measure(model.clone()));
    let streaming = Agent::new(models.measure(model)).streaming();
    let server = Server::builder(&InMemoryStore::new())
        .agent("clerk", &agent)
        .agent("teller", &streaming)
        .threads(TriggerAuth::None)
        .model_metrics(&models)
        .build()
        .expect("the settings are right");
    let router = server.router();
    for (agent, text) in [("clerk", "hi"), ("teller", "hi"), ("clerk", "fail")] {
        let path = format!("/flows/{agent}/threads");
        let begun = call(&router, "POST", &path, json!({ "input": text })).await;
        wait_until_settled(&router, &begun.thread()).await;
    }
    let read = get(&router, "/metrics").await;
    assert_eq!(read.status, StatusCode::OK, "{read:?}");
    let labels = "gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"gcp.gemini\",gen_ai_request_model=\"\"";
    let text = &read.text;
    let duration = "gen_ai_client_operation_duration_seconds_count";
    let value = |name: String| value(text, &name);
    assert!((value(format!("{duration}{{{labels},error_type=\"\"}}")) - 2.0).abs() < 1e-9);
    assert!((value(format!("{duration}{{{labels},error_type=\"request\"}}")) - 1.0).abs() < 1e-9);
    for (kind, tokens) in [("input", 20.0), ("output", 8.0)] {
        let name =
            format!("gen_ai_client_token_usage_sum{{{labels},gen_ai_token_type=\"{kind}\"}}");
        assert!((value(name) - tokens).abs() < 1e-9, "{text}");
    }
    let cost = value(format!("petalflow_usage_cost_dollars_total{{{labels}}}"));
    assert!((cost - 1.0).abs() < 1e-9, "{text}");
    assert!(
        text.contains("# TYPE gen_ai_client_operation_duration_seconds histogram"),
        "{text}"
    );
    assert!(text.contains("petalflow_runs_begun_total"), "{text}");
}
