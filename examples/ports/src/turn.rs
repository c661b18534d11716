//! Steps of a program over one thread: each is a turn that is begun once, in whichever process.

use petalflow::thread::{Outcome, Thread};
use petalflow_agent::{AgentFlow, Conversation, ConversationInput};

/// The key of the conversation's state with the name of the last step.
const STEP: &str = "step";

/// Whether this step is the last one that was begun.
///
/// # Errors
///
/// If the store fails.
pub async fn is_at(thread: &Thread<AgentFlow>, step: &str) -> petalflow::Result<bool> {
    let known = thread.snapshot().await?;
    Ok(known.is_some_and(|known| known.state.state.get(STEP).is_some_and(|at| at == step)))
}

/// Begins a step with this input, or continues it if an earlier process has begun it.
///
/// # Errors
///
/// If another step has not ended, if the turn fails, or if the store does.
pub async fn step(
    thread: &Thread<AgentFlow>,
    step: &str,
    input: ConversationInput,
) -> petalflow::Result<Conversation> {
    let outcome = match thread.snapshot().await? {
        Some(known) if known.state.state.get(STEP).is_some_and(|at| at == step) => {
            if known.is_finished() {
                Outcome::Finished(known.state)
            } else {
                thread.resume(()).await?
            }
        }
        Some(known) if !known.is_finished() => {
            let at = &known.state.state[STEP];
            return Err(format!("the step {at} has not ended: continue it before {step:?}").into());
        }
        _ => thread.run(input.with_state(STEP, step)).await?,
    };
    Ok(outcome.into_finished()?)
}
