//! What clients tell threads on Restate over HTTP, in each status of a thread.

mod requests;

use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::thread::{Retention, Threads};
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_llm::{Reply, Role, ScriptedModel};
use petalflow_restate::{Client, Endpoint, RestateFlow, RetryPolicy};
use petalflow_server::{FlowKind, ServedFlow};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::away::{host, host_away};
use crate::served::Served;
use crate::support::{Server, until};

/// A start that nobody waits for in a test.
const LATE: Duration = Duration::from_hours(1);

/// Each permit lets a node end that has to wait.
#[derive(Clone)]
struct Gate(Arc<Semaphore>);

impl Gate {
    async fn pass(&self) {
        self.0.acquire().await.expect("it stays open").forget();
    }
}

#[state]
struct Part {
    #[key(input)]
    name: String,
}

/// Until it is stopped.
#[node(Part)]
async fn make() {
    std::future::pending::<()>().await;
}

flow!(Make(Part) { make });

#[state]
struct Job {
    #[key(input)]
    text: String,
    /// The thread that it starts.
    #[key(input)]
    part: String,
    #[key(append)]
    done: Vec<String>,
    #[key(append, inbox)]
    notes: Vec<String>,
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool)]
struct MayGo {}

#[node(Job)]
async fn work(
    text: &str,
    part: &str,
    cx: Context,
    gate: Managed<Gate>,
    parts: Managed<Threads<Make>>,
) -> petalflow::Result<JobDone> {
    match text {
        "runs" => gate.pass().await,
        "sleeps" => cx.sleep(LATE).await?,
        "waits" => {
            cx.ask(MayGo {}).await?;
            gate.pass().await;
        }
        "joins" => {
            let part = cx.start(&parts, part, part.to_string());
            let part = part.cancel_with_parent().await?;
            cx.join(&part).await?;
        }
        "fails" => return Err("it is broken".into()),
        _ => {}
    }
    Ok(JobDone(vec![text.into()]))
}

#[node(Job)]
async fn end(text: &str, gate: Managed<Gate>) -> JobDone {
    if text == "late" {
        gate.pass().await;
    }
    JobDone(vec!["end".into()])
}

flow!(Work(Job) { work -> end });

struct Jobs {
    restate: Server,
    served: Served,
    store: InMemoryStore,
    flow: RestateFlow<Work>,
    parts: Client<Make>,
    gate: Gate,
}

fn input(text: &str) -> Value {
    json!({ "text": text, "part": "" })
}

fn served_flow() -> ServedFlow<Work> {
    ServedFlow::new(Work::new())
        .named("jobs")
        .question::<MayGo>()
}

impl Jobs {
    /// With these settings of the flow.
    async fn start(set: impl FnOnce(RestateFlow<Work>) -> RestateFlow<Work>) -> Option<Self> {
        let restate = Server::start().await?;
        let gate = Gate(Arc::new(Semaphore::new(0)));
        let of_parts = RestateFlow::new(Make::new());
        let parts = Client::new(&of_parts, restate.ingress());
        let threads = Make::new().store(&parts.store());
        let flow = set(RestateFlow::new(
            Work::new().manage(gate.clone()).manage(threads),
        ));
        let endpoint = Endpoint::new().threads(&flow).unwrap();
        let driver = endpoint.threads(&of_parts).unwrap();
        let driver = driver.bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", driver.address());
        tokio::spawn(driver.serve());
        restate.admin().register(&url).await.unwrap();
        let store = InMemoryStore::new();
        let served = Served::of(&restate, &flow, served_flow(), &store).await;
        Some(Jobs {
            restate,
            served,
            store,
            flow,
            parts,
            gate,
        })
    }

    async fn begin(&self, id: &str, text: &str) -> String {
        let part = format!("part of jobs:{id}");
        let input = json!({ "text": text, "part": part });
        self.begin_with(json!({ "id": id, "input": input })).await
    }

