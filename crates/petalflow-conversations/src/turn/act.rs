//! Actions, one in each superstep: those that have run are not run again after a crash.

use petalflow::Context;
use petalflow_document_model::conversations::Action;

use super::step;
use crate::program::{Planned, Program};
use crate::step::{Act, Moment, Step};
use crate::{ActionCall, ConversationError, ConversationEvent, ConversationState, Position};

/// What an action leaves.
pub(crate) struct Acted {
    pub(crate) position: Option<Position>,
    pub(crate) step: Step,
}

/// Runs an action.
pub(crate) async fn act(
    program: &Program,
    state: &ConversationState,
    act: &Act,
    cx: &Context,
) -> Result<Acted, ConversationError> {
    let node = step(program, &act.node)?;
    let actions = match act.moment {
        Moment::Before => &node.pre_actions,
        Moment::After => &node.post_actions,
    };
    let ended = match actions.get(act.index) {
        // The document has changed since the action was planned.
        None => false,
        Some(planned) => run(program, state, &act.node, planned, cx).await?,
    };
    if ended {
        cx.emit(ConversationEvent::Ended);
        let position = Position {
            node: Some(act.node.clone()),
            has_ended: true,
            actions_wait: false,
            ..state.position.clone()
        };
        return Ok(Acted {
            position: Some(position),
            step: Step::Done,
        });
    }
    let following = act.index + 1;
    let step = if following < actions.len() {
        Step::Act(Act {
            index: following,
            ..act.clone()
        })
    } else if act.moment == Moment::Before {
        Step::Enter(act.node.clone())
    } else {
        Step::Done
    };
    Ok(Acted {
        position: None,
        step,
    })
}

/// Runs an action. Returns whether it ends the conversation.
async fn run(
    program: &Program,
    state: &ConversationState,
    node: &str,
    planned: &Planned,
    cx: &Context,
) -> Result<bool, ConversationError> {
    let text = match &planned.text {
        None => None,
        Some(template) => {
            let filled = template.fill(&state.values);
            Some(filled.map_err(|error| ConversationError::Placeholder {
                node: node.into(),
                error,
            })?)
        }
    };
    let kind = planned.action.kind.as_str();
    match kind {
        Action::TTS_SAY | Action::END_CONVERSATION => {
            if let Some(text) = text {
                cx.emit(ConversationEvent::Say { text });
            }
            return Ok(kind == Action::END_CONVERSATION);
        }
        _ => {}
    }
    let name = planned.action.handler.as_deref().unwrap_or(kind);
    if let Some(handler) = program.actions.get(name) {
        // What was said before has been received: a handler runs after it.
        cx.events_received().await;
        let call = ActionCall {
            action: Action {
                text,
                ..planned.action.clone()
            },
            node: node.into(),
            values: state.values.clone(),
            cx: cx.clone(),
        };
        handler
            .run(call)
            .await
            .map_err(|error| ConversationError::Action {
                kind: kind.into(),
                node: node.into(),
                error,
            })?;
    }
    cx.emit_with(|| ConversationEvent::Action {
        kind: kind.into(),
        fields: planned.action.extra.clone(),
    });
    Ok(false)
}
