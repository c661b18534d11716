//! The prompts of our server.

use std::collections::{BTreeMap, HashSet};
use std::future::Future;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult,
    PaginatedRequestParams, Prompt as McpPrompt, PromptArgument as McpPromptArgument,
    PromptMessage, Role as McpRole,
};
use serde_json::Value;

use super::Prompt;
use super::pages::page;
use super::result::block;
use super::served::answered;
use petalflow::BoxError;
use petalflow::middleware::BoxFuture;
use petalflow_llm::{ChatMessage, Part, Role};

type Write = dyn Fn(BTreeMap<String, String>) -> BoxFuture<'static, Result<Vec<ChatMessage>, BoxError>>
    + Send
    + Sync;

/// The prompts that a server offers.
#[derive(Clone, Default)]
pub(super) struct ServedPrompts {
    listed: Vec<McpPrompt>,
    /// The functions of the prompts, in their order.
    writes: Vec<Arc<Write>>,
}

impl ServedPrompts {
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub(super) fn add<F>(
        &mut self,
        prompt: Prompt,
        write: impl Fn(BTreeMap<String, String>) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<Vec<ChatMessage>, BoxError>> + Send + 'static,
    {
        let arguments = prompt.arguments.into_iter().map(|argument| {
            let mut listed = McpPromptArgument::new(argument.name).with_required(argument.required);
            listed.description = argument.description;
            listed
        });
        let arguments: Vec<_> = arguments.collect();
        let arguments = (!arguments.is_empty()).then_some(arguments);
        let mut listed = McpPrompt::new(prompt.name, prompt.description, arguments);
        listed.title = prompt.title;
        self.listed.push(listed);
        self.writes
            .push(Arc::new(move |arguments| Box::pin(write(arguments))));
    }

    /// The first mistake in the names.
    pub(super) fn problem(&self) -> Option<String> {
        let mut names = HashSet::new();
        for prompt in &self.listed {
            let name = &prompt.name;
            if name.trim().is_empty() {
                return Some("a prompt has no name".into());
            }
            if !names.insert(name) {
                return Some(format!("two prompts are called `{name}`"));
            }
            let mut arguments = HashSet::new();
            for argument in prompt.arguments.iter().flatten() {
                if argument.name.trim().is_empty() {
                    return Some(format!("an argument of prompt `{name}` has no name"));
                }
                if !arguments.insert(&argument.name) {
                    let argument = &argument.name;
                    return Some(format!(
                        "two arguments of prompt `{name}` are called `{argument}`"
                    ));
                }
            }
        }
        None
    }

    /// Whether a prompt has an argument of this name.
    pub(super) fn has_argument(&self, prompt: &str, argument: &str) -> bool {
        let of_name = self.listed.iter().find(|it| it.name == prompt);
        let arguments = of_name.and_then(|it| it.arguments.as_ref());
        let mut arguments = arguments.into_iter().flatten();
        arguments.any(|it| it.name == argument)
    }

    pub(super) fn list(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let (items, next) = page(&self.listed, request)?;
        let mut result = ListPromptsResult::with_all_items(items);
        result.next_cursor = next;
        Ok(result)
    }

    /// The messages of a prompt.
    pub(super) async fn get(
        &self,
        request: GetPromptRequestParams,
    ) -> Result<GetPromptResult, ErrorData> {
        let name = &request.name;
        let mut prompts = self.listed.iter().zip(&self.writes);
        let Some((prompt, write)) = prompts.find(|(prompt, _)| prompt.name == *name) else {
            let names: Vec<_> = self
                .listed
                .iter()
                .map(|it| format!("`{}`", it.name))
                .collect();
            let names = names.join(", ");
            let message = format!("unknown prompt `{name}`; there are {names}");
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = arguments(prompt, request.arguments.unwrap_or_default())?;
        let what = format!("prompt `{name}` cannot be written");
        let messages = answered(&what, async { blocks(write(arguments).await?) }).await?;
        let mut result = GetPromptResult::new(messages);
        result.description.clone_from(&prompt.description);
        Ok(result)
    }
}

/// The arguments for a prompt, which must have those that are required.
fn arguments(prompt: &McpPrompt, given: JsonObject) -> Result<BTreeMap<String, String>, ErrorData> {
    let name = &prompt.name;
    let mut arguments = BTreeMap::new();
    for (argument, value) in given {
        let Value::String(value) = value else {
            let message = format!("argument `{argument}` of prompt `{name}` is not text");
            return Err(ErrorData::invalid_params(message, None));
        };
        arguments.insert(argument, value);
    }
    let required = prompt.arguments.iter().flatten();
    let required = required.filter(|argument| argument.required == Some(true));
    let missing: Vec<_> = required
        .filter(|argument| !arguments.contains_key(&argument.name))
        .map(|argument| format!("`{}`", argument.name))
        .collect();
    if missing.is_empty() {
        return Ok(arguments);
    }
    let missing = missing.join(", ");
    let message = format!("prompt `{name}` needs arguments that are missing: {missing}");
    Err(ErrorData::invalid_params(message, None))
}

/// Messages for a client. A message of MCP has one part.
fn blocks(messages: Vec<ChatMessage>) -> Result<Vec<PromptMessage>, BoxError> {
    let mut blocks = Vec::new();
    for message in messages {
        let role = match message.role {
            Role::User => McpRole::User,
            Role::Assistant => McpRole::Assistant,
            role => {
                let role = role.as_str();
                return Err(format!("a prompt of MCP has no messages of the role `{role}`").into());
            }
        };
        for part in message.parts {
            let content = match part {
                Part::Text(text) => Some(ContentBlock::text(text.text)),
                Part::Media(media) => block(media),
                _ => None,
            };
            let content = content
                .ok_or("a prompt of MCP has texts, and media with their data, and nothing else")?;
            blocks.push(PromptMessage::new(role.clone(), content));
        }
    }
    Ok(blocks)
}
