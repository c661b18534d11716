//! Another model after an error.

use petalflow_llm::response::FinishReason;
use petalflow_llm::{
    FallbackModel, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, Reply, ScriptedModel,
};

fn error(kind: LlmErrorKind) -> LlmError {
    LlmError::new(kind, "not now")
}

fn ended(finish: FinishReason) -> LlmResponse {
    LlmResponse {
        finish: Some(finish),
        ..LlmResponse::default()
    }
}

async fn ask(model: &FallbackModel, streamed: bool) -> Result<LlmResponse, LlmError> {
    let request = LlmRequest {
        model: Some("first-model".into()),
        ..LlmRequest::prompt("hi")
    };
    if streamed {
        model.stream(&request).await?.into_response().await
    } else {
        model.complete(&request).await
    }
}

#[tokio::test]
async fn the_next_model_answers_after_a_transient_error_a_filter_and_a_refusal() {
    let overloaded = LlmErrorKind::Provider {
        status: Some(529),
        retry_after: None,
    };
    let first: [fn() -> Reply; 6] = [
        || error(LlmErrorKind::RateLimited { retry_after: None }).into(),
        || error(LlmErrorKind::Timeout).into(),
        || error(LlmErrorKind::Connection).into(),
        || ended(FinishReason::ContentFilter).into(),
        || ended(FinishReason::Refusal).into(),
        || ended(FinishReason::Blocked).into(),
    ];
    let overload = || Reply::from(error(overloaded.clone()));
    let replies = first
        .iter()
        .map(|reply| (reply(), reply()))
        .chain([(overload(), overload())]);
    for (whole, streamed) in replies {
        for (reply, streaming) in [(whole, false), (streamed, true)] {
            let second = ScriptedModel::new(["hello"]);
            let model = FallbackModel::new([ScriptedModel::new([reply]), second.clone()]);
            let response = ask(&model, streaming).await.unwrap();
            assert_eq!(response.text(), "hello");
            assert_eq!(response.meta["fallback"].as_array().unwrap().len(), 1);
            assert_eq!(
                second.last_request().unwrap().model,
                None,
                "the name is one of the first client"
            );
        }
    }
}

#[tokio::test]
async fn other_errors_and_the_last_model_end_the_request() {
    for streaming in [false, true] {
        let second = ScriptedModel::new(["hello"]);
        let refused = ScriptedModel::new([Reply::from(error(LlmErrorKind::Auth))]);
        let model = FallbackModel::new([refused, second.clone()]);
        assert_eq!(
            ask(&model, streaming).await.unwrap_err().kind,
            LlmErrorKind::Auth
        );
        assert!(second.requests().is_empty());

        let fails = || ScriptedModel::new([Reply::from(error(LlmErrorKind::Timeout))]);
        let model = FallbackModel::new([fails(), fails()]);
        assert_eq!(
            ask(&model, streaming).await.unwrap_err().kind,
            LlmErrorKind::Timeout
        );

        // A blocked prompt is an error too, whole and streamed.
        let blocked = ScriptedModel::new([ended(FinishReason::Blocked)]);
        let model = FallbackModel::new([blocked, second.clone()]).on_error(|_| false);
        let kind = ask(&model, streaming).await.unwrap_err().kind;
        assert!(matches!(kind, LlmErrorKind::Blocked { .. }), "{kind:?}");

        let refused = ScriptedModel::new([Reply::from(error(LlmErrorKind::Auth))]);
        let model = FallbackModel::new([refused, second])
            .on_error(|error| error.kind == LlmErrorKind::Auth);
        assert_eq!(ask(&model, streaming).await.unwrap().text(), "hello");
    }
}

#[tokio::test]
async fn a_stream_that_has_begun_is_not_answered_again() {
    let broken = Reply::chunks(["Once"]).broken(error(LlmErrorKind::Connection));
    let second = ScriptedModel::new(["hello"]);
    let model = FallbackModel::new([ScriptedModel::new([broken]), second.clone()]);
    assert_eq!(
        ask(&model, true).await.unwrap_err().kind,
        LlmErrorKind::Connection
    );
    assert!(second.requests().is_empty());
}

#[tokio::test]
async fn the_answer_of_the_last_model_counts_though_it_is_empty() {
    for streaming in [false, true] {
        let model = FallbackModel::new([
            ScriptedModel::new([ended(FinishReason::ContentFilter)]),
            ScriptedModel::new([ended(FinishReason::ContentFilter)]),
        ]);
        let response = ask(&model, streaming).await.unwrap();
        assert_eq!(response.finish, Some(FinishReason::ContentFilter));
    }
}
