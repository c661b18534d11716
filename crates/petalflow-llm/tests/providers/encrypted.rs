//! Connections that are encrypted: to servers that are trusted, and to others.

use std::sync::Arc;

use petalflow::policy::Retry;
use petalflow_llm::{LlmClient, LlmErrorKind, LlmRequest, ProviderModel, Retrying};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::{TlsAcceptor, rustls};

use petalflow_llm_test_support::server::{Server, answer, chunk, end, event, events};
use petalflow_test_support::assert_contains;

/// What a server at `localhost` shows, and the certificate that has signed it, as PEM.
fn tls_acceptor() -> (TlsAcceptor, String) {
    let mut root = CertificateParams::new([]).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(root, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(["localhost".to_string()]).unwrap();
    let server = server.signed_by(&key, &root).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![server.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), root.pem())
}

#[tokio::test]
async fn a_trusted_server_answers_with_and_without_streaming() {
    let (tls, root) = tls_acceptor();
    let whole = json!({"choices": [{"message": {"content": "hello"}}]});
    let server = Server::with_tls(
        tls.clone(),
        answer("200 OK", "application/json", &whole.to_string()),
    )
    .await;
    let model = |server: &Server| {
        ProviderModel::openai_compatible(server.named_url("localhost", "/v1"), "tiny")
            .without_retry()
            .with_root_certificate(&root)
    };
    let request = LlmRequest::prompt("hi");
    assert_eq!(
        model(&server).complete(&request).await.unwrap().text(),
        "hello"
    );
    assert_eq!(server.requests()[0].path, "/v1/chat/completions");

    let pieces = vec![
        events(),
        event(&json!({"choices": [{"delta": {"content": "hel"}}]})),
        event(&json!({"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]})),
        chunk("data: [DONE]\n\n"),
        end(),
    ];
    let server = Server::with_tls(tls, pieces).await;
    let stream = model(&server).stream(&request).await.unwrap();
    assert_eq!(stream.into_response().await.unwrap().text(), "hello");
}

#[tokio::test]
async fn an_untrusted_server_gets_no_request_and_the_error_names_the_solution() {
    let (tls, _) = tls_acceptor();
    let server = Server::with_tls(tls.clone(), answer("200 OK", "application/json", "{}")).await;
    let url = server.named_url("localhost", "/v1");
    let model = ProviderModel::openai_compatible(url, "tiny")
        .without_retry()
        .with_key("sk-secret");
    let model = Retrying::new(model).with_retry(Retry::attempts(5));
    let request = LlmRequest::prompt("hi");
    let streamed = model.stream(&request).await.map(drop);
    for error in [model.complete(&request).await.map(drop), streamed] {
        let error = error.unwrap_err();
        assert_eq!(
            error.kind,
            LlmErrorKind::Request,
            "asking again does not help"
        );
        assert_eq!(
            error.to_string(),
            "provider `openai-compatible` failed: the certificate of `localhost` is not trusted: UnknownIssuer; if it is right, trust \
             its issuer with `with_root_certificate` or the variable SSL_CERT_FILE"
        );
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_certificate_for_another_name_is_an_error() {
    let (tls, root) = tls_acceptor();
    let server = Server::with_tls(tls, answer("200 OK", "application/json", "{}")).await;
    let model = ProviderModel::openai_compatible(server.url("/v1"), "tiny")
        .without_retry()
        .with_root_certificate(root);
    let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_contains(
        &error,
        "the certificate of `127.0.0.1` is not trusted: certificate not valid for name",
    );
}

#[tokio::test]
async fn an_invalid_certificate_is_an_error() {
    for (text, says) in [
        (
            "hello",
            "there is no certificate in what is to be trusted; give it as PEM",
        ),
        (
            "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
            "a certificate to trust cannot be read",
        ),
    ] {
        let model = ProviderModel::openai_compatible("https://localhost:1/v1", "tiny")
            .without_retry()
            .with_root_certificate(text);
        let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Request);
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    let url = format!("https://{place}/v1");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let refusal = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(refusal).await.unwrap();
    });
    let model = ProviderModel::openai_compatible(url, "tiny").without_retry();
    let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Connection, "{error}");
    // With the port, which distinguishes servers on one machine.
    let says = format!("no connection to `{place}`");
    assert!(error.to_string().contains(&says), "{error}");
}
