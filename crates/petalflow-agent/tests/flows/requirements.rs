//! Tools that take managed values.

use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::tool::Tool;
use petalflow::tool::layer::TimeoutLayer;
use petalflow_agent::{Agent, Mode};
use petalflow_llm::nodes::Model;
use petalflow_llm::{ChatMessage, LlmError, LlmErrorKind, Reply, ScriptedModel};
use petalflow_test_support::assert_contains;
use serde_json::json;

use crate::kit::{failure, results, scripted_agent};

struct Dictionary(&'static str);

/// Looks a word up.
#[tool]
fn look_up(word: String, #[run] dictionary: Managed<Dictionary>) -> String {
    format!("{word} is {}", dictionary.0)
}

fn calls() -> Reply {
    Reply::call("look_up", json!({"word": "petal"}))
}

const MISSING: &str = "takes managed values that the run does not have: `behaviour::flows::requirements::Dictionary`; pass them with \
     `agent.launch().manage(..)`";

#[tokio::test]
async fn a_forgotten_value_of_a_tool_is_an_error_before_the_model_is_asked() {
    let (agent, model) = scripted_agent([calls()]);
    let agent = agent.name("guide").tool(look_up {});
    let error = failure(&agent, "?").await;
    assert_eq!(error, format!("tool `look_up` of agent `guide` {MISSING}"));
    assert!(model.requests().is_empty());

    let (agent, _) = scripted_agent([calls(), "a leaf".into()]);
    let launch = agent.tool(look_up {}).launch().manage(Dictionary("a leaf"));
    let talk = launch.run("?").await.unwrap();
    assert_eq!(results(&talk), ["petal is a leaf"]);
}

#[tokio::test]
async fn a_forgotten_value_of_a_tool_below_or_in_a_layer_is_found_as_well() {
    let layered = look_up {}.layer(TimeoutLayer::new(std::time::Duration::from_secs(1)));
    let shared: Arc<dyn Tool> = Arc::new(layered);
    let (agent, model) = scripted_agent([calls()]);
    let below = Agent::named("scholar")
        .mode(Mode::SingleTurn)
        .tools([shared]);
    let error = failure(&agent.sub_agent(below), "?").await;
    assert_eq!(
        error,
        format!("tool `look_up` of agent `scholar` {MISSING}")
    );
    assert!(model.requests().is_empty());

    // The tools of a source are known when it is asked for them.
    let (agent, model) = scripted_agent([calls()]);
    let error = failure(&agent.tool_source(tools![look_up]), "?").await;
    assert_eq!(error, format!("tool `look_up` of agent `agent` {MISSING}"));
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_program_that_resumes_without_the_value_asks_no_model() {
    let store = InMemoryStore::new();
    let cut = LlmError::new(LlmErrorKind::Connection, "cut");
    let (agent, _) = scripted_agent([Reply::from(cut)]);
    let launch = agent.tool(look_up {}).launch().manage(Dictionary("a leaf"));
    launch.store(&store).thread("t").run("?").await.unwrap_err();

    let (agent, model) = scripted_agent(["not asked"]);
    let thread = agent.tool(look_up {}).store(&store).thread("t");
    let error = thread.resume(()).await.unwrap_err();
    assert_contains(&format!("{error:?}"), MISSING);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn the_nodes_that_call_tools_check_them_as_well() {
    let model = Arc::new(ScriptedModel::new([calls()]));
    let launch = petalflow_agent::prebuilt::ThinkAndAct::new()
        .manage(Model::new(Arc::clone(&model)))
        .manage(tools![look_up]);
    let error = launch.run(vec![ChatMessage::user("?")]).await.unwrap_err();
    assert_contains(
        &format!("{error:?}"),
        "tool `look_up` of node `think` takes a managed `behaviour::flows::requirements::Dictionary`, and the run has none: pass it with \
         `.manage(..)`",
    );
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_closure_declares_what_it_takes() {
    let look_up = || {
        petalflow::tool::FuncTool::with_context(
            "look_up",
            "",
            |_: serde_json::Value, cx| async move { Ok(cx.extract::<Managed<Dictionary>>()?.0) },
        )
        .requires::<Managed<Dictionary>>()
    };
    let (agent, model) = scripted_agent([calls()]);
    let error = failure(&agent.name("guide").tool(look_up()), "?").await;
    assert_eq!(error, format!("tool `look_up` of agent `guide` {MISSING}"));
    assert!(model.requests().is_empty());

    let (agent, _) = scripted_agent([calls(), "a leaf".into()]);
    let launch = agent.tool(look_up()).launch().manage(Dictionary("a leaf"));
    assert_eq!(results(&launch.run("?").await.unwrap()), ["a leaf"]);
}
