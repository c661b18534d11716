//! What gives access to a provider: headers, tokens that expire, and the program's own HTTP client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use petalflow_llm::{AccessToken, LlmClient, LlmError, LlmErrorKind, LlmRequest, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer, end, event, events};
use serde_json::json;
use tokio::sync::Notify;

fn ok() -> Vec<Step> {
    let body = json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]});
    answer("200 OK", "application/json", &body.to_string())
}

fn at(server: &Server) -> ProviderModel {
    ProviderModel::openai_compatible(server.url("/v1"), "tiny").without_retry()
}

/// A source of the tokens `token-1`, `token-2` and so on, and the number of its calls.
fn counting(
    model: ProviderModel,
    expire: impl Fn(AccessToken) -> AccessToken + Copy + Send + Sync + 'static,
) -> (ProviderModel, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let model = model.with_token(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move { Ok(expire(AccessToken::new(format!("token-{number}\n")))) }
    });
    (model, calls)
}

fn hi() -> LlmRequest {
    LlmRequest::prompt("hi")
}

#[tokio::test]
async fn headers_are_sent_and_replace_those_of_the_client() {
    let server = Server::always(ok()).await;
    let model = at(&server)
        .with_key("the-key")
        .with_header("X-Team", "petals")
        .with_header("Authorization", "Basic c2VjcmV0");
    model.complete(&hi()).await.unwrap();
    let head = server.requests()[0].head.clone();
    assert!(head.contains("x-team: petals\r\n"), "{head}");
    assert!(head.contains("authorization: basic c2vjcmv0\r\n") && !head.contains("the-key"));

    for (name, value) in [("no name", "x"), ("x-lines", "a\r\nb")] {
        let error = at(&server).with_header(name, value).complete(&hi()).await;
        let error = error.unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Request);
        let start = format!("the header `{name}` of `with_header` cannot be sent");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_secret_of_a_header_is_not_in_errors_and_gives_access_without_a_key() {
    let refusal = json!({"error": {"message": "no access for pass-word-1 of team petals"}});
    let server = Server::always(answer("403 No", "application/json", &refusal.to_string())).await;
    let model = at(&server)
        .with_header("x-gateway-token", "other")
        .with_header("api-key", "pass-word-1")
        .with_header("x-team", "petals");
    let error = model.complete(&hi()).await.unwrap_err().to_string();
    assert!(
        error.contains("no access for *** of team petals"),
        "{error}"
    );
}

#[tokio::test]
async fn a_token_is_used_until_shortly_before_it_expires() {
    let server = Server::always(ok()).await;
    let (model, calls) = counting(at(&server), |token| {
        token.expires_in(Duration::from_hours(1))
    });
    model.complete(&hi()).await.unwrap();
    model.complete(&hi()).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert!(
        server.requests()[1]
            .head
            .contains("authorization: bearer token-1\r\n")
    );

    // The clock of the tokens is that of tokio. No connection is open while it is moved.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3_539)).await;
    tokio::time::resume();
    model.complete(&hi()).await.unwrap();
    assert_eq!(
        calls.load(Ordering::SeqCst),
        1,
        "a minute and a second are left"
    );
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    model.complete(&hi()).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert!(
        server.requests()[3]
            .head
            .contains("authorization: bearer token-2\r\n")
    );

    let (model, calls) = counting(at(&server), |token| {
        token.expires_at(SystemTime::UNIX_EPOCH)
    });
    model.complete(&hi()).await.unwrap();
    model.complete(&hi()).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 2, "each has expired");
}

