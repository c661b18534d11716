//! Redirects: the key and the conversation go to no other server.

use petalflow_llm::LlmErrorKind;
use petalflow_llm_test_support::server::{Server, with_headers};

use super::{Asks, KEY, ask, chat, gemini, messages, responses};

#[tokio::test]
async fn redirects_are_errors_that_name_the_other_host() {
    let other = Server::always(Vec::new()).await;
    for format in [
        chat::FORMAT,
        responses::FORMAT,
        messages::FORMAT,
        gemini::FORMAT,
    ] {
        for status in [301, 302, 303, 307, 308] {
            let location = other.url(&format!("/stolen?key={KEY}"));
            let headers = format!("location: {location}\r\n");
            let server =
                Server::always(with_headers(&format!("{status} Over there"), &headers, "")).await;
            let model = (format.model)(&server).with_key(KEY).without_retry();
            for asks in [Asks::Whole, Asks::Stream] {
                let error = ask(&model, asks).await.unwrap_err();
                let kind = LlmErrorKind::Provider {
                    status: Some(status),
                    retry_after: None,
                };
                assert_eq!(error.kind, kind);
                let expected = "it redirects to `127.0.0.1`; the key is not sent there, so give the right address";
                assert!(error.to_string().contains(expected), "{error}");
                assert!(!format!("{error:?}").contains(KEY));
            }
            assert_eq!(server.requests().len(), 2);
        }
    }
    assert_eq!(other.requests().len(), 0);
}
