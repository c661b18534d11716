//! A2A without a client of others.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use petalflow::checkpoint::InMemoryStore;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{A2a, Access, AgentProfile, AgentSkill};
use serde_json::{Value, json};

use super::guide::{Guide, builder, guide};
use crate::kit::{Response, call, get, send};

const NO_PUSH: &str = "the server sends no push notifications: subscribe to the task";

fn served(guide: &Guide) -> Router {
    with_store(guide, &InMemoryStore::new())
}

fn with_store(guide: &Guide, store: &InMemoryStore) -> Router {
    let builder = builder(store, &guide.agent).a2a(A2a::new("https://example.com/agents/"));
    builder.build().expect("the settings are right").router()
}

async fn request(router: &Router, path: &str, body: &Value) -> Response {
    let request = Request::post(path).header("a2a-version", "1.0");
    let request = request.header("content-type", "application/json");
    let body = Body::from(body.to_string());
    send(router, request.body(body).expect("a request")).await
}

pub(crate) async fn rpc(router: &Router, method: &str, params: Value) -> Value {
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let response = request(router, "/a2a/guide", &call).await.json();
    assert_eq!(
        (&response["jsonrpc"], &response["id"]),
        (&json!("2.0"), &json!(7))
    );
    response
}

pub(crate) fn says(id: &str, text: &str) -> Value {
    json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] })
}

pub(crate) async fn task(router: &Router, message: Value) -> Value {
    let response = rpc(router, "SendMessage", json!({ "message": message })).await;
    let task = &response["result"]["task"];
    assert!(task.is_object(), "{response}");
    task.clone()
}

pub(crate) async fn error(router: &Router, method: &str, params: Value) -> (i64, String) {
    let response = rpc(router, method, params).await;
    let error = &response["error"];
    let code = error["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("{response}"));
    assert!(error["data"][0]["reason"].is_string());
    (
        code,
        error["message"].as_str().unwrap_or_default().to_string(),
    )
}

pub(crate) fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_default()
}

pub(crate) fn answer(task: &Value) -> String {
    let artifacts = task["artifacts"].as_array().into_iter().flatten();
    let parts = artifacts.flat_map(|it| it["parts"].as_array().into_iter().flatten());
    let texts = parts.filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("|")
}

/// The events of a stream.
async fn events(router: &Router, method: &str, params: Value) -> Vec<Value> {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let response = request(router, "/a2a/guide", &call).await;
    let lines = response.text.lines();
    let events = lines.filter_map(|line| line.strip_prefix("data:"));
    let events = events.map(|data| serde_json::from_str::<Value>(data).expect("JSON"));
    events.map(|event| event["result"].clone()).collect()
}

#[tokio::test]
async fn cards_tell_what_clients_need() {
    let auth = TriggerAuth::HeaderToken {
        header: "X-Token".into(),
        token: "secret".into(),
    };
    let skill = AgentSkill::new("lead", "Lead", "Shows the way.").tag("way");
    let profile = AgentProfile::new("Knows the way.")
        .version("3.1")
        .skill(skill);
    let a2a = A2a::new("https://example.com/agents/").agent("guide", profile);
    let guide = guide();
    let server = builder(&InMemoryStore::new(), &guide.agent)
        .threads(auth)
        .a2a(a2a);
    let router = server.build().expect("the settings are right").router();
    let card = get(&router, "/.well-known/agent-card.json").await.json();
    assert_eq!(
        card,
        get(&router, "/a2a/guide/.well-known/agent-card.json")
            .await
            .json()
    );
    let interface = &card["supportedInterfaces"][0];
    assert_eq!(interface["url"], "https://example.com/agents/a2a/guide");
    assert_eq!(interface["protocolVersion"], "1.0");
    assert_eq!(card["skills"][0]["id"], "lead");
    assert_eq!(
        card["securitySchemes"]["header"]["apiKeySecurityScheme"]["name"],
        "X-Token"
    );
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks" });
    assert_eq!(request(&router, "/a2a/guide", &call).await.status, 401);
}

