//! Flows, agents, conversations and documents over HTTP: what is served, how threads start, what clients see.

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_documents::Services;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_server::{ServedFlow, Server, SetupError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::{call, checked_graph, get, wait_until_settled};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
enum Verdict {
    Pay,
    Refuse(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Verdict, name = "may-pay")]
struct MayPay {
    cents: u64,
}

#[derive(Serialize, Ask)]
#[ask(answer = bool)]
struct Unserved;

#[state(schema)]
struct Refund {
    #[key(input)]
    cents: u64,
    #[key(input)]
    card: String,
    #[key(secret, default)]
    ledger: String,
    verdict: Option<Verdict>,
}

#[node(Refund)]
async fn review(cents: &u64, cx: Context) -> petalflow::Result<RefundVerdict> {
    if *cents == 0 {
        return Err("there is nothing to pay".into());
    }
    if *cents == 1 {
        cx.ask(Unserved).await?;
    }
    Ok(RefundVerdict(Some(cx.ask(MayPay { cents: *cents }).await?)))
}

#[node(Refund)]
async fn pay(card: &str) -> petalflow::Result<RefundLedger> {
    if card.is_empty() {
        Err("there is no card".into())
    } else {
        Ok(RefundLedger(format!("account of {card}")))
    }
}

flow! {
    PayRefund(Refund) {
        review -> pay;
        interrupt before pay;
    }
}

flow!(Other(Refund) { pay });

fn refunds() -> ServedFlow<PayRefund> {
    let served = ServedFlow::new(PayRefund::new()).named("refunds");
    let served = served.question::<MayPay>().schemas();
    served.secret("card")
}

fn router(store: &InMemoryStore) -> Router {
    let server = Server::builder(store)
        .serve_flow(refunds())
        .threads(TriggerAuth::None);
    server.build().expect("the settings are right").router()
}

async fn start(router: &Router, body: Value) -> String {
    let started = call(router, "POST", "/flows/refunds/threads", body).await;
    started.thread()
}

#[tokio::test]
async fn a_flow_is_described_with_its_graph_its_schemas_and_its_questions() {
    let router = router(&InMemoryStore::new());
    let flows = get(&router, "/flows").await.json();
    let flow = &flows["flows"][0];
    assert_eq!(
        (&flow["name"], &flow["kind"]),
        (&json!("refunds"), &json!("flow"))
    );
    assert_eq!(
        flow["graph"]["nodes"][1],
        json!({"id": "pay", "kind": "node"})
    );
    let edges = flow["graph"]["edges"].as_array().expect("edges");
    let edge = json!({"from": "review", "to": "pay", "kind": "edge", "label": null});
    assert!(edges.contains(&edge), "{edges:?}");
    assert_eq!(flow["input"]["required"], json!(["cents", "card"]));
    assert_eq!(flow["input"]["additionalProperties"], false);
    let cents = &flow["input"]["properties"]["cents"];
    assert_eq!(
        (&cents["type"], &cents["minimum"]),
        (&json!("integer"), &json!(0))
    );
    let state = flow["state"]["properties"].as_object().expect("keys");
    let mut keys: Vec<&String> = state.keys().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["card", "cents", "ledger", "verdict"]);
    let answer = &flow["questions"]["may-pay"];
    assert!(
        answer["oneOf"].is_array() || answer["anyOf"].is_array(),
        "{answer}"
    );
    assert_eq!(get(&router, "/flows/refunds").await.json(), *flow);
    let drawing = get(&router, "/flows/refunds/graph.svg").await;
    assert_eq!(drawing.headers["content-type"], "image/svg+xml");
    assert!(
        drawing.text.contains("<g data-node=\"pay\">"),
        "{}",
        drawing.text
    );
    let unknown = get(&router, "/flows/refund").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert_eq!(unknown.error(), "there is no flow `refund`");
}

