//! What threads wait for: their status, the inbox, and its answers.

use axum::Router;
use axum::http::{Request, request::Parts};
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_documents::Services;
use petalflow_documents::kinds::{ThreadHandler, TriggerAuth};
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_server::{Access, ServedFlow, Server, ServerBuilder};
use serde_json::{Value, json};

use crate::kit::{Response, call, get, graph, post, send, wait_until_settled, with_token};

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

flow!(Publish(Refund) { publish; interrupt before publish; });

/// An agent whose only tool needs an approval.
fn helper() -> Agent {
    let replies = (0..3).flat_map(|_| {
        [
            Reply::call("delete", json!({"prefix": "tmp"})),
            "It is gone.".into(),
        ]
    });
    let delete = FuncTool::new("delete", "Deletes files.", |_: Value| async {
        Ok("deleted")
    });
    let model = ScriptedModel::new(replies.collect::<Vec<Reply>>());
    Agent::new(model).tool(delete.confirm_if(|_| Some("Really?".into())))
}

fn builder() -> ServerBuilder {
    let human = json!({
        "id": "check",
        "type": "human",
        "config": { "mode": "approval", "prompt": "Is the order right?" },
    });
    let orders = graph(with_token(), &[human]);
    Server::builder(&InMemoryStore::new())
        .document(orders, &Services::new().human(ThreadHandler))
        .serve_flow(
            ServedFlow::new(PayRefund::new())
                .named("refunds")
                .question::<MayPay>(),
        )
        .serve_flow(ServedFlow::new(Publish::new()).named("posts"))
        .agent("helper", &helper())
        .threads(TriggerAuth::None)
}

fn router() -> Router {
    builder().build().expect("the settings are right").router()
}

async fn start(router: &Router, flow: &str, body: Value) -> String {
    let path = format!("/flows/{flow}/threads");
    let thread = call(router, "POST", &path, body).await.thread();
    wait_until_settled(router, &thread).await;
    thread
}

