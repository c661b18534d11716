//! The JSON Schemas of a state.

use serde_json::Value;

use super::State;

/// A state with JSON Schemas, which a server shows to its clients. `#[state(schema)]` implements it; then the types of all keys
/// implement `JsonSchema`.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::state::StateSchema;
/// use serde_json::json;
///
/// #[state(schema)]
/// struct Essay {
///     /// What the essay is about.
///     #[key(input)]
///     topic: String,
///     #[key(input, default = 100)]
///     words: u32,
///     draft: String,
/// }
///
/// let input = Essay::input_schema();
/// assert_eq!(input["required"], json!(["topic"]));
/// assert_eq!(input["properties"]["topic"]["description"], "What the essay is about.");
/// assert!(Essay::state_schema()["properties"]["draft"].is_object());
/// ```
pub trait StateSchema: State {
    /// The schema of the state as JSON: an object with the keys that have a value.
    fn state_schema() -> Value;

    /// The schema of the input as JSON: an object with the keys that are marked `input`.
    fn input_schema() -> Value;
}
