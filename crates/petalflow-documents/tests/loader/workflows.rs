//! Workflows of agents that run.

use std::sync::Arc;

use petalflow_documents::Services;
use petalflow_documents::document::{Catalog, GraphDefinition, Source};
use petalflow_documents::kinds::AutoHandler;
use petalflow_llm::ScriptedModel;
use serde_json::json;

use super::{load_flow, run};

fn graph(text: &str) -> GraphDefinition {
    let document = Source::new("w.yaml", text).check(&Catalog::default());
    let document = document.unwrap_or_else(|errors| panic!("{errors}"));
    document.graph(&Catalog::default())
}

const AGENTS: &str = "
version: '1'
kind: agent_workflow
id: w
name: W
agents:
  a: { role: Agent, goal: Work, provider: openai, model: m }
tasks:
  one: { description: 'Say {{input.word}}.', agent: a, expected_output: A word, output_key: word_said, review: human }
  two: { description: 'Repeat {{tasks.one.output}}.', agent: a, expected_output: A word }
";

/// Upstream, the variable of a task with `output_key` or `review` is empty, and a rejection has no effect.
#[tokio::test]
async fn p204_results_of_tasks_with_names_and_reviews_reach_the_next_task() -> petalflow::Result<()>
{
    let graph = graph(&format!(
        "{AGENTS}execution: {{ strategy: sequential, task_order: [one, two] }}"
    ));
    let model = Arc::new(ScriptedModel::new(["first", "second"]));
    let services = Services::new()
        .model("openai", Arc::clone(&model))
        .human(AutoHandler::approve());
    let vars = run(&graph, &services, json!({ "word": "hello" })).await?;
    assert_eq!(
        (&vars["word_said"], &vars["two__a_output"]),
        (&json!("first"), &json!("second"))
    );
    let asked = model.requests().into_iter();
    let asked: Vec<String> = asked.filter_map(|request| request.input_text).collect();
    assert_eq!(asked, ["Say hello.", "Repeat first."]);

    let services = Services::new()
        .model("openai", ScriptedModel::new(["first"]))
        .human(AutoHandler::reject());
    let error = run(&graph, &services, json!({ "word": "hello" }))
        .await
        .expect_err("it is rejected");
    assert!(
        error
            .to_string()
            .contains("the result of task `one` was rejected"),
        "{error}"
    );
    Ok(())
}

/// Upstream runs the first task only.
#[tokio::test]
async fn parallel_tasks_all_run_and_are_merged() -> petalflow::Result<()> {
    let text = AGENTS
        .replace("{{tasks.one.output}}", "it")
        .replace(", review: human", "")
        .replace(", output_key: word_said", "");
    let graph = graph(&format!(
        "{text}execution: {{ strategy: parallel, merge_strategy: concat }}"
    ));
    let answer = |request: &petalflow_llm::LlmRequest| {
        format!("<{}>", request.input_text.as_deref().unwrap_or_default())
    };
    let services = Services::new().model("openai", ScriptedModel::from_fn(answer));
    let vars = run(&graph, &services, json!({ "word": "hello" })).await?;
    assert_eq!(vars["w__merge_output"], "<Say hello.>\n<Repeat it.>");
    Ok(())
}

#[tokio::test]
async fn a_manager_chooses_tasks_until_it_is_done() -> petalflow::Result<()> {
    let text = AGENTS
        .replace("{{tasks.one.output}}", "it")
        .replace(", review: human", "");
    let graph = graph(&format!(
        "{text}execution: {{ strategy: hierarchical, manager_agent: a }}"
    ));
    let choice = |choice: &str| json!({ "choice": choice }).to_string();
    let answers = [
        choice("two__a"),
        "second".into(),
        choice("one__a"),
        "first".into(),
        choice("done"),
    ];
    let services = Services::new().model("openai", ScriptedModel::new(answers));
    let vars = run(&graph, &services, json!({ "word": "hello" })).await?;
    assert_eq!(
        (&vars["one__a_output"], &vars["two__a_output"]),
        (&json!("first"), &json!("second"))
    );
    Ok(())
}

#[tokio::test]
async fn conditions_decide_which_tasks_run() -> petalflow::Result<()> {
    let text = AGENTS
        .replace("{{tasks.one.output}}", "it")
        .replace(", review: human", "");
    let tasks = r#"execution:
  strategy: custom
  tasks: { one: { depends_on: [] }, two: { depends_on: [one], condition: 'tasks.one.output == "go"' } }"#;
    let graph = graph(&format!("{text}{tasks}"));
    let services =
        |answer: &str| Services::new().model("openai", ScriptedModel::new([answer, "second"]));
    let vars = run(&graph, &services("go"), json!({ "word": "x" })).await?;
    assert_eq!(vars["two__a_output"], "second");
    let vars = run(&graph, &services("stop"), json!({ "word": "x" })).await?;
    assert_eq!(vars.get("two__a_output"), None);
    let _ = load_flow(&graph, &services("x"));
    Ok(())
}
