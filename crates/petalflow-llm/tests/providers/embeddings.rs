//! The vectors of texts.

use petalflow_llm::{LlmErrorKind, ProviderModel};
use serde_json::{Value, json};

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

/// A server that answers each request with a vector for each of its texts: the number in the text.
async fn numbered() -> Server {
    Server::start(|_, asked| {
        let text = |item: &Value| {
            item.pointer("/content/parts/0/text")
                .unwrap_or(item)
                .clone()
        };
        let items = asked.body["input"]
            .as_array()
            .or(asked.body["requests"].as_array());
        let numbers = items
            .unwrap()
            .iter()
            .map(|item| text(item).as_str().unwrap().parse::<u8>().unwrap());
        let vectors: Vec<_> = numbers
            .map(|number| json!({"values": [number], "embedding": [number]}))
            .collect();
        let body = json!({"data": vectors, "embeddings": vectors});
        answer("200 OK", "application/json", &body.to_string())
    })
    .await
}

#[tokio::test]
async fn more_texts_than_a_provider_takes_are_sent_in_several_requests() {
    for (name, expected) in [
        ("gemini-embedding-001", vec![100, 100, 50]),
        ("embed-v4", vec![96, 96, 58]),
        ("text-embedding-3-small", vec![250]),
    ] {
        let server = numbered().await;
        let texts: Vec<_> = (0..250).map(|number| number.to_string()).collect();
        let vectors = model(name, &server).embed(&texts).await.unwrap();
        let in_order: Vec<_> = (0_u8..250).map(|number| vec![f32::from(number)]).collect();
        assert_eq!(vectors, in_order, "{name}");
        let sizes: Vec<_> = server
            .requests()
            .iter()
            .map(|asked| {
                let items = asked.body["input"]
                    .as_array()
                    .or(asked.body["requests"].as_array());
                items.unwrap().len()
            })
            .collect();
        assert_eq!(sizes, expected, "{name}");
    }
    let server = numbered().await;
    let texts = ["0", "1", "2"].map(String::from);
    let own = model("text-embedding-3-small", &server).with_texts_per_request(2);
    assert_eq!(own.embed(&texts).await.unwrap(), [[0.0], [1.0], [2.0]]);
}
