//! Models that plan before they act.

use petalflow::BoxError;
use petalflow_agent::AgentEvent;
use petalflow_agent::extension::{ModelCall, PlanReAct, Planner, Thinking};
use petalflow_llm::request::Effort;
use petalflow_llm::stream::Delta;
use petalflow_llm::{LlmResponse, Part, Reply, Role};
use serde_json::json;

use crate::kit::{
    call, collect_stream, constant_tool, events, failure, scripted_agent, sent_messages, shape,
};

#[tokio::test]
async fn a009_a_model_with_built_in_thinking_gets_a_budget() {
    let (agent, model) = scripted_agent(["done"]);
    let agent = agent.planner(Thinking(Effort::Budget(512)));
    events(&agent, "hello").await;
    let request = &model.requests()[0];
    assert_eq!(request.effort, Some(Effort::Budget(512)));
    assert_eq!(request.system, None, "it needs no instructions");
}

#[tokio::test]
async fn a009_a_written_plan_is_a_thought_and_is_sent_again() {
    let act = Reply::from("/*PLANNING*/ 1. Look. /*ACTION*/")
        .and(Part::Call(call("1", "look", json!({}))))
        .and(Part::text("it says 7"));
    let answer = "/*REASONING*/ It is 3. /*FINAL_ANSWER*/ Three.";
    let (agent, model) = scripted_agent([act, answer.into(), "again".into()]);
    let agent = agent
        .instructions("Be brief.")
        .planner(PlanReAct)
        .tool(constant_tool("look", json!(3)));
    let (events, talk) = events(&agent, "how many?").await;
    assert_eq!(
        shape(&events),
        [
            "(/*PLANNING*/ 1. Look. /*ACTION*/) & look{}",
            "look = 3",
            "(/*REASONING*/ It is 3. /*FINAL_ANSWER*/) & Three.",
        ],
        "what the model made up behind its call is gone"
    );
    assert_eq!(talk.answer(), "Three.");
    let system = model.requests()[0].system.clone().unwrap();
    assert!(system.starts_with("Be brief.\n\n"), "{system}");
    for mark in [
        "/*PLANNING*/",
        "/*ACTION*/",
        "/*REASONING*/",
        "/*REPLANNING*/",
        "/*FINAL_ANSWER*/",
    ] {
        assert!(system.contains(mark), "{mark} is explained");
    }
    agent.run(talk.next_input("sure?")).await.unwrap();
    assert_eq!(
        sent_messages(&model),
        [
            "user: how many?",
            "assistant: /*PLANNING*/ 1. Look. /*ACTION*/ & look{}",
            "tool: look = 3",
            "assistant: /*REASONING*/ It is 3. /*FINAL_ANSWER*/ & Three.",
            "user: sure?",
        ],
        "the model reads its plan as its own words"
    );
}

#[tokio::test]
async fn a009_a_plan_alone_does_not_end_the_turn_and_other_thoughts_stay_thoughts() {
    let thought = Part::Thought("hm".into());
    let plan = Reply::from("/*PLANNING*/ wait");
    let both = Reply::from(call("1", "look", json!({}))).and(thought);
    let (agent, model) = scripted_agent([plan, both, "/*FINAL_ANSWER*/now".into()]);
    let agent = agent
        .planner(PlanReAct)
        .tool(constant_tool("look", json!(1)));
    let (events, _) = events(&agent, "go").await;
    assert_eq!(events.len(), 4, "{:?}", shape(&events));
    assert_eq!(sent_messages(&model)[1], "assistant: /*PLANNING*/ wait");
}

#[tokio::test]
async fn a009_a_plan_is_not_emitted_as_the_answer() {
    let pieces = ["/*PLAN", "NING*/ look", " /*FINAL_", "ANSWER*/ Thr", "ee."];
    let (agent, _) = scripted_agent([Reply::chunks(pieces)]);
    let agent = agent.planner(PlanReAct).streaming();
    let (pieces, events, talk) = collect_stream(agent.events("how many?")).await;
    let text: String = pieces.iter().map(AgentEvent::text).collect();
    assert_eq!(text.trim(), "Three.");
    let thought = pieces.iter().flat_map(|piece| &piece.message);
    let thought = thought.flat_map(|message| &message.parts);
    let thought: String = thought
        .filter_map(|part| match part {
            Part::Thought(text) => Some(&*text.text),
            _ => None,
        })
        .collect();
    assert_eq!(thought, "/*PLANNING*/ look /*FINAL_ANSWER*/");
    assert_eq!(events.len(), 1);
    assert_eq!(talk.answer(), "Three.");
}

/// Notes what it is given.
struct Nosy;

#[petalflow::async_trait]
impl Planner for Nosy {
    async fn plan(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        let conversation = call.request.messages.len();
        call.set_state("messages", conversation);
        assert!(call.request.json_schema.is_none(), "the schema comes later");
        call.instruct("Plan.");
        Ok(())
    }

    async fn read(
        &self,
        call: &ModelCall<'_>,
        mut parts: Vec<Part>,
    ) -> Result<Vec<Part>, BoxError> {
        if parts == [Part::text("nonsense")] {
            return Err("that is not a plan".into());
        }
        let seen = if call.is_partial() { "piece" } else { "whole" };
        parts.push(Part::Thought(
            format!("{seen} after {:?}", call.so_far()).into(),
        ));
        Ok(parts)
    }
}

#[tokio::test]
async fn a009_planners_run_between_the_conversation_and_the_schema() {
    let (agent, model) = scripted_agent([Reply::chunks([
        Delta::Text("\"a".into()),
        Delta::Text("b\"".into()),
    ])]);
    let agent = agent.planner(Nosy).streaming().output::<String>();
    let (pieces, events, talk) = collect_stream(agent.events("hello")).await;
    assert_eq!(talk.state["messages"], 1);
    assert!(model.requests()[0].json_schema.is_some());
    assert_eq!(
        shape(&pieces),
        [r#""a & (piece after "")"#, r#"b" & (piece after "\"a")"#]
    );
    assert_eq!(shape(&events), [r#""ab" & (whole after "")"#]);
    assert_eq!(events[0].message.as_ref().unwrap().role, Role::Assistant);

    let (agent, _) = scripted_agent(["nonsense"]);
    assert_eq!(
        failure(&agent.planner(Nosy), "hello").await,
        "that is not a plan"
    );
}

#[tokio::test]
async fn a009_answers_of_callbacks_are_read_as_well() {
    let (agent, model) = scripted_agent(["never"]);
    let agent = agent
        .planner(PlanReAct)
        .before_model(|_| Ok(Some(LlmResponse::text_only("/*FINAL_ANSWER*/ from memory"))));
    let (_, talk) = events(&agent, "hello").await;
    assert_eq!(talk.answer(), "from memory");
    assert!(model.requests().is_empty());
}
