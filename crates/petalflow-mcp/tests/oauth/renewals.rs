//! Tokens that are renewed, and their stores.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::{BoxError, async_trait};
use petalflow_mcp::{McpError, OAuthCredentials, OAuthStore};
use petalflow_test_support::assert_contains;
use tokio::sync::Notify;

use super::server::Servers;
use super::{Stored, add, client, oauth, sign_in};
use crate::sum_of;

#[tokio::test]
async fn tokens_are_renewed_before_they_expire() {
    let servers = Servers::start().await;
    servers.known().lifetime = Some(1);
    let server = client(&servers, oauth());
    sign_in(&servers, &server).await;
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        // An expired token is not sent: the server would refuse it.
        let expired: Vec<String> = servers.known().access.keys().cloned().collect();
        for token in expired {
            servers.known().access.remove(&token);
        }
        assert_eq!(add(&server).await, Ok(sum_of(3)));
    }
    assert!(servers.known().count_of("refresh_token") >= 2);
}

#[tokio::test]
async fn a_token_that_the_server_refuses_is_renewed_once_for_all_calls() {
    let servers = Servers::start().await;
    let server = client(&servers, oauth());
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    servers.known().access.clear();
    let calls = (0..8).map(|_| add(&server));
    for sum in futures_util::future::join_all(calls).await {
        assert_eq!(sum, Ok(sum_of(3)));
    }
    assert_eq!(servers.known().count_of("refresh_token"), 1);
}

#[tokio::test]
async fn a_restarted_program_does_not_ask_again() {
    for gives_secrets in [false, true] {
        let servers = Servers::start().await;
        servers.known().gives_secrets = gives_secrets;
        let stored = Stored::default();
        sign_in(&servers, &client(&servers, oauth().store(stored.clone()))).await;
        let restarted = client(&servers, oauth().store(stored.clone()));
        assert_eq!(add(&restarted).await, Ok(sum_of(3)));
        // Its tokens are renewed, with the client that was registered.
        servers.known().access.clear();
        let restarted = client(&servers, oauth().store(stored.clone()));
        assert_eq!(add(&restarted).await, Ok(sum_of(3)));
        // The renewed tokens were stored: those before cannot be used again.
        servers.known().access.clear();
        let restarted = client(&servers, oauth().store(stored));
        assert_eq!(add(&restarted).await, Ok(sum_of(3)));
        assert_eq!(servers.known().clients.len(), 1);
        assert_eq!(servers.known().count_of("authorization_code"), 1);
    }
}

#[tokio::test]
async fn two_clients_of_one_store_use_the_newest_tokens() {
    let servers = Servers::start().await;
    let stored = Stored::default();
    let first = client(&servers, oauth().store(stored.clone()));
    let second = client(&servers, oauth().store(stored));
    sign_in(&servers, &first).await;
    for _ in 0..2 {
        assert_eq!(add(&first).await, Ok(sum_of(3)));
        assert_eq!(add(&second).await, Ok(sum_of(3)));
        servers.known().access.clear();
    }
    assert_eq!(add(&second).await, Ok(sum_of(3)));
    assert_eq!(add(&first).await, Ok(sum_of(3)));
    assert_eq!(servers.known().count_of("refresh_token"), 2);
}

#[tokio::test]
async fn a_renewal_ends_although_its_call_is_dropped() {
    let servers = Servers::start().await;
    let server = client(&servers, oauth());
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    servers.known().access.clear();
    let release = Arc::new(Notify::new());
    servers.known().release = Some(Arc::clone(&release));
    let renewed = async {
        while servers.known().count_of("refresh_token") == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    // The call is dropped while its renewal waits for the answer.
    tokio::select! {
        ended = add(&server) => panic!("the renewal has not ended: {ended:?}"),
        () = renewed => {}
    }
    release.notify_one();
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    assert_eq!(servers.known().count_of("refresh_token"), 1);
}

/// A store of which a test decides whether it saves.
#[derive(Clone, Default)]
struct Failing {
    stored: Stored,
    fails: Arc<AtomicBool>,
}

#[async_trait]
impl OAuthStore for Failing {
    async fn load(&self) -> Result<Option<OAuthCredentials>, BoxError> {
        self.stored.load().await
    }

    async fn save(&self, credentials: &OAuthCredentials) -> Result<(), BoxError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err("the disk is full".into());
        }
        self.stored.save(credentials).await
    }

    async fn clear(&self) -> Result<(), BoxError> {
        self.stored.clear().await
    }
}

