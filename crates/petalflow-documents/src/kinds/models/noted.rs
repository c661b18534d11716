//! Calls of models that replays compare.

use petalflow::BoxError;
use petalflow_llm::{LlmRequest, LlmResponse};

use crate::kinds::Call;

/// Makes a call with all of its attempts, and records its request once. The nodes of a map make calls in one task: each is named.
pub(super) async fn noted(
    request: &LlmRequest,
    call: Call<'_>,
    attempts: impl Future<Output = Result<LlmResponse, BoxError>> + Send,
) -> Result<LlmResponse, BoxError> {
    let mut failed = None;
    let attempts = async {
        attempts.await.map_err(|error| {
            let recorded = error.to_string();
            failed = Some(error);
            recorded
        })
    };
    let parts = || request.parts().of(call.name);
    let answer = call.cx.note_call(parts, attempts).await?;
    answer.map_err(|recorded| failed.unwrap_or_else(|| recorded.into()))
}
