//! The functions that script the model of an agent.

use petalflow_agent::testing::{answer, ask_agent, finish_task, transfer_to};
use petalflow_agent::{Agent, Mode};
use petalflow_llm::{Capabilities, ScriptedModel};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::kit::{constant_tool, results};

#[derive(Debug, PartialEq, Serialize, Deserialize, petalflow::tool::schemars::JsonSchema)]
#[schemars(crate = "petalflow::tool::schemars")]
struct Flower {
    petals: u32,
}

const ROSE: Flower = Flower { petals: 5 };

#[tokio::test]
async fn a_transfer_a_question_and_the_end_of_a_task_are_scripted() {
    let model = ScriptedModel::new([
        transfer_to("gardener"),
        ask_agent("namer", "five petals"),
        "a rose".into(),
        ask_agent("counter", "a rose"),
        finish_task(&ROSE),
        ask_agent("writer", "a rose"),
        finish_task(&"It has five."),
        "Five.".into(),
    ]);
    let gardener = Agent::named("gardener")
        .sub_agent(Agent::named("namer").mode(Mode::SingleTurn))
        .sub_agent(Agent::named("counter").mode(Mode::Task).output::<Flower>())
        .sub_agent(Agent::named("writer").mode(Mode::Task));
    let agent = Agent::new(model.clone()).name("guide").sub_agent(gardener);
    let talk = agent.run("How many petals?").await.unwrap();
    assert_eq!(talk.answer(), "Five.");
    assert_eq!(model.remaining(), 0);
    let results = results(&talk);
    assert!(
        results.contains(&json!({"result": "a rose"})),
        "{results:?}"
    );
    assert!(results.contains(&json!({"petals": 5})), "{results:?}");
    assert!(
        results.contains(&json!({"result": "It has five."})),
        "{results:?}"
    );
}

#[tokio::test]
async fn a_typed_answer_is_scripted_for_an_agent_with_tools() {
    let model = ScriptedModel::new([answer(&ROSE)]);
    let agent = Agent::new(model.clone()).tool(constant_tool("look", json!(1)));
    let talk = agent.output::<Flower>().run("?").await.unwrap();
    assert_eq!(talk.output::<Flower>().unwrap(), ROSE);

    let able = Capabilities::default().with_schema_with_tools();
    let model = ScriptedModel::new([r#"{"petals": 5}"#]).with_capabilities(able);
    let agent = Agent::new(model).tool(constant_tool("look", json!(1)));
    let talk = agent.output::<Flower>().run("?").await.unwrap();
    assert_eq!(talk.output::<Flower>().unwrap(), ROSE);
}

#[tokio::test]
async fn clones_of_a_model_share_its_script_and_requests() {
    let model = ScriptedModel::new(["one", "two"]);
    let (first, second) = (Agent::new(model.clone()), Agent::new(model.clone()));
    assert_eq!(first.run("a").await.unwrap().answer(), "one");
    assert_eq!(second.run("b").await.unwrap().answer(), "two");
    assert_eq!((model.requests().len(), model.remaining()), (2, 0));
    let last = model.last_request().unwrap();
    assert_eq!(last.transcript(), ["user: b"]);
}
