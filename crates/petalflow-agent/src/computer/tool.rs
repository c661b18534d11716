//! The tool with which a model uses a computer.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Computer;
use super::action::{Step, steps};
use super::gemini;
use petalflow::async_trait;
use petalflow::error::message_with_sources;
use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};
use petalflow_llm::native::ComputerUse;

/// The tool that does what the model says, and shows it the screen.
pub(crate) struct ComputerTool<C> {
    computer: C,
    /// The size of the screenshots that the provider is told.
    display: Option<(u32, u32)>,
    spec: Arc<ToolSpec>,
}

/// The result of an action after one that failed.
const NOT_DONE: &str = "not done, because an action before it failed";

impl<C: Computer> ComputerTool<C> {
    pub(crate) fn new(computer: C, used: &ComputerUse) -> Self {
        // Providers have a description of their own.
        let spec = ToolSpec::new(
            ComputerUse::NAME,
            "Uses a computer.",
            json!({ "type": "object" }),
        );
        ComputerTool {
            computer,
            display: used.display_width.zip(used.display_height),
            spec: Arc::new(spec),
        }
    }

    /// Makes the calls of functions of Gemini, in their order. Each has a result, with the address of the page and a screenshot.
    async fn functions(&self, calls: &[Value]) -> Value {
        let mut results: Vec<Value> = Vec::with_capacity(calls.len());
        let mut failed = false;
        for call in calls {
            if failed {
                results.push(json!({ "error": NOT_DONE }));
                continue;
            }
            let mut result = Map::new();
            if let Err(error) = self.function(call).await {
                failed = true;
                result.insert("error".into(), error.into());
            }
            self.show(&mut result).await;
            failed |= result.contains_key("error");
            results.push(result.into());
        }
        json!({ "results": results })
    }

    /// Makes the call of a function.
    async fn function(&self, call: &Value) -> Result<(), String> {
        let display = self.computer.display().or(self.display);
        let display = display.ok_or(
            "the size of the screenshots is not known: the program must give it with `Computer::display`",
        )?;
        for step in gemini::steps(call, display)? {
            if let Step::Act(action) = step {
                let acted = self.computer.act(action).await;
                acted.map_err(|error| message_with_sources(&*error))?;
            }
        }
        Ok(())
    }

    /// Adds what the screen shows to a result.
    async fn show(&self, result: &mut Map<String, Value>) {
        let shown = match self.computer.url().await {
            Ok(url) => {
                result.insert("url".into(), url.unwrap_or_default().into());
                self.computer.screenshot().await
            }
            Err(error) => Err(error),
        };
        match shown {
            Ok(screenshot) => drop(result.insert("screenshot".into(), screenshot.to_block())),
            Err(error) => {
                let error = message_with_sources(&*error);
                // The first error is the cause.
                result.entry("error").or_insert_with(|| error.into());
            }
        }
    }
}

#[async_trait]
impl<C: Computer> Tool for ComputerTool<C> {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, arguments: Value, _: &ToolContext) -> Result<Value, ToolError> {
        if let Some(calls) = gemini::calls(&arguments) {
            return Ok(self.functions(calls).await);
        }
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
}
