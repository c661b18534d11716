//! Commands for all threads that meet conditions.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Access, Limits, ServedFlow, Server};
use serde_json::{Value, json};

use crate::kit::{Response, call, get, send, wait_until_settled};

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
    Ok(RefundPaid(cx.ask(MayPay { cents: *cents }).await?))
}

flow!(PayRefund(Refund) { pay });

#[node(Refund)]
async fn publish(cents: &u64) -> RefundPaid {
    RefundPaid(*cents > 0)
}

flow!(Publish(Refund) { publish });

fn server(store: &InMemoryStore) -> Server {
    let limits = Limits {
        max_runs: 8,
        ..Limits::default()
    };
    let server = Server::builder(store)
        .serve_flow(ServedFlow::new(PayRefund::new()).named("refunds"))
        .flow(Publish::new())
        .threads(TriggerAuth::None)
        .limits(limits)
        .access(|request| {
            let user = request.headers.get("x-user");
            user.and_then(|user| user.to_str().ok())
                .map_or(Access::All, |user| Access::label("user", user))
        });
    server.build().expect("the settings are right")
}

/// Threads that wait, and one of another flow that has finished. Those with even numbers are Ann's.
async fn fill(router: &Router, threads: u64) {
    for number in 0..threads {
        let user = ["ann", "ben"][usize::from(number % 2 == 1)];
        let body = json!({ "id": format!("{number:03}"), "input": { "cents": number }, "labels": { "user": user } });
        let begun = call(router, "POST", "/flows/refunds/threads", body).await;
        assert_eq!(begun.status, 202, "{}", begun.text);
        wait_until_settled(router, &begun.thread()).await;
    }
    let body = json!({ "id": "p", "input": { "cents": 1 }, "labels": { "user": "ann" } });
    let begun = call(router, "POST", "/flows/Publish/threads", body).await;
    wait_until_settled(router, &begun.thread()).await;
}

/// Sends a command, and returns the thread when it has ended.
async fn ended(router: &Router, conditions: &str, body: Value) -> Value {
    let path = format!("/thread-commands{conditions}");
    let begun = call(router, "POST", &path, body).await;
    assert_eq!(begun.status, 202, "{conditions}: {}", begun.text);
    let view = wait_until_settled(router, &begun.thread()).await;
    assert_eq!(view["status"], "finished", "{view}");
    view
}

async fn count(router: &Router, conditions: &str) -> u64 {
    let counts = get(router, &format!("/thread-counts{conditions}")).await;
    let counts = counts.json()["counts"].as_array().cloned();
    let counts = counts.expect("counts").into_iter();
    counts
        .map(|count| count["threads"].as_u64().expect("a number"))
        .sum()
}

fn progress(view: &Value) -> (u64, u64, u64) {
    let number = |name: &str| view["state"][name].as_u64().expect("a number");
    (number("matched"), number("done"), number("failed"))
}