#[tokio::test]
async fn settings_name_agents_of_the_server() {
    let guide = guide();
    let a2a = A2a::new("https://example.com").agent("gide", AgentProfile::new("Knows the way."));
    let server = builder(&InMemoryStore::new(), &guide.agent).a2a(a2a.root("other"));
    let errors = server.event_log(0).build().expect_err("they are wrong");
    let errors: Vec<String> = errors.errors().iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "A2A cannot serve `gide`: the server has no agent or conversation of this name",
            "A2A cannot serve `other`: the server has no agent or conversation of this name",
            "A2A needs the events of threads: store some with `.event_log(..)`",
        ]
    );
}

#[tokio::test]
async fn a_message_is_a_task_and_the_next_one_knows_the_context() {
    let (guide, store) = (guide(), InMemoryStore::new());
    let router = with_store(&guide, &store);
    let first = task(&router, says("m1", "hello")).await;
    assert_eq!(state(&first), "TASK_STATE_COMPLETED");
    assert_eq!(answer(&first), "You said hello.");
    assert_eq!(first["history"][0]["messageId"], "m1");
    let mut second = says("m2", "count");
    second["contextId"] = first["contextId"].clone();
    let second = task(&router, second).await;
    assert_eq!(answer(&second), "3");
    assert_ne!(first["id"], second["id"]);
    // Another process with the same store knows both.
    let other = with_store(&guide, &store);
    let listed = rpc(&other, "ListTasks", json!({ "includeArtifacts": true })).await;
    let listed = &listed["result"];
    assert_eq!(
        (&listed["totalSize"], &listed["nextPageToken"]),
        (&json!(2), &json!(""))
    );
    let again = rpc(
        &other,
        "GetTask",
        json!({ "id": first["id"], "historyLength": 0 }),
    )
    .await;
    assert_eq!(again["result"]["artifacts"], first["artifacts"]);
    assert!(again["result"].get("history").is_none());
}

#[tokio::test]
async fn a_repeated_message_begins_nothing() {
    let guide = guide();
    let router = served(&guide);
    let first = task(&router, says("m1", "hello")).await;
    assert_eq!(task(&router, says("m1", "hello")).await["id"], first["id"]);
    assert_eq!(guide.model.requests().len(), 1);
    let other = json!({ "message": says("m1", "good bye") });
    assert_eq!(error(&router, "SendMessage", other).await.0, -32602);
    // The same in a context that the client has named.
    let mut named = says("m2", "hello");
    named["contextId"] = "mine".into();
    let second = task(&router, named.clone()).await;
    assert_eq!(task(&router, named).await["id"], second["id"]);
    assert_eq!(guide.model.requests().len(), 2);
}

#[tokio::test]
async fn a_confirmation_is_input_required_until_a_clear_answer() {
    let guide = guide();
    let router = served(&guide);
    let asked = task(&router, says("m1", "wipe")).await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED");
    let parts = &asked["status"]["message"]["parts"];
    assert_eq!(parts[0]["text"], "Delete all files?");
    assert_eq!(parts[1]["data"]["request"]["name"], "wipe");
    assert_eq!(parts[1]["data"]["schema"]["required"], json!(["approve"]));

    let go_on = |id: &str, part: Value| json!({ "messageId": id, "taskId": asked["id"], "role": "ROLE_USER", "parts": [part] });
    let unclear = json!({ "message": go_on("m2", json!({ "text": "perhaps" })) });
    assert_eq!(error(&router, "SendMessage", unclear).await.0, -32602);
    let mut past = says("m3", "hello");
    past["contextId"] = asked["contextId"].clone();
    let (code, text) = error(&router, "SendMessage", json!({ "message": past })).await;
    assert!(
        code == -32004 && text.contains("waits for an answer"),
        "{text}"
    );

    let yes = json!({ "data": { "id": parts[1]["data"]["id"], "approve": true } });
    let done = task(&router, go_on("m4", yes.clone())).await;
    assert_eq!(
        (&done["id"], state(&done)),
        (&asked["id"], "TASK_STATE_COMPLETED")
    );
    assert_eq!(answer(&done), "I got gone.");
    assert_eq!(task(&router, go_on("m4", yes)).await["id"], asked["id"]);
    let late = json!({ "message": go_on("m5", json!({ "text": "yes" })) });
    assert_eq!(error(&router, "SendMessage", late).await.0, -32004);

    let asked = task(&router, says("m6", "wipe")).await;
    let mut no = says("m7", "No.");
    no["taskId"] = asked["id"].clone();
    let done = task(&router, no).await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED");
    assert!(!answer(&done).contains("gone"), "{done}");
}

