//! `LlmNode` with tools.

use std::sync::{Arc, Mutex};

use petalflow::RunError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_documents::Envelope;
use petalflow_documents::kinds::LlmNode;
use petalflow_llm::usage::Budget;
use petalflow_llm::{Reply, Role, ScriptedModel, TokenUsage};
use serde_json::json;

flow!(Ask(Envelope) {
    ask;
    node ask: LlmNode;
});

/// A node that asks a scripted model, and the model.
fn scripted_node(replies: impl IntoIterator<Item = Reply>) -> (LlmNode, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    (LlmNode::new().model(Arc::clone(&model)), model)
}

/// What the tools of a test have been asked.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

/// Finds the height of a building.
#[petalflow::tool]
async fn height(building: String, asked: Managed<Asked>) -> petalflow::Result<String> {
    asked.0.lock().unwrap().push(building.clone());
    match building.as_str() {
        "nowhere" => Err("there is no such building".into()),
        building => Ok(format!("{building}: 324 m")),
    }
}

fn call(building: &str) -> Reply {
    Reply::call("height", json!({ "building": building }))
}

async fn with_tools(
    replies: impl IntoIterator<Item = Reply>,
    edit: impl FnOnce(LlmNode) -> LlmNode,
) -> (Result<Envelope, RunError>, Arc<ScriptedModel>, Vec<String>) {
    let (node, model) = scripted_node(replies);
    let node = node
        .template("{{.question}}")
        .tools(&petalflow::tools![height]);
    let asked = Arc::new(Asked::default());
    let launch = Ask::new().ask(edit(node)).manage_with(Arc::clone(&asked));
    let result = launch
        .run(Envelope::new().with_var("question", "How high?"))
        .await;
    let asked = asked.0.lock().unwrap().clone();
    (result, model, asked)
}

#[tokio::test]
async fn p088_a_model_with_tools_is_asked_until_it_answers() {
    let replies = [call("Eiffel Tower"), call("nowhere"), "324 m.".into()];
    let (result, model, asked) = with_tools(replies, LlmNode::record_messages).await;
    let envelope = result.expect("it answers");
    assert_eq!(envelope.get_var_string("ask_output"), "324 m.");
    assert_eq!(asked, ["Eiffel Tower", "nowhere"]);
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].tools[0].name, "height");
    // The prompt, and a call with its result for each answer before. A failure is a result that the model reads.
    let last = serde_json::to_string(&requests[2].messages).unwrap();
    assert_eq!(requests[2].messages.len(), 5);
    assert!(
        last.contains("Eiffel Tower: 324 m") && last.contains("there is no such building"),
        "{last}"
    );
    let roles: Vec<Role> = envelope
        .messages
        .iter()
        .map(|message| message.role)
        .collect();
    assert_eq!(
        (roles.len(), roles[0], roles[5]),
        (6, Role::User, Role::Assistant)
    );
}

#[tokio::test]
async fn p088_a_model_that_never_answers_is_stopped() {
    let (result, model, asked) =
        with_tools((0..20).map(|_| call("a")), |node| node.max_rounds(3)).await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("the model was asked 3 times"), "{error}");
    assert_eq!(
        (model.requests().len(), asked.len()),
        (3, 2),
        "the last call is not made"
    );
    let (result, model, _) = with_tools((0..20).map(|_| call("a")), |node| node).await;
    assert!(result.is_err());
    assert_eq!(model.requests().len(), 10);
}

#[tokio::test]
async fn p088_unknown_tools_and_wrong_arguments_are_results() {
    let replies = [
        Reply::call("weather", json!({})),
        Reply::call("height", json!({ "building": 7 })),
        "I do not know.".into(),
    ];
    let (result, model, asked) = with_tools(replies, |node| node).await;
    assert_eq!(
        result.unwrap().get_var_string("ask_output"),
        "I do not know."
    );
    assert!(asked.is_empty());
    let last = serde_json::to_string(&model.requests()[2].messages).unwrap();
    assert!(
        last.contains("there is no tool `weather`; call one of: height"),
        "{last}"
    );
}

#[tokio::test]
async fn p088_the_usage_and_its_limits_are_those_of_all_answers() {
    let used = |reply: Reply| {
        reply.with_usage(TokenUsage {
            input: 10,
            output: 5,
            total: 15,
            ..TokenUsage::default()
        })
    };
    let replies = || [used(call("a")), used(call("b")), used("c".into())];
    let (result, ..) = with_tools(replies(), |node| node).await;
    assert_eq!(
        result.unwrap().get_var("ask_output_usage").unwrap()["total"],
        45
    );
    let limit = Budget {
        total: 40,
        ..Budget::UNLIMITED
    };
    let (result, model, _) = with_tools(replies(), |node| node.budget(limit)).await;
    assert!(result.is_err());
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn p088_recorded_answers_and_calls_are_not_repeated() {
    let (node, model) = scripted_node([call("Eiffel Tower"), "324 m.".into()]);
    let node = node.template("How high?").tools(&petalflow::tools![height]);
    let asked = Arc::new(Asked::default());
    let store = InMemoryStore::new();
    let launch = |node: LlmNode| {
        let launch = Ask::new().ask(node).manage_with(Arc::clone(&asked));
        launch.store(&store).thread("t")
    };
    let first = launch(node.clone().max_rounds(1))
        .run(Envelope::new())
        .await;
    assert!(first.is_err(), "its only answer calls a tool");
    let second = launch(node).resume(()).await;
    let envelope = second.unwrap().into_finished().unwrap();
    assert_eq!(envelope.get_var_string("ask_output"), "324 m.");
    assert_eq!(model.requests().len(), 2, "the first answer was recorded");
    assert_eq!(*asked.0.lock().unwrap(), ["Eiffel Tower"]);
}
