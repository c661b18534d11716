//! The steps of a turn, apart from the flow that connects them.

mod act;
mod ask;
mod begin;
mod call;
mod enter;
mod gather;
mod summary;

use crate::ConversationError;
use crate::program::{self, Program};
use crate::step::{Act, Moment, Step};

pub(crate) use act::act;
pub(crate) use ask::ask;
pub(crate) use begin::begin;
pub(crate) use call::call;
pub use call::{go_to, no_response};
pub(crate) use enter::enter;
pub(crate) use gather::gather;

/// The first step on the way to a node: its actions, then the entry.
fn go(program: &Program, node: &str) -> Result<Step, ConversationError> {
    let step = step(program, node)?;
    Ok(if step.pre_actions.is_empty() {
        Step::Enter(node.into())
    } else {
        Step::Act(Act {
            node: node.into(),
            moment: Moment::Before,
            index: 0,
        })
    })
}

fn step<'p>(program: &'p Program, node: &str) -> Result<&'p program::Step, ConversationError> {
    let step = program.steps.get(node);
    step.ok_or_else(|| ConversationError::UnknownNode(node.into()))
}
