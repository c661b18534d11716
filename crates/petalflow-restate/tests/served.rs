//! `petalflow-server` serves threads on Restate at the same addresses as those in a store.

use std::time::{Duration, Instant};

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::state::Storable;
use petalflow::thread::Retention;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_redis::{RedisEvents, RedisOptions};
use petalflow_restate::{Client, Endpoint, RestateFlow, RestateThreads, RetryPolicy};
use petalflow_server::{ServedFlow, Server as HttpServer};
use petalflow_test_servers::{Redis, found_or_skip, fresh_name};
use serde_json::{Value, json};

use crate::away::{host, host_away};
use crate::support::{PATIENCE, Server};

#[state]
struct Refund {
    #[key(input)]
    cents: u64,
    #[key(secret, default)]
    ledger: String,
    paid: bool,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool)]
struct MayPay {
    cents: u64,
}

#[node(Refund)]
async fn check(cents: &u64, cx: Context) -> petalflow::Result<(RefundLedger, RefundNotes)> {
    cx.emit("checked");
    if *cents == 0 {
        return Err("there is nothing to pay".into());
    }
    if *cents == 99 {
        // Until it is cancelled.
        std::future::pending::<()>().await;
    }
    Ok((
        RefundLedger("secret".into()),
        RefundNotes(vec![format!("{cents} cents")]),
    ))
}

#[node(Refund)]
async fn pay(cents: &u64, cx: Context) -> petalflow::Result<RefundPaid> {
    Ok(RefundPaid(cx.ask(MayPay { cents: *cents }).await?))
}

#[node(Refund)]
async fn report(paid: &bool) -> RefundNotes {
    RefundNotes(vec![format!("paid: {paid}")])
}

flow!(PayRefund(Refund) { check -> pay -> report; interrupt before report; });

/// A process that serves the threads, and a client for it.
pub(super) struct Served {
    url: String,
    http: reqwest::Client,
}

impl Served {
    /// A process that serves the threads. A server keeps nothing that another one does not have.
    async fn start(restate: &Server, flow: &RestateFlow<PayRefund>) -> Self {
        let served = ServedFlow::new(PayRefund::new())
            .named("refunds")
            .question::<MayPay>();
        Self::of(restate, flow, served, &InMemoryStore::new()).await
    }

    /// A process that serves another flow. It remembers what it has to in this store.
    pub(super) async fn of<F: Flow<State: Storable>>(
        restate: &Server,
        flow: &RestateFlow<F>,
        served: ServedFlow<F>,
        store: &InMemoryStore,
    ) -> Self {
        let client = Client::new(flow, restate.ingress());
        let threads = RestateThreads::new(&client, &restate.admin());
        let studio =
            axum::Router::new().nest_service("/studio", petalflow_server::studio::router());
        let server = HttpServer::builder(store)
            .serve_remote(served, threads)
            .threads(TriggerAuth::None)
            .routes(studio)
            .build()
            .expect("its settings are right");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(server.serve(listener, std::future::pending()));
        Served {
            url,
            http: crate::support::http(),
        }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.send().await.expect("it answers");
        let status = response.status().as_u16();
        let text = response.text().await.expect("it has a body");
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let (status, body) = self
            .send(self.http.get(format!("{}{path}", self.url)))
            .await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.post_with(&[], path, body).await
    }

