//! The vectors of texts.

use petalflow_llm::{LlmErrorKind, ProviderModel};
use serde_json::json;

use petalflow_llm_test_support::server::{Server, answer};

fn texts() -> Vec<String> {
    vec!["petal".to_string(), "river".to_string()]
}

fn model(name: &str, server: &Server) -> ProviderModel {
    let model = ProviderModel::new(name).unwrap().without_retry();
    model.with_base_url(server.url("/v1")).with_key("k")
}

#[tokio::test]
async fn vectors_are_requested_as_each_provider_documents() {
    let body =
        json!({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [2.0]}]});
    let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
    let openai = model("text-embedding-3-small", &server);
    assert_eq!(openai.embed(&texts()).await.unwrap(), [[1.0], [2.0]]);
    let asked = server.requests().remove(0);
    assert_eq!(asked.path, "/v1/embeddings");
    assert_eq!(
        asked.body,
        json!({"model": "text-embedding-3-small", "input": texts(), "encoding_format": "float"})
    );
    let body = json!({"embeddings": [{"values": [1.0]}, {"values": [2.0]}]});
    let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
    let gemini = model("gemini-embedding-001", &server);
    assert_eq!(gemini.embed(&texts()).await.unwrap(), [[1.0], [2.0]]);
    let asked = server.requests().remove(0);
    assert_eq!(
        asked.path,
        "/v1/models/gemini-embedding-001:batchEmbedContents"
    );
    assert_eq!(
        asked.body["requests"][1],
        json!({"model": "models/gemini-embedding-001", "content": {"parts": [{"text": "river"}]}})
    );
}

#[tokio::test]
async fn without_vectors_there_is_an_error() {
    let server = Server::always(answer("200 OK", "application/json", "{\"data\": []}")).await;
    let openai = model("text-embedding-3-small", &server);
    assert!(openai.embed(&[]).await.unwrap().is_empty());
    assert!(server.requests().is_empty());
    let error = openai.embed(&texts()).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Malformed);
    assert!(
        error.to_string().contains("no vector for each text"),
        "{error}"
    );
    let refused = json!({"error": {"message": "no such model", "type": "invalid_request_error"}});
    let server = Server::always(answer("200 OK", "application/json", &refused.to_string())).await;
    let error = model("text-embedding-3-small", &server)
        .embed(&texts())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "provider `openai` failed: no such model");
    let error = model("claude-sonnet-4-6", &server)
        .embed(&texts())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "provider `anthropic` has no embeddings");
}
