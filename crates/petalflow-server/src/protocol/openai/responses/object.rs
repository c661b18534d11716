//! A response as an object.

use petalflow_agent::ClientSettings;
use petalflow_llm::request::ToolChoice;
use petalflow_llm::response::FinishReason;
use serde_json::{Value, json};

use super::output::Output;
use crate::protocol::openai::start::USER;
use crate::protocol::openai::usage;
use crate::protocol::turn::{TurnEnd, TurnOutcome};
use crate::served::Labels;

/// There is no event of a cancelled response.
const CANCELLED_EVENT: &str = "response.incomplete";

/// What is known of a response before its turn has ended.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) created: u64,
    pub(super) settings: ClientSettings,
    pub(super) labels: Labels,
    pub(super) previous: Option<String>,
    /// `None`: it is not known any more.
    pub(super) background: Option<bool>,
    pub(super) stores: bool,
}

impl Head {
    /// The response whose turn is in progress.
    pub(super) fn in_progress(&self, output: Vec<Value>) -> Value {
        self.value("in_progress", output)
    }

    /// The response whose message waits for the end of another turn.
    pub(super) fn queued(&self) -> Value {
        self.value("queued", Vec::new())
    }

    /// The response that was cancelled before its turn, and the type of the event that says so.
    pub(super) fn cancelled(&self) -> (&'static str, Value) {
        (CANCELLED_EVENT, self.value("cancelled", Vec::new()))
    }

    /// The response at the end of its turn, and the type of the event that says so.
    pub(super) fn at_end(&self, output: &Output, end: &TurnEnd) -> (&'static str, Value) {
        let (status, event) = status(end, output.finish.as_ref());
        let mut value = self.value(status, output.items.clone());
        if status != "in_progress" {
            value["usage"] = usage::of_response(&end.turn.usage.tokens);
        }
        match &end.outcome {
            TurnOutcome::Failed(cause) => {
                let message = format!("the agent failed: {cause}");
                value["error"] = json!({ "code": "server_error", "message": message });
            }
            TurnOutcome::Cancelled | TurnOutcome::Stopped => {}
            TurnOutcome::Finished | TurnOutcome::Interrupted => {
                if let Some(reason) = incomplete(output.finish.as_ref()) {
                    value["incomplete_details"] = json!({ "reason": reason });
                }
            }
        }
        (event, value)
    }

    fn value(&self, status: &str, output: Vec<Value>) -> Value {
        let settings = &self.settings;
        let mut metadata = self.labels.clone();
        metadata.retain(|name, _| !name.starts_with("petalflow."));
        let user = metadata.remove(USER);
        json!({
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": self.background,
            "error": null,
            "incomplete_details": null,
            "instructions": settings.instructions,
            "max_output_tokens": settings.max_tokens,
            "model": self.model,
            "output": output,
            "parallel_tool_calls": settings.parallel_calls.unwrap_or(true),
            "previous_response_id": self.previous,
            "reasoning": { "effort": null, "summary": null },
            "store": self.stores,
            "temperature": settings.temperature,
            "text": { "format": format(settings) },
            "tool_choice": tool_choice(&settings.tool_choice),
            "tools": tools(settings),
            "top_p": settings.top_p,
            "truncation": "disabled",
            "usage": null,
            "user": user,
            "metadata": metadata,
        })
    }
}

/// The status of a response whose turn has ended, and the type of the event.
fn status(end: &TurnEnd, finish: Option<&FinishReason>) -> (&'static str, &'static str) {
    match &end.outcome {
        TurnOutcome::Failed(_) => ("failed", "response.failed"),
        TurnOutcome::Cancelled => ("cancelled", CANCELLED_EVENT),
        // The next process continues it.
        TurnOutcome::Stopped => ("in_progress", "response.in_progress"),
        _ if incomplete(finish).is_some() => ("incomplete", "response.incomplete"),
        _ => ("completed", "response.completed"),
    }
}

/// Why an answer is not complete.
fn incomplete(finish: Option<&FinishReason>) -> Option<&'static str> {
    match finish? {
        FinishReason::Length => Some("max_output_tokens"),
        FinishReason::ContentFilter | FinishReason::Blocked => Some("content_filter"),
        _ => None,
    }
}

fn format(settings: &ClientSettings) -> Value {
    match &settings.json_schema {
        Some(schema) => json!({ "type": "json_schema", "name": "answer", "schema": schema }),
        None => json!({ "type": "text" }),
    }
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({ "type": "function", "name": name }),
        ToolChoice::None => json!("none"),
        _ => json!("auto"),
    }
}

fn tools(settings: &ClientSettings) -> Value {
    let tools = settings.tools.iter().map(|tool| {
        json!({ "type": "function", "name": tool.name, "description": tool.description,
            "parameters": tool.parameters, "strict": false })
    });
    tools.collect()
}