#[tokio::test]
async fn requests_that_wait_share_one_fetch_and_its_failure() {
    let server = Server::always(ok()).await;
    let (calls, release) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (counted, released) = (Arc::clone(&calls), Arc::clone(&release));
    let model = at(&server).with_token(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let released = Arc::clone(&released);
        async move {
            released.notified().await;
            match number {
                0 => Err("the vault is locked".into()),
                _ => Ok(AccessToken::new("token")),
            }
        }
    });
    let model = Arc::new(model);
    let ask_many = || {
        let requests = (0..20).map(|_| {
            let model = Arc::clone(&model);
            tokio::spawn(async move { model.complete(&hi()).await })
        });
        requests.collect::<Vec<_>>()
    };
    for succeeds in [false, true] {
        let mut asked = ask_many();
        tokio::task::yield_now().await;
        // Those who are gone do not stop the others.
        let first = asked.remove(0);
        first.abort();
        first.await.unwrap_err();
        release.notify_one();
        for request in asked {
            match request.await.unwrap() {
                Ok(_) => assert!(succeeds),
                Err(error) => {
                    assert!(!succeeds && error.kind == LlmErrorKind::Auth);
                    assert_eq!(
                        error.to_string(),
                        "provider `openai-compatible` failed: its callback for tokens has none: the vault is locked"
                    );
                }
            }
        }
        assert_eq!(calls.load(Ordering::SeqCst), 1 + usize::from(succeeds));
    }
}

#[tokio::test]
async fn a_fetch_ends_with_those_who_wait_and_the_next_request_starts_another() {
    let server = Server::always(ok()).await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let model = at(&server).with_token(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            if number == 0 {
                std::future::pending::<()>().await;
            }
            Ok(AccessToken::new("token"))
        }
    });
    let wait = Duration::from_millis(20);
    tokio::time::timeout(wait, model.complete(&hi()))
        .await
        .unwrap_err();
    model.complete(&hi()).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    let refusal = || {
        answer(
            "401 No",
            "application/json",
            r#"{"error": {"message": "token-1 is old"}}"#,
        )
    };
    let server = Server::start(move |_, request| {
        if !request.head.contains("token-2") {
            return refusal();
        }
        if request.body["stream"] == true {
            let last = json!({"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]});
            return vec![events(), event(&last), end()];
        }
        ok()
    })
    .await;
    let (model, calls) = counting(at(&server), |token| token);
    assert_eq!(model.complete(&hi()).await.unwrap().text(), "ok");
    let streamed = model.stream(&hi()).await.unwrap();
    assert_eq!(streamed.into_response().await.unwrap().text(), "ok");
    assert_eq!(
        (calls.load(Ordering::SeqCst), server.requests().len()),
        (2, 3)
    );
    let (model, _) = counting(at(&server), |token| token);
    let streamed = model.stream(&hi()).await.unwrap();
    assert_eq!(streamed.into_response().await.unwrap().text(), "ok");

    let server = Server::always(refusal()).await;
    let (model, calls) = counting(at(&server), |token| token);
    let error = model.complete(&hi()).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Auth);
    assert_eq!(
        (calls.load(Ordering::SeqCst), server.requests().len()),
        (2, 2)
    );
    // A key cannot be replaced.
    at(&server).with_key("k").complete(&hi()).await.unwrap_err();
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_transient_failure_of_the_callback_is_retried() {
    let server = Server::always(ok()).await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let model = ProviderModel::openai_compatible(server.url("/v1"), "tiny").with_token(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            match number {
                0 => Err(LlmError::new(LlmErrorKind::Timeout, "the vault is slow").into()),
                _ => Ok(AccessToken::new("token")),
            }
        }
    });
    assert_eq!(model.complete(&hi()).await.unwrap().text(), "ok");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_client_of_the_program_is_used() {
    let server = Server::always(ok()).await;
    let tls = petalflow_llm::tls::client_config(&[]).unwrap();
    let client = reqwest::Client::builder()
        .user_agent("petals/1")
        .tls_backend_preconfigured(tls)
        .build()
        .unwrap();
    let model = at(&server)
        .with_http_client(client)
        .with_connect_timeout(Duration::from_secs(1));
    model.complete(&hi()).await.unwrap();
    assert!(
        server.requests()[0]
            .head
            .contains("user-agent: petals/1\r\n")
    );
}
