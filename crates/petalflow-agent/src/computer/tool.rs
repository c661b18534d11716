//! The tool with which a model uses a computer.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Computer;
use super::action::{Step, steps};
use petalflow::async_trait;
use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};
use petalflow_llm::native::ComputerUse;

/// The tool that does what the model says, and shows it the screen.
pub(crate) struct ComputerTool<C> {
    computer: C,
    spec: Arc<ToolSpec>,
}

impl<C: Computer> ComputerTool<C> {
    pub(crate) fn new(computer: C) -> Self {
        // Providers have a description of their own.
        let spec = ToolSpec::new(
            ComputerUse::NAME,
            "Uses a computer.",
            json!({ "type": "object" }),
        );
        ComputerTool {
            computer,
            spec: Arc::new(spec),
        }
    }
}

#[async_trait]
impl<C: Computer> Tool for ComputerTool<C> {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: &ToolContext) -> Result<Value, ToolError> {
        let steps = steps(&arguments).map_err(ToolError::Arguments)?;
        // OpenAI and older models of Anthropic read the screen after each call, newer ones ask for it.
        let shows = arguments["actions"].is_array()
            || arguments["action"].is_string()
            || steps.contains(&Step::Screenshot);
        for step in steps {
            if let Step::Act(action) = step {
                self.computer.act(action).await.map_err(ToolError::Failed)?;
            }
        }
        if !shows {
            return Ok(json!("done"));
        }
        let screenshot = self
            .computer
            .screenshot()
            .await
            .map_err(ToolError::Failed)?;
        Ok(screenshot.to_block())
    }

    /// What the provider warns of must be confirmed.
    fn confirm(&self, arguments: &Value) -> Option<String> {
        let checks = arguments["pending_safety_checks"].as_array();
        let warnings = checks.into_iter().flatten().map(|check| {
            let words = check["message"].as_str().or(check["code"].as_str());
            words.unwrap_or("a safety check without words")
        });
        let warnings: Vec<&str> = warnings.collect();
        (!warnings.is_empty()).then(|| {
            format!(
                "The provider of the model warns of this action: {}. Do it?",
                warnings.join("; ")
            )
        })
    }
}
