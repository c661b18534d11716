//! What traces and meters a client says of it what the client says.

use petalflow::async_trait;
use petalflow_llm::usage::{Price, TokenCount};
use petalflow_llm::{Capabilities, LlmClient, LlmError, LlmRequest, LlmResponse};
use petalflow_tracing::{Totals, Traced};

/// A client that has everything.
struct Full;

#[async_trait]
impl LlmClient for Full {
    fn name(&self) -> &'static str {
        "full"
    }

    fn model(&self) -> Option<&str> {
        Some("m-1")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default().with_schema_with_tools()
    }

    fn price(&self, _: &str) -> Option<Price> {
        Some(Price::default())
    }

    async fn complete(&self, _: &LlmRequest) -> Result<LlmResponse, LlmError> {
        Ok(LlmResponse::text_only("hi"))
    }

    async fn count_tokens(&self, _: &LlmRequest) -> Result<TokenCount, LlmError> {
        Ok(TokenCount::exact(7))
    }
}

#[tokio::test]
async fn wrappers_pass_on_what_their_client_says() {
    let traced: Box<dyn LlmClient> = Box::new(Traced::new(Full));
    let metered: Box<dyn LlmClient> = Box::new(Totals::new().meter(Full));
    for wrapper in [traced, metered] {
        assert_eq!((wrapper.name(), wrapper.model()), ("full", Some("m-1")));
        assert!(wrapper.capabilities().schema_with_tools);
        assert_eq!(wrapper.price("m-1"), Some(Price::default()));
        let count = wrapper.count_tokens(&LlmRequest::prompt("hello")).await;
        assert_eq!(count.unwrap(), TokenCount::exact(7));
    }
}
