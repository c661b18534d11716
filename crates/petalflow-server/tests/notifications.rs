//! Notifications: signed, tried again until they are accepted, and not lost when a process is killed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use petalflow::checkpoint::{InMemoryStore, Store, ThreadQuery};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::{BoxError, async_trait};
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::NotificationKind::{self, Failed, Finished, Waiting};
use petalflow_server::{Limits, Notification, Notifier, ServedFlow, Server};
use petalflow_server::{ServerBuilder, WebhookNotifier};
use serde_json::{Value, json};

use crate::kit::{Work, call, get, graph, wait_until_settled, work};

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct MayPay {
    cents: u64,
}

#[state]
struct Refund {
    #[key(input)]
    cents: u64,
    paid: bool,
}

#[node(Refund)]
async fn pay(cents: &u64, cx: Context) -> petalflow::Result<RefundPaid> {
    match *cents {
        0 => Err("there is nothing to pay".into()),
        1..100 => Ok(RefundPaid(true)),
        _ => Ok(RefundPaid(cx.ask(MayPay { cents: *cents }).await?)),
    }
}

flow!(PayRefund(Refund) { pay });

/// A receiver that refuses every second delivery.
#[derive(Clone, Default)]
struct Receiver {
    deliveries: Arc<AtomicU32>,
    /// The accepted notifications, by id, and how often each was accepted.
    accepted: Arc<Mutex<BTreeMap<String, (Notification, u32)>>>,
    /// Whether it accepts all.
    is_reliable: bool,
}

#[async_trait]
impl Notifier for Receiver {
    async fn notify(&self, notification: &Notification) -> Result<(), BoxError> {
        let number = self.deliveries.fetch_add(1, Ordering::SeqCst);
        if !self.is_reliable && number.is_multiple_of(2) {
            return Err("not now".into());
        }
        let mut accepted = self.accepted.lock().expect("no panic");
        let entry = accepted.entry(notification.id.clone());
        entry.or_insert((notification.clone(), 0)).1 += 1;
        Ok(())
    }

    fn retry_wait(&self, _: u32) -> Duration {
        Duration::from_millis(1)
    }
}

impl Receiver {
    fn reliable() -> Self {
        Receiver {
            is_reliable: true,
            ..Receiver::default()
        }
    }

    /// The accepted ones: the kinds by thread, in the order of their names.
    fn kinds(&self) -> BTreeMap<String, Vec<NotificationKind>> {
        let accepted = self.accepted.lock().expect("no panic");
        let mut all: Vec<&Notification> = accepted.values().map(|(one, _)| one).collect();
        all.sort_by_key(|one| one.kind.as_str());
        let mut kinds: BTreeMap<String, Vec<NotificationKind>> = BTreeMap::new();
        for one in all {
            kinds.entry(one.thread.clone()).or_default().push(one.kind);
        }
        kinds
    }
}

fn builder(store: &InMemoryStore) -> ServerBuilder {
    let refunds = ServedFlow::new(PayRefund::new()).named("refunds");
    Server::builder(store)
        .serve_flow(refunds.question::<MayPay>())
        .threads(TriggerAuth::None)
}

async fn start(router: &Router, id: &str, cents: u64) -> String {
    let body = json!({"id": id, "input": {"cents": cents}});
    call(router, "POST", "/flows/refunds/threads", body)
        .await
        .thread()
}

/// How many records the outbox has.
async fn outbox(store: &InMemoryStore) -> usize {
    let query = ThreadQuery {
        prefix: "petalflow.outbox:",
        ..ThreadQuery::default()
    };
    store.threads(query).await.expect("it is listed").len()
}

async fn until_empty(store: &InMemoryStore) {
    let empty = async {
        while outbox(store).await > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), empty)
        .await
        .expect("all are delivered");
}

#[tokio::test]
async fn f43_another_system_is_told_of_questions_ends_and_failures() {
    let (store, receiver) = (InMemoryStore::new(), Receiver::reliable());
    let server = builder(&store)
        .notifier(receiver.clone())
        .build()
        .expect("right");
    let router = server.router();
    let delivering = tokio::spawn({
        let server = server.clone();
        async move { server.run_notifications().await }
    });
    start(&router, "end", 7).await;
    start(&router, "failure", 0).await;
    let asking = start(&router, "question", 500).await;
    let waits = wait_until_settled(&router, &asking).await["waits"].take();
    let path = format!(
        "/threads/{asking}/answers/{}",
        waits[0]["id"].as_str().expect("an id")
    );
    assert_eq!(
        call(&router, "POST", &path, json!({"answer": true}))
            .await
            .status,
        202
    );
    wait_until_settled(&router, &asking).await;
    until_empty(&store).await;
    let expected = [
        ("refunds:end", vec![Finished]),
        ("refunds:failure", vec![Failed]),
        ("refunds:question", vec![Finished, Waiting]),
    ];
    let expected = expected.map(|(thread, kinds)| (thread.to_string(), kinds));
    assert_eq!(receiver.kinds(), BTreeMap::from(expected));
    let accepted = receiver.accepted.lock().expect("no panic").clone();
    let question = accepted.values().find(|(one, _)| one.kind == Waiting);
    let (question, _) = question.expect("it was told");
    assert_eq!(question.data["waits"], waits);
    assert_eq!(
        (&question.data["flow"], &question.data["status"]),
        (&json!("refunds"), &json!("waiting"))
    );
    assert_eq!(question.data["state"], Value::Null);
    // The records of the outbox are no threads for clients.
    let listed = get(&router, "/threads").await.json();
    assert_eq!(listed["threads"].as_array().map(Vec::len), Some(3));
    server.drain(Duration::from_secs(5)).await;
    delivering.await.expect("it does not panic");
}