#[tokio::test]
async fn a_thread_asks_waits_for_an_approval_and_ends() {
    let router = router(&InMemoryStore::new());
    let labels = json!({"shop": "7"});
    let body = json!({"id": "ann", "input": {"cents": 1299, "card": "4111"}, "labels": labels});
    let thread = start(&router, body).await;
    assert_eq!(thread, "refunds:ann");
    let asked = wait_until_settled(&router, &thread).await;
    assert_eq!(asked["status"], "waiting");
    assert_eq!(asked["labels"], labels);
    let question = &asked["questions"][0];
    assert_eq!(question["name"], "may-pay");
    assert_eq!(question["question"], json!({"cents": 1299}));
    let answers = |id: &Value| format!("/threads/{thread}/answers/{}", id.as_str().expect("an id"));
    let path = answers(&question["id"]);

    for (body, status, problem) in [
        (json!({"answr": "Pay"}), 400, "there is no field `answr`"),
        (json!({}), 400, "the field `answer` is missing"),
        (json!({"answer": "Perhaps"}), 422, "no answer to `may-pay`"),
        (
            json!({"decision": "approve"}),
            400,
            "there is no field `decision`",
        ),
    ] {
        let wrong = call(&router, "POST", &path, body).await;
        assert_eq!(wrong.status, status, "{wrong:?}");
        assert!(wrong.error().contains(problem), "{wrong:?}");
    }
    let answer = json!({"answer": {"Refuse": "too late"}});
    assert_eq!(
        call(&router, "POST", &path, answer.clone()).await.status,
        202
    );
    let again = call(&router, "POST", &path, answer).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{again:?}");

    let waits = wait_until_settled(&router, &thread).await;
    let approval = &waits["questions"][0];
    assert_eq!(
        (&approval["kind"], &approval["node"]),
        (&json!("before"), &json!("pay"))
    );
    let path = answers(&approval["id"]);
    let wrong = call(&router, "POST", &path, json!({"decision": "perhaps"})).await;
    assert!(
        wrong.error().contains("`perhaps` is no decision"),
        "{wrong:?}"
    );
    let wrong = call(&router, "POST", &path, json!({"answer": true})).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST, "{wrong:?}");
    let decision = json!({"decision": "approve", "by": "Bo", "reason": "I know her"});
    assert_eq!(call(&router, "POST", &path, decision).await.status, 202);

    let done = wait_until_settled(&router, &thread).await;
    assert_eq!(done["status"], "finished", "{done}");
    let expected =
        json!({"cents": 1299, "card": null, "ledger": null, "verdict": {"Refuse": "too late"}});
    assert_eq!(done["state"], expected, "the card is secret");
    let history = get(&router, &format!("/threads/{thread}/history"))
        .await
        .json();
    let notes = history["checkpoints"].as_array().expect("a list").iter();
    let notes: Vec<&Value> = notes
        .flat_map(|it| it["notes"].as_array().expect("a list"))
        .collect();
    assert_eq!(
        (&notes[0]["by"], &notes[0]["reason"]),
        (&json!("Bo"), &json!("I know her"))
    );
}

#[tokio::test]
async fn an_identifier_starts_one_thread_and_an_id_is_given_once() {
    let router = router(&InMemoryStore::new());
    let send = async |key: &str, cents: u64| {
        let body = json!({"input": {"cents": cents, "card": "4"}}).to_string();
        let request =
            axum::http::Request::post("/flows/refunds/threads").header("idempotency-key", key);
        crate::kit::send(&router, request.body(body.into()).expect("a request")).await
    };
    let first = send("order-7", 5).await.thread();
    assert_eq!(send("order-7", 5).await.thread(), first);
    let other = send("order-7", 6).await;
    assert_eq!(other.status, StatusCode::UNPROCESSABLE_ENTITY, "{other:?}");
    assert_ne!(send("order-8", 5).await.thread(), first);
    assert_eq!(send(" ", 5).await.status, StatusCode::BAD_REQUEST);

    let body = json!({"id": "ann", "input": {"cents": 5, "card": "4"}});
    start(&router, body.clone()).await;
    let again = call(&router, "POST", "/flows/refunds/threads", body).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.error().contains("another turn of it"), "{again:?}");
    for id in ["", "a/b", "a\u{7}", &"a".repeat(129)] {
        let wrong = call(&router, "POST", "/flows/refunds/threads", json!({"id": id})).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{id:?}");
    }
}

