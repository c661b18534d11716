//! Agents with the operations of a service.

use std::sync::Arc;

use petalflow_agent::{Agent, ConversationInput};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, ScriptedModel};
use petalflow_openapi::OpenApi;
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::service::{Service, document, json_response};

/// A document of 200 operations: each of 100 resources can be listed and created.
fn two_hundred() -> Value {
    let paths = (0..100).map(|number| {
        let item = json!({
            "parameters": [{ "name": "owner", "in": "path", "required": true, "schema": { "type": "string" } }],
            "get": {
                "operationId": format!("list-parcel-kind-{number}"),
                "summary": format!("Lists the parcels of kind {number}."),
                "parameters": [{ "$ref": "#/components/parameters/page" }],
            },
            "post": {
                "operationId": format!("create-parcel-kind-{number}"),
                "summary": format!("Creates a parcel of kind {number}."),
                "requestBody": { "required": true, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Parcel" } } } },
            },
        });
        (format!("/owners/{{owner}}/kind{number}"), item)
    });
    let mut document = document(Value::Object(paths.collect()));
    document["components"] = json!({
        "parameters": { "page": { "name": "page", "in": "query", "schema": { "type": "integer", "minimum": 1 } } },
        "schemas": { "Parcel": { "type": "object", "required": ["to"], "properties": {
            "to": { "type": "string" }, "inside": { "type": "array", "items": { "$ref": "#/components/schemas/Parcel" } } } } },
    });
    document
}

fn last_result(request: &LlmRequest) -> Value {
    let results = request.messages.iter().flat_map(ChatMessage::tool_results);
    results.last().expect("there is a result").content.clone()
}

#[tokio::test]
async fn f44_6_an_agent_finds_one_of_two_hundred_operations() {
    let service = Service::echo().await;
    let api = OpenApi::from_value(two_hundred())
        .unwrap()
        .server(&service.url());
    assert_eq!(api.all_operations().len(), 200);
    assert_eq!(
        api.tools().unwrap().len(),
        100,
        "without a choice, those that read"
    );
    let tools = api.filter(|_| true).tools().unwrap();
    assert_eq!(tools.len(), 200);

    let search = Reply::call(
        "search_tools",
        json!({ "query": "lists parcels of kind 42" }),
    );
    let list = Reply::call(
        "list-parcel-kind-42",
        json!({ "owner": "ann/b", "page": 2 }),
    );
    let wrong = Reply::call("list-parcel-kind-42", json!({ "owner": "ann", "page": 0 }));
    let model = Arc::new(ScriptedModel::new([
        search,
        wrong,
        list,
        "There are none.".into(),
    ]));
    let agent = Agent::new(Arc::clone(&model)).searchable_tools(tools);
    let talk = agent.run("Which parcels are there?").await.unwrap();
    assert_eq!(talk.answer(), "There are none.");
    let requests = model.requests();
    assert_eq!(requests[0].tools.len(), 1);
    let found: Vec<&str> = requests[1].tools.iter().map(|tool| &*tool.name).collect();
    assert!(found.contains(&"list-parcel-kind-42"), "{found:?}");
    let mistake = last_result(&requests[2]).to_string();
    assert!(
        mistake.contains("`page` is 0, and must be at least 1"),
        "{mistake}"
    );
    assert_eq!(
        last_result(&requests[3])["target"],
        "/owners/ann%2Fb/kind42?page=2"
    );
    assert_eq!(service.seen().len(), 1);
}

fn create() -> Reply {
    Reply::call(
        "create-parcel-kind-7",
        json!({ "owner": "ann", "body": { "inside": [{ "to": "Oslo" }], "to": "Ghent" } }),
    )
}

#[tokio::test]
async fn f44_6_a_person_approves_what_changes_something() {
    let service = Service::echo().await;
    let api = OpenApi::from_value(two_hundred())
        .unwrap()
        .server(&service.url());
    let tools = api.operations(["create-parcel-kind-7"]).tools().unwrap();
    let question = tools
        .get("create-parcel-kind-7")
        .unwrap()
        .confirm(&json!({}));
    assert_eq!(
        question.as_deref(),
        Some(
            "Call `create-parcel-kind-7`? It sends `POST /owners/{owner}/kind7` to `127.0.0.1`, which can change something."
        )
    );
    for approves in [false, true] {
        let model = Arc::new(ScriptedModel::new([create(), "done".into()]));
        let agent = Agent::new(Arc::clone(&model)).tools(tools.iter().cloned());
        let asked = agent.run("Send it.").await.unwrap();
        assert!(service.seen().is_empty());
        let decision = ConversationInput::default().confirm(asked.pending()[0].id(), approves);
        let talk = agent.run(asked.next_input(decision)).await.unwrap();
        assert_eq!(talk.answer(), "done");
    }
    let sent = service.only();
    assert_eq!(
        (&*sent.method, &*sent.target),
        ("POST", "/owners/ann/kind7")
    );
    assert_eq!(sent.body, r#"{"inside":[{"to":"Oslo"}],"to":"Ghent"}"#);
}

#[tokio::test]
async fn f44_6_a_call_that_is_repeated_after_a_crash_has_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("threads.db"))
        .await
        .unwrap();
    // The first request is received and never answered.
    let (received, never) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let signal = Arc::clone(&received);
    let service = Service::start(move |seen, before| {
        let (signal, never) = (Arc::clone(&signal), Arc::clone(&never));
        async move {
            if before == 0 {
                signal.add_permits(1);
                let _ = never.acquire().await;
            }
            json_response(200, &seen.echo())
        }
    })
    .await;
    let api = OpenApi::from_value(two_hundred())
        .unwrap()
        .server(&service.url());
    let api = api
        .operations(["create-parcel-kind-7"])
        .confirm(|_, _| None)
        .idempotency_header("Idempotency-Key");
    let agent = |replies: Vec<Reply>| {
        let tools = api.tools().unwrap();
        Agent::new(ScriptedModel::new(replies)).tools(tools.iter().cloned())
    };
    let first = agent(vec![create()]).store(&store).thread("ann");
    let run = tokio::spawn(async move { first.run("Send it.").await.map(|_| ()) });
    received.acquire().await.unwrap().forget();
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());

    let second = agent(vec!["done".into()]).store(&store).thread("ann");
    let talk = second.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "done");
    // A later call of the same thread is another one.
    let third = agent(vec![create(), "done".into()])
        .store(&store)
        .thread("ann");
    let talk = third.run("Again.").await.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "done");
    let seen = service.seen();
    let keys: Vec<&str> = seen
        .iter()
        .map(|it| it.header("idempotency-key").unwrap())
        .collect();
    assert_eq!(keys.len(), 3);
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[1], keys[2]);
}