#[tokio::test]
async fn renewed_tokens_are_not_lost_while_the_store_fails() {
    let servers = Servers::start().await;
    let store = Failing::default();
    let server = client(&servers, oauth().store(store.clone()));
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    store.fails.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        servers.known().access.clear();
        let error = add(&server).await.unwrap_err();
        assert_contains(&error, "the store cannot save the tokens: the disk is full");
        // The tokens are in memory.
        assert_eq!(add(&server).await, Ok(sum_of(3)));
    }
    store.fails.store(false, Ordering::SeqCst);
    servers.known().access.clear();
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    let restarted = client(&servers, oauth().store(store));
    assert_eq!(add(&restarted).await, Ok(sum_of(3)));
    assert_eq!(servers.known().count_of("authorization_code"), 1);
}

#[tokio::test]
async fn a_failure_of_the_authorization_server_keeps_the_tokens() {
    let servers = Servers::start().await;
    let server = client(&servers, oauth());
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    servers.known().access.clear();
    servers.known().is_broken = true;
    let error = server.resources().await.unwrap_err();
    assert!(matches!(error, McpError::SignIn { .. }), "{error}");
    assert_contains(
        &error.to_string(),
        "the authorization server sent no valid answer",
    );
    servers.known().is_broken = false;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
}

#[tokio::test]
async fn a_registered_program_uses_its_own_secret() {
    let servers = Servers::start().await;
    let secret = |word: &str| {
        let secret = Some(word.to_string());
        servers.known().clients.insert("planner".into(), secret);
    };
    let stored = Stored::default();
    let program = |word: &str| {
        let oauth = oauth().client_id("planner").client_secret(word);
        client(&servers, oauth.store(stored.clone()))
    };
    secret("first");
    let server = program("first");
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    // The secret is not stored, so it can be changed.
    assert!(!stored.text().unwrap().contains("first"));
    secret("second");
    servers.known().access.clear();
    let error = add(&server).await.unwrap_err();
    assert_contains(&error, "the authorization server refused: invalid_client");
    assert_eq!(add(&program("second")).await, Ok(sum_of(3)));
    assert_eq!(servers.known().clients.len(), 1);
}

/// A store to which another program saved newer tokens after some loads.
struct Late {
    old: Stored,
    new: Stored,
    old_loads: AtomicUsize,
}

#[async_trait]
impl OAuthStore for Late {
    async fn load(&self) -> Result<Option<OAuthCredentials>, BoxError> {
        let left = self.old_loads.load(Ordering::SeqCst);
        self.old_loads
            .store(left.saturating_sub(1), Ordering::SeqCst);
        let stored = if left > 0 { &self.old } else { &self.new };
        stored.load().await
    }

    async fn save(&self, credentials: &OAuthCredentials) -> Result<(), BoxError> {
        self.new.save(credentials).await
    }

    async fn clear(&self) -> Result<(), BoxError> {
        unreachable!("the tokens of the other program are valid")
    }
}

#[tokio::test]
async fn tokens_that_another_program_renewed_at_the_same_time_are_used() {
    let servers = Servers::start().await;
    let old = Stored::default();
    sign_in(&servers, &client(&servers, oauth().store(old.clone()))).await;
    let new = Stored(Arc::new(Mutex::new(old.text())));
    servers.known().access.clear();
    let other = client(&servers, oauth().store(new.clone()));
    assert_eq!(add(&other).await, Ok(sum_of(3)));
    for old_loads in 0..4 {
        let old_loads = AtomicUsize::new(old_loads);
        let (old, new) = (old.clone(), new.clone());
        let late = Late {
            old,
            new,
            old_loads,
        };
        let server = client(&servers, oauth().store(late));
        assert_eq!(add(&server).await, Ok(sum_of(3)));
    }
}

#[tokio::test]
async fn tokens_that_cannot_be_renewed_need_a_sign_in() {
    let servers = Servers::start().await;
    let stored = Stored::default();
    let server = client(&servers, oauth().store(stored.clone()));
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    servers.known().access.clear();
    servers.known().refresh.clear();
    let error = add(&server).await.unwrap_err();
    assert_contains(
        &error,
        "accepts the tokens no longer; call `McpClient::sign_in`",
    );
    assert_eq!(stored.text(), None);
    let error = server.tools().await.unwrap_err();
    let required = matches!(&error, McpError::SignInRequired { .. });
    assert!(required, "{error}");
    // The refused token was sent once.
    assert_eq!(servers.known().count_of("refresh_token"), 1);
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    // Without a token for renewal.
    servers.known().gives_no_refresh = true;
    sign_in(&servers, &server).await;
    servers.known().access.clear();
    let error = add(&server).await.unwrap_err();
    assert_contains(&error, "gave none to renew it; call `McpClient::sign_in`");
}
