//! Whether a call is made, waits for a person, or is refused.

use serde_json::Value;

use crate::computer;
use crate::conversation::PendingCall;
use crate::extension::{Approval, ToolStep};
use crate::human::confirmation;
use crate::turn::ctx::Ctx;
use petalflow::BoxError;
use petalflow::tool::Confirmation;

/// The decision of the program about a call: that of the agents above comes first.
fn decide(ctx: Ctx<'_>, step: &ToolStep<'_>) -> Option<Approval> {
    let agents = ctx.tree.agents_from_root(ctx.index);
    let mut approvals = agents.flat_map(|agent| &agent.approvals);
    approvals.find_map(|approvals| approvals.decide(step))
}

/// Checks whether the call may be made, and returns the confirmation of a person if there is one. `own` is the question of
/// what is called. What the provider of the model warns of is asked in each case.
///
/// # Errors
///
/// If the call is denied, if a person must decide first, or if a person has refused it.
pub(super) fn check(
    ctx: Ctx<'_>,
    step: &mut ToolStep<'_>,
    pending: &PendingCall,
    own: impl FnOnce(&Value) -> Option<String>,
) -> Result<Option<Confirmation>, BoxError> {
    let approval = decide(ctx, step);
    if let Some(Approval::Deny(reason)) = approval {
        return Err(reason.into());
    }
    match &pending.confirmation {
        Some(refusal) if !refusal.confirmed => Err(confirmation::refused(refusal).into()),
        Some(confirmation) => Ok(Some(confirmation.clone())),
        None => {
            let question = match approval {
                Some(Approval::Allow) => None,
                Some(Approval::Ask(question)) => Some(question),
                _ => own(&step.arguments),
            };
            let warning = computer::warning(&step.call().name, &step.call().arguments);
            let questions: Vec<String> = question.into_iter().chain(warning).collect();
            if questions.is_empty() {
                return Ok(None);
            }
            let question = questions.join(" ");
            let call = step.call();
            let actions = &mut step.actions;
            actions
                .requested_confirmations
                .insert(call.id.clone(), Confirmation::ask(question));
            actions.skip_summarization = true;
            Err(confirmation::awaiting(&call.name).into())
        }
    }
}

/// Checks whether a call may be made whose result comes later: no person can be asked about it.
///
/// # Errors
///
/// If the call is denied, or if a person would have to confirm it.
pub(super) fn check_later(ctx: Ctx<'_>, step: &ToolStep<'_>) -> Result<(), BoxError> {
    match decide(ctx, step) {
        Some(Approval::Deny(reason)) => Err(reason.into()),
        Some(Approval::Ask(_)) => Err(format!(
            "`{}` needs an approval, and a task of an agent or a tool of the client cannot wait for one",
            step.call().name
        )
        .into()),
        _ => Ok(()),
    }
}
