//! The step that cuts the messages that a model reads.

use std::sync::Arc;

use super::steps;
use crate::compaction::{CompactionContext, CompactionEvent, Compactor, ContextSize, Requests};
use crate::conversation::cut::{Cut, MessageOrigin};
use crate::conversation::history::Reader;
use crate::limits::Usage;
use crate::turn::ctx::Ctx;
use crate::turn::spend;
use crate::{AgentError, AgentEvent};
use petalflow::BoxError;
use petalflow::event::CustomEvent;
use petalflow::middleware::BoxFuture;
use petalflow_llm::nodes::noted_call;
use petalflow_llm::request::OnPause;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, LlmResponse, Role};

/// The cuts of all agents after a compaction, and what it used.
pub(in crate::turn) struct CompactionStep {
    pub(in crate::turn) cuts: Vec<Cut>,
    pub(in crate::turn) spent: Usage,
}

/// Whether the messages are cut before the model is asked.
pub(in crate::turn) fn is_due(ctx: Ctx<'_>) -> Result<bool, AgentError> {
    let Some(compactor) = compactor(ctx) else {
        return Ok(false);
    };
    let cut = ctx
        .reader()
        .cut(&ctx.conversation.cuts, &ctx.conversation.events);
    // They have just been cut.
    if cut.is_some_and(|cut| cut.at == ctx.conversation.events.len()) {
        return Ok(false);
    }
    let (messages, tokens) = steps::size(ctx)?;
    Ok(compactor.is_due(ContextSize::new(messages, tokens)))
}

/// Cuts the messages.
pub(in crate::turn) async fn compact(ctx: Ctx<'_>) -> Result<CompactionStep, BoxError> {
    let conversation = ctx.conversation;
    let events = &*conversation.events;
    let reader = ctx.reader();
    spend::restore_unwritten(ctx);
    let others = conversation.cuts.iter();
    let others = others.filter(|cut| !reader.has(cut) && is_open(ctx, cut));
    let mut cuts: Vec<Cut> = others.cloned().collect();
    let before = reader.cut(&conversation.cuts, events);
    let (origins, messages): (Vec<_>, Vec<_>) = steps::messages(ctx)?.into_iter().unzip();
    let mut cut = next_cut(&reader, before, events);
    if let Some(compactor) = compactor(ctx)
        && let Some((start, from)) = start(&**compactor, &origins, &messages, cut.from)
    {
        cut.from = from;
        let mut requested = (0..start)
            .rev()
            .filter(|index| messages[*index].role == Role::User);
        cut.request = requested.find_map(|index| origins[index]).or(cut.request);
        let requests = Counted(ctx);
        let context = CompactionContext::new(ctx.position(), &requests);
        let replaced = compactor.replace(&messages[..start], &context).await;
        if replaced.is_err() {
            spend::add_unwritten(ctx, Usage::default()).await?;
        }
        cut.replacement = replaced?;
        let event = || CompactionEvent {
            agent: ctx.agent().name.to_string(),
            cut: start,
            kept: messages.len() - start,
            replacement: cut.replacement.len(),
        };
        ctx.cx
            .emit_with(|| CustomEvent::named("agent_compaction", event()));
    }
    cuts.push(cut);
    Ok(CompactionStep {
        cuts,
        spent: spend::with_unwritten(ctx, Usage::default()),
    })
}

/// A new cut of the reader's messages, made after these events. It cuts as much as the one before.
fn next_cut(reader: &Reader, before: Option<&Cut>, events: &[AgentEvent]) -> Cut {
    let last = events.last();
    Cut {
        agent: reader.agent.to_string(),
        task: reader.task.as_ref().map(|(call, _)| call.clone()),
        from: before.map_or(0, |cut| cut.from),
        at: events.len(),
        last: last.map(|event| event.id.clone()).unwrap_or_default(),
        read: events
            .iter()
            .rposition(|event| event.author == *reader.agent && event.results().next().is_none())
            .map_or(0, |last| last + 1),
        request: before.and_then(|cut| cut.request),
        replacement: before
            .map(|cut| cut.replacement.clone())
            .unwrap_or_default(),
    }
}

/// The first message that stays, and its event. `None` if nothing is cut.
fn start(
    compactor: &dyn Compactor,
    origins: &[MessageOrigin],
    messages: &[ChatMessage],
    from: usize,
) -> Option<(usize, usize)> {
    if messages.is_empty() {
        return None;
    }
    let keep = compactor
        .messages_to_keep(messages)
        .clamp(1, messages.len());
    let wanted = messages.len() - keep;
    let is_result = |index: &usize| messages[*index].role == Role::Tool;
    // A result whose call is cut is cut as well. At the end, where it would leave nothing, the call stays.
    let start = (wanted..messages.len()).find(|index| !is_result(index));
    let start = start.or_else(|| (0..wanted).rev().find(|index| !is_result(index)))?;
    let origin = origins[start].filter(|origin| *origin > from)?;
    Some((start, origin))
}

/// Whether an agent still reads the messages of this cut.
fn is_open(ctx: Ctx<'_>, cut: &Cut) -> bool {
    cut.task.is_none() || {
        let mut tasks = ctx
            .conversation
            .speakers
            .iter()
            .flat_map(|speaker| &speaker.task);
        tasks.any(|task| Some(&task.id) == cut.task.as_ref())
    }
}

/// The compactor of the agent, or of the nearest agent above it that has one.
fn compactor(ctx: Ctx<'_>) -> Option<&Arc<dyn Compactor>> {
    let mut line = std::iter::once(ctx.index).chain(ctx.tree.above(ctx.index));
    line.find_map(|index| ctx.tree.agent(index).compactor.as_ref())
}

/// Makes requests, and counts what they use.
struct Counted<'a>(Ctx<'a>);

impl Requests for Counted<'_> {
    fn ask<'a>(
        &'a self,
        client: &'a Arc<dyn LlmClient>,
        mut request: LlmRequest,
    ) -> BoxFuture<'a, Result<LlmResponse, BoxError>> {
        let ctx = self.0;
        Box::pin(async move {
            request.on_pause = OnPause::Return;
            let mut whole: Option<LlmResponse> = None;
            loop {
                let part = ask_once(ctx, client, &mut request).await?;
                let is_paused = part.finish == Some(FinishReason::Paused);
                let written = part.message.clone().filter(|_| is_paused);
                let answer = match whole.take() {
                    Some(before) => before.joined(part),
                    None => part,
                };
                let Some(written) = written else {
                    return Ok(answer);
                };
                request = request.continued(written);
                whole = Some(answer);
            }
        })
    }
}

async fn ask_once(
    ctx: Ctx<'_>,
    client: &Arc<dyn LlmClient>,
    request: &mut LlmRequest,
) -> Result<LlmResponse, BoxError> {
    // Recorded without the limits, which depend on what other calls have used.
    let noted = request.clone();
    spend::before_request(ctx, request, client)?;
    let answered = noted_call(&noted, ctx.cx, client.complete(request)).await;
    let mut response = answered.map_err(|error| AgentError::Model {
        agent: ctx.agent().name.to_string(),
        error,
    })?;
    let spent = spend::after_response(ctx, 1, request, &mut response).await?;
    // A policy may make several requests.
    *ctx.conversation.resources.unwritten() += spent;
    Ok(response)
}
