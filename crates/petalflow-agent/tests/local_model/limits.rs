//! What the server refuses.

use petalflow_llm::{LlmClient, LlmErrorKind, LlmRequest};
use petalflow_test_servers::LlamaCpp;
use petalflow_test_support::assert_contains;

use super::{local_model, short};

#[tokio::test]
async fn f44_10_a_conversation_that_is_too_long_is_an_error_with_both_numbers() {
    let Some(local) = local_model().await else {
        return;
    };
    let mut request = LlmRequest::prompt("word ".repeat(2 * LlamaCpp::CONTEXT));
    short(&mut request, 4);
    let of_stream = local.model().stream(&request).await.map(drop).unwrap_err();
    let error = local.model().complete(&request).await.unwrap_err();
    for error in [of_stream, error] {
        let LlmErrorKind::Provider { status, .. } = error.kind else {
            panic!("{error:?}");
        };
        assert_eq!(status, Some(400));
        assert!(!error.is_transient());
        assert_contains(&error, "provider `llama_cpp` failed");
        assert_contains(
            &error,
            &format!(
                "exceeds the available context size ({} tokens)",
                LlamaCpp::CONTEXT
            ),
        );
    }
}