#[tokio::test]
async fn a_task_that_waits_is_cancelled_and_its_context_goes_on() {
    let (guide, store) = (guide(), InMemoryStore::new());
    let router = with_store(&guide, &store);
    let asked = task(&router, says("m1", "wipe")).await;
    let id = json!({ "id": asked["id"] });
    let cancelled = rpc(&router, "CancelTask", id.clone()).await["result"].clone();
    assert_eq!(state(&cancelled), "TASK_STATE_CANCELED");
    assert_eq!(cancelled["status"].get("message"), None);
    // Another process knows it too, and it ends once.
    let other = with_store(&guide, &store);
    let read = rpc(&other, "GetTask", id.clone()).await["result"].clone();
    assert_eq!(read, cancelled);
    assert_eq!(error(&other, "CancelTask", id.clone()).await.0, -32002);
    let mut late = says("m2", "yes");
    late["taskId"] = asked["id"].clone();
    let late = json!({ "message": late });
    assert_eq!(error(&other, "SendMessage", late).await.0, -32004);

    let mut next = says("m3", "hello");
    next["contextId"] = asked["contextId"].clone();
    let next = task(&other, next).await;
    assert_eq!(state(&next), "TASK_STATE_COMPLETED");
    assert_ne!(next["id"], asked["id"]);
    let request = guide.model.requests().pop().expect("the model was asked");
    let request = json!(request.messages).to_string();
    assert!(
        request.contains("the user cancelled the task") && request.contains("hello"),
        "{request}"
    );
    assert!(!request.contains("gone"), "{request}");
    let listed = rpc(&other, "ListTasks", json!({})).await["result"]["tasks"].clone();
    let states: Vec<&str> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(state)
        .collect();
    assert_eq!(states, ["TASK_STATE_COMPLETED", "TASK_STATE_CANCELED"]);
    assert_eq!(
        state(&rpc(&other, "GetTask", id).await["result"]),
        "TASK_STATE_CANCELED"
    );
}