async fn inbox(router: &Router, query: &str) -> Value {
    let response = get(router, &format!("/inbox{query}")).await;
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

fn threads_of(inbox: &Value) -> Vec<&str> {
    let items = inbox["items"].as_array().expect("a list");
    let threads = items.iter().map(|item| item["thread"].as_str());
    threads.map(|thread| thread.expect("a text")).collect()
}

async fn answer(router: &Router, item: &Value, body: Value) -> Response {
    let text = |name: &str| item[name].as_str().expect("a text").to_owned();
    let path = format!("/threads/{}/answers/{}", text("thread"), text("id"));
    call(router, "POST", &path, body).await
}

#[tokio::test]
async fn f43_an_agent_whose_call_waits_for_an_approval_is_waiting() {
    let router = router();
    let thread = start(&router, "helper", json!({"id": "ann", "input": "tidy up"})).await;
    let view = get(&router, &format!("/threads/{thread}")).await.json();
    assert_eq!(view["status"], "waiting");
    let wait = &view["waits"][0];
    assert_eq!(wait["kind"], "confirmation");
    assert_eq!(wait["text"], "Really?");
    assert_eq!(wait["name"], "delete");
    assert_eq!(wait["arguments"], json!({"prefix": "tmp"}));
    assert_eq!(wait["expires_ms"], Value::Null);
    assert_eq!(wait["asked_ms"], view["checkpoint_ms"]);
    let listed = get(&router, "/threads?status=waiting").await.json();
    assert_eq!(listed["threads"][0]["id"], *thread);
    let finished = get(&router, "/threads?status=finished").await.json();
    assert_eq!(finished["threads"], json!([]));
    // A copy waits for the same.
    let path = format!("/threads/{thread}/copy");
    let copied = call(&router, "POST", &path, json!({"id": "bob"})).await;
    assert_eq!(copied.status, 201);
    let copy = get(&router, "/threads/helper:bob").await.json();
    assert_eq!(
        (&copy["status"], &copy["waits"][0]["id"]),
        (&json!("waiting"), &wait["id"])
    );
}

#[tokio::test]
async fn f43_an_answer_to_a_call_begins_the_next_turn_once() {
    let router = router();
    let thread = start(&router, "helper", json!({"id": "ann", "input": "tidy up"})).await;
    let found = inbox(&router, "").await;
    let item = &found["items"][0];
    // A misspelt field is no decision, and changes nothing.
    let wrong = answer(&router, item, json!({"aprove": true})).await;
    assert_eq!(wrong.status, 422, "{wrong:?}");
    assert_eq!(inbox(&router, "").await["items"][0]["id"], item["id"]);
    assert_eq!(
        answer(&router, item, json!({"approve": true})).await.status,
        202
    );
    let done = wait_until_settled(&router, &thread).await;
    assert_eq!(
        (&done["status"], &done["waits"]),
        (&json!("finished"), &json!([]))
    );
    assert!(
        done["state"]["events"].to_string().contains("It is gone."),
        "{done}"
    );
    assert_eq!(
        inbox(&router, "").await,
        json!({"items": [], "next": null, "threads": 0})
    );
    let again = answer(&router, item, json!({"approve": true})).await;
    assert!(again.status.is_client_error(), "{again:?}");
    assert_eq!(
        wait_until_settled(&router, &thread).await["turn"],
        done["turn"]
    );
}

#[tokio::test]
async fn f43_the_inbox_has_what_all_flows_wait_for_oldest_first() {
    let router = router();
    let refund = json!({"id": "z", "input": {"cents": 7}, "labels": {"team": "money"}});
    let mut threads = vec![start(&router, "refunds", refund).await];
    let pause = || tokio::time::sleep(std::time::Duration::from_millis(5));
    pause().await;
    threads.push(start(&router, "helper", json!({"id": "a", "input": "tidy up"})).await);
    pause().await;
    threads.push(start(&router, "posts", json!({"id": "a", "input": {"cents": 1}})).await);
    pause().await;
    let delivered = send(&router, post(&[("x-token", "secret")], "{}"))
        .await
        .thread();
    wait_until_settled(&router, &delivered).await;
    threads.push(delivered);
    let all = inbox(&router, "").await;
    assert_eq!(threads_of(&all), threads);
    assert_eq!((&all["threads"], &all["next"]), (&json!(4), &Value::Null));
    let kinds = ["question", "confirmation", "approval", "question"];
    for (item, kind) in all["items"].as_array().expect("a list").iter().zip(kinds) {
        assert_eq!(item["kind"], kind, "{item}");
        assert_eq!(item["answerable"], true);
        assert!(item["schema"]["properties"].is_object(), "{item}");
        assert!(
            item["asked_ms"].as_u64().is_some_and(|at_ms| at_ms > 0),
            "{item}"
        );
    }
    assert_eq!(all["items"][2]["text"], "May the node `publish` run?");
    let first = &all["items"][0];
    assert_eq!(
        (&first["name"], &first["arguments"]),
        (&json!("MayPay"), &json!({"cents": 7}))
    );
    assert_eq!(
        (&first["flow"], &first["labels"]),
        (&json!("refunds"), &json!({"team": "money"}))
    );
    assert_eq!(all["items"][3]["flow"], "orders");
    // Pages of two, also if one is answered between them.
    let page = inbox(&router, "?limit=2").await;
    assert_eq!(threads_of(&page), threads[..2]);
    assert_eq!(
        answer(&router, first, json!({"answer": true})).await.status,
        202
    );
    wait_until_settled(&router, &threads[0]).await;
    let after = page["next"].as_str().expect("there is another page");
    let rest = inbox(&router, &format!("?limit=2&after={after}")).await;
    assert_eq!(
        (threads_of(&rest), &rest["next"]),
        (threads[2..].iter().map(|it| &**it).collect(), &Value::Null)
    );
    // By flow, and by label.
    assert_eq!(
        threads_of(&inbox(&router, "?flow=orders").await),
        threads[3..]
    );
    assert_eq!(
        inbox(&router, "?label=team:money").await["items"],
        json!([])
    );
    for wrong in ["?after=soon", "?label=team", "?page=2"] {
        assert_eq!(
            get(&router, &format!("/inbox{wrong}")).await.status,
            400,
            "{wrong}"
        );
    }
    // A node and the human node of the document.
    assert_eq!(
        answer(&router, &all["items"][2], json!({"decision": "approve"}))
            .await
            .status,
        202
    );
    assert_eq!(
        answer(&router, &all["items"][3], json!({"approved": true}))
            .await
            .status,
        202
    );
    for thread in &threads[2..] {
        assert_eq!(
            wait_until_settled(&router, thread).await["status"],
            "finished"
        );
    }
    assert_eq!(threads_of(&inbox(&router, "").await), [&*threads[1]]);
}

#[tokio::test]
async fn f43_threads_of_flows_that_are_not_served_are_not_in_the_inbox() {
    let store = InMemoryStore::new();
    let other = Publish::new().store(&store).thread("other");
    let paused = other.run(1).await.expect("it runs");
    assert_eq!(paused.interrupts().len(), 1);
    let refunds = ServedFlow::new(PayRefund::new()).named("refunds");
    let server = Server::builder(&store).serve_flow(refunds.question::<MayPay>());
    let server = server.threads(TriggerAuth::None);
    let router = server.build().expect("the settings are right").router();
    let asks = start(&router, "refunds", json!({"input": {"cents": 7}})).await;
    for query in ["", "?limit=1"] {
        let page = inbox(&router, query).await;
        let mut found: Vec<_> = threads_of(&page).into_iter().map(String::from).collect();
        assert_eq!(page["threads"], 1, "{query}");
        if let Some(after) = page["next"].as_str() {
            let rest = inbox(&router, &format!("?limit=1&after={after}")).await;
            found.extend(threads_of(&rest).into_iter().map(String::from));
            assert_eq!(rest["next"], Value::Null, "{query}");
        }
        assert_eq!(found, [&*asks], "{query}");
    }
}

#[tokio::test]
async fn f43_each_caller_sees_only_their_part_of_the_inbox() {
    let user = |parts: &Parts| match parts.headers.get("x-user") {
        Some(user) => Access::label("user", user.to_str().expect("text")),
        None => Access::None,
    };
    let router = builder().access(user).build().expect("right").router();
    let of = |user: &str, method: &str, path: &str, body: Value| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("x-user", user);
        let request = request.header("content-type", "application/json");
        request.body(body.to_string().into()).expect("a request")
    };
    for name in ["ann", "bob"] {
        let body = json!({"id": name, "input": {"cents": 1}});
        let thread = send(&router, of(name, "POST", "/flows/refunds/threads", body))
            .await
            .thread();
        let events = format!("/threads/{thread}/events");
        send(&router, of(name, "GET", &events, Value::Null)).await;
    }
    let seen = send(&router, of("ann", "GET", "/inbox", Value::Null))
        .await
        .json();
    let threads = threads_of(&seen);
    assert_eq!((threads.len(), &seen["threads"]), (1, &json!(1)));
    assert!(threads[0].ends_with(":ann"), "{seen}");
    assert_eq!(get(&router, "/inbox").await.status, 403);
}