#[tokio::test]
async fn a_wrong_input_is_refused_and_nothing_is_stored() {
    let router = router(&InMemoryStore::new());
    for (body, status, problem) in [
        (
            json!({"input": {"cents": "many", "card": ""}}),
            422,
            "no input of `refunds`: cents: invalid type: string \"many\", expected u64",
        ),
        (json!({"input": {"cents": 5}}), 422, "card"),
        (json!({"input": 7}), 422, "no input of `refunds`"),
        (json!({"inputs": {}}), 400, "unknown field `inputs`"),
        (
            json!({"input": {"cents": 5, "card": ""}, "labels": {"a": 7}}),
            400,
            "invalid type: integer `7`",
        ),
        (
            json!({"input": {"cents": 5, "card": ""}, "labels": {"petalflow.request": "7"}}),
            422,
            "names that begin with `petalflow.` are reserved",
        ),
        (
            json!({"id": "ann", "input": 7, "labels": {"a": "7"}}),
            422,
            "no input of `refunds`",
        ),
        (json!("text"), 400, "the body cannot be read"),
    ] {
        let wrong = call(&router, "POST", "/flows/refunds/threads", body.clone()).await;
        assert_eq!(wrong.status, status, "{body}: {wrong:?}");
        assert!(wrong.error().contains(problem), "{body}: {wrong:?}");
    }
    let listed = get(&router, "/threads").await.json();
    assert_eq!(listed["threads"], json!([]));
    let unknown = call(
        &router,
        "PUT",
        "/threads/refunds:ann/labels",
        json!({"a": "7"}),
    )
    .await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    let thread = start(
        &router,
        json!({"id": "ann", "input": {"cents": 5, "card": "4"}}),
    )
    .await;
    assert_eq!(
        wait_until_settled(&router, &thread).await["labels"],
        json!({})
    );
}

