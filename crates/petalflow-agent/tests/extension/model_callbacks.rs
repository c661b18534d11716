//! Callbacks around models, and the steps before a request.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::async_trait;
use petalflow::tool::{ToolRegistry, ToolSet};
use petalflow::{BoxError, Context};
use petalflow_agent::extension::{
    CodeExecutor, CodeOutput, ModelCall, PlanReAct, RequestProcessor, RequestStep,
    ResponseProcessor, ResponseStep,
};
use petalflow_agent::stream::AgentEventKind;
use petalflow_agent::{Agent, AgentEvent, Mode};
use petalflow_llm::{ChatMessage, LlmError, LlmErrorKind, LlmResponse, Reply, ScriptedModel};
use serde_json::json;

use crate::kit::{constant_tool, events, failure, scripted_agent, shape};

#[expect(clippy::unnecessary_wraps, reason = "it is what callbacks return")]
fn text_response(text: &str) -> Result<Option<LlmResponse>, BoxError> {
    Ok(Some(LlmResponse::text_only(text)))
}

#[tokio::test]
async fn a013_a014_the_first_response_of_a_callback_replaces_the_model_and_the_other_callbacks() {
    let (agent, model) = scripted_agent(["the model"]);
    let agent = agent
        .before_model(|_| Ok(None))
        .before_model(|_| text_response("from memory"))
        .before_model(|_| panic!("the second has decided"))
        .after_model(|_, _| panic!("the model was not asked"));
    let (events, _) = events(&agent, "hello").await;
    assert_eq!(shape(&events), ["from memory"]);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a013_an_error_before_the_model_ends_the_run() {
    let (agent, model) = scripted_agent(["the model"]);
    let agent = agent
        .before_model(|_| Err("out of hours".into()))
        .before_model(|_| panic!("the first has decided"));
    assert_eq!(failure(&agent, "hello").await, "out of hours");
    assert!(model.requests().is_empty());
}

fn down() -> LlmError {
    LlmError::new(LlmErrorKind::Connection, "the cable is out")
}

#[tokio::test]
async fn a015_without_a_callback_the_models_error_ends_the_run() {
    let (agent, _) = scripted_agent([Reply::from(down())]);
    assert_eq!(failure(&agent, "hello").await, "the cable is out");
    let (agent, _) = scripted_agent([Reply::from(down())]);
    let agent = agent
        .on_model_error(|_, _| Ok(None))
        .on_model_error(|_, error| Err(format!("{error}, sorry").into()))
        .on_model_error(|_, _| panic!("the second has decided"));
    assert_eq!(failure(&agent, "hello").await, "the cable is out, sorry");
}

#[tokio::test]
async fn a015_a016_a_recovered_error_reaches_the_callbacks_after_the_model() {
    let (agent, _) = scripted_agent([Reply::from(down())]);
    let agent = agent
        .on_model_error(|_, _| text_response("recovered"))
        .after_model(|_, response| text_response(&format!("{} and seen", response.text())))
        .after_model(|_, _| panic!("the first has decided"));
    let (events, _) = events(&agent, "hello").await;
    assert_eq!(shape(&events), ["recovered and seen"]);
}

#[tokio::test]
async fn a024_the_state_that_callbacks_set_is_in_the_event_of_the_step() {
    // Upstream all events of a step share one map, which changes under those that were yielded already. Here pieces have none,
    // and the whole event has all of it.
    let (agent, _) = scripted_agent([Reply::chunks(["he", "llo"])]);
    let agent = agent
        .streaming()
        .before_model(|call| {
            call.set_state("asked", 1);
            Ok(None)
        })
        .after_model(|call, _| {
            let pieces = call.state("pieces").and_then(|n| n.as_u64()).unwrap_or(0);
            call.set_state("pieces", pieces + 1);
            Ok(None)
        });
    let (pieces, events, talk) = crate::kit::collect_stream(agent.events("hello")).await;
    assert!(pieces.iter().all(|piece| piece.actions.is_empty()));
    assert_eq!(
        json!(events[0].actions.state_delta),
        json!({"asked": 1, "pieces": 3})
    );
    assert_eq!(json!(talk.state), json!({"asked": 1, "pieces": 3}));
}

/// Does something to a call, and leaves its name in the instructions.
struct Step(&'static str, fn(&mut ModelCall<'_>) -> Result<(), BoxError>);

#[async_trait]
impl RequestProcessor for Step {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        call.instruct(self.0);
        (self.1)(call)
    }
}