#[tokio::test]
async fn f43_a_command_is_given_to_all_threads_that_meet_the_conditions() {
    // More than two pages.
    let threads = 150;
    let server = server(&InMemoryStore::new());
    let router = server.router();
    fill(&router, threads).await;

    let held = ended(
        &router,
        "?flow=refunds&status=waiting",
        json!({ "command": "hold" }),
    )
    .await;
    assert_eq!(progress(&held), (threads, threads, 0));
    assert_eq!(count(&router, "?flow=refunds&status=held").await, threads);
    // Nothing is left that waits, so the same request does nothing.
    let again = ended(
        &router,
        "?flow=refunds&status=waiting",
        json!({ "command": "hold" }),
    )
    .await;
    assert_eq!(progress(&again), (0, 0, 0));

    // More than the server may run at the same time.
    let resumed = ended(&router, "?status=held", json!({ "command": "resume" })).await;
    assert_eq!(progress(&resumed), (threads, threads, 0));
    for _ in 0..3_000 {
        if count(&router, "?status=waiting").await == threads {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(count(&router, "?status=waiting").await, threads);

    let labels = json!({ "command": "label", "labels": { "team": "night", "user": null } });
    let labelled = ended(&router, "?label=user:ann", labels).await;
    assert_eq!(progress(&labelled), (threads / 2 + 1, threads / 2 + 1, 0));
    assert_eq!(count(&router, "?label=team:night").await, threads / 2 + 1);
    assert_eq!(count(&router, "?label=user:ann").await, 0);
    assert_eq!(count(&router, "?label=user:ben").await, threads / 2);

    let cancelled = ended(
        &router,
        "?not_label=team:night",
        json!({ "command": "cancel" }),
    )
    .await;
    assert_eq!(progress(&cancelled), (threads / 2, threads / 2, 0));

    let deleted = ended(&router, "?prefix=refunds:", json!({ "command": "delete" })).await;
    assert_eq!(progress(&deleted), (threads, threads, 0));
    assert_eq!(count(&router, "").await, 1);
    let all = ended(&router, "", json!({ "command": "delete", "all": true })).await;
    assert_eq!(progress(&all), (1, 1, 0));
    assert_eq!(count(&router, "").await, 0);
}

#[tokio::test]
async fn f43_a_command_tells_for_which_threads_it_has_failed_and_why() {
    let server = server(&InMemoryStore::new());
    let router = server.router();
    fill(&router, 2).await;
    let view = ended(&router, "?label=user:ann", json!({ "command": "cancel" })).await;
    assert_eq!(progress(&view), (2, 1, 1));
    assert_eq!(
        view["state"]["failures"],
        json!([{ "thread": "Publish:p", "reason": "no run has the thread: it is finished" }])
    );
    assert_eq!(
        (&view["state"]["command"], &view["state"]["conditions"]),
        (&json!("cancel"), &json!("label=user:ann"))
    );
    assert_eq!(count(&router, "?status=held").await, 1);
}

async fn as_user(router: &Router, user: &str, method: &str, path: &str, body: Value) -> Response {
    let request = Request::builder().method(method).uri(path);
    let request = request
        .header("content-type", "application/json")
        .header("x-user", user);
    let request = request.body(Body::from(body.to_string()));
    send(router, request.expect("a request")).await
}

#[tokio::test]
async fn f43_a_caller_commands_the_threads_with_its_label_only() {
    let server = server(&InMemoryStore::new());
    let router = server.router();
    fill(&router, 4).await;
    let body = json!({ "command": "delete", "all": true });
    let begun = as_user(&router, "ben", "POST", "/thread-commands", body).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    let thread = begun.thread();
    let view = wait_until_settled(&router, &thread).await;
    assert_eq!(progress(&view), (2, 2, 0));
    assert_eq!(count(&router, "?label=user:ann").await, 3);
    assert_eq!(count(&router, "?label=user:ben").await, 0);
    let path = format!("/threads/{thread}");
    for (user, status) in [("ben", 200), ("ann", 404)] {
        let shown = as_user(&router, user, "GET", &path, json!(null)).await;
        assert_eq!(shown.status, status, "{user}");
    }
    let body = json!({ "command": "label", "labels": { "user": "ann" } });
    let refused = as_user(&router, "ben", "POST", "/thread-commands?prefix=r", body).await;
    assert_eq!(
        (refused.status.as_u16(), refused.error()),
        (
            422,
            "the label `user` cannot be set: it says whose thread it is".to_string()
        )
    );
}

#[tokio::test]
async fn f43_a_repeated_request_with_an_identifier_gives_the_command_once() {
    let server = server(&InMemoryStore::new());
    let router = server.router();
    fill(&router, 2).await;
    let request = async |conditions: &str, command: &str| {
        let request = Request::post(format!("/thread-commands{conditions}"))
            .header("content-type", "application/json")
            .header("idempotency-key", "one");
        let body = Body::from(json!({ "command": command }).to_string());
        send(&router, request.body(body).expect("a request")).await
    };
    let first = request("?status=waiting", "hold").await;
    assert_eq!(first.status, 202, "{}", first.text);
    wait_until_settled(&router, &first.thread()).await;
    let again = request("?status=waiting", "hold").await;
    assert_eq!(again.thread(), first.thread());
    assert_eq!(request("?status=held", "hold").await.status, 422);
    assert_eq!(request("?status=waiting", "delete").await.status, 422);
}

#[tokio::test]
async fn f43_a_wrong_command_is_refused_with_what_to_send() {
    let server = server(&InMemoryStore::new());
    let router = server.router();
    for (conditions, body, status, error) in [
        (
            "",
            json!({ "command": "delete" }),
            400,
            "the command has no condition: send conditions, or `\"all\": true` if it is for all threads",
        ),
        (
            "?prefix=",
            json!({ "command": "delete" }),
            400,
            "the command has no condition: send conditions, or `\"all\": true` if it is for all threads",
        ),
        (
            "?status=held",
            json!({ "command": "delete", "all": true }),
            400,
            "the command has conditions, and is for all threads: send the conditions without `all`",
        ),
        (
            "?status=held&limit=3",
            json!({ "command": "delete" }),
            400,
            "a command is for all threads that meet the conditions: send it without `order`, `after` and `limit`",
        ),
        (
            "?flow=nothing",
            json!({ "command": "delete" }),
            404,
            "there is no flow `nothing`",
        ),
        (
            "?status=held",
            json!({ "command": "explode" }),
            422,
            "there is no command `explode`: there are `cancel`, `hold`, `resume`, `delete` and `label`",
        ),
        (
            "?status=held",
            json!({ "command": "hold", "labels": { "a": "b" } }),
            422,
            "the command `hold` has no labels: only `label` has",
        ),
        (
            "?status=held",
            json!({ "command": "label", "labels": {} }),
            422,
            "the command `label` has no `labels`: send those to set, and `null` for those to remove",
        ),
        (
            "?status=held",
            json!({ "command": "label", "labels": { "petalflow.request": null } }),
            422,
            "the label `petalflow.request` cannot be set: the server sets it",
        ),
    ] {
        let path = format!("/thread-commands{conditions}");
        let refused = call(&router, "POST", &path, body.clone()).await;
        let (found, text) = (refused.status.as_u16(), refused.error());
        assert_eq!((found, &*text), (status, error), "{conditions} {body}");
    }
}
