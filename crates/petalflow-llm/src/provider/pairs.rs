//! Calls and results in pairs, as providers require them. A provider refuses a conversation with half of a pair, and then each
//! later request of the thread.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::catalog::{Family, Target};
use crate::{ChatMessage, LlmRequest, Part, Role};
use petalflow::tool::{ToolCall, ToolResult};

/// The messages of a request in pairs. `None` if they are.
///
/// A call of a tool without a result gets one that says so, and a result without its call becomes text. What the provider
/// does itself is left out if half of it is missing, unless the request continues the answer.
pub(super) fn paired(target: &Target<'_>, request: &LlmRequest) -> Option<Vec<ChatMessage>> {
    let messages = &**request.messages;
    let removed = halves(target, request);
    let Unmatched { calls, results } = Unmatched::of(messages);
    if removed.is_empty() && calls.is_empty() && results.is_empty() {
        return None;
    }
    let mut paired: Vec<ChatMessage> = Vec::with_capacity(messages.len() + calls.len());
    let mut missing: Vec<ToolResult> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let at = |part: usize| (index, part);
        let parts = message.parts.iter().enumerate();
        let kept = parts
            .filter(|(part, _)| !removed.contains(&at(*part)) && !results.contains(&at(*part)));
        let mut kept = ChatMessage {
            parts: kept.map(|(_, part)| part.clone()).collect(),
            ..shell(message)
        };
        if message.role == Role::Tool {
            let missing = std::mem::take(&mut missing);
            kept.parts.extend(missing.into_iter().map(Part::Result));
        } else if !missing.is_empty() {
            paired.push(ChatMessage::results(std::mem::take(&mut missing)));
        }
        if !kept.parts.is_empty() {
            paired.push(kept);
        }
        let strays = results.iter().filter(|(stray, _)| *stray == index);
        let texts = strays.filter_map(|(_, part)| message.parts[*part].call_as_text());
        paired.extend(texts.map(ChatMessage::user));
        missing.extend(
            calls
                .get(&index)
                .into_iter()
                .flatten()
                .map(|call| no_result(call)),
        );
    }
    if !missing.is_empty() {
        paired.push(ChatMessage::results(missing));
    }
    Some(paired)
}

/// The message without its parts.
fn shell(message: &ChatMessage) -> ChatMessage {
    ChatMessage {
        id: message.id.clone(),
        role: message.role,
        parts: Vec::new(),
        name: message.name.clone(),
        meta: message.meta.clone(),
    }
}

fn no_result(call: &ToolCall) -> ToolResult {
    let content = match &call.error {
        Some(error) => json!({ "error": error }),
        None => json!({ "status": "pending" }),
    };
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content,
        is_error: call.error.is_some(),
    }
}

/// The number of a message, and that of a part in it.
type Place = (usize, usize);

/// The calls without results, by the message after which these are missing, and the results without calls.
#[derive(Default)]
struct Unmatched<'m> {
    calls: BTreeMap<usize, Vec<&'m ToolCall>>,
    results: Vec<Place>,
}

impl<'m> Unmatched<'m> {
    /// The results of an answer come before the next answer.
    fn of(messages: &'m [ChatMessage]) -> Self {
        let mut unmatched = Unmatched::default();
        let (mut open, mut answered): (Vec<&ToolCall>, Vec<&ToolCall>) = Default::default();
        let mut last_answer = 0;
        for (index, message) in messages.iter().enumerate() {
            if message.role == Role::Assistant {
                // Several messages are parts of one answer if nothing is between them.
                if index > last_answer + 1 {
                    unmatched.leave(last_answer, &mut open);
                    answered.clear();
                }
                last_answer = index;
                open.extend(message.calls());
                continue;
            }
            for (part, result) in message.parts.iter().enumerate() {
                let Part::Result(result) = result else {
                    continue;
                };
                let same_id = |call: &&ToolCall| call.id == result.call_id;
                let same_name = |call: &&ToolCall| same_id(call) && call.name == result.name;
                let found = open.iter().position(same_name);
                match found.or_else(|| open.iter().position(same_id)) {
                    Some(found) => answered.push(open.remove(found)),
                    // A call may have a second result.
                    None if answered.iter().any(same_id) => {}
                    None => unmatched.results.push((index, part)),
                }
            }
        }
        unmatched.leave(last_answer, &mut open);
        unmatched
    }