#[tokio::test]
async fn a_stream_has_the_task_its_artifacts_and_its_end() {
    let router = served(&guide());
    let stream = events(
        &router,
        "SendStreamingMessage",
        json!({ "message": says("m1", "hi") }),
    )
    .await;
    assert!(stream[0]["task"]["id"].is_string());
    let artifacts = stream.iter().filter_map(|it| it.get("artifactUpdate"));
    let texts: String = artifacts
        .map(|it| {
            it["artifact"]["parts"][0]["text"]
                .as_str()
                .unwrap_or_default()
        })
        .collect();
    assert_eq!(texts, "You said hi.");
    let last = stream.last().expect("there is an event");
    assert_eq!(
        last["statusUpdate"]["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
}

#[tokio::test]
async fn a_subscriber_gets_the_rest_and_a_task_is_cancelled() {
    let guide = guide();
    let router = served(&guide);
    let now =
        json!({ "message": says("m1", "wait"), "configuration": { "returnImmediately": true } });
    let begun = rpc(&router, "SendMessage", now).await["result"]["task"].clone();
    assert_eq!(state(&begun), "TASK_STATE_WORKING");
    let subscribe = events(&router, "SubscribeToTask", json!({ "id": begun["id"] }));
    let ended = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        guide.go.notify_one();
    };
    let (stream, ()) = tokio::join!(subscribe, ended);
    let text = json!(stream).to_string();
    assert!(
        text.contains("One moment.") && text.contains("I got enough."),
        "{text}"
    );
    let over = json!({ "id": begun["id"] });
    assert_eq!(
        error(&router, "SubscribeToTask", over.clone()).await.0,
        -32004
    );
    assert_eq!(error(&router, "CancelTask", over).await.0, -32002);

    let mut message = says("m2", "wait");
    message["contextId"] = begun["contextId"].clone();
    let now = json!({ "message": message, "configuration": { "returnImmediately": true } });
    let begun = rpc(&router, "SendMessage", now).await["result"]["task"].clone();
    let cancelled = rpc(&router, "CancelTask", json!({ "id": begun["id"] })).await;
    assert_eq!(state(&cancelled["result"]), "TASK_STATE_CANCELED");
    let mut next = says("m3", "hello");
    next["contextId"] = begun["contextId"].clone();
    assert_eq!(state(&task(&router, next).await), "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn the_next_process_continues_a_task_and_a_subscriber_gets_the_rest() {
    let (guide, store) = (guide(), InMemoryStore::new());
    let serve = || {
        let builder = builder(&store, &guide.agent).a2a(A2a::new("https://example.com"));
        builder.build().expect("the settings are right")
    };
    let first = serve();
    let now =
        json!({ "message": says("m1", "wait"), "configuration": { "returnImmediately": true } });
    let begun = rpc(&first.router(), "SendMessage", now.clone()).await["result"]["task"].clone();
    first.drain(std::time::Duration::from_millis(50)).await;

    let second = serve();
    let router = second.router();
    let again = rpc(&router, "GetTask", json!({ "id": begun["id"] })).await;
    assert_eq!(state(&again["result"]), "TASK_STATE_WORKING");
    // The client does not know whether its message has arrived.
    let again = rpc(&router, "SendMessage", now).await;
    assert_eq!(again["result"]["task"]["id"], begun["id"], "{again}");
    assert_eq!(second.recover().await.expect("it can be continued"), 1);
    guide.go.notify_one();
    let stream = events(&router, "SubscribeToTask", json!({ "id": begun["id"] })).await;
    let text = json!(stream).to_string();
    assert!(text.contains("I got enough."), "{text}");
    let done = rpc(&router, "GetTask", json!({ "id": begun["id"] })).await;
    assert_eq!(state(&done["result"]), "TASK_STATE_COMPLETED");
    assert_eq!(answer(&done["result"]), "One moment.|I got enough.");
}

#[tokio::test]
async fn callers_see_their_own_tasks() {
    let guide = guide();
    let server = builder(&InMemoryStore::new(), &guide.agent)
        .a2a(A2a::new("https://example.com"))
        .access(|parts| {
            let user = parts.headers.get("x-user").and_then(|it| it.to_str().ok());
            user.map_or(Access::None, |user| Access::label("user", user))
        });
    let router = server.build().expect("the settings are right").router();
    let call = async |user: &str, method: &str, params: Value| {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = Request::post("/a2a/guide").header("a2a-version", "1.0");
        let request = request
            .header("x-user", user)
            .body(Body::from(call.to_string()));
        send(&router, request.expect("a request")).await.json()
    };
    let message = json!({ "message": says("m1", "hello") });
    let ann = call("ann", "SendMessage", message.clone()).await["result"]["task"].clone();
    let bob = call("bob", "SendMessage", message).await["result"]["task"].clone();
    assert_ne!(ann["id"], bob["id"], "two users may use the same id");
    let of_ann = json!({ "id": ann["id"] });
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        let other = call("bob", method, of_ann.clone()).await;
        assert_eq!(other["error"]["code"], -32001, "{other}");
    }
    let into = |task: Option<&Value>, context: &Value| {
        let mut into = says("m2", "hello");
        into["contextId"] = context.clone();
        if let Some(task) = task {
            into["taskId"] = task["id"].clone();
        }
        json!({ "message": into })
    };
    let other = call("bob", "SendMessage", into(Some(&ann), &ann["contextId"])).await;
    assert_eq!(other["error"]["code"], -32001, "{other}");
    let mut unknown = ann.clone();
    unknown["id"] = "nobody".into();
    let nobody = call(
        "bob",
        "SendMessage",
        into(Some(&unknown), &ann["contextId"]),
    )
    .await;
    let said = |error: &Value, id: &Value| {
        let id = id.as_str().expect("an id");
        error["error"]["message"].to_string().replace(id, "ID")
    };
    assert_eq!(said(&other, &ann["id"]), said(&nobody, &unknown["id"]));
    let listed = call("bob", "ListTasks", json!({})).await;
    assert_eq!(listed["result"]["tasks"][0]["id"], bob["id"]);
    assert_eq!(listed["result"]["totalSize"], 1);
    // The same context of two callers is that of two threads. Each sees the id that it has chosen.
    let mut contexts = Vec::new();
    for user in ["ann", "bob"] {
        let sent = call(user, "SendMessage", into(None, &json!("order-7"))).await;
        let task = &sent["result"]["task"];
        assert_eq!(task["contextId"], "order-7", "{sent}");
        let listed = call(user, "ListTasks", json!({ "contextId": "order-7" })).await;
        assert_eq!(listed["result"]["totalSize"], 1, "{listed}");
        assert_eq!(listed["result"]["tasks"][0]["id"], task["id"]);
        let found = call(user, "GetTask", json!({ "id": task["id"] })).await;
        assert_eq!(found["result"]["contextId"], "order-7", "{found}");
        contexts.push(task["id"].clone());
    }
    assert_ne!(contexts[0], contexts[1]);
    assert_eq!(
        call("ann", "GetTask", of_ann).await["result"]["id"],
        ann["id"]
    );
}

#[tokio::test]
async fn failures_and_refusals_are_states() {
    let router = served(&guide());
    let failed = task(&router, says("m1", "fail")).await;
    assert_eq!(state(&failed), "TASK_STATE_FAILED");
    assert!(
        failed["status"]["message"]
            .to_string()
            .contains("the model is down")
    );
    let rejected = task(&router, says("m2", "refuse")).await;
    assert_eq!(state(&rejected), "TASK_STATE_REJECTED");
    assert!(
        rejected["status"]["message"]
            .to_string()
            .contains("I cannot.")
    );
}

#[tokio::test]
async fn there_are_no_push_notifications() {
    let router = served(&guide());
    let card = get(&router, "/.well-known/agent-card.json").await.json();
    assert_eq!(card["capabilities"]["pushNotifications"], false);
    let sent = task(&router, says("m1", "hello")).await;
    let own = json!({ "taskId": sent["id"], "id": "c1", "url": "https://example.com/hook" });
    for method in ["Create", "Get", "List", "Delete"] {
        let many = if method == "List" { "s" } else { "" };
        let method = format!("{method}TaskPushNotificationConfig{many}");
        assert_eq!(
            error(&router, &method, own.clone()).await,
            (-32003, NO_PUSH.into()),
            "{method}"
        );
    }
    let configs = format!(
        "/a2a/guide/tasks/{}/pushNotificationConfigs",
        sent["id"].as_str().expect("an id")
    );
    let config = format!("{configs}/c1");
    for (method, path) in [
        ("POST", &configs),
        ("GET", &configs),
        ("GET", &config),
        ("DELETE", &config),
    ] {
        let refused = call(&router, method, path, own.clone()).await;
        assert_eq!(refused.status, 400, "{method} {path}");
        let error = &refused.json()["error"];
        assert_eq!(
            (&error["message"], &error["details"][0]["reason"]),
            (&json!(NO_PUSH), &json!("PUSH_NOTIFICATION_NOT_SUPPORTED")),
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn mistakes_are_errors_of_the_protocol() {
    let router = served(&guide());
    let message = |part: Value| json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [part] } });
    let mut modes = message(json!({ "text": "hi" }));
    modes["configuration"] = json!({ "acceptedOutputModes": ["image/png"] });
    let mut push = message(json!({ "text": "hi" }));
    push["configuration"] =
        json!({ "taskPushNotificationConfig": { "url": "https://example.com" } });
    for (method, params, code) in [
        ("GetTask", json!({ "id": "other.0.00000000" }), -32001),
        ("SendMessage", message(json!({ "raw": "aGk=" })), -32005),
        ("SendMessage", modes, -32005),
        ("SendMessage", push, -32003),
        ("SendMessage", message(json!({})), -32602),
        ("SendMessage", json!({}), -32602),
        ("GetExtendedAgentCard", json!({}), -32007),
        ("message/send", json!({}), -32601),
        ("ListTasks", json!({ "pageSize": 0 }), -32602),
    ] {
        assert_eq!(
            error(&router, method, params.clone()).await.0,
            code,
            "{method} {params}"
        );
    }
    let old = Request::post("/a2a/guide").body(Body::from(r#"{"id": 1}"#));
    let old = send(&router, old.expect("a request")).await.json();
    assert_eq!(old["error"]["code"], -32600);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks" }).to_string();
    let old = Request::post("/a2a/guide").body(Body::from(call));
    let old = send(&router, old.expect("a request")).await.json();
    assert_eq!(old["error"]["code"], -32009);
    let unknown = request(&router, "/a2a/guide/tasks/x:cancel", &json!({})).await;
    assert_eq!(unknown.status, 404);
    assert_eq!(
        unknown.json()["error"]["details"][0]["reason"],
        "TASK_NOT_FOUND"
    );
}
