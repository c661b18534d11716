//! A request as its model takes it: the way to a typed answer, the level of reasoning, and without what the model refuses.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::catalog::{Family, Target};
use crate::native::{ComputerUse, NativeTool};
use crate::request::{Effort, ToolChoice, TypedOutput};
use crate::{Capabilities, LlmRequest};
use petalflow::tool::ToolSpec;

/// A request as its model takes it.
#[derive(Debug)]
pub(super) struct Plan<'r> {
    pub(super) request: Cow<'r, LlmRequest>,
    /// The tool whose arguments are the answer.
    pub(super) answer_tool: Option<String>,
    /// Whether every answer is a JSON object.
    pub(super) json_mode: bool,
    /// What of the request is not sent, and why.
    pub(super) not_sent: Map<String, Value>,
}

impl<'r> Plan<'r> {
    pub(super) fn of(target: &Target<'_>, request: &'r LlmRequest) -> Self {
        let mut plan = Plan {
            request: Cow::Borrowed(request),
            answer_tool: None,
            json_mode: false,
            not_sent: Map::new(),
        };
        let able = &target.capabilities;
        plan.leave_computer_to_provider();
        plan.set_effort(target);
        plan.make_room_for_reasoning(target);
        plan.set_typed_output(able);
        plan.set_tool_choice(able);
        plan.leave_out_sampling(able);
        plan
    }

    fn leave_out(&mut self, field: &str, why: &str) {
        self.not_sent.insert(field.to_string(), why.into());
    }

    /// The provider declares the tool for a computer itself.
    fn leave_computer_to_provider(&mut self) {
        let is_used = |tool: &NativeTool| matches!(tool, NativeTool::ComputerUse(_));
        let is_computer = |tool: &Arc<ToolSpec>| tool.name == ComputerUse::NAME;
        if self.request.native_tools.iter().any(is_used)
            && self.request.tools.iter().any(is_computer)
        {
            let others = self.request.tools.iter().filter(|tool| !is_computer(tool));
            let others = others.cloned().collect();
            self.request.to_mut().tools = others;
        }
    }

    /// A level that the model takes.
    fn set_effort(&mut self, target: &Target<'_>) {
        let able = &target.capabilities;
        let Some(effort) = self.request.effort else {
            return;
        };
        let taken = if able.reasoning {
            Some(effort_taken(effort, able, target.family))
        } else {
            None
        };
        if taken != Some(effort) {
            self.request.to_mut().effort = taken;
        }
    }

    /// A model that takes a number of tokens needs some for the answer too.
    fn make_room_for_reasoning(&mut self, target: &Target<'_>) {
        let takes_tokens =
            target.family != Family::Gemini && target.capabilities.efforts.is_empty();
        let is_small = |most: u32| most <= MIN_REASONING;
        if takes_tokens && self.request.max_tokens.is_some_and(is_small) && reasons(&self.request) {
            self.request.to_mut().effort = None;
            self.leave_out(
                "effort",
                "the model needs more than 1024 tokens to reason, and `max_tokens` is not higher",
            );
        }
    }

    fn set_typed_output(&mut self, able: &Capabilities) {
        let Some(schema) = self.request.json_schema.clone() else {
            return;
        };
        let wanted = self.request.typed_output.unwrap_or(able.typed_output);
        let can_force = able.tools && able.forced_tools.when(reasons(&self.request));
        match wanted {
            TypedOutput::Schema => {}
            TypedOutput::Tool if can_force && self.request.tool_choice != ToolChoice::None => {
                let request = self.request.to_mut();
                let name = free_name(request);
                let tool = ToolSpec::new(&*name, TOOL_DESCRIPTION, Value::clone(&schema));
                // Any other tool may be called first.
                request.tool_choice = match (&request.tool_choice, request.has_tools()) {
                    (ToolChoice::Tool(other), true) => ToolChoice::Tool(other.clone()),
                    (_, false) => ToolChoice::Tool(name.clone()),
                    _ => ToolChoice::Required,
                };
                let tools = request.tools.iter().cloned().chain([Arc::new(tool)]);
                request.tools = tools.collect();
                request.json_schema = None;
                self.answer_tool = Some(name);
            }
            TypedOutput::Tool | TypedOutput::Prompt => {
                self.json_mode = able.json_mode && !self.request.has_tools();
                let request = self.request.to_mut();
                request.json_schema = None;
                let instruction = schema_instruction(&schema);
                request.instructions = Some(match request.instructions.take() {
                    Some(text) => format!("{text}\n\n{instruction}"),
                    None => instruction,
                });
            }
        }
    }

