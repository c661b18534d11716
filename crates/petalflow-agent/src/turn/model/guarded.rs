//! A model call with the guardrails of its input and its answer.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use super::model_call;
use crate::extension::ModelCall;
use crate::guardrail::{GuardrailContext, GuardrailEvent, GuardrailStage};
use crate::turn::ctx::Ctx;
use crate::turn::guard::{CheckResult, GuardrailCall, Tripped, guardrails, says_something};
use petalflow::BoxError;
use petalflow_llm::{ChatMessage, LlmResponse, Part, Role};

/// An answer that was checked.
pub(in crate::turn) struct Guarded {
    pub(in crate::turn) response: LlmResponse,
    pub(in crate::turn) guardrails: Vec<GuardrailEvent>,
    /// Whether the answer is the message of a guardrail. It ends the turn.
    pub(in crate::turn) blocked: bool,
}

/// Asks the model, runs the checks that run beside the model, and checks the answer.
pub(in crate::turn) async fn respond(
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
) -> Result<Guarded, BoxError> {
    // The guardrails of a replay that makes the request only would call what they call.
    if guardrails(ctx.tree, ctx.index).next().is_none() || ctx.cx.is_prepared() {
        return Ok(Guarded {
            response: model_call::respond(ctx, call).await?,
            guardrails: Vec::new(),
            blocked: false,
        });
    }
    // Boxed: few agents have guardrails, and each model call has room for the largest branch.
    match Box::pin(beside(ctx, model_call::respond(ctx, call))).await {
        Ok(response) => Box::pin(output(ctx, response)).await,
        Err(error) => {
            let Tripped { event, message } = *error.downcast::<Tripped>()?;
            Ok(Guarded {
                response: LlmResponse::text_only(message),
                guardrails: vec![event],
                blocked: true,
            })
        }
    }
}

/// Runs the checks of the input that run beside the model, and `answer`. A check that does not pass drops `answer`.
async fn beside(
    ctx: Ctx<'_>,
    answer: impl Future<Output = Result<LlmResponse, BoxError>>,
) -> Result<LlmResponse, BoxError> {
    let checks = checks_beside(ctx);
    let (mut checks, mut answer) = (pin!(checks), pin!(answer));
    let (mut passed, mut response) = (false, None);
    poll_fn(|cx| {
        if !passed && let Poll::Ready(checked) = checks.as_mut().poll(cx) {
            checked?;
            passed = true;
        }
        if response.is_none()
            && let Poll::Ready(answered) = answer.as_mut().poll(cx)
        {
            response = Some(answered?);
        }
        match response.take() {
            Some(done) if passed => Poll::Ready(Ok(done)),
            other => {
                response = other;
                Poll::Pending
            }
        }
    })
    .await
}

async fn checks_beside(ctx: Ctx<'_>) -> Result<(), BoxError> {
    let conversation = ctx.conversation;
    // The message was checked if the model has been asked before in the turn.
    if conversation.calls > 0 {
        return Ok(());
    }
    let events = conversation.events.iter().rev();
    let mut events = events.take_while(|event| event.invocation == conversation.turn_id);
    let Some(message) = events
        .find(|event| says_something(event))
        .and_then(|event| event.message.as_ref())
    else {
        return Ok(());
    };
    let context = GuardrailContext::complete(ctx.position());
    let guardrails = guardrails(ctx.tree, ctx.index);
    let guardrails: Vec<_> = guardrails
        .filter(|guardrail| guardrail.runs_beside_model())
        .collect();
    let mut checks: Vec<_> = guardrails
        .iter()
        .map(|guardrail| Some(guardrail.check_input(message, &context)))
        .collect();
    let guardrail_call = GuardrailCall {
        position: ctx.position(),
        stage: GuardrailStage::Input,
    };
    poll_fn(|cx| {
        for (guardrail, check) in guardrails.iter().zip(&mut checks) {
            let Some(running) = check else { continue };
            let Poll::Ready(verdict) = Pin::new(running).poll(cx) else { continue };
            *check = None;
            match guardrail_call.record(&***guardrail, verdict)? {
                CheckResult::Pass => {}
                CheckResult::Blocked(message, event) => return Poll::Ready(Err(Tripped { event, message }.into())),
                CheckResult::Rewritten(..) => {
                    let why = "it runs beside the model, which has the input already: it cannot rewrite it";
                    return Poll::Ready(Err(guardrail_call.failed(&***guardrail, why.into()).into()));
                }
            }
        }
        if checks.iter().all(Option::is_none) {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await
}

/// Checks an answer that was given with a tool. Returns the text that replaces it, if one does.
pub(in crate::turn) async fn answer(
    ctx: Ctx<'_>,
    text: &str,
    done: &mut Vec<GuardrailEvent>,
) -> Result<Option<String>, BoxError> {
    let checked = output(ctx, LlmResponse::text_only(text)).await?;
    let replaced = !checked.guardrails.is_empty();
    done.extend(checked.guardrails);
    Ok(replaced.then(|| checked.response.text()))
}

/// Checks an answer that has text.
async fn output(ctx: Ctx<'_>, mut response: LlmResponse) -> Result<Guarded, BoxError> {
    let mut done = Vec::new();
    let guardrail_call = GuardrailCall {
        position: ctx.position(),
        stage: GuardrailStage::Output,
    };
    let context = GuardrailContext::complete(ctx.position());
    for guardrail in guardrails(ctx.tree, ctx.index) {
        let Some(message) = response
            .message
            .as_mut()
            .filter(|message| has_text(message))
        else {
            break;
        };
        let verdict = guardrail.check_output(message, &context).await;
        match guardrail_call.record(&**guardrail, verdict)? {
            CheckResult::Pass => {}
            CheckResult::Rewritten(new, event) => {
                *message = ChatMessage {
                    role: Role::Assistant,
                    ..new
                };
                done.push(event);
            }
            CheckResult::Blocked(text, event) => {
                response.message = Some(ChatMessage::assistant(text));
                done.push(event);
                return Ok(Guarded {
                    response,
                    guardrails: done,
                    blocked: true,
                });
            }
        }
    }
    Ok(Guarded {
        response,
        guardrails: done,
        blocked: false,
    })
}

fn has_text(message: &ChatMessage) -> bool {
    let mut parts = message.parts.iter();
    parts.any(|part| matches!(part, Part::Text(text) if !text.text.is_empty()))
}