#[tokio::test]
async fn a_failure_is_shown_and_an_unserved_question_says_how_it_is_served() {
    let router = router(&InMemoryStore::new());
    let failed = start(&router, json!({"input": {"cents": 0, "card": "4"}})).await;
    let shown = wait_until_settled(&router, &failed).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(shown["errors"][0]["node"], "review");
    let error = shown["errors"][0]["error"].as_str().expect("a text");
    assert!(error.contains("there is nothing to pay"), "{error}");

    let asks = start(&router, json!({"input": {"cents": 1, "card": "4"}})).await;
    let shown = wait_until_settled(&router, &asks).await;
    let id = shown["questions"][0]["id"].as_str().expect("an id");
    let path = format!("/threads/{asks}/answers/{id}");
    let wrong = call(&router, "POST", &path, json!({"answer": true})).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.error().contains("`.question::<Unserved>()`"),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn threads_are_listed_in_pages_with_filters() {
    let store = InMemoryStore::new();
    let router = router(&store);
    for id in ["a", "b", "c"] {
        let cents = if id == "b" { 0 } else { 5 };
        let body =
            json!({"id": id, "input": {"cents": cents, "card": "4"}, "labels": {"shop": id}});
        let thread = start(&router, body).await;
        wait_until_settled(&router, &thread).await;
    }
    // A thread that the program itself has started is listed too, and one of another program is not.
    let own = PayRefund::new().store(&store).thread("own");
    let input = RefundInput {
        cents: 5,
        card: "4".into(),
    };
    let _ = own.run(input).await.expect("it waits");
    let other = Other::new().store(&store).thread("other");
    let input = RefundInput {
        cents: 5,
        card: "4".into(),
    };
    let _ = other.run(input).await.expect("it ends");

    let ids = async |query: &str| {
        let found = get(&router, &format!("/threads?{query}")).await.json();
        let ids = found["threads"].as_array().expect("a list").iter();
        let ids: Vec<String> = ids
            .map(|it| it["id"].as_str().expect("an id").to_string())
            .collect();
        (ids.join(" "), found["next"].clone())
    };
    let all = "own refunds:a refunds:b refunds:c";
    assert_eq!(ids("").await, (all.into(), Value::Null));
    assert_eq!(ids("flow=refunds").await.0, "refunds:a refunds:b refunds:c");
    assert_eq!(ids("status=failed").await.0, "refunds:b");
    assert_eq!(ids("label=shop:c").await.0, "refunds:c");
    assert_eq!(ids("flow=refunds&prefix=b").await.0, "refunds:b");
    assert_eq!(ids("prefix=ow").await.0, "own");
    let first = ids("flow=refunds&limit=2").await;
    assert_eq!(first, ("refunds:a refunds:b".into(), json!("refunds:b")));
    assert_eq!(
        ids("flow=refunds&limit=2&after=refunds:b").await.0,
        "refunds:c"
    );
    assert_eq!(get(&router, "/threads/own").await.json()["flow"], "refunds");
    assert_eq!(
        get(&router, "/threads/other").await.status,
        StatusCode::NOT_FOUND
    );
    for query in [
        "status=lost",
        "label=shop",
        "flow=none",
        "page=7",
        "limit=many",
    ] {
        let wrong = get(&router, &format!("/threads?{query}")).await;
        assert!(wrong.status.is_client_error(), "{query}: {wrong:?}");
        assert!(!wrong.error().is_empty());
    }
}

#[cfg(feature = "agent")]
#[tokio::test]
async fn an_agent_is_asked_and_a_person_decides_about_its_call() {
    let model = ScriptedModel::new([
        Reply::call("delete", json!({"prefix": "tmp"})),
        "It is gone.".into(),
        "Good bye.".into(),
    ]);
    let delete = FuncTool::new("delete", "Deletes files.", |_: Value| async {
        Ok("deleted")
    });
    let agent = Agent::new(model).tool(delete.confirm_if(|_| Some("Really?".into())));
    let server = Server::builder(&InMemoryStore::new()).agent("helper", &agent);
    let router = server
        .threads(TriggerAuth::None)
        .build()
        .expect("right")
        .router();
    let started = call(
        &router,
        "POST",
        "/flows/helper/threads",
        json!({"id": "ann", "input": "tidy up"}),
    );
    let thread = started.await.thread();
    let waits = wait_until_settled(&router, &thread).await;
    let pending = &waits["state"]["pending"][0];
    assert_eq!(
        (&pending["kind"], &pending["text"]),
        (&json!("confirmation"), &json!("Really?"))
    );
    let turns = format!("/threads/{thread}/turns");
    let decision = json!({"id": pending["id"], "approve": true});
    let body = json!({"input": {"decisions": [decision]}});
    assert_eq!(call(&router, "POST", &turns, body).await.status, 202);
    let done = wait_until_settled(&router, &thread).await;
    assert_eq!(done["state"]["pending"], json!([]));
    assert!(
        done["state"]["events"].to_string().contains("It is gone."),
        "{done}"
    );
    assert_eq!(
        call(&router, "POST", &turns, json!({"input": "bye"}))
            .await
            .status,
        202
    );
    let done = wait_until_settled(&router, &thread).await;
    assert!(
        done["state"]["events"].to_string().contains("Good bye."),
        "{done}"
    );
    let wrong = call(&router, "POST", &turns, json!({"input": {"txt": "bye"}})).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
    assert_eq!(get(&router, "/flows/helper").await.json()["kind"], "agent");
}

#[tokio::test]
async fn a_document_without_triggers_is_a_flow() {
    let document = checked_graph(json!({
        "id": "letters", "version": "1", "kind": "graph", "edges": [],
        "nodes": [{"id": "greet", "type": "transform", "config": {
            "transform": "template", "template": "Dear {{.name}}", "output_var": "text" }}],
    }));
    let builder = Server::builder(&InMemoryStore::new()).document(document, &Services::new());
    let router = builder
        .threads(TriggerAuth::None)
        .build()
        .expect("right")
        .router();
    let input = json!({"vars": {"name": "Ann"}});
    let started = call(
        &router,
        "POST",
        "/flows/letters/threads",
        json!({"input": input}),
    )
    .await;
    let thread = started.thread();
    let done = wait_until_settled(&router, &thread).await;
    assert_eq!(done["state"]["vars"]["text"], "Dear Ann", "{done}");

    // The version of the document is a label, and no client removes it.
    let version = &done["labels"]["petalflow.document.version"];
    assert!(version.is_string(), "{done}");
    let path = format!("/threads/{thread}/labels");
    let labelled = call(&router, "PUT", &path, json!({"team": "red"})).await;
    let expected = json!({"petalflow.document.version": version, "team": "red"});
    assert_eq!(labelled.json()["labels"], expected);
    let repeated = call(&router, "PUT", &path, expected).await;
    assert_eq!(repeated.status, StatusCode::OK, "{repeated:?}");
    let other = json!({"petalflow.document.version": "7"});
    let refused = call(&router, "PUT", &path, other).await;
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{refused:?}"
    );
    assert_eq!(
        get(&router, "/flows/letters").await.json()["kind"],
        "document"
    );
}