    fn set_tool_choice(&mut self, able: &Capabilities) {
        let is_forced = matches!(
            self.request.tool_choice,
            ToolChoice::Required | ToolChoice::Tool(_)
        );
        if !is_forced || !self.request.has_tools() {
            return;
        }
        if !able.named_tools && able.forced_tools.when(false) {
            self.leave_only_named_tool();
        }
        if able.forced_tools.when(reasons(&self.request)) {
            return;
        }
        if able.forced_tools.when(false) {
            // Without the call the answer is useless. With less thought it is not.
            self.request.to_mut().effort = None;
            self.leave_out(
                "effort",
                "the model cannot be made to call a tool while it reasons",
            );
        } else {
            self.request.to_mut().tool_choice = ToolChoice::Auto;
            self.leave_out("tool_choice", "the model cannot be made to call a tool");
        }
    }

    /// A server that cannot be told which tool the model must call gets this tool only.
    fn leave_only_named_tool(&mut self) {
        let ToolChoice::Tool(name) = &self.request.tool_choice else {
            return;
        };
        let named = self.request.tools.iter().find(|tool| tool.name == *name);
        let Some(named) = named.cloned() else {
            return;
        };
        let others = self.request.tools.len() > 1;
        let request = self.request.to_mut();
        request.tools = [named].into();
        request.tool_choice = ToolChoice::Required;
        if others {
            self.leave_out(
                "tools",
                "the server cannot be told which tool the model must call, so the others are not sent",
            );
        }
    }

    fn leave_out_sampling(&mut self, able: &Capabilities) {
        if able.sampling.when(reasons(&self.request)) {
            return;
        }
        let why = if able.sampling.when(false) {
            "the model takes none while it reasons"
        } else {
            "the model takes none"
        };
        if self.request.temperature.is_some() {
            self.request.to_mut().temperature = None;
            self.leave_out("temperature", why);
        }
        if self.request.top_p.is_some() {
            self.request.to_mut().top_p = None;
            self.leave_out("top_p", why);
        }
    }
}

/// The fewest tokens for reasoning that Anthropic's models accept.
pub(super) const MIN_REASONING: u32 = 1_024;

const TOOL_DESCRIPTION: &str = "Gives the final answer, in the form of these parameters. Call it once, and do not write the answer as text.";

/// The instruction to answer in the form of a schema.
pub(super) fn schema_instruction(schema: &Value) -> String {
    format!(
        "Answer with one JSON object and nothing else. It must conform to this JSON Schema:\n{schema}"
    )
}

fn reasons(request: &LlmRequest) -> bool {
    let effort = request.effort;
    effort.is_some_and(|effort| !matches!(effort, Effort::None | Effort::Budget(0)))
}

/// The wanted level, or the next higher one that the model has, or its highest.
fn effort_taken(effort: Effort, able: &Capabilities, family: Family) -> Effort {
    let rank = |effort: Effort| match effort {
        Effort::None | Effort::Budget(0) => 0,
        Effort::Minimal => 1,
        Effort::Low | Effort::Budget(1..=2_048) => 2,
        Effort::Medium | Effort::Budget(2_049..=16_384) => 3,
        Effort::High | Effort::Budget(_) => 4,
        Effort::XHigh => 5,
    };
    // Gemini's models with levels take tokens too.
    if matches!(effort, Effort::Budget(_)) && family == Family::Gemini {
        return effort;
    }
    let enough = |level: &&Effort| rank(**level) >= rank(effort);
    let level = able.efforts.iter().find(enough);
    level.or(able.efforts.last()).copied().unwrap_or(effort)
}

/// A name for the tool with the answer that no other tool has.
fn free_name(request: &LlmRequest) -> String {
    let is_free = |name: &String| request.all_tools().all(|tool| tool.name != *name);
    let mut names = (2..).map(|number| format!("answer_{number}"));
    let first = Some("answer".to_string()).filter(is_free);
    first.or_else(|| names.find(is_free)).unwrap_or_default()
}