#[tokio::test]
async fn f43_a_graph_that_webhooks_start_is_a_flow() {
    let router = router();
    let flows = get(&router, "/flows").await.json();
    let names = flows["flows"].as_array().expect("a list").iter();
    let names: Vec<_> = names
        .map(|flow| flow["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["refunds", "posts", "helper", "orders"]);
    let orders = get(&router, "/flows/orders").await.json();
    assert_eq!(orders, flows["flows"][3]);
    assert_eq!(orders["kind"], "document");
    assert_eq!(
        orders["webhooks"],
        json!(["/workflows/orders/webhooks/incoming"])
    );
    let nodes = orders["graph"]["nodes"].as_array().expect("a list").iter();
    let nodes: Vec<_> = nodes.map(|node| &node["id"]).collect();
    assert!(nodes.contains(&&json!("check")), "{orders}");
    let drawing = get(&router, "/flows/orders/graph.svg").await;
    assert!(drawing.text.starts_with("<svg"), "{drawing:?}");
    let thread = send(&router, post(&[("x-token", "secret")], "{}"))
        .await
        .thread();
    wait_until_settled(&router, &thread).await;
    let listed = get(&router, "/threads?flow=orders&status=waiting")
        .await
        .json();
    assert_eq!(listed["threads"][0]["id"], *thread);
    // Only a request to the webhook starts it.
    let refused = call(&router, "POST", "/flows/orders/threads", json!({})).await;
    assert_eq!(refused.status, 403);
    let text = "requests to `/workflows/orders/webhooks/incoming` start the threads of `orders`";
    assert_eq!(refused.error(), text);
}

/// Only what is asked while other nodes run is told before the run has ended, which writes a label.
#[tokio::test]
async fn f43_a_question_that_ends_its_run_is_not_told_before() {
    let router = router();
    let body = json!({"id": "a", "input": {"cents": 5}});
    let thread = start(&router, "refunds", body).await;
    let events = get(&router, &format!("/threads/{thread}/events")).await;
    assert!(events.text.contains("event: interrupted"), "{events:?}");
    assert!(!events.text.contains("event: asked"), "{events:?}");
}