    fn leave(&mut self, answer: usize, open: &mut Vec<&'m ToolCall>) {
        if !open.is_empty() {
            self.calls.insert(answer, std::mem::take(open));
        }
    }
}

/// The parts of the provider of which half is missing.
fn halves(target: &Target<'_>, request: &LlmRequest) -> HashSet<Place> {
    let messages = &**request.messages;
    // What the provider has begun in an answer that is not over goes on with this request.
    let is_over = |message: &ChatMessage| !matches!(message.role, Role::Assistant | Role::Tool);
    let over = match request.input_text {
        Some(_) => messages.len(),
        None => messages
            .iter()
            .rposition(is_over)
            .map_or(0, |last| last + 1),
    };
    let may_be_open = target.family != Family::Responses;
    let mut begun: HashMap<&str, Vec<Place>> = HashMap::new();
    let mut removed = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        for (part, value) in message.parts.iter().enumerate() {
            match target
                .own_value(value)
                .and_then(|value| half(target.family, value))
            {
                Some(Half::Call(id)) => begun.entry(id).or_default().push((index, part)),
                Some(Half::Result(id)) => {
                    let calls = begun.get_mut(id).filter(|calls| !calls.is_empty());
                    match calls {
                        Some(calls) => drop(calls.remove(0)),
                        None => drop(removed.insert((index, part))),
                    }
                }
                None => {}
            }
        }
    }
    let open = begun.into_values().flatten();
    removed.extend(open.filter(|(message, _)| !may_be_open || *message < over));
    if target.family == Family::Responses {
        removed.extend(lone_reasoning(target, messages, &removed));
    }
    removed
}

/// Half of a pair, with the id that both halves have.
enum Half<'v> {
    Call(&'v str),
    Result(&'v str),
}

fn half(family: Family, value: &Value) -> Option<Half<'_>> {
    let id = |path: &str| value.pointer(path).and_then(Value::as_str);
    let kind = value["type"].as_str().unwrap_or_default();
    match family {
        Family::Messages if matches!(kind, "server_tool_use" | "mcp_tool_use") => {
            id("/id").map(Half::Call)
        }
        Family::Messages if kind.ends_with("_tool_result") => id("/tool_use_id").map(Half::Result),
        Family::Responses if kind == "mcp_approval_request" => id("/id").map(Half::Call),
        Family::Responses if kind == "mcp_approval_response" => {
            id("/approval_request_id").map(Half::Result)
        }
        // Those without such an id have their results in them.
        Family::Responses if kind.ends_with("_call") => id("/call_id").map(Half::Call),
        Family::Responses if kind.ends_with("_output") => id("/call_id").map(Half::Result),
        Family::Gemini => {
            let call = id("/toolCall/id").map(Half::Call);
            call.or_else(|| id("/toolResponse/id").map(Half::Result))
        }
        #[cfg(feature = "bedrock")]
        Family::Converse => {
            let call = id("/toolUse/toolUseId").map(Half::Call);
            call.or_else(|| id("/toolResult/toolUseId").map(Half::Result))
        }
        _ => None,
    }
}

/// The reasoning of OpenAI that is followed by nothing in its answer, because the answer was cut.
fn lone_reasoning(
    target: &Target<'_>,
    messages: &[ChatMessage],
    removed: &HashSet<Place>,
) -> Vec<Place> {
    let answers = messages.iter().enumerate();
    let answers = answers.filter(|(_, message)| message.role == Role::Assistant);
    let lone = answers.flat_map(|(index, message)| {
        let parts = message.parts.iter().enumerate().rev();
        let is_sent = |part: &Part| match part {
            Part::Text(text) => !text.text.is_empty(),
            Part::Call(_) | Part::Code { .. } | Part::CodeResult { .. } => true,
            Part::Provider { .. } => target.own_value(part).is_some(),
            _ => false,
        };
        parts
            .take_while(move |(part, value)| removed.contains(&(index, *part)) || !is_sent(value))
            .filter(|(_, part)| matches!(part, Part::Thought(_)))
            .map(move |(part, _)| (index, part))
    });
    lone.collect()
}