    async fn begin_with(&self, body: Value) -> String {
        let (status, body) = self.served.post("/flows/jobs/threads", body).await;
        assert_eq!(status, 202, "{body}");
        body["thread"].as_str().expect("it has a name").into()
    }

    async fn command(&self, thread: &str, command: &str) -> (u16, Value) {
        let path = format!("/threads/{thread}/{command}");
        self.served.post(&path, json!({})).await
    }

    /// Gives threads a command. Returns how many there are, for how many it was done, and for how many not.
    async fn bulk(&self, conditions: &str, command: Value) -> (u64, u64, u64) {
        let path = format!("/thread-commands?flow=jobs{conditions}");
        let (code, begun) = self.served.post(&path, command).await;
        assert_eq!(code, 202, "{begun}");
        let thread = begun["thread"].as_str().expect("it is a thread");
        let ended = self.served.until(thread, "finished").await;
        let number = |name: &str| ended["state"][name].as_u64().expect("a number");
        (number("matched"), number("done"), number("failed"))
    }

    async fn turn(&self, thread: &str, text: &str, strategy: &str) -> (u16, Value) {
        let path = format!("/threads/{thread}/turns");
        let body = json!({ "input": input(text), "multitask_strategy": strategy });
        self.served.post(&path, body).await
    }

    async fn view(&self, thread: &str) -> Value {
        self.served.get(&format!("/threads/{thread}")).await
    }

    /// Waits until the thread has done this.
    async fn until_done(&self, thread: &str, status: &str, done: &[&str]) {
        until(&format!("it is {status} with {done:?}"), async || {
            let view = self.view(thread).await;
            view["status"] == status && view["state"]["done"] == json!(done)
        })
        .await;
    }
}

