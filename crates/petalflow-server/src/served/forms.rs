//! How the values of a flow are read and shown.

use petalflow::state::{EncodedKey, State};
use petalflow::{BoxError, Flow};
use serde_json::{Map, Value};

use super::question::Questions;

/// How the values of a flow are read and shown.
pub(crate) struct Forms<F: Flow> {
    pub(super) input: ReadInput<F>,
    pub(crate) state: fn(&F::State) -> Result<Value, BoxError>,
    pub(super) questions: Questions,
}

pub(super) type ReadInput<F> = fn(Value) -> Result<<<F as Flow>::State as State>::Input, BoxError>;

/// The keys of a state by name.
pub(crate) fn keys(keys: &[EncodedKey]) -> Result<Value, BoxError> {
    let keys = keys.iter().map(|key| {
        let value = serde_json::from_str(&key.to_string())?;
        Ok::<_, BoxError>((key.name().to_string(), value))
    });
    Ok(Value::Object(keys.collect::<Result<Map<_, _>, _>>()?))
}
