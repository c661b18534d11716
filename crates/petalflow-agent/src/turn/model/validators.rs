//! The checks of answers that need the run: its values, its context, and time.

use petalflow::BoxError;
use petalflow::error::message_with_sources;
use petalflow::tool::{ToolContext, ToolError, ToolSpec};
use serde_json::{Map, Value};

use crate::AgentError;
use crate::turn::ctx::Ctx;

/// What is wrong with an answer that has the requested form. `None` if nothing is.
///
/// # Errors
///
/// If a validator does not take such answers, or its error ends the run.
pub(in crate::turn) async fn problem(
    ctx: Ctx<'_>,
    answer: &Value,
) -> Result<Option<String>, BoxError> {
    for validator in &ctx.agent().output_validators {
        let spec = validator.spec();
        let id = format!("{}-{}", ctx.event(0).id, spec.name);
        let cx = ToolContext::within(id, ctx.cx).with_state(ctx.conversation.state.clone());
        let checked = validator.call(arguments(spec, answer), &cx).await;
        match checked {
            Ok(_) => {}
            // The answer has its type, so the parameter of the function has another one.
            Err(ToolError::Arguments(problem)) => {
                return Err(AgentError::OutputValidator {
                    agent: ctx.agent().name.to_string(),
                    validator: spec.name.clone(),
                    problem,
                }
                .into());
            }
            Err(ToolError::Failed(error)) if AgentError::ends_run(&*error) => return Err(error),
            Err(ToolError::Failed(error)) => return Ok(Some(message_with_sources(&*error))),
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
    Ok(None)
}

/// The arguments of a validator: the answer as its only parameter, or the fields of the answer as its parameters.
fn arguments(spec: &ToolSpec, answer: &Value) -> Value {
    let parameters = spec.parameters["properties"].as_object();
    let mut parameters = parameters.into_iter().flat_map(Map::keys);
    match (parameters.next(), parameters.next()) {
        (Some(only), None) if answer.get(only).is_none() => {
            Map::from_iter([(only.clone(), answer.clone())]).into()
        }
        _ => answer.clone(),
    }
}