    pub(super) async fn post_with(
        &self,
        headers: &[(&str, &str)],
        path: &str,
        body: Value,
    ) -> (u16, Value) {
        let mut request = self.http.post(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header("content-type", "application/json");
        self.send(request.body(body.to_string())).await
    }

    pub(super) async fn delete(&self, path: &str) -> u16 {
        self.send(self.http.delete(format!("{}{path}", self.url)))
            .await
            .0
    }

    async fn begin(&self, id: &str, cents: u64, label: &str) -> String {
        let body = json!({ "id": id, "input": { "cents": cents }, "labels": { "user": label } });
        let (status, body) = self.post("/flows/refunds/threads", body).await;
        assert_eq!(status, 202, "{body}");
        body["thread"].as_str().expect("it has a name").into()
    }

    pub(super) async fn until(&self, thread: &str, status: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let view = self.get(&format!("/threads/{thread}")).await;
            if view["status"] == status {
                return view;
            }
            assert!(Instant::now() < deadline, "it is not {status}: {view}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn answer(&self, thread: &str, view: &Value, body: Value) {
        let question = view["questions"][0]["id"].as_str().expect("it asks");
        let path = format!("/threads/{thread}/answers/{question}");
        let (status, body) = self.post(&path, body).await;
        assert_eq!(status, 202, "{body}");
    }

    /// The kinds of the events of a thread, until it rests.
    async fn events(&self, thread: &str) -> Vec<String> {
        let url = format!("{}/threads/{thread}/events", self.url);
        let text = self.http.get(url).send().await.unwrap().text().await;
        let text = text.expect("it ends");
        let kinds = text.lines().filter_map(|line| line.strip_prefix("event: "));
        kinds.map(String::from).collect()
    }
}

async fn start(flow: RestateFlow<PayRefund>) -> Option<(Server, Served, RestateFlow<PayRefund>)> {
    let restate = Server::start().await?;
    let driver = Endpoint::new().threads(&flow).expect("its name is good");
    let driver = driver.bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}", driver.address());
    tokio::spawn(driver.serve());
    restate.admin().register(&url).await.expect("it answers");
    let served = Served::start(&restate, &flow).await;
    Some((restate, served, flow))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_started_answered_approved_and_shown() {
    let Some(redis) = found_or_skip(Redis::shared()) else {
        return;
    };
    let options = RedisOptions::new(&*redis.url).prefix(fresh_name("served"));
    let events = RedisEvents::connect(options).await.unwrap();
    let flow = RestateFlow::new(PayRefund::new())
        .retention(Retention::ALL)
        .events(events);
    let Some((restate, served, flow)) = start(flow).await else {
        return;
    };
    assert_eq!(served.get("/flows").await["flows"][0]["name"], "refunds");
    let page = served.http.get(format!("{}/studio/", served.url));
    assert_eq!(page.send().await.unwrap().status(), 200);

    let thread = served.begin("one", 12, "ann").await;
    assert_eq!(thread, "refunds:one");
    let view = served.until(&thread, "waiting").await;
    assert_eq!(view["labels"], json!({ "user": "ann" }));
    assert_eq!(view["state"]["ledger"], Value::Null);
    assert_eq!(view["state"]["notes"], json!(["12 cents"]));
    assert_eq!(
        served.events(&thread).await,
        [
            "run_started",
            "superstep_started",
            "node_started",
            "custom",
            "node_finished",
            "checkpoint",
            "superstep_finished",
            "superstep_started",
            "node_started",
            "interrupted",
        ]
    );

    // An answer of the wrong type is refused, and a second one is too late.
    let question = view["questions"][0]["id"].as_str().unwrap();
    let path = format!("/threads/{thread}/answers/{question}");
    assert_eq!(served.post(&path, json!({ "answer": "yes" })).await.0, 422);
    served
        .answer(&thread, &view, json!({ "answer": true }))
        .await;
    // Another process of the server, which knows nothing of the first, shows and steers the same threads.
    let other = Served::start(&restate, &flow).await;
    let deadline = Instant::now() + PATIENCE;
    let view = loop {
        let view = other.until(&thread, "waiting").await;
        if view["state"]["paid"] == true {
            break view;
        }
        assert!(Instant::now() < deadline, "{view}");
    };
    assert_eq!(other.post(&path, json!({ "answer": true })).await.0, 409);
    let approval = json!({ "decision": "approve", "by": "Bea" });
    other.answer(&thread, &view, approval).await;
    let view = served.until(&thread, "finished").await;
    assert_eq!(view["state"]["notes"], json!(["12 cents", "paid: true"]));

    // The history, an earlier checkpoint, and another turn.
    let history = served.get(&format!("/threads/{thread}/history")).await;
    let checkpoints = history["checkpoints"].as_array().unwrap();
    let numbers: Vec<u64> = checkpoints
        .iter()
        .filter_map(|one| one["checkpoint"].as_u64())
        .collect();
    assert!(numbers.len() >= 4, "{history}");
    let first = numbers.last().unwrap();
    let path = format!("/threads/{thread}/checkpoints/{first}");
    assert_eq!(served.get(&path).await["state"]["cents"], 12);
    let turn = json!({ "input": { "cents": 5 } });
    let (status, _) = served.post(&format!("/threads/{thread}/turns"), turn).await;
    assert_eq!(status, 202);
    served.until(&thread, "waiting").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_are_listed_by_prefix_status_label_and_page() {
    let Some((_restate, served, _)) = start(RestateFlow::new(PayRefund::new())).await else {
        return;
    };
    for (id, cents, user) in [("a", 1, "ann"), ("b", 0, "bob"), ("c'1", 2, "ann")] {
        served.begin(id, cents, user).await;
    }
    let thread = "refunds:b";
    served.until(thread, "failed").await;
    served.until("refunds:a", "waiting").await;
    served.until("refunds:c'1", "waiting").await;
    let ids = async |query: &str| {
        let listed = served.get(&format!("/threads{query}")).await;
        let threads = listed["threads"].as_array().expect("a list").clone();
        let ids = threads.iter().filter_map(|thread| thread["id"].as_str());
        ids.map(String::from).collect::<Vec<String>>()
    };
    let all = ["refunds:a", "refunds:b", "refunds:c'1"];
    assert_eq!(ids("").await, all);
    assert_eq!(ids("?flow=refunds").await, all);
    assert_eq!(ids("?status=failed").await, ["refunds:b"]);
    assert_eq!(ids("?label=user:ann").await, ["refunds:a", "refunds:c'1"]);
    assert_eq!(ids("?flow=refunds&prefix=c'").await, ["refunds:c'1"]);
    assert_eq!(ids("?limit=2").await, all[..2]);
    assert_eq!(ids("?limit=2&after=refunds:b").await, ["refunds:c'1"]);
    let listed = served.get("/threads?status=waiting&limit=1").await;
    assert_eq!(listed["threads"][0]["status"], "waiting");
    assert_eq!(listed["threads"][0]["flow"], "refunds");
    let created = &listed["threads"][0]["created_ms"];
    assert!(created.as_u64() > Some(0));
    // Its first checkpoint is gone.
    let view = served.get("/threads/refunds:a").await;
    assert_eq!(view["created_ms"], *created);
    assert!(view["checkpoint_ms"].as_u64() > created.as_u64());

    // Without events, the stream ends when the thread rests.
    assert!(served.events("refunds:a").await.is_empty());
    // A failure is shown, and the thread can be tried again.
    let resumed = served
        .post(&format!("/threads/{thread}/resume"), json!({}))
        .await;
    assert_eq!(resumed.0, 202);
    served.until(thread, "failed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_edited_forked_cancelled_and_deleted() {
    let flow = RestateFlow::new(PayRefund::new()).retention(Retention::ALL);
    let Some((_restate, served, _)) = start(flow).await else {
        return;
    };
    let thread = served.begin("one", 12, "ann").await;
    let view = served.until(&thread, "waiting").await;
    let checkpoint = view["checkpoint"].as_u64().unwrap();
    let edit = json!({ "keys": { "cents": 13 }, "node": "check" });
    let (status, edited) = served.post(&format!("/threads/{thread}/edit"), edit).await;
    assert_eq!(status, 200, "{edited}");
    let view = served.until(&thread, "held").await;
    assert_eq!(view["state"]["cents"], 13);
    let fork = json!({ "checkpoint": checkpoint });
    let (status, forked) = served.post(&format!("/threads/{thread}/fork"), fork).await;
    assert_eq!(status, 201, "{forked}");
    let resumed = served
        .post(&format!("/threads/{thread}/resume"), json!({}))
        .await;
    assert_eq!(resumed.0, 202, "{resumed:?}");
    let view = served.until(&thread, "waiting").await;
    assert_eq!(view["state"]["cents"], 12);

    let labels = json!({ "user": "bea" });
    let path = format!("{}/threads/{thread}/labels", served.url);
    let put = served.http.put(path).body(labels.to_string());
    let put = put.header("content-type", "application/json");
    assert_eq!(served.send(put).await.0, 200);
    let view = served.get(&format!("/threads/{thread}")).await;
    assert_eq!(view["labels"], json!({ "user": "bea" }));

    // A copy and a fork are threads of their own, which wait for a person to resume them. An id is given once.
    for (path, body, other) in [
        ("copy", json!({ "id": "two" }), "refunds:two"),
        (
            "fork",
            json!({ "id": "three", "checkpoint": checkpoint }),
            "refunds:three",
        ),
    ] {
        let path = format!("/threads/{thread}/{path}");
        let (status, made) = served.post(&path, body.clone()).await;
        assert_eq!((status, &made["thread"]), (201, &json!(other)), "{made}");
        assert_eq!(served.post(&path, body).await.0, 409, "it exists");
        let view = served.until(other, "held").await;
        assert_eq!(view["labels"], json!({ "user": "bea" }));
        let resume = format!("/threads/{other}/resume");
        assert_eq!(served.post(&resume, json!({})).await.0, 202);
        let view = served.until(other, "waiting").await;
        assert_eq!(view["state"]["cents"], 12);
        served.answer(other, &view, json!({ "answer": true })).await;
        let url = format!("{}/threads/{other}", served.url);
        let deadline = Instant::now() + PATIENCE;
        while served.send(served.http.delete(&url)).await.0 != 204 {
            assert!(Instant::now() < deadline, "{other} still runs");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let fork = json!({ "id": "four", "checkpoint": 99 });
    let (status, refused) = served.post(&format!("/threads/{thread}/fork"), fork).await;
    assert_ne!(status, 201, "{refused}");
    served.until(&thread, "waiting").await;

    let slow = served.begin("slow", 99, "ann").await;
    let (status, _) = served
        .post(
            &format!("/threads/{slow}/turns"),
            json!({ "input": { "cents": 1 } }),
        )
        .await;
    assert_eq!(status, 409, "it runs");
    let url = format!("{}/threads/{slow}", served.url);
    assert_eq!(
        served.send(served.http.delete(&url)).await.0,
        409,
        "it runs"
    );
    let (status, _) = served
        .post(&format!("/threads/{slow}/cancel"), json!({}))
        .await;
    assert_eq!(status, 202);
    served.until(&slow, "held").await;
    let (status, _) = served
        .post(&format!("/threads/{slow}/cancel"), json!({}))
        .await;
    assert_eq!(status, 202, "it is held already");

    for thread in [&thread, &slow] {
        let url = format!("{}/threads/{thread}", served.url);
        assert_eq!(served.send(served.http.delete(&url)).await.0, 204);
        assert_eq!(served.send(served.http.get(&url)).await.0, 404);
    }
    assert_eq!(served.get("/threads").await["threads"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_thread_that_restate_repeats_or_has_paused_says_so_and_is_resumed() {
    for is_paused in [false, true] {
        // What is not paused is not tried again while the test runs.
        let wait = if is_paused {
            Duration::from_millis(50)
        } else {
            Duration::from_mins(30)
        };
        let retry = RetryPolicy {
            first: wait,
            longest: wait,
            attempts: is_paused.then_some(2),
            ..RetryPolicy::default()
        };
        let flow = RestateFlow::new(PayRefund::new()).retry(retry);
        let flow = flow.place("check", "pool").unwrap();
        let Some((restate, served, flow)) = start(flow).await else {
            return;
        };
        let address = host_away(&restate, &flow).await;
        let thread = served.begin("one", 12, "ann").await;
        let state = if is_paused { "paused" } else { "retrying" };
        let deadline = Instant::now() + PATIENCE;
        let view = loop {
            let view = served.get(&format!("/threads/{thread}")).await;
            assert_eq!(view["status"], "running", "{view}");
            if view["trouble"]["state"] == state {
                break view;
            }
            assert!(Instant::now() < deadline, "it is not {state}: {view}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let listed = served.get("/threads").await;
        // What is not paused is tried once.
        assert_eq!(listed["threads"][0]["trouble"], view["trouble"], "{listed}");
        let trouble = &view["trouble"];
        assert_eq!(trouble["service"], "petalflow_Nodes_PayRefund_pool");
        // Restate forgets the number when it pauses.
        let least = u64::from(!is_paused);
        assert!(trouble["attempts"].as_u64() >= Some(least), "{trouble}");
        assert!(!trouble["error"].as_str().unwrap().is_empty(), "{trouble}");
        let next_ms = trouble["next_ms"].as_u64();
        if is_paused {
            assert_eq!(next_ms, None, "{trouble}");
        } else {
            assert!(next_ms > view["updated_ms"].as_u64(), "{view}");
        }

        host(&flow, &address).await;
        let path = format!("/threads/{thread}/resume");
        assert_eq!(served.post(&path, json!({})).await.0, 202);
        let view = served.until(&thread, "waiting").await;
        assert_eq!(view["trouble"], Value::Null);
    }
}