#[tokio::test]
async fn f43_a_receiver_that_fails_half_of_the_time_gets_a_thousand_ends() {
    let (store, receiver) = (InMemoryStore::new(), Receiver::default());
    let limits = Limits {
        max_runs: 2_000,
        ..Limits::default()
    };
    let server = builder(&store)
        .limits(limits)
        .notifier(receiver.clone())
        .build()
        .expect("right");
    let router = server.router();
    let delivering = tokio::spawn({
        let server = server.clone();
        async move { server.run_notifications().await }
    });
    for number in 0..1_000 {
        start(&router, &number.to_string(), 7).await;
        tokio::task::yield_now().await;
    }
    until_empty(&store).await;
    let accepted = receiver.accepted.lock().expect("no panic").clone();
    assert_eq!(accepted.len(), 1_000);
    assert!(
        accepted
            .values()
            .all(|(one, times)| one.kind == Finished && *times == 1)
    );
    assert!(receiver.deliveries.load(Ordering::SeqCst) >= 1_999);
    let threads: std::collections::BTreeSet<_> =
        accepted.values().map(|(one, _)| &one.thread).collect();
    assert_eq!(threads.len(), 1_000);
    server.drain(Duration::from_secs(5)).await;
    delivering.await.expect("it does not panic");
}

/// A process that stops at any moment leaves a record: before the run, in the middle of it, and after it.
#[test]
fn f43_a_killed_process_leaves_what_is_to_be_told() {
    let store = InMemoryStore::new();
    let first = tokio::runtime::Runtime::new().expect("a runtime");
    let work = Work::new();
    first.block_on(async {
        // It never delivers.
        let document = graph(json!({}), &[self::work()]);
        let server = builder(&store).document(document, &work.waiting());
        let server = server.notifier(Receiver::default()).build().expect("right");
        let router = server.router();
        let ended = start(&router, "ended", 7).await;
        wait_until_settled(&router, &ended).await;
        crate::kit::send(&router, crate::kit::post(&[], "{}"))
            .await
            .thread();
        work.begun.notified().await;
    });
    // The runtime is dropped with the run in it.
    first.shutdown_background();
    let second = tokio::runtime::Runtime::new().expect("a runtime");
    second.block_on(async {
        let receiver = Receiver::reliable();
        let document = graph(json!({}), &[self::work()]);
        let server = builder(&store).document(document, &work.counting());
        let server = server.notifier(receiver.clone()).build().expect("right");
        let delivering = tokio::spawn({
            let server = server.clone();
            async move { server.run_notifications().await }
        });
        let recovered = async {
            while server.recover().await.expect("the store answers") == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), recovered)
            .await
            .expect("it is recovered");
        until_empty(&store).await;
        let kinds = receiver.kinds();
        assert_eq!(kinds.len(), 2, "{kinds:?}");
        assert!(
            kinds.values().all(|kinds| *kinds == [Finished]),
            "{kinds:?}"
        );
        assert_eq!(
            kinds
                .keys()
                .filter(|thread| thread.starts_with("orders:incoming:"))
                .count(),
            1
        );
        server.drain(Duration::from_secs(5)).await;
        delivering.await.expect("it does not panic");
    });
}

