//! Signing in over HTTP, and tokens that are renewed.

mod python;
mod renewals;
mod server;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::{BoxError, async_trait};
use petalflow_mcp::{McpClient, McpError, OAuth, OAuthCredentials, OAuthStore};
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use self::server::{Servers, open};
use super::http::{self, texts_of};
use super::{all_tools, sum_of};

const NO_HEADERS: [(&str, &str); 0] = [];
const REDIRECT: &str = "http://127.0.0.1:8765/callback";

/// A store in memory, as text: what a file has.
#[derive(Clone, Default)]
struct Stored(Arc<Mutex<Option<String>>>);

impl Stored {
    fn text(&self) -> Option<String> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl OAuthStore for Stored {
    async fn load(&self) -> Result<Option<OAuthCredentials>, BoxError> {
        let text = self.text();
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    async fn save(&self, credentials: &OAuthCredentials) -> Result<(), BoxError> {
        *self.0.lock().unwrap() = Some(serde_json::to_string(credentials)?);
        Ok(())
    }

    async fn clear(&self) -> Result<(), BoxError> {
        assert!(self.0.lock().unwrap().take().is_some());
        Ok(())
    }
}

fn oauth() -> OAuth {
    OAuth::authorization_code(REDIRECT).client_name("tests")
}

fn client(servers: &Servers, oauth: OAuth) -> McpClient {
    McpClient::http(servers.url(), NO_HEADERS)
        .timeout(Duration::from_secs(10))
        .oauth(oauth)
}

async fn sign_in(servers: &Servers, server: &McpClient) {
    let sign_in = server.sign_in().await.unwrap();
    let redirected = servers.browse(sign_in.url()).await;
    sign_in.finish(&redirected).await.unwrap();
}

async fn add(server: &McpClient) -> Result<Value, String> {
    let tools = server.tools().await.map_err(|error| error.to_string())?;
    let cx = petalflow::tool::ToolContext::new("1");
    let sum = tools
        .get("add")
        .unwrap()
        .call(json!({ "a": 1, "b": 2 }), &cx);
    sum.await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_person_signs_in_and_tools_are_called() {
    let servers = Servers::start().await;
    let server = client(&servers, oauth());
    let error = server.tools().await.unwrap_err();
    assert!(matches!(error, McpError::SignInRequired { .. }), "{error}");
    let name = servers.url().replace("http://", "");
    assert_eq!(
        error.to_string(),
        format!(
            "MCP server `{name}` requires a sign-in: nobody has signed in yet; call `McpClient::sign_in`, let a \
             person open its URL, and pass the redirect to `SignIn::finish`"
        )
    );
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    // The scopes that the server names.
    assert_eq!(servers.known().asked_scopes, ["tools"]);
    // Copies have the same tokens.
    let copy = server.clone().prefix("x_");
    assert!(copy.tools().await.unwrap().get("x_add").is_some());
    assert_eq!(servers.known().grants, ["authorization_code"]);
}

#[tokio::test]
async fn a_sign_in_needs_no_request_before() {
    let servers = Servers::start().await;
    let server = client(&servers, oauth());
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
}

#[tokio::test]
async fn a_redirect_of_another_sign_in_is_refused() {
    let servers = Servers::start().await;
    let server = client(&servers, oauth());
    let ours = server.sign_in().await.unwrap();
    let other = client(&servers, oauth()).sign_in().await.unwrap();
    let redirected = servers.browse(other.url()).await;
    let error = ours.finish(&redirected).await.unwrap_err().to_string();
    assert_contains(
        &error,
        "belongs to another sign-in (its `state` is unknown)",
    );
    for (redirected, expected) in [
        (
            "/callback?error=access_denied&error_description=not+today",
            "answered `access_denied`: not today",
        ),
        (
            "/callback?state=s",
            "the redirect has no `code`; pass the whole URL",
        ),
    ] {
        let error = ours.finish(redirected).await.unwrap_err();
        assert!(matches!(error, McpError::SignIn { .. }), "{error}");
        assert_contains(&error.to_string(), expected);
    }
    let redirected = servers.browse(ours.url()).await;
    let forged = redirected.replace("iss=http", "iss=https");
    let error = ours.finish(&forged).await.unwrap_err().to_string();
    assert_contains(&error, "not from the authorization server that was asked");
    // The right one is still accepted.
    ours.finish(&redirected).await.unwrap();
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    // Once.
    assert!(ours.finish(&redirected).await.is_err());
}

#[tokio::test]
async fn a_browser_on_this_machine_is_redirected_to_the_program() {
    let servers = Servers::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let redirect = format!("http://{}/callback", listener.local_addr().unwrap());
    let oauth = OAuth::authorization_code(&redirect).client_name("tests");
    let server = client(&servers, oauth);
    let sign_in = server.sign_in().await.unwrap();
    let browser = async {
        // A connection that a browser opens ahead of time.
        let _idle = TcpStream::connect(listener.local_addr().unwrap()).await;
        for other in [
            redirect.replace("callback", "favicon.ico"),
            format!("{redirect}?code=a&state=b"),
            format!("{redirect}?error=access_denied&state=b"),
        ] {
            assert_contains(&open(&other).await, "404 Not Found");
        }
        open(&servers.browse(sign_in.url()).await).await
    };
    let (page, signed_in) = tokio::join!(browser, sign_in.receive(&listener));
    signed_in.unwrap();
    assert_contains(&page, "200 OK");
    assert_contains(&page, "You have signed in.");
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    // A person who refuses.
    let sign_in = server.sign_in().await.unwrap();
    let (_, state) = sign_in.url().split_once("state=").unwrap();
    let state = state.split('&').next().unwrap();
    let refusal = format!("{redirect}?error=access_denied&state={state}");
    let (page, refused) = tokio::join!(open(&refusal), sign_in.receive(&listener));
    assert_contains(&page, "400 Bad Request");
    assert_contains(
        &refused.unwrap_err().to_string(),
        "answered `access_denied`",
    );
}

#[tokio::test]
async fn a_missing_scope_is_asked_for_at_the_next_sign_in() {
    let servers = Servers::start().await;
    let server = client(&servers, oauth());
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    servers.known().needed_scope = Some("write".into());
    let error = add(&server).await.unwrap_err();
    assert_contains(
        &error,
        "the token does not have the scope `write`; call `McpClient::sign_in`",
    );
    sign_in(&servers, &server).await;
    assert_eq!(servers.known().asked_scopes, ["tools", "tools write"]);
    assert_eq!(add(&server).await, Ok(sum_of(3)));
}

#[tokio::test]
async fn a_program_signs_in_as_itself() {
    let servers = Servers::start().await;
    let secret = Some("hidden-word".to_string());
    servers.known().clients.insert("nightly".into(), secret);
    let oauth = OAuth::client_credentials("nightly", "hidden-word").scopes(["tools"]);
    let server = client(&servers, oauth);
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    servers.known().access.clear();
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    assert_eq!(servers.known().grants, ["client_credentials"; 2]);
    let error = server.sign_in().await.unwrap_err().to_string();
    assert_contains(
        &error,
        "`OAuth::client_credentials`, with which nobody signs in",
    );
    let wrong = client(
        &servers,
        OAuth::client_credentials("nightly", "hidden-other"),
    );
    let error = wrong.tools().await.unwrap_err();
    assert!(matches!(error, McpError::SignIn { .. }), "{error}");
    assert_contains(
        &error.to_string(),
        "the authorization server refused: invalid_client",
    );
    // It was asked once: more requests could block the client.
    assert_eq!(servers.known().grants.len(), 3);
}

#[tokio::test]
async fn signing_out_forgets_the_tokens() {
    let servers = Servers::start().await;
    let stored = Stored::default();
    let server = client(&servers, oauth().store(stored.clone()));
    sign_in(&servers, &server).await;
    assert_eq!(add(&server).await, Ok(sum_of(3)));
    server.sign_out().await.unwrap();
    assert_eq!(stored.text(), None);
    let error = server.tools().await.unwrap_err();
    assert!(matches!(error, McpError::SignInRequired { .. }), "{error}");
    server.sign_out().await.unwrap();
}

/// A store that fails.
struct Full;

#[async_trait]
impl OAuthStore for Full {
    async fn load(&self) -> Result<Option<OAuthCredentials>, BoxError> {
        Ok(None)
    }

    async fn save(&self, _: &OAuthCredentials) -> Result<(), BoxError> {
        Err("the disk is full".into())
    }

    async fn clear(&self) -> Result<(), BoxError> {
        unreachable!("it has nothing")
    }
}

#[tokio::test]
async fn errors_of_stores_and_of_settings_are_clear() {
    let servers = Servers::start().await;
    let server = client(&servers, oauth().store(Full));
    let sign_in_of = server.sign_in().await.unwrap();
    let redirected = servers.browse(sign_in_of.url()).await;
    let error = sign_in_of
        .finish(&redirected)
        .await
        .unwrap_err()
        .to_string();
    assert_contains(&error, "the store cannot save the tokens: the disk is full");

    // The tokens of one server are not sent to another.
    let stored = Stored::default();
    sign_in(&servers, &client(&servers, oauth().store(stored.clone()))).await;
    let others = Servers::start().await;
    let server = client(&others, oauth().store(stored));
    let error = server.tools().await.unwrap_err().to_string();
    assert_contains(
        &error,
        "so they are not sent; give each server a store of its own",
    );

    let headers = [("Authorization", "Bearer hidden")];
    let server = McpClient::http(servers.url(), headers)
        .attempts(1)
        .oauth(oauth());
    let error = server.tools().await.unwrap_err().to_string();
    assert_contains(
        &error,
        "header `authorization` is set by `McpClient::oauth`",
    );

    let server = McpClient::stdio("some-server", [] as [&str; 0]).oauth(oauth());
    let error = server.sign_in().await.unwrap_err().to_string();
    assert_contains(&error, "set `McpClient::oauth` for a server over HTTP");
}

#[tokio::test]
async fn a_server_without_an_authorization_server_is_an_error() {
    let served = petalflow_mcp::serve(all_tools()).authenticate(|_| false);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = http::client(listener.local_addr().unwrap()).oauth(oauth());
    tokio::spawn(served.http(listener, []));
    let error = server.sign_in().await.unwrap_err();
    assert!(matches!(error, McpError::SignIn { .. }), "{error}");
    assert_contains(&error.to_string(), "did not register this program");
}

#[tokio::test]
async fn no_secret_is_in_a_text() {
    let servers = Servers::start().await;
    {
        let mut known = servers.known();
        known.repeats = true;
        known.gives_secrets = true;
        let secret = Some("hidden-word".to_string());
        known.clients.insert("nightly".into(), secret);
    }
    let stored = Stored::default();
    let options = oauth().store(stored.clone()).client_secret("hidden-unused");
    let mut texts = vec![format!("{options:?}")];
    let options = oauth().store(stored.clone());
    let server = client(&servers, options);
    let begun = server.sign_in().await.unwrap();
    texts.push(format!("{begun:?}"));
    let redirected = servers.browse(begun.url()).await;
    // A code that was used.
    let broken = server.sign_in().await.unwrap();
    let also = servers.browse(broken.url()).await;
    servers.known().is_broken = true;
    texts.extend(texts_of(&broken.finish(&also).await.unwrap_err()));
    servers.known().is_broken = false;
    begun.finish(&redirected).await.unwrap();
    texts.push(format!("{server:?}"));
    let credentials = stored.load().await.unwrap().unwrap();
    texts.push(format!("{credentials:?}"));
    // What the server adds is not kept.
    assert!(!stored.text().unwrap().contains("hidden-id"));
    assert!(stored.text().unwrap().contains("hidden-refresh"));
    // A renewal that fails, with an answer that repeats the request.
    for _ in 0..2 {
        let tools = server.tools().await;
        if let Ok(tools) = tools {
            servers.known().access.clear();
            servers.known().refresh.clear();
            let cx = petalflow::tool::ToolContext::new("1");
            let add = tools.get("add").unwrap();
            let error = add.call(json!({ "a": 1, "b": 2 }), &cx).await.unwrap_err();
            texts.extend(texts_of(&error));
        }
    }
    texts.extend(texts_of(&server.tools().await.unwrap_err()));
    // A client that is refused, with an answer that repeats its secret in the form, and in the header.
    let wrong = client(
        &servers,
        OAuth::client_credentials("nightly", "hidden-other"),
    );
    let error = wrong.tools().await.unwrap_err();
    assert_contains(&error.to_string(), "(hidden)");
    texts.extend(texts_of(&error));
    let options = oauth().client_id("nightly").client_secret("hidden-other");
    let wrong = client(&servers, options);
    let begun = wrong.sign_in().await.unwrap();
    let redirected = servers.browse(begun.url()).await;
    let error = begun.finish(&redirected).await.unwrap_err();
    assert_contains(&error.to_string(), "(hidden)");
    texts.extend(texts_of(&error));
    assert!(servers.known().secrets.len() > 5);
    for text in texts {
        assert!(!text.contains("hidden-"), "{text}");
    }
}
