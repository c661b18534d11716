//! A structured answer of a model.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use petalflow::BoxError;
use petalflow::tool::schema;
use petalflow_llm::{LlmClient, LlmRequest};

/// Asks a model for a value of a type.
///
/// # Errors
///
/// If the model does not answer, or if its answer is not such a value.
pub(super) async fn decide<T: JsonSchema + DeserializeOwned>(
    model: &dyn LlmClient,
    instructions: &str,
    question: String,
) -> Result<T, BoxError> {
    let request = LlmRequest {
        system: Some(instructions.into()),
        ..LlmRequest::prompt(question).with_schema(schema::of::<T>())
    };
    let answer = model.complete(&request).await?.text();
    serde_json::from_str(&answer).map_err(|error| {
        format!(
            "the model `{}` was asked for a decision and answered with something else: {error}",
            model.name()
        )
        .into()
    })
}
