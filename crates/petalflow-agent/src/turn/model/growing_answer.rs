//! The answer of a streaming model, shown to listeners while it grows.

use std::sync::Arc;
use std::time::Duration;

use petalflow_llm::LlmStream;
use petalflow_llm::stream::{Delta, PartialJson, StreamChunk};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::definition::Mode;
use crate::partial_output::PartialOutput;
use crate::turn::ctx::Ctx;
use crate::turn::own_tools::{answer_tool, delegation};

/// The least time between two values, if the answer grows slowly.
const INTERVAL: Duration = Duration::from_millis(50);

/// By how many bytes of the answer the time grows by a millisecond: each value has the whole of it.
const BYTES_PER_MILLISECOND: usize = 400;

/// The answer that a model writes.
pub(super) struct GrowingAnswer {
    json: PartialJson,
    /// The call whose arguments are the answer, with its index. `None` while the answer is the text.
    call: Option<usize>,
    function: Option<String>,
    /// When the newest value was shown, and how long the answer was.
    shown: Option<(Instant, usize)>,
}

impl GrowingAnswer {
    /// `None` if the agent has no form for its answers, or nobody listens.
    pub(super) fn of(ctx: Ctx<'_>) -> Option<Self> {
        let agent = ctx.agent();
        if !agent.has_output() || !ctx.cx.has_listener() {
            return None;
        }
        Some(GrowingAnswer {
            json: match &agent.output {
                Some(output) => PartialJson::of_schema(Arc::clone(&output.schema)),
                None => PartialJson::new(),
            },
            call: None,
            function: None,
            shown: None,
        })
    }

    /// The next chunk. Shows the answer while there is none.
    pub(super) async fn next(
        &mut self,
        ctx: Ctx<'_>,
        chunks: &mut LlmStream,
    ) -> Option<StreamChunk> {
        while let Some(due) = self.due() {
            match timeout_at(due, chunks.next()).await {
                Ok(chunk) => return chunk,
                Err(_) => self.show(ctx),
            }
        }
        chunks.next().await
    }

    /// Adds a piece of the text of the answer.
    pub(super) fn text(&mut self, ctx: Ctx<'_>, text: &str) {
        let agent = ctx.agent();
        if self.call.is_none() && agent.output.is_some() && agent.mode != Mode::Task {
            self.json.push(text);
            self.show_if_due(ctx);
        }
    }

    /// Adds a piece of a call, if the call gives the answer.
    pub(super) fn call(&mut self, ctx: Ctx<'_>, delta: &Delta) {
        match delta {
            Delta::Call {
                index,
                name,
                arguments,
                ..
            } => {
                let is_known = self.call == Some(*index);
                let begun = name.as_deref().filter(|_| !is_known);
                if let Some((schema, function)) = begun.and_then(|name| form_of(ctx, name)) {
                    *self = GrowingAnswer {
                        json: PartialJson::of_schema(schema),
                        call: Some(*index),
                        function,
                        shown: None,
                    };
                }
                if self.call == Some(*index) {
                    self.json.push(arguments);
                    self.show_if_due(ctx);
                }
            }
            Delta::Argument { index, path, value } if self.call == Some(*index) => {
                self.json.set(path, value);
                self.show_if_due(ctx);
            }
            _ => {}
        }
    }

    /// When the next value is due. `None` if the newest one was shown.
    fn due(&self) -> Option<Instant> {
        let len = self.json.len();
        match self.shown {
            Some((_, shown)) if shown == len => None,
            Some((at, _)) => {
                let more = u64::try_from(len / BYTES_PER_MILLISECOND).unwrap_or(u64::MAX);
                Some(at + INTERVAL + Duration::from_millis(more))
            }
            None if len == 0 => None,
            None => Some(Instant::now()),
        }
    }

    fn show_if_due(&mut self, ctx: Ctx<'_>) {
        let has_grown = self
            .shown
            .is_none_or(|(_, shown)| self.json.len() >= shown + shown.div_ceil(8));
        if has_grown || self.due().is_some_and(|due| due <= Instant::now()) {
            self.show(ctx);
        }
    }

    fn show(&mut self, ctx: Ctx<'_>) {
        self.shown = Some((Instant::now(), self.json.len()));
        if let Some(value) = self.json.value() {
            let output = PartialOutput {
                agent: ctx.agent().name.to_string(),
                branch: ctx.conversation.branch.clone(),
                function: self.function.clone(),
                value,
            };
            PartialOutput::emit(ctx.cx, output);
        }
    }
}

/// The schema of the answer that a call of this tool gives, and the name of an output function. `None` if it gives none.
fn form_of(ctx: Ctx<'_>, tool: &str) -> Option<(Arc<Value>, Option<String>)> {
    let agent = ctx.agent();
    if let Some(spec) = agent.output_function(tool) {
        return Some((Arc::new(spec.parameters.clone()), Some(tool.into())));
    }
    let is_answer = match agent.mode {
        Mode::Task => tool == delegation::FINISH,
        _ => tool == answer_tool::NAME && answer_tool::is_used(ctx),
    };
    let output = agent.output.as_ref().filter(|_| is_answer)?;
    Some((Arc::clone(&output.schema), None))
}
