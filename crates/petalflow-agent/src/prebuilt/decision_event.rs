//! Decisions of a model, as events for listeners.

use serde::{Deserialize, Serialize};

use petalflow::Context;
use petalflow::event::CustomEvent;

/// A decision of a model in a prebuilt flow: which member works next, whether a draft is accepted, which expert answers. It is
/// the payload of a [`CustomEvent`] of the deciding node and attempt.
///
/// ```
/// use petalflow::event::EventKind;
/// use petalflow_llm::ScriptedModel;
/// use petalflow_llm::nodes::Model;
/// use petalflow_agent::prebuilt::{DecisionEvent, Reflect, ReflectionInput};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedModel::new(["Petals fall.", r#"{ "accept": true, "advice": "" }"#]);
/// let input = ReflectionInput { task: "Write about petals.".into(), ..ReflectionInput::default() };
/// let mut events = Reflect::new().manage(Model::new(model)).run(input).events();
/// let mut decisions = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Custom(custom) = &event.kind {
///         let decision: &DecisionEvent = custom.downcast_ref().unwrap();
///         decisions.push((event.node().unwrap().to_string(), decision.clone()));
///     }
/// }
/// assert_eq!(decisions, [("criticize".into(), DecisionEvent::Accept { draft: 1 })]);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionEvent {
    /// [`Supervise`](super::Supervise): a member works next.
    Work {
        /// The name, as the supervisor's model wrote it. The member may not exist.
        member: String,
        /// The member's instructions.
        instructions: String,
    },
    /// [`Supervise`](super::Supervise): the project is done.
    Finish {
        /// The result.
        result: String,
    },
    /// [`Reflect`](super::Reflect): a draft has to be revised.
    Revise {
        /// The number of the draft, from 1.
        draft: u32,
        /// What should be better.
        advice: String,
    },
    /// [`Reflect`](super::Reflect): a draft is accepted.
    Accept {
        /// The number of the draft, from 1.
        draft: u32,
    },
    /// [`Reflect`](super::Reflect): the maximum number of drafts is reached. The draft is accepted without the
    /// critic.
    LastDraft {
        /// The number of the draft, from 1.
        draft: u32,
    },
    /// [`AskExpert`](super::AskExpert): an expert is asked.
    Expert {
        /// The name of the expert.
        name: String,
        /// The reason for the decision.
        reason: String,
    },
    /// [`AskExpert`](super::AskExpert): no expert is asked.
    NoExpert {
        /// The reason for the decision.
        reason: String,
    },
}

impl DecisionEvent {
    /// Emits the decision to a listener.
    pub(super) fn emit(self, cx: &Context) {
        cx.emit_with(|| CustomEvent::named("decided", self));
    }
}
