//! A structured answer of a model.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::error::shortened;
use crate::output;
use petalflow::tool::schema;
use petalflow::{BoxError, Context};
use petalflow_llm::nodes::noted_call;
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest};

/// How often an answer goes back to the model because it is no such value.
const REPAIRS: u32 = 2;

/// Asks a model for a value of a type. If the answer is no such value, the model receives the problem and answers again, at most twice.
///
/// # Errors
///
/// If the model does not answer, or if its last answer is not such a value.
pub(super) async fn decide<T: JsonSchema + DeserializeOwned>(
    model: &dyn LlmClient,
    instructions: &str,
    question: String,
    cx: &Context,
) -> Result<T, BoxError> {
    let mut request = LlmRequest {
        system: Some(instructions.into()),
        ..LlmRequest::prompt(question).with_schema(schema::of::<T>())
    };
    let mut attempts = 0;
    loop {
        let answer = noted_call(&request, cx, model.complete(&request)).await?;
        let answer = answer.text();
        attempts += 1;
        let problem = match output::parse(&answer) {
            Ok(decision) => return Ok(decision),
            Err(problem) => problem,
        };
        if attempts > REPAIRS {
            return Err(format!(
                "the model `{}` was asked for a decision and answered {attempts} times with something else: {problem}; its last \
                 answer is `{}`",
                model.name(),
                shortened(&answer)
            )
            .into());
        }
        let correction = output::correction(
            &problem,
            "Answer again with JSON of this form, and with nothing else.",
        );
        let asked = request
            .input_text
            .replace(correction)
            .map(ChatMessage::user);
        let messages = Arc::make_mut(&mut request.messages);
        messages.extend(asked.into_iter().chain([ChatMessage::assistant(answer)]));
    }
}