/// Each address of the document exists, and each schema that it names.
#[tokio::test]
async fn the_openapi_document_names_addresses_that_exist() {
    let router = router(&InMemoryStore::new());
    let document = get(&router, "/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let schemas = &document["components"]["schemas"];
    assert_eq!(
        schemas["input.refunds"]["required"],
        json!(["cents", "card"])
    );
    let text = document.to_string();
    for reference in text.split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().expect("a name");
        assert!(schemas[name].is_object(), "{name}");
    }
    let mut operations = 0;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let path = path
            .replace("{flow}", "refunds")
            .replace("{checkpoint}", "1");
        let path = path
            .replace("{thread}", "refunds:none")
            .replace("{question}", &"0".repeat(32));
        for (method, operation) in methods.as_object().expect("methods") {
            operations += 1;
            let sent = call(&router, &method.to_uppercase(), &path, json!({})).await;
            let place = format!("{method} {path}: {sent:?}");
            assert!(!sent.text.contains("there is no such address"), "{place}");
            assert!(
                !sent.text.contains("the address has no such method"),
                "{place}"
            );
            let status = sent.status.as_str();
            assert!(operation["responses"][status].is_object(), "{place}");
        }
    }
    assert_eq!(operations, 41);
}

#[test]
fn mistakes_in_the_settings_name_the_flow() {
    let store = InMemoryStore::new();
    let errors = Server::builder(&store)
        .flow(PayRefund::new())
        .build()
        .expect_err("no token");
    assert_eq!(
        errors.errors(),
        [SetupError::NoThreads {
            name: "PayRefund".into()
        }]
    );
    let builder = Server::builder(&store).threads(TriggerAuth::None);
    let errors = builder
        .serve_flow(refunds())
        .serve_flow(refunds())
        .serve_flow(ServedFlow::new(PayRefund::new()).named("a b").secret("cvc"))
        .build()
        .expect_err("they are wrong");
    let texts: Vec<String> = errors.errors().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "there are two flows `refunds`: give one of them another name with `.named(..)`",
            "`a b` cannot be part of an address: use at most 128 ASCII letters, digits, `-`, `_`, `.` and `~`",
            "the state of flow `a b` has no key `cvc`, which is to be secret",
        ]
    );
}
