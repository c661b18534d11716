//! Requests that are repeated, and commands for many threads.

use serde_json::{Value, json};

use super::{Jobs, STATUSES, input};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_request_with_a_key_is_done_once() {
    let Some(jobs) = Jobs::start(|flow| flow).await else {
        return;
    };
    let once = async |key: &str, path: &str, body: Value| {
        let mut answers = Vec::new();
        for _ in 0..2 {
            let (code, answer) = jobs
                .served
                .post_with(&[("idempotency-key", key)], path, body.clone())
                .await;
            assert_eq!(code, 202, "{key}: {answer}");
            answers.push(answer);
        }
        assert_eq!(answers[0], answers[1], "{key}");
        answers.swap_remove(0)
    };
    let body = json!({ "input": input("waits") });
    let begun = once("start", "/flows/jobs/threads", body).await;
    let thread = begun["thread"].as_str().expect("it has a name").to_string();
    let view = jobs.served.until(&thread, "waiting").await;
    let at = |path: &str| format!("/threads/{thread}/{path}");
    once(
        "message",
        &at("messages"),
        json!({ "key": "notes", "value": ["one"] }),
    )
    .await;
    let question = view["questions"][0]["id"].as_str().expect("it asks");
    let answer = at(&format!("answers/{question}"));
    once("answer", &answer, json!({ "answer": true })).await;
    jobs.gate.0.add_permits(1);
    let mut done = vec!["waits", "end"];
    jobs.until_done(&thread, "finished", &done).await;
    once("turn", &at("turns"), json!({ "input": input("late") })).await;
    done.push("late");
    jobs.until_done(&thread, "running", &done).await;
    let queued = json!({ "input": input("two"), "multitask_strategy": "enqueue" });
    once("queued", &at("turns"), queued).await;
    let (code, body) = jobs.command(&thread, "cancel").await;
    assert_eq!((code, &body["status"]), (202, &json!("held")), "{body}");
    once("resume", &at("resume"), json!({})).await;
    jobs.gate.0.add_permits(1);
    done.extend(["end", "two", "end"]);
    jobs.until_done(&thread, "finished", &done).await;
    let view = jobs.view(&thread).await;
    assert_eq!(view["state"]["notes"], json!(["one"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_command_for_many_threads_reaches_those_on_restate() {
    let Some(jobs) = Jobs::start(|flow| flow).await else {
        return;
    };
    for (text, status) in STATUSES {
        let thread = jobs.begin(text, text).await;
        jobs.served.until(&thread, status).await;
    }
    let runs = jobs.begin("runs", "runs").await;
    let command = |name: &str| json!({ "command": name });
    assert_eq!(
        jobs.bulk("&status=failed", command("resume")).await,
        (1, 1, 0)
    );
    jobs.served.until("jobs:fails", "failed").await;
    // Those that have failed and finished cannot be cancelled.
    assert_eq!(jobs.bulk("", command("cancel")).await, (6, 4, 2));
    for thread in ["jobs:sleeps", "jobs:waits", "jobs:joins", &runs] {
        jobs.served.until(thread, "held").await;
    }
    assert_eq!(
        jobs.bulk("&prefix=runs", command("resume")).await,
        (1, 1, 0)
    );
    jobs.gate.0.add_permits(1);
    jobs.until_done(&runs, "finished", &["runs", "end"]).await;
    assert_eq!(jobs.bulk("&status=held", command("hold")).await, (3, 3, 0));
    assert_eq!(jobs.bulk("", command("delete")).await, (6, 6, 0));
    assert_eq!(
        jobs.served.get("/threads?flow=jobs").await["threads"],
        json!([])
    );
    assert_eq!(jobs.served.delete("/threads/jobs:runs").await, 404);
}
