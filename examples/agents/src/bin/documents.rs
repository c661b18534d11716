//! Flows of documents: a greeting in JSON, and two agents in YAML that do research.
//!
//! The documents are checked while this program compiles. With `ANTHROPIC_API_KEY` and `OPENAI_API_KEY`, the models that the
//! second document names are asked; without the key of one, a script answers in its place.
//!
//! ```sh
//! cargo run --bin documents -- tulips
//! ```

use std::sync::Arc;

use petalflow_documents::kinds::AutoHandler;
use petalflow_documents::{Envelope, flow_from};
use petalflow_llm::{LlmClient, LlmError, LlmRequest, ProviderModel, ScriptedModel};

flow_from!("../../documents/greeting.graph.json");
flow_from!("../../documents/research.agent.yaml");

/// The model with this name if there is a key for it, or else a script that answers with what it was asked.
fn model(key: &str, name: &str) -> Result<Arc<dyn LlmClient>, LlmError> {
    if std::env::var(key).is_ok_and(|key| !key.is_empty()) {
        return Ok(Arc::new(ProviderModel::new(name)?));
    }
    let name = name.to_owned();
    Ok(Arc::new(ScriptedModel::from_fn(
        move |request: &LlmRequest| {
            let prompt = request.input_text.as_deref().unwrap_or_default();
            format!("{name}: I was asked to do this: {}", prompt.trim())
        },
    )))
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
        anthropic: model("ANTHROPIC_API_KEY", "claude-sonnet-4-6")?,
        openai: model("OPENAI_API_KEY", "gpt-5.4")?,
        // A program with people gives a handler that asks them.
        human: Arc::new(AutoHandler::approve()),
    })?;
    let envelope = research
        .run(Envelope::new().with_var("topic", topic))
        .await?;
    println!("{}", envelope.get_var_string("write_report__writer_output"));
    Ok(())
}