#[tokio::test]
async fn a009_processors_run_in_their_order_and_an_error_ends_the_step() {
    let (agent, model) = scripted_agent(["hello"]);
    let agent = agent
        .name("guide")
        .description("shows the way")
        .instructions("Be brief.")
        .global_instructions("Be kind.")
        .request(|request| request.temperature = Some(0.5))
        .processor(Step("first", |_| Ok(())))
        .processor(Step("second", |call| {
            assert_eq!(call.request.temperature, Some(0.5));
            assert_eq!(call.request.messages.len(), 1);
            Ok(())
        }));
    events(&agent, "hello").await;
    assert_eq!(
        model.requests()[0].system.as_deref(),
        Some(
            "Be kind.\n\nBe brief.\n\nYou are an agent. Your internal name is \"guide\". The description about you is \"shows the way\".\n\nfirst\n\nsecond"
        )
    );

    let (agent, model) = scripted_agent(["hello"]);
    let agent = agent
        .processor(Step("broken", |_| Err("cannot".into())))
        .processor(Step("after", |_| panic!("the step has ended")));
    assert_eq!(failure(&agent, "hello").await, "cannot");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a009_the_steps_of_every_agent_come_in_their_order() {
    struct Never;
    #[async_trait]
    impl CodeExecutor for Never {
        async fn execute(&self, _: &str, _: &Context) -> Result<CodeOutput, BoxError> {
            Err("there is no code".into())
        }
    }
    let (agent, model) = scripted_agent([r#""hello""#]);
    let agent = agent
        .name("guide")
        .output::<String>()
        .code_executor(Never)
        .planner(PlanReAct)
        .instructions("Be brief.")
        .tool(constant_tool("look", json!(1)))
        .sub_agent(Agent::named("other").description("Knows more."))
        .processor(Step("mine", |_| Ok(())));
    events(&agent, "hello").await;
    let system = model.requests()[0].system.clone().unwrap();
    // Instructions, identity, planning, code, the form of the answer, transfers, and then those of one's own.
    let places = [
        "Be brief.",
        "Your internal name is",
        "/*PLANNING*/",
        "```tool_code",
        "set_model_response",
        "Agent name: other",
        "mine",
    ];
    let places = places.map(|words| system.find(words).expect(words));
    assert!(places.is_sorted(), "{places:?} in {system}");
}

#[tokio::test]
async fn a009_answers_are_processed_in_order_and_an_error_ends_the_step() {
    struct Adds(&'static str);
    #[async_trait]
    impl ResponseProcessor for Adds {
        async fn process(
            &self,
            call: &mut ModelCall<'_>,
            response: &mut LlmResponse,
        ) -> Result<(), BoxError> {
            if response.text() == "broken" {
                return Err("cannot be read".into());
            }
            call.set_state(self.0, true);
            let text = response.text() + self.0;
            *response = LlmResponse::text_only(text);
            Ok(())
        }
    }
    let (agent, _) = scripted_agent(["a", "broken"]);
    let agent = agent
        .after_model(|_, response| {
            Ok((response.text() != "broken").then(|| LlmResponse::text_only("b")))
        })
        .response_processor(Adds("c"))
        .response_processor(Adds("d"));
    let talk = agent.run("go").await.unwrap();
    assert_eq!(talk.answer(), "bcd", "behind the callbacks, in their order");
    assert_eq!(json!(talk.state), json!({ "c": true, "d": true }));
    assert_eq!(
        failure(&agent, talk.next_input("again")).await,
        "cannot be read"
    );
    let (agent, _) = scripted_agent(["a"]);
    let agent = agent
        .response_processor(Adds("c"))
        .response_processors([ResponseStep::custom(Adds("!"))]);
    assert_eq!(agent.run("go").await.unwrap().answer(), "a!");
}

#[tokio::test]
async fn a017_an_error_of_a_callback_after_the_model_ends_the_run() {
    for streams in [false, true] {
        let (agent, model) = scripted_agent([Reply::chunks(["he", "llo"])]);
        let agent = agent
            .after_model(|_, _| Err("not fit to print".into()))
            .after_model(|_, _| panic!("the first has decided"))
            .on_model_error(|_, _| panic!("the model did not fail"));
        let agent = if streams { agent.streaming() } else { agent };
        assert_eq!(failure(&agent, "hi").await, "not fit to print");
        assert_eq!(model.requests().len(), 1);
    }
}

#[tokio::test]
async fn a009_all_processors_may_be_replaced() {
    let (agent, model) = scripted_agent(["hello"]);
    let alone = RequestStep::custom(Step("alone", |_| Ok(())));
    events(&agent.instructions("unheard").processors([alone]), "hello").await;
    assert_eq!(model.requests()[0].system.as_deref(), Some("alone"));
    assert!(model.requests()[0].messages.is_empty());
}

#[tokio::test]
async fn a010_a_processor_may_add_events_before_the_model_is_asked() {
    let (agent, _) = scripted_agent(["hello"]);
    let agent = agent.processor(Step("notes", |call| {
        call.emit(AgentEvent::new("", ChatMessage::assistant("wait a moment")));
        call.emit(AgentEvent::new("clock", ChatMessage::assistant("noon")));
        Ok(())
    }));
    let (events, _) = events(&agent, "hello").await;
    assert_eq!(shape(&events), ["wait a moment", "noon", "hello"]);
    let authors: Vec<&str> = events.iter().map(|event| &*event.author).collect();
    assert_eq!(authors, ["agent", "clock", "agent"]);
}

#[tokio::test]
async fn a010_an_event_that_a_processor_adds_is_emitted_at_once() {
    // The model never answers, so the events were emitted before its answer.
    let model = ScriptedModel::new([Reply::chunks(["never"]).every(Duration::from_hours(1))]);
    let agent = Agent::new(model).processor(Step("notes", |call| {
        call.emit(AgentEvent::new("", ChatMessage::assistant("wait a moment")));
        Ok(())
    }));
    let mut events = agent.events("hello");
    let heard = tokio::time::timeout(Duration::from_secs(5), events.next());
    let heard = heard.await.expect("it is heard at once").unwrap();
    let AgentEventKind::Event(event) = &heard.kind else {
        panic!("{heard:?}")
    };
    assert_eq!(
        (event.text(), event.partial),
        ("wait a moment".into(), false)
    );
    let task = heard.task.as_ref().unwrap();
    assert_eq!((&*task.node, task.attempt), ("ask", 1));
    // Dropping the stream here ends the run before the model is asked.
    drop(events);

    // It has the same id in the conversation.
    let (agent, model) = scripted_agent(["hello"]);
    let agent = agent.processor(Step("notes", |call| {
        call.emit(AgentEvent::new("", ChatMessage::assistant("wait a moment")));
        Ok(())
    }));
    let mut stream = agent.events("hello");
    let mut heard = Vec::new();
    while let Some(progress) = stream.next().await {
        match progress.kind {
            AgentEventKind::Event(event) => {
                if heard.is_empty() {
                    assert!(model.requests().is_empty(), "before the model is asked");
                }
                heard.push(event);
            }
            AgentEventKind::Finished(talk) => assert_eq!(talk.events[1..], heard),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(shape(&heard), ["wait a moment", "hello"], "each once");
}

#[tokio::test]
async fn a010_an_event_added_in_a_nested_agent_is_emitted_once() {
    let (inner, _) = scripted_agent(["hola"]);
    let inner = inner.name("translator").mode(Mode::SingleTurn);
    let inner = inner.processor(Step("notes", |call| {
        call.emit(AgentEvent::new("", ChatMessage::assistant("one word")));
        Ok(())
    }));
    let ask = Reply::call("translator", json!({ "request": "hello" }));
    let (agent, _) = scripted_agent([ask, "done".into()]);
    let (heard, talk) = events(&agent.sub_agent(inner), "hello").await;
    assert_eq!(shape(&heard)[1..3], ["one word", "hola"]);
    assert_eq!(heard, talk.events[1..]);
}

#[tokio::test]
async fn a012_a_turn_that_a_processor_has_ended_asks_no_model() {
    let (agent, model) = scripted_agent(["hello"]);
    let agent = agent.processor(Step("end", |call| {
        call.emit(AgentEvent::new("", ChatMessage::assistant("we are closed")));
        call.end();
        Ok(())
    }));
    let (events, _) = events(&agent, "hello").await;
    assert_eq!(shape(&events), ["we are closed"]);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a011_tools_then_sources_add_themselves_behind_the_processors() {
    // Upstream a tool that does not know how to add itself is an error. Here every tool can, by its type; a source without
    // tools adds nothing.
    let (agent, model) = scripted_agent([Reply::call("b1", json!({})), "done".into()]);
    let registry = ToolRegistry::new();
    registry.register(constant_tool("b1", json!("found")));
    let agent: Agent = agent
        .tool_source(ToolSet::new())
        .tool_source(registry)
        .tool(constant_tool("a1", json!(1)))
        .processor(Step("p", |call| {
            assert!(
                call.request.tools.is_empty(),
                "tools come after the processors"
            );
            Ok(())
        }));
    let (_, talk) = events(&agent, "go").await;
    let request = &model.requests()[0];
    let names: Vec<&str> = request.tools.iter().map(|spec| &*spec.name).collect();
    assert_eq!(names, ["a1", "b1"]);
    assert_eq!(crate::kit::results(&talk), ["found"]);
}

#[tokio::test]
async fn a018_plugins_run_before_the_callbacks_of_the_agent() {
    let order: Arc<Mutex<Vec<&str>>> = Arc::default();
    let (first, second) = (Arc::clone(&order), Arc::clone(&order));
    let (agent, _) = scripted_agent(["hello"]);
    let agent = agent
        .before_model(move |_| {
            first.lock().unwrap().push("own");
            Ok(None)
        })
        .plugin(Before(second));
    events(&agent, "hello").await;
    assert_eq!(*order.lock().unwrap(), ["plugin", "own"]);
}

struct Before(Arc<Mutex<Vec<&'static str>>>);

#[async_trait]
impl petalflow_agent::extension::Callbacks for Before {
    async fn before_model(&self, _: &mut ModelCall<'_>) -> Result<Option<LlmResponse>, BoxError> {
        self.0.lock().unwrap().push("plugin");
        Ok(None)
    }
}