/// A text, and the status that a thread with it comes to.
const STATUSES: [(&str, &str); 5] = [
    ("sleeps", "sleeping"),
    ("waits", "waiting"),
    ("joins", "sleeping"),
    ("fails", "failed"),
    ("ends", "finished"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_thread_that_rests_is_held_and_resumed() {
    let Some(jobs) = Jobs::start(|flow| flow).await else {
        return;
    };
    for (text, status) in STATUSES {
        for command in ["cancel", "hold"] {
            let thread = jobs.begin(&format!("{text}-{command}"), text).await;
            let before = jobs.served.until(&thread, status).await;
            let (code, body) = jobs.command(&thread, command).await;
            let about = format!("{command} of {text}: {body}");
            if ["failed", "finished"].contains(&status) {
                assert_eq!(code, 409, "{about}");
                assert_eq!(
                    body["error"],
                    format!("no run has the thread: it is {status}")
                );
                assert_eq!(jobs.view(&thread).await["status"], status, "{about}");
                continue;
            }
            // At once: nobody has to wait for it.
            assert_eq!((code, &body["status"]), (202, &json!("held")), "{about}");
            let held = jobs.view(&thread).await;
            assert_eq!(held["status"], "held", "{about}");
            assert_eq!(held["due_ms"], Value::Null, "{about}");
            if text == "waits" {
                let question = before["questions"][0]["id"].as_str().expect("it asks");
                let path = format!("/threads/{thread}/answers/{question}");
                let (code, body) = jobs.served.post(&path, json!({ "answer": true })).await;
                assert_eq!(code, 202, "an answer resumes a thread, too: {body}");
                jobs.gate.0.add_permits(1);
                jobs.until_done(&thread, "finished", &["waits", "end"])
                    .await;
                continue;
            }
            if text == "joins" {
                let part = jobs.parts.thread(format!("part of {thread}"));
                until("the child is held", async || {
                    let rest = part.rest().await.unwrap();
                    rest.status == petalflow::checkpoint::ThreadStatus::Held
                })
                .await;
            }
            // It is held once: a resume is not undone.
            assert_eq!(jobs.command(&thread, command).await.0, 202, "{about}");
            assert_eq!(jobs.command(&thread, "resume").await.0, 202, "{about}");
            // The child does not go on, so its parent fails.
            let next = if text == "joins" { "failed" } else { status };
            jobs.served.until(&thread, next).await;
        }
        let thread = format!("jobs:{text}-cancel");
        let (code, body) = jobs.command(&thread, "drain").await;
        assert_eq!(code, 409, "{body}");
    }
    let none = jobs.command("jobs:none", "cancel").await;
    assert_eq!(none.0, 404, "{none:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_thread_that_runs_is_cancelled_at_once_or_held_at_its_barrier() {
    let Some(jobs) = Jobs::start(|flow| flow).await else {
        return;
    };
    let thread = jobs.begin("a", "runs").await;
    let (code, body) = jobs.command(&thread, "cancel").await;
    assert_eq!((code, &body["status"]), (202, &json!("held")), "{body}");
    assert_eq!(jobs.view(&thread).await["state"]["done"], json!([]));
    assert_eq!(jobs.command(&thread, "resume").await.0, 202);
    let (code, body) = jobs.command(&thread, "hold").await;
    // The node has not ended.
    assert_eq!((code, &body["status"]), (202, &Value::Null), "{body}");
    jobs.gate.0.add_permits(1);
    jobs.until_done(&thread, "held", &["runs"]).await;
    assert_eq!(jobs.command(&thread, "resume").await.0, 202);
    jobs.until_done(&thread, "finished", &["runs", "end"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_an_answer_at_the_moment_of_a_cancellation_is_taken_or_refused() {
    let Some(jobs) = Jobs::start(|flow| flow).await else {
        return;
    };
    for round in 0..6 {
        let thread = jobs.begin(&round.to_string(), "waits").await;
        let view = jobs.served.until(&thread, "waiting").await;
        let question = view["questions"][0]["id"].as_str().expect("it asks");
        let path = format!("/threads/{thread}/answers/{question}");
        let answer = jobs.served.post(&path, json!({ "answer": true }));
        let cancel = jobs.command(&thread, "cancel");
        let (answered, cancelled) = tokio::join!(answer, cancel);
        assert_eq!(cancelled.0, 202, "{cancelled:?}");
        assert!([202, 409].contains(&answered.0), "{answered:?}");
        // An answer may also come after it, and resume the thread.
        let is_held = jobs.view(&thread).await["status"] == "held";
        if is_held {
            assert_eq!(jobs.command(&thread, "resume").await.0, 202);
        }
        if answered.0 == 409 {
            jobs.served.until(&thread, "waiting").await;
            continue;
        }
        jobs.gate.0.add_permits(1);
        jobs.until_done(&thread, "finished", &["waits", "end"])
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_thread_that_restate_repeats_or_has_paused_is_cancelled_and_held() {
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
        let set = |flow: RestateFlow<Work>| flow.retry(retry).place("work", "pool").unwrap();
        let Some(jobs) = Jobs::start(set).await else {
            return;
        };
        let address = host_away(&jobs.restate, &jobs.flow).await;
        let state = if is_paused { "paused" } else { "retrying" };
        let in_trouble = async |thread: &str| {
            until(state, async || {
                jobs.view(thread).await["trouble"]["state"] == state
            })
            .await;
        };
        let cancelled = jobs.begin("cancel", "one").await;
        in_trouble(&cancelled).await;
        let (code, body) = jobs.command(&cancelled, "cancel").await;
        assert_eq!(code, 202, "{body}");
        jobs.served.until(&cancelled, "held").await;

        let held = jobs.begin("hold", "one").await;
        in_trouble(&held).await;
        let (code, body) = jobs.command(&held, "hold").await;
        assert_eq!((code, &body["status"]), (202, &Value::Null), "{body}");
        host(&jobs.flow, &address).await;
        // Restate tries again now, and the thread is held at the barrier after it.
        assert_eq!(jobs.command(&held, "resume").await.0, 202);
        jobs.until_done(&held, "held", &["one"]).await;
        assert_eq!(jobs.command(&cancelled, "resume").await.0, 202);
        jobs.until_done(&cancelled, "finished", &["one", "end"])
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_messages_to_a_thread_that_runs_are_queued_in_order_and_interrupt_it() {
    let Some(jobs) = Jobs::start(|flow| flow).await else {
        return;
    };
    // Another process of the server has begun the turn.
    let other = Served::of(&jobs.restate, &jobs.flow, served_flow(), &jobs.store).await;
    let body = json!({ "id": "a", "input": input("runs") });
    assert_eq!(other.post("/flows/jobs/threads", body).await.0, 202);
    let thread = "jobs:a";
    for text in ["one", "two"] {
        let (code, queued) = jobs.turn(thread, text, "enqueue").await;
        assert_eq!((code, &queued["message"]), (202, &json!("enqueued")));
    }
    jobs.gate.0.add_permits(1);
    let mut done = vec!["runs", "end", "one", "end", "two", "end"];
    jobs.until_done(thread, "finished", &done).await;

    let (code, body) = jobs.turn(thread, "late", "reject").await;
    assert_eq!(code, 202, "{body}");
    done.push("late");
    jobs.until_done(thread, "running", &done).await;
    assert_eq!(jobs.turn(thread, "three", "reject").await.0, 409);
    let (code, body) = jobs.turn(thread, "three", "interrupt").await;
    assert_eq!(code, 202, "{body}");
    done.extend(["three", "end"]);
    jobs.until_done(thread, "finished", &done).await;
    // No agent reads it.
    let (code, refused) = jobs.turn(thread, "runs", "reject").await;
    assert_eq!(code, 202, "{refused}");
    let (code, refused) = jobs.turn(thread, "four", "steer").await;
    assert_eq!(code, 422, "{refused}");
    jobs.gate.0.add_permits(1);
    done.extend(["runs", "end"]);
    jobs.until_done(thread, "finished", &done).await;
}

/// Calls its tool once in each turn that begins with `dig`, and then has no more to say.
fn digger(gate: &Gate) -> Agent {
    let gate = gate.clone();
    let dig = FuncTool::new("dig", "Digs.", move |_: Value| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            Ok("a coin")
        }
    });
    let model = ScriptedModel::from_fn(|request| {
        let last = request.messages.last().expect("there is a message");
        if last.role == Role::User && last.text() == "dig" {
            Reply::call("dig", json!({}))
        } else {
            Reply::text("Done.")
        }
    });
    Agent::new(model).tool(dig)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_an_agent_on_restate_reads_a_message_while_it_works() {
    let Some(restate) = Server::start().await else {
        return;
    };
    let gate = Gate(Arc::new(Semaphore::new(0)));
    let agent = digger(&gate);
    let flow = RestateFlow::new(agent.launch());
    let driver = Endpoint::new().threads(&flow).unwrap();
    let driver = driver.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", driver.address());
    tokio::spawn(driver.serve());
    restate.admin().register(&url).await.unwrap();
    let served = ServedFlow::agent(&agent)
        .named("digger")
        .kind(FlowKind::Flow);
    let served = Served::of(&restate, &flow, served, &InMemoryStore::new()).await;
    let body = json!({ "id": "a", "input": "dig" });
    let (code, begun) = served.post("/flows/digger/threads", body).await;
    assert_eq!(code, 202, "{begun}");
    let thread = "/threads/digger:a";
    until("it digs", async || {
        let view = served.get(thread).await;
        view["next"] == json!(["call"])
    })
    .await;
    for _ in 0..2 {
        // The second one has the same key.
        let body = json!({ "input": "leave the hole", "multitask_strategy": "steer" });
        let key = [("idempotency-key", "m1")];
        let (code, taken) = served
            .post_with(&key, &format!("{thread}/turns"), body)
            .await;
        assert_eq!(
            (code, &taken["message"]),
            (202, &json!("steered")),
            "{taken}"
        );
    }
    gate.0.add_permits(1);
    until("it has read the message", async || {
        let view = served.get(thread).await;
        let read = view["state"]["events"].to_string();
        let times = read.matches("leave the hole").count();
        assert!(times <= 1, "{read}");
        view["status"] == "finished" && times == 1
    })
    .await;
    assert_eq!(
        served.get("/threads?flow=digger").await["threads"][0]["status"],
        "finished"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_turn_on_restate_is_undone() {
    let Some(jobs) = Jobs::start(|flow| flow.retention(Retention::ALL)).await else {
        return;
    };
    let thread = jobs.begin("a", "one").await;
    jobs.until_done(&thread, "finished", &["one", "end"]).await;
    assert_eq!(jobs.turn(&thread, "late", "reject").await.0, 202);
    jobs.until_done(&thread, "running", &["one", "end", "late"])
        .await;
    let (code, body) = jobs.turn(&thread, "two", "rollback").await;
    assert_eq!(code, 202, "{body}");
    let done = ["one", "end", "two", "end"];
    jobs.until_done(&thread, "finished", &done).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_message_is_stored_while_the_thread_runs_and_while_it_waits() {
    let Some(jobs) = Jobs::start(|flow| flow).await else {
        return;
    };
    let thread = jobs.begin("a", "runs").await;
    let path = format!("/threads/{thread}/messages");
    for (key, value, code) in [
        ("notes", json!(["one"]), 202),
        ("notes", json!(["two"]), 202),
        ("note", json!(["three"]), 422),
        ("notes", json!(3), 422),
    ] {
        for _ in 0..2 {
            // The second one has the same id.
            let body = json!({ "key": key, "value": value, "id": value.to_string() });
            let (status, sent) = jobs.served.post(&path, body).await;
            assert_eq!(status, code, "{value}: {sent}");
        }
    }
    jobs.gate.0.add_permits(1);
    jobs.until_done(&thread, "finished", &["runs", "end"]).await;
    assert_eq!(
        jobs.view(&thread).await["state"]["notes"],
        json!(["one", "two"])
    );

    let thread = jobs.begin("b", "sleeps").await;
    jobs.served.until(&thread, "sleeping").await;
    let path = format!("/threads/{thread}/messages");
    let body = json!({ "key": "notes", "value": ["one"] });
    let (status, sent) = jobs.served.post(&path, body).await;
    assert_eq!((status, &sent["message"]), (202, &json!(1)), "{sent}");
    assert_eq!(jobs.view(&thread).await["status"], "sleeping");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_thread_on_restate_begins_later() {
    let Some(jobs) = Jobs::start(|flow| flow).await else {
        return;
    };
    let later = |id: &str, delay: &str| json!({ "id": id, "input": input("one"), "delay": delay });
    let thread = jobs.begin_with(later("a", "1h")).await;
    let view = jobs.view(&thread).await;
    assert_eq!(view["status"], "sleeping", "{view}");
    assert!(view["due_ms"].as_u64() > view["created_ms"].as_u64());
    // What changes it does not begin it.
    let bulk = json!({ "command": "label", "labels": { "user": "ann" } });
    assert_eq!(jobs.bulk("", bulk).await, (1, 1, 0));
    let again = jobs.view(&thread).await;
    assert_eq!(
        (&again["status"], &again["due_ms"]),
        (&json!("sleeping"), &view["due_ms"])
    );
    assert_eq!(again["labels"], json!({ "user": "ann" }));
    // A second one is another turn, which would come before the first.
    assert_eq!(jobs.turn(&thread, "two", "reject").await.0, 409);
    let (code, body) = jobs.command(&thread, "cancel").await;
    assert_eq!((code, &body["status"]), (202, &json!("held")), "{body}");
    assert_eq!(jobs.command(&thread, "resume").await.0, 202);
    jobs.until_done(&thread, "finished", &["one", "end"]).await;

    for (id, delay) in [("b", "200ms"), ("c", "0s")] {
        let thread = jobs.begin_with(later(id, delay)).await;
        jobs.until_done(&thread, "finished", &["one", "end"]).await;
    }
}
