//! Flows of documents: a greeting in JSON, and two agents in YAML that do research.
//!
//! The documents are checked while this program compiles. The answers are those of a script.
//!
//! ```sh
//! cargo run --bin documents -- tulips
//! ```

use std::sync::Arc;

use petalflow_envelope::kinds::AutoHandler;
use petalflow_envelope::{Envelope, flow_from};
use petalflow_llm::{LlmClient, LlmRequest, ScriptedModel};

flow_from!("../../documents/greeting.graph.json");
flow_from!("../../documents/research.agent.yaml");

/// Answers with what it was asked.
fn model(name: &str) -> Arc<dyn LlmClient> {
    let name = name.to_owned();
    Arc::new(ScriptedModel::from_fn(move |request: &LlmRequest| {
        let prompt = request.input_text.as_deref().unwrap_or_default();
        format!("{name}: I was asked to do this: {}", prompt.trim())
    }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> petalflow::Result<()> {
    let topic = std::env::args().nth(1).unwrap_or_else(|| "bees".into());

    let greeting = Greeting::new()?;
    let envelope = greeting
        .run(Envelope::new().with_var("name", "reader"))
        .await?;
    println!("{}", envelope.get_var_string("greeting"));

    let research = Research::new(ResearchServices {
        anthropic: model("claude"),
        openai: model("gpt"),
        // A program with people gives a handler that asks them.
        human: Arc::new(AutoHandler::approve()),
    })?;
    let envelope = research
        .run(Envelope::new().with_var("topic", topic))
        .await?;
    println!("{}", envelope.get_var_string("write_report__writer_output"));
    Ok(())
}
