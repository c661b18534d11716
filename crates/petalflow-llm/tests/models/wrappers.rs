//! What is around a client says of it what the client says.

use std::sync::Arc;

use petalflow::async_trait;
use petalflow_llm::testing::Cassette;
use petalflow_llm::usage::{Price, TokenCount};
use petalflow_llm::{
    Allowed, Capabilities, FallbackModel, LlmClient, LlmError, LlmRequest, LlmResponse, Retrying,
};

use super::cassette::File;

/// A client that has everything.
struct Full;

fn capabilities() -> Capabilities {
    let mut capabilities = Capabilities::default().with_schema_with_tools();
    capabilities.images = false;
    capabilities.sampling = Allowed::WithoutReasoning;
    capabilities
}

const PRICE: Price = Price {
    input: 2.0,
    cached: 0.5,
    output: 8.0,
    cache_write: Some(3.0),
    cache_write_1h: None,
    input_audio: None,
    reasoning: None,
    output_audio: None,
};

#[async_trait]
impl LlmClient for Full {
    fn name(&self) -> &'static str {
        "full"
    }

    fn model(&self) -> Option<&str> {
        Some("m-1")
    }

    fn capabilities(&self) -> Capabilities {
        capabilities()
    }

    fn price(&self, model: &str) -> Option<Price> {
        model.starts_with("m-").then_some(PRICE)
    }

    async fn complete(&self, _: &LlmRequest) -> Result<LlmResponse, LlmError> {
        Ok(LlmResponse {
            model: "m-1-2026".into(),
            ..LlmResponse::text_only("hi")
        })
    }

    async fn count_tokens(&self, _: &LlmRequest) -> Result<TokenCount, LlmError> {
        Ok(TokenCount::exact(7))
    }
}

async fn check(wrapper: &dyn LlmClient) {
    let request = LlmRequest::prompt("hello");
    let count = wrapper.count_tokens(&request).await.unwrap();
    assert_eq!(wrapper.complete(&request).await.unwrap().text(), "hi");
    assert_eq!((wrapper.name(), wrapper.model()), ("full", Some("m-1")));
    assert_eq!(wrapper.capabilities(), capabilities());
    assert_eq!(wrapper.price("m-1"), Some(PRICE));
    assert_eq!(wrapper.price("m-1-2026"), Some(PRICE));
    assert_eq!(wrapper.price("n-1"), None);
    assert_eq!(count, TokenCount::exact(7));
}

#[tokio::test]
async fn wrappers_pass_on_what_their_client_says() {
    check(&Arc::new(Full)).await;
    check(&(Box::new(Full) as Box<dyn LlmClient>)).await;
    check(&Retrying::new(Full)).await;
    check(&FallbackModel::new([Full, Full])).await;
    let file = File::new("wrappers");
    for _ in ["recorded", "replayed"] {
        check(&Cassette::open(&file.0, || Ok(Full)).unwrap()).await;
    }
}

#[tokio::test]
async fn a_count_that_was_not_recorded_is_an_estimate() {
    let file = File::new("counts");
    let recording = Cassette::open(&file.0, || Ok(Full)).unwrap();
    recording
        .complete(&LlmRequest::prompt("hello"))
        .await
        .unwrap();
    let replaying = Cassette::replay(&file.0).unwrap();
    let count = replaying.count_tokens(&LlmRequest::prompt("hello")).await;
    assert!(!count.unwrap().exact);
}