/// The receiver is a trigger of another server, which checks signatures of the specification.
#[tokio::test]
async fn f43_webhooks_are_signed_as_the_specification_says() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let work = Work::new();
    let trigger = json!({ "auth": { "type": "standard_signature", "secret": secret } });
    let receiver = crate::kit::server(trigger, &work.counting());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("it has one");
    let of_task = receiver.clone();
    let serving =
        tokio::spawn(async move { of_task.serve(listener, std::future::pending()).await });
    let url = format!("http://{address}{}", crate::kit::HOOK);
    let wrong = WebhookNotifier::new(&url, "whsec_AAAA").expect("it is right");
    let right = WebhookNotifier::new(&url, secret).expect("it is right");
    let store = InMemoryStore::new();
    let captured = Receiver::reliable();
    let server = builder(&store)
        .notifier(captured.clone())
        .build()
        .expect("right");
    let delivering = tokio::spawn({
        let server = server.clone();
        async move { server.run_notifications().await }
    });
    start(&server.router(), "ann", 7).await;
    until_empty(&store).await;
    let accepted = captured.accepted.lock().expect("no panic").clone();
    let (notification, _) = accepted.values().next().expect("one").clone();
    let refused = wrong
        .notify(&notification)
        .await
        .expect_err("the signature is wrong");
    assert_eq!(
        refused.to_string(),
        "the receiver has answered with the status 401"
    );
    right.notify(&notification).await.expect("it is accepted");
    let threads = get(&receiver.router(), "/threads").await.json();
    let thread = threads["threads"][0]["id"]
        .as_str()
        .expect("it has begun one")
        .to_owned();
    let view = wait_until_settled(&receiver.router(), &thread)
        .await
        .to_string();
    assert!(
        view.contains("thread.finished") && view.contains("refunds:ann"),
        "{view}"
    );
    serving.abort();
    server.drain(Duration::from_secs(5)).await;
    delivering.await.expect("it does not panic");
}

/// Waits until a server looks at the threads of the flow.
async fn until_watched(store: &InMemoryStore) {
    let query = ThreadQuery {
        prefix: "petalflow.watched:",
        ..ThreadQuery::default()
    };
    while store.threads(query).await.expect("it is listed").is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until this has been told of a thread.
async fn until_told(receiver: &Receiver, thread: &str, kind: NotificationKind) {
    let told = async {
        let is_told = |kinds: &Vec<NotificationKind>| kinds.contains(&kind);
        while !receiver.kinds().get(thread).is_some_and(is_told) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let told = tokio::time::timeout(Duration::from_mins(2), told).await;
    told.unwrap_or_else(|_| panic!("{thread}: {:?}", receiver.kinds()));
}

/// Programs with the store, and a server without a notifier, change threads. Each change is told once, by one of two servers, and not
/// again by a third one.
#[tokio::test]
async fn f43_another_system_is_told_once_of_what_other_processes_do() {
    let (store, receiver) = (InMemoryStore::new(), Receiver::reliable());
    let program = PayRefund::new().store(&store);
    let before = program.thread("before").run(7).await.expect("it runs");
    assert!(
        before.into_finished().is_ok(),
        "it ended before anybody listened"
    );
    let served = || {
        let server = builder(&store).notifier(receiver.clone());
        let server = server.build().expect("right");
        let of_task = server.clone();
        let delivering = tokio::spawn(async move { of_task.run_notifications().await });
        (server, delivering)
    };
    let both = [served(), served()];
    until_watched(&store).await;
    let _ran = program.thread("end").run(7).await.expect("it runs");
    let failed = program.thread("refunds:failure").run(0).await;
    assert!(failed.is_err(), "there is nothing to pay");
    let _ran = program.thread("question").run(500).await.expect("it asks");
    until_told(&receiver, "end", Finished).await;
    until_told(&receiver, "refunds:failure", Failed).await;
    until_told(&receiver, "question", Waiting).await;

    let other = builder(&store).build().expect("right").router();
    let waits = get(&other, "/threads/question").await.json()["waits"].take();
    let id = waits[0]["id"].as_str().expect("an id");
    let answer = json!({ "answer": true });
    let answered = call(
        &other,
        "POST",
        &format!("/threads/question/answers/{id}"),
        answer,
    )
    .await;
    assert_eq!(answered.status, 202, "{answered:?}");
    until_told(&receiver, "question", Finished).await;
    let own = start(&both[0].0.router(), "own", 7).await;
    until_told(&receiver, &own, Finished).await;
    for (server, delivering) in both {
        server.drain(Duration::from_secs(5)).await;
        delivering.await.expect("it does not panic");
    }

    // While nobody listens, a thread ends. The next server tells it, and nothing else.
    let _ran = program.thread("meanwhile").run(7).await.expect("it runs");
    let (server, delivering) = served();
    until_told(&receiver, "meanwhile", Finished).await;
    server.drain(Duration::from_secs(5)).await;
    delivering.await.expect("it does not panic");
    let expected = [
        ("end", vec![Finished]),
        ("meanwhile", vec![Finished]),
        ("question", vec![Finished, Waiting]),
        ("refunds:failure", vec![Failed]),
        ("refunds:own", vec![Finished]),
    ];
    let expected = expected.map(|(thread, kinds)| (thread.to_string(), kinds));
    assert_eq!(receiver.kinds(), BTreeMap::from(expected));
    let accepted = receiver.accepted.lock().expect("no panic").clone();
    assert!(
        accepted.values().all(|(_, times)| *times == 1),
        "{accepted:?}"
    );
}
