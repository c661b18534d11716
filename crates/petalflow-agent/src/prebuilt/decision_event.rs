//! What a model has decided, for who listens.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use petalflow::{BoxError, Context};

/// What a model has decided in a prebuilt flow: who works next, whether a draft stands, who is asked. Who listens hears it at
/// once, as a [`Custom`](petalflow::event::EventKind::Custom) event of the node and the attempt that it was decided in.
///
/// ```
/// use futures_util::StreamExt;
/// use petalflow::EventKind;
/// use petalflow_llm::ScriptedModel;
/// use petalflow_llm::nodes::Model;
/// use petalflow_agent::prebuilt::{DecisionEvent, Reflect, ReflectionInput};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedModel::new(["Petals fall.", r#"{ "accept": true, "advice": "" }"#]);
/// let input = ReflectionInput { task: "Write about petals.".into(), ..ReflectionInput::default() };
/// let mut events = Reflect::new().manage(Model::new(model)).run(input).events();
/// let mut heard = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Custom { value } = &event.kind {
///         heard.push((event.node().unwrap().to_string(), DecisionEvent::read(value).unwrap()));
///     }
/// }
/// assert_eq!(heard, [("criticize".into(), DecisionEvent::Accept { draft: 1 })]);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionEvent {
    /// [`Supervise`](super::Supervise): a member works next.
    Work {
        /// Who, in the supervisor's words: it may be somebody who is not there.
        member: String,
        /// What they are told to do.
        told: String,
    },
    /// [`Supervise`](super::Supervise): all is done.
    Finish {
        /// What came of it.
        result: String,
    },
    /// [`Reflect`](super::Reflect): a draft is written anew.
    Revise {
        /// Which, from 1.
        draft: u32,
        /// What should be better.
        advice: String,
    },
    /// [`Reflect`](super::Reflect): a draft stands.
    Accept {
        /// Which, from 1.
        draft: u32,
    },
    /// [`Reflect`](super::Reflect): a draft stands because there were enough of them. The critic was not asked.
    Enough {
        /// Which, from 1.
        draft: u32,
    },
    /// [`AskExpert`](super::AskExpert): an expert is asked.
    Expert {
        /// Who.
        name: String,
        /// Why.
        reason: String,
    },
    /// [`AskExpert`](super::AskExpert): nobody is asked.
    Nobody {
        /// Why.
        reason: String,
    },
}

/// A decision among other values that nodes emit.
#[derive(Serialize, Deserialize)]
struct EmittedEvent<D> {
    decided: D,
}

impl DecisionEvent {
    /// The decision in the value of a [`Custom`](petalflow::event::EventKind::Custom) event, if one is in it.
    pub fn read(value: &Value) -> Option<Self> {
        Some(EmittedEvent::deserialize(value).ok()?.decided)
    }

    /// Lets who listens hear it.
    pub(super) fn tell(&self, cx: &Context) -> Result<(), BoxError> {
        Ok(cx.emit(&EmittedEvent { decided: self })?)
    }
}
