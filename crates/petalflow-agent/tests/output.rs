//! Answers of a form that was asked for.

use std::sync::Arc;

use petalflow_agent::Agent;
use petalflow_llm::{Capabilities, Reply, ScriptedModel};
use serde::Deserialize;
use serde_json::json;

use super::kit::{events, results, returns, scripted, shape};

#[derive(Debug, PartialEq, Deserialize, petalflow::tool::schemars::JsonSchema)]
#[schemars(crate = "petalflow::tool::schemars")]
struct Flower {
    name: String,
    petals: u32,
}

fn rose() -> Flower {
    Flower {
        name: "rose".into(),
        petals: 5,
    }
}

const NAMES: [&str; 2] = ["look", "set_model_response"];

#[tokio::test]
async fn a051_the_answer_is_set_by_a_tool_and_becomes_the_last_message() {
    let (agent, model) = scripted([
        Reply::call("look", json!({})),
        Reply::call("set_model_response", json!({"name": "rose", "petals": 5})),
    ]);
    let agent = agent
        .tool(returns("look", json!("a rose")))
        .output::<Flower>();
    let (events, talk) = events(&agent, "what is it?").await;
    assert_eq!(events.len(), 5);
    assert_eq!(events[4].text(), r#"{"name":"rose","petals":5}"#);
    assert_eq!(events[4].author, "agent");
    assert!(events[4].is_final());
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
    assert_eq!(
        model.requests().len(),
        2,
        "the model is not asked to put it into words"
    );
}

#[tokio::test]
async fn a051_an_answer_that_does_not_match_the_schema_is_returned_to_the_model() {
    let (agent, _) = scripted([
        Reply::call(
            "set_model_response",
            json!({"name": "rose", "petals": "five"}),
        ),
        Reply::call("set_model_response", json!({"name": "rose", "petals": 5})),
    ]);
    let agent = agent
        .tool(returns("look", json!("a rose")))
        .output::<Flower>();
    let (_, talk) = events(&agent, "what is it?").await;
    let error = results(&talk)[0]["error"].as_str().unwrap().to_string();
    assert!(error.contains("`petals`"), "{error}");
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
}

#[tokio::test]
async fn a052_the_tool_is_there_only_with_a_schema_and_tools_and_no_native_support() {
    let names = |model: &ScriptedModel| -> Vec<String> {
        let request = &model.requests()[0];
        request.tools.iter().map(|spec| spec.name.clone()).collect()
    };
    let (agent, model) = scripted(["{}"]);
    events(
        &agent.tool(returns("look", json!(1))).output::<Flower>(),
        "?",
    )
    .await;
    assert_eq!(names(&model), NAMES);
    assert!(model.requests()[0].json_schema.is_none());
    assert!(
        model.requests()[0]
            .system
            .as_ref()
            .unwrap()
            .contains("set_model_response")
    );

    // No tools.
    let (agent, model) = scripted(["{}"]);
    events(&agent.output::<Flower>(), "?").await;
    assert!(names(&model).is_empty());
    let schema = model.requests()[0].json_schema.clone().unwrap();
    assert_eq!(schema["required"], json!(["name", "petals"]));

    // No schema.
    let (agent, model) = scripted(["{}"]);
    events(&agent.tool(returns("look", json!(1))), "?").await;
    assert_eq!(names(&model), ["look"]);

    // A model that can do both.
    let able = Capabilities::default().with_schema_with_tools();
    let model = Arc::new(ScriptedModel::new(["{}"]).with_capabilities(able));
    let agent = Agent::new(Arc::clone(&model))
        .tool(returns("look", json!(1)))
        .output::<Flower>();
    events(&agent, "?").await;
    assert_eq!(names(&model), ["look"]);
    assert!(model.requests()[0].json_schema.is_some());
}

#[tokio::test]
async fn an_answer_is_also_read_from_a_markdown_block_and_errors_name_the_path() {
    let fenced = "```json\n{\"name\": \"rose\", \"petals\": 5}\n```";
    let (agent, _) = scripted([fenced, r#"{"name": "rose", "petals": -1}"#]);
    let agent = agent.output::<Flower>();
    let talk = agent.run("?").await.unwrap();
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
    let talk = agent.run("?").await.unwrap();
    let error = talk.output::<Flower>().unwrap_err().to_string();
    assert!(error.contains("`petals`"), "{error}");
    assert_eq!(shape(&talk.events).len(), 2);
}
