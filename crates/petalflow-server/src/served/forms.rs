//! How the values of a flow are read and shown.

use petalflow::state::{EncodedKey, State};
use petalflow::{BoxError, Flow};
use serde_json::{Map, Value};

use super::question::Questions;
use super::threads::InputValue;
use super::wait::Wait;

/// How the values of a flow are read and shown.
pub(crate) struct Forms<F: Flow> {
    pub(super) input: ReadInput<F>,
    pub(crate) state: fn(&F::State) -> Result<Value, BoxError>,
    pub(super) questions: Questions,
    /// What a thread with this state waits for when its run has finished, if the flow is an agent.
    pub(crate) waits: Option<fn(&F::State) -> Vec<Wait>>,
    /// How the input of a protocol is read, if the flow is an agent or a conversation.
    #[cfg(feature = "protocol")]
    pub(crate) turn: Option<ReadTurn<F>>,
    /// What the state has when a turn has ended, if the flow is an agent or a conversation.
    #[cfg(feature = "protocol")]
    pub(crate) turn_end: Option<fn(F::State) -> petalflow_agent::TurnEnd>,
}

pub(super) type ReadInput<F> = fn(Value) -> Result<<<F as Flow>::State as State>::Input, BoxError>;

#[cfg(feature = "protocol")]
pub(crate) type ReadTurn<F> = Box<
    dyn Fn(crate::turn_parts::TurnInput) -> Result<<<F as Flow>::State as State>::Input, BoxError>
        + Send
        + Sync,
>;

impl<F: Flow> Forms<F> {
    /// The input of the flow in the value of a client.
    pub(super) fn read(&self, value: InputValue) -> Result<<F::State as State>::Input, BoxError> {
        match value {
            InputValue::Json(value) => (self.input)(value),
            #[cfg(feature = "protocol")]
            InputValue::Turn(input) => match &self.turn {
                Some(read) => read(*input),
                None => Err("it is neither an agent nor a conversation".into()),
            },
        }
    }
}

/// The keys of a state by name.
pub(crate) fn keys(keys: &[EncodedKey]) -> Result<Value, BoxError> {
    let keys = keys.iter().map(|key| {
        let value = serde_json::from_str(&key.to_string())?;
        Ok::<_, BoxError>((key.name().to_string(), value))
    });
    Ok(Value::Object(keys.collect::<Result<Map<_, _>, _>>()?))
}
