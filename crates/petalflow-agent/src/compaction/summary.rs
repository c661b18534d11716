//! Summaries by a model.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use super::{CompactionContext, Compactor, ContextSize};
use petalflow::{BoxError, async_trait};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, Part};

const INSTRUCTIONS: &str = "You write the summary of a conversation between a user and an assistant, which the assistant reads instead of \
     the conversation. Keep what the user wants, names, numbers, decisions, open questions, and what tools returned that still matters. \
     If it begins with a summary, include that one. Write only the summary.";

/// What the text of a summary begins with.
const TITLE: &str = "Summary of the conversation so far:\n\n";

/// Replaces the messages that another policy cuts with a summary by a model.
///
/// A new summary includes the earlier one. Its request counts in the conversation's usage. Give the model retries with
/// [`Retrying`](petalflow_llm::Retrying).
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::compaction::{Summary, TokenWindow};
/// # use petalflow_llm::ScriptedModel;
///
/// # let (model, small_model) = (ScriptedModel::new(["hi"]), ScriptedModel::new(["They greeted."]));
/// let summary = Summary::new(small_model, TokenWindow::new(60_000)).instructions("Summarize it in five sentences.");
/// let agent = Agent::new(model).compaction(summary);
/// # let _ = agent;
/// ```
pub struct Summary<W> {
    model: Arc<dyn LlmClient>,
    window: W,
    request: LlmRequest,
}

impl<W: Compactor> Summary<W> {
    /// Cuts as `window` does, and asks `model` for a summary of what is cut.
    pub fn new(model: impl LlmClient, window: W) -> Self {
        Summary {
            model: Arc::new(model),
            window,
            request: LlmRequest {
                system: Some(INSTRUCTIONS.into()),
                ..LlmRequest::default()
            },
        }
    }

    /// Replaces the instructions of the model.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.request.system = Some(text.into());
        self
    }

    /// Edits the request: the model, the number of tokens.
    #[must_use]
    pub fn request(mut self, edit: impl FnOnce(&mut LlmRequest)) -> Self {
        edit(&mut self.request);
        self
    }
}

#[async_trait]
impl<W: Compactor> Compactor for Summary<W> {
    fn is_due(&self, size: ContextSize) -> bool {
        self.window.is_due(size)
    }

    fn messages_to_keep(&self, messages: &[ChatMessage]) -> usize {
        self.window.messages_to_keep(messages)
    }

    async fn replace(
        &self,
        cut: &[ChatMessage],
        cx: &CompactionContext<'_>,
    ) -> Result<Vec<ChatMessage>, BoxError> {
        let request = LlmRequest {
            messages: Arc::new(vec![ChatMessage::user(transcript(cut))]),
            ..self.request.clone()
        };
        let text = cx.ask(&self.model, request).await?.text();
        if text.trim().is_empty() {
            let name = self.model.name();
            return Err(
                format!("the summary of the conversation by model `{name}` is empty").into(),
            );
        }
        Ok(vec![ChatMessage::user(format!("{TITLE}{text}"))])
    }
}

/// Messages as text. As calls and results, some providers accept them only together with their tools.
fn transcript(messages: &[ChatMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        for part in &message.parts {
            // Writing to a string does not fail.
            let _ = match part {
                Part::Text(content) if content.text.is_empty() => Ok(()),
                Part::Text(content) => writeln!(text, "{}: {}\n", message.role, content.text),
                Part::Call(_) | Part::Result(_) => {
                    writeln!(text, "{}\n", part.call_as_text().unwrap_or_default())
                }
                Part::Media(media) => writeln!(text, "{}: ({})\n", message.role, media.media_type),
                Part::Code { code, .. } => writeln!(text, "code: {code}\n"),
                Part::CodeResult { output, .. } => writeln!(text, "output of the code: {output}\n"),
                _ => Ok(()),
            };
        }
    }
    text
}

impl<W: fmt::Debug> fmt::Debug for Summary<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summary")
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}
