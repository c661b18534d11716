//! Answers of a form that was asked for.

use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::{Agent, AgentEvent, Mode};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{Capabilities, LlmError, LlmErrorKind, LlmResponse, Reply, ScriptedModel};
use petalflow_test_support::assert_contains;
use serde::Deserialize;
use serde_json::json;

use crate::kit::{constant_tool, events, failure, results, scripted_agent, sent_messages, shape};

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

const ROSE: &str = r#"{"name": "rose", "petals": 5}"#;

const NAMES: [&str; 2] = ["look", "set_model_response"];

#[tokio::test]
async fn a051_the_answer_is_set_by_a_tool_and_becomes_the_last_message() {
    let (agent, model) = scripted_agent([
        Reply::call("look", json!({})),
        Reply::call("set_model_response", json!({"name": "rose", "petals": 5})),
    ]);
    let agent = agent
        .tool(constant_tool("look", json!("a rose")))
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
    let (agent, _) = scripted_agent([
        Reply::call(
            "set_model_response",
            json!({"name": "rose", "petals": "five"}),
        ),
        Reply::call("set_model_response", json!({"name": "rose", "petals": 5})),
    ]);
    let agent = agent
        .tool(constant_tool("look", json!("a rose")))
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
    let (agent, model) = scripted_agent([ROSE]);
    events(
        &agent
            .tool(constant_tool("look", json!(1)))
            .output::<Flower>(),
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
    let (agent, model) = scripted_agent([ROSE]);
    events(&agent.output::<Flower>(), "?").await;
    assert!(names(&model).is_empty());
    let schema = model.requests()[0].json_schema.clone().unwrap();
    assert_eq!(schema["required"], json!(["name", "petals"]));

    // No schema.
    let (agent, model) = scripted_agent(["{}"]);
    events(&agent.tool(constant_tool("look", json!(1))), "?").await;
    assert_eq!(names(&model), ["look"]);

    // A model that can do both.
    let able = Capabilities::default().with_schema_with_tools();
    let model = Arc::new(ScriptedModel::new([ROSE]).with_capabilities(able));
    let agent = Agent::new(Arc::clone(&model))
        .tool(constant_tool("look", json!(1)))
        .output::<Flower>();
    events(&agent, "?").await;
    assert_eq!(names(&model), ["look"]);
    assert!(model.requests()[0].json_schema.is_some());
}

#[tokio::test]
async fn an_answer_is_also_read_from_a_markdown_block() {
    let (agent, _) = scripted_agent(["```json\n{\"name\": \"rose\", \"petals\": 5}\n```"]);
    let talk = agent.output::<Flower>().run("?").await.unwrap();
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
    assert_eq!(shape(&talk.events).len(), 2);
}

/// The problems of the repairs in these events, with their numbers.
fn repairs(events: &[AgentEvent]) -> Vec<String> {
    let repairs = events.iter().filter_map(|event| event.repair.as_ref());
    repairs
        .map(|repair| format!("{} {}", repair.number, repair.problem))
        .collect()
}

#[tokio::test]
async fn an_answer_that_does_not_fit_goes_back_to_the_model_with_the_problem() {
    let wrong = r#"{"name": "rose", "petals": -1}"#;
    let (agent, model) = scripted_agent([wrong, "A rose has five.", ROSE]);
    let agent = agent.output::<Flower>();
    let (events, talk) = events(&agent, "what is it?").await;
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
    assert_eq!(talk.answer(), ROSE);
    // Each problem is on the answer and on the request for another one.
    let problems = repairs(&events);
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert_contains(&problems[1], "1 `petals`: invalid value: integer `-1`");
    assert_contains(&problems[3], "2 expected value at line 1 column 1");
    let finals: Vec<bool> = events.iter().map(AgentEvent::is_final).collect();
    assert_eq!(finals, [false, false, false, false, true]);
    let asked = sent_messages(&model);
    assert_eq!(asked.len(), 5);
    assert_eq!(asked[1], format!("assistant: {wrong}"));
    assert_contains(
        &asked[2],
        "user: Your answer does not have the requested form: `petals`",
    );
    assert_contains(&asked[2], r#""required":["name","petals"]"#);
    // The next turn counts anew.
    let talk = agent.run(talk.next_input("and this?")).await;
    assert_contains(&format!("{:?}", talk.unwrap_err()), "the script");
}

#[tokio::test]
async fn too_many_answers_that_do_not_fit_are_an_error_with_the_last_one() {
    for (repairs, times) in [(0, "1 attempt:"), (1, "2 attempts:"), (2, "3 attempts:")] {
        let model = Arc::new(ScriptedModel::from_fn(|_| "five"));
        let agent = Agent::new(Arc::clone(&model)).name("botanist");
        let agent = agent.output::<Flower>().max_repairs(repairs);
        let error = failure(&agent, "?").await;
        assert_contains(
            &error,
            &format!("agent `botanist` gave no answer of the requested form in {times}"),
        );
        assert_contains(&error, "its last answer is `five`");
        assert_contains(&error, ".max_repairs(..)");
        assert_eq!(model.requests().len(), repairs as usize + 1);
    }
}

#[tokio::test]
async fn an_empty_answer_is_repaired_and_one_that_the_provider_stopped_is_not() {
    let (agent, _) = scripted_agent([Reply::text(""), ROSE.into()]);
    let (events, talk) = events(&agent.output::<Flower>(), "?").await;
    assert_eq!(repairs(&events)[0], "1 it is empty");
    assert_eq!(talk.output::<Flower>().unwrap(), rose());

    let stopped = Reply::from(LlmResponse::default()).with_finish(FinishReason::ContentFilter);
    let (agent, model) = scripted_agent([stopped]);
    let talk = agent.output::<Flower>().run("?").await.unwrap();
    assert_eq!(talk.error(), Some("the model stopped: ContentFilter"));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_the_answer_or_without_the_requested_form_an_error() {
    let refusal = || {
        let response = LlmResponse {
            finish_message: Some("I cannot say that.".into()),
            ..LlmResponse::text_only("I cannot say that.")
        };
        Reply::from(response).with_finish(FinishReason::Refusal)
    };
    let (agent, _) = scripted_agent([refusal()]);
    let talk = agent.run("?").await.unwrap();
    assert_eq!(
        (talk.answer(), talk.error()),
        ("I cannot say that.".into(), None)
    );
    let answer = talk.events.last().unwrap();
    assert_eq!(answer.finish_message.as_deref(), Some("I cannot say that."));

    let (agent, model) = scripted_agent([refusal()]);
    let error = failure(&agent.output::<Flower>(), "?").await;
    assert_contains(
        &error,
        "the model of agent `agent` refused to give an answer of the requested form: I cannot say that.",
    );
    assert_eq!(model.requests().len(), 1, "asking again would not help");

    let silent = LlmResponse {
        finish_message: Some("cyber".into()),
        ..LlmResponse::default()
    };
    let silent = Reply::from(silent).with_finish(FinishReason::Refusal);
    let (agent, _) = scripted_agent([silent]);
    let talk = agent.output::<Flower>().run("?").await.unwrap();
    assert_eq!(talk.error(), Some("the model refused to answer: cyber"));
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_reported_as_such() {
    let cut = Reply::text(r#"{"name": "ro"#).with_finish(FinishReason::Length);
    let (agent, _) = scripted_agent([cut, ROSE.into()]);
    let (events, _) = events(&agent.output::<Flower>(), "?").await;
    assert_contains(
        &repairs(&events)[0],
        "it was cut off at the maximum number of tokens",
    );
}

#[tokio::test]
async fn prose_in_place_of_the_tool_is_repaired() {
    let set = || Reply::call("set_model_response", json!({"name": "rose", "petals": 5}));
    let (agent, model) = scripted_agent(["It is a rose.".into(), set()]);
    let agent = agent
        .tool(constant_tool("look", json!("a rose")))
        .output::<Flower>();
    let (_, talk) = events(&agent, "?").await;
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
    assert_contains(
        sent_messages(&model).last().unwrap(),
        "Give the answer by calling `set_model_response`.",
    );
    // Text that fits is as good as the tool.
    let (agent, model) = scripted_agent([ROSE]);
    let agent = agent
        .tool(constant_tool("look", json!("a rose")))
        .output::<Flower>();
    assert_eq!(
        agent.run("?").await.unwrap().output::<Flower>().unwrap(),
        rose()
    );
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn wrong_arguments_of_the_answer_tool_are_repaired_as_often() {
    let wrong = json!({"name": "rose", "petals": "five"});
    let model = Arc::new(ScriptedModel::from_fn(move |_| {
        Reply::call("set_model_response", wrong.clone())
    }));
    let agent = Agent::new(Arc::clone(&model)).tool(constant_tool("look", json!(1)));
    let error = failure(&agent.output::<Flower>(), "?").await;
    assert_contains(
        &error,
        "in 3 attempts: the arguments do not fit the schema at `petals`",
    );
    assert_contains(
        &error,
        r#"its last answer is `{"name":"rose","petals":"five"}`"#,
    );
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_callback_that_hides_the_error_of_the_answer_tool_does_not_make_the_answer_fit() {
    let set = |petals| {
        Reply::call(
            "set_model_response",
            json!({"name": "rose", "petals": petals}),
        )
    };
    let (agent, _) = scripted_agent([set(json!("five")), set(json!(5))]);
    let agent = agent
        .tool(constant_tool("look", json!(1)))
        .output::<Flower>()
        .on_tool_error(|_, _| Ok(Some(json!("never mind"))));
    let (events, talk) = events(&agent, "?").await;
    assert_eq!(repairs(&events), ["1 the arguments do not fit the schema"]);
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
}

#[tokio::test]
async fn an_answer_after_tools_is_repaired_with_a_schema_and_tools() {
    let able = Capabilities::default().with_schema_with_tools();
    let replies = [Reply::call("look", json!({})), "a rose".into(), ROSE.into()];
    let model = Arc::new(ScriptedModel::new(replies).with_capabilities(able));
    let agent = Agent::new(Arc::clone(&model)).tool(constant_tool("look", json!("a rose")));
    let (events, talk) = events(&agent.output::<Flower>(), "?").await;
    assert_eq!(repairs(&events).len(), 2);
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
    assert!(
        model
            .requests()
            .iter()
            .all(|request| request.json_schema.is_some())
    );
}

#[tokio::test]
async fn the_result_of_a_task_is_repaired_as_often() {
    let model = Arc::new(ScriptedModel::from_fn(|request| {
        let finishes = request.tools.iter().any(|spec| spec.name == "finish_task");
        if finishes {
            Reply::call("finish_task", json!({"name": "rose"}))
        } else {
            Reply::call("botanist", json!({"request": "what is it?"}))
        }
    }));
    let botanist = Agent::named("botanist").mode(Mode::Task).output::<Flower>();
    let agent = Agent::new(Arc::clone(&model))
        .name("guide")
        .sub_agent(botanist);
    let error = failure(&agent, "?").await;
    assert_contains(
        &error,
        "agent `botanist` gave no answer of the requested form in 3 attempts",
    );
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test]
async fn a_called_agent_repairs_its_answer_before_it_returns_it() {
    let (agent, model) = scripted_agent([
        Reply::call("botanist", json!({"request": "what is it?"})),
        "a rose".into(),
        ROSE.into(),
        "It is a rose.".into(),
    ]);
    let botanist = Agent::named("botanist")
        .mode(Mode::SingleTurn)
        .output::<Flower>();
    let (_, talk) = events(&agent.sub_agent(botanist), "?").await;
    assert_eq!(
        results(&talk).last(),
        Some(&json!({"result": {"name": "rose", "petals": 5}}))
    );
    assert_eq!(talk.answer(), "It is a rose.");
    // What went back to one agent is not for the other.
    assert_eq!(
        sent_messages(&model)
            .iter()
            .filter(|message| message.contains("requested form"))
            .count(),
        0
    );
}

#[tokio::test]
async fn an_answer_of_a_callback_is_not_repaired() {
    let (agent, model) = scripted_agent(["not asked"]);
    let agent = agent
        .output::<Flower>()
        .before_model(|_| Ok(Some(LlmResponse::text_only("I must not answer that."))));
    let talk = agent.run("?").await.unwrap();
    assert_eq!(talk.answer(), "I must not answer that.");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_turn_that_resumes_continues_the_count() {
    let store = InMemoryStore::new();
    let cut = || LlmError::new(LlmErrorKind::Connection, "cut");
    let (agent, _) = scripted_agent([Reply::text("one"), "two".into(), cut().into()]);
    let thread = agent.output::<Flower>().store(&store).thread("t");
    thread.run("?").await.unwrap_err();

    // Another process, with another model.
    let (agent, model) = scripted_agent(["three", ROSE]);
    let thread = agent.output::<Flower>().store(&store).thread("t");
    let error = thread.resume(()).await.unwrap_err();
    assert_contains(&format!("{error:?}"), "in 3 attempts");
    assert_eq!(model.requests().len(), 1);
    let talk = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
}

#[tokio::test]
async fn an_answer_of_another_type_says_how_to_ask_for_it() {
    let (agent, _) = scripted_agent(["I see 3 roses."]);
    let talk = agent.run("what do you see?").await.unwrap();
    let error = talk.output::<Vec<Option<Flower>>>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answer `I see 3 roses.` is not a `Vec<Option<Flower>>`: expected value at line 1 column 1; ask the agent for \
         answers of this type with `.output::<Vec<Option<Flower>>>()`"
    );
}

#[tokio::test]
async fn an_error_names_the_agent_and_no_node_of_its_flow() {
    let refused = || LlmError::new(LlmErrorKind::Auth, "`openai` refused the key");
    let (agent, _) = scripted_agent([Reply::from(refused())]);
    let error = agent.run("hello").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model of agent `agent` failed: `openai` refused the key"
    );
    let place = error.node().map(|node| (node, error.superstep()));
    assert_eq!(place, Some(("ask", 2)));

    // On a thread, and with an error of the program's own.
    let store = InMemoryStore::new();
    let (agent, _) = scripted_agent(["never"]);
    let agent = agent.before_model(|_| Err("the budget file is missing".into()));
    let thread = agent.store(&store).thread("ann");
    let error = thread.run("hello").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `agent`: the budget file is missing"
    );
}

/// How sure a model is, and of what.
#[derive(Debug, PartialEq, Deserialize, petalflow::tool::schemars::JsonSchema)]
#[schemars(crate = "petalflow::tool::schemars")]
struct Guess {
    #[schemars(length(min = 3))]
    name: String,
    #[schemars(range(max = 1.0))]
    sure: f64,
}

#[tokio::test]
async fn limits_of_the_schema_hold_and_all_mistakes_are_told_at_once() {
    let (agent, model) = scripted_agent([
        r#"{"name": "ro", "sure": 7.5}"#,
        r#"{"name": 5, "sure": "very"}"#,
        r#"{"name": "rose", "sure": 0.5}"#,
    ]);
    let agent = agent.output::<Guess>();
    let talk = agent.run("what is it?").await.unwrap();
    let guess = Guess {
        name: "rose".into(),
        sure: 0.5,
    };
    assert_eq!(talk.output::<Guess>().unwrap(), guess);
    let sent = sent_messages(&model);
    assert_contains(
        &sent[2],
        r#"`name` is "ro", and must have at least 3 characters, not 2; `sure` is 7.5, and must be at most 1"#,
    );
    assert_contains(
        &sent[4],
        r#"`name` is 5, and must be a text; `sure` is "very", and must be a number"#,
    );
}

#[tokio::test]
async fn a_validator_asks_the_model_again_up_to_the_limit() {
    let reply = r#"{"name": "rose", "petals": 4}"#;
    let (agent, model) = scripted_agent([reply, reply, ROSE]);
    let five = |flower: &Flower| match flower.petals {
        5 => Ok(()),
        petals => Err(format!("a wild rose has 5 petals, not {petals}")),
    };
    let agent = agent.valid_output(five);
    let talk = agent.run("what is it?").await.unwrap();
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
    let sent = sent_messages(&model);
    assert_contains(&sent[4], "a wild rose has 5 petals, not 4");

    let (agent, _) = scripted_agent([reply, reply]);
    let error = failure(&agent.valid_output(five).max_repairs(1), "what is it?").await;
    assert_contains(&error, "a wild rose has 5 petals, not 4");

    // The same for an answer that is given with a tool.
    let (agent, _) = scripted_agent([
        Reply::call("set_model_response", json!({"name": "rose", "petals": 4})),
        Reply::call("set_model_response", json!({"name": "rose", "petals": 5})),
    ]);
    let agent = agent
        .tool(constant_tool("look", json!("a rose")))
        .valid_output(five);
    let talk = agent.run("what is it?").await.unwrap();
    assert_eq!(talk.output::<Flower>().unwrap(), rose());
}
