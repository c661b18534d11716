//! An authorization server, and an MCP server that takes its tokens.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::{Form, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use oauth2::{PkceCodeChallenge, PkceCodeVerifier};
use petalflow_mcp as mcp;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::super::all_tools;

/// What the servers know, and what tests change.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "tests set each by its name")]
pub(super) struct Known {
    /// The seconds for which new access tokens are valid. `None`: the server does not say.
    pub(super) lifetime: Option<u64>,
    /// New clients get a secret, and must send it.
    pub(super) gives_secrets: bool,
    /// The authorization server gives no token for renewal.
    pub(super) gives_no_refresh: bool,
    /// The MCP server needs this scope.
    pub(super) needed_scope: Option<String>,
    /// Errors repeat what the client sent.
    pub(super) repeats: bool,
    /// If there is one, the token endpoint has given new tokens when it waits for this to answer.
    pub(super) release: Option<Arc<Notify>>,
    /// The token endpoint does not answer with JSON.
    pub(super) is_broken: bool,
    /// Ids with their secrets.
    pub(super) clients: HashMap<String, Option<String>>,
    codes: HashMap<String, BTreeMap<String, String>>,
    /// Valid access tokens with their scopes.
    pub(super) access: HashMap<String, String>,
    /// Valid refresh tokens: each can be used once.
    pub(super) refresh: HashSet<String>,
    /// The grants of the requests to the token endpoint.
    pub(super) grants: Vec<String>,
    /// All secrets that were given or received.
    pub(super) secrets: Vec<String>,
    /// The scopes of the sign-ins.
    pub(super) asked_scopes: Vec<String>,
    count: usize,
}

impl Known {
    fn secret(&mut self, kind: &str) -> String {
        self.count += 1;
        let secret = format!("hidden-{kind}-{}", self.count);
        self.secrets.push(secret.clone());
        secret
    }

    pub(super) fn count_of(&self, grant: &str) -> usize {
        self.grants.iter().filter(|it| *it == grant).count()
    }

    fn tokens(&mut self, scope: &str, refreshes: bool) -> Value {
        let access = self.secret("access");
        self.access.insert(access.clone(), scope.into());
        let mut tokens = json!({
            "access_token": access,
            "token_type": "Bearer",
            "scope": scope,
            "id_token": self.secret("id"),
        });
        if let Some(lifetime) = self.lifetime {
            tokens["expires_in"] = lifetime.into();
        }
        if refreshes && !self.gives_no_refresh {
            let refresh = self.secret("refresh");
            self.refresh.insert(refresh.clone());
            tokens["refresh_token"] = refresh.into();
        }
        tokens
    }
}

#[derive(Clone)]
pub(super) struct Servers {
    known: Arc<Mutex<Known>>,
    base: String,
}

impl Servers {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let servers = Servers {
            known: Arc::default(),
            base: format!("http://{}", listener.local_addr().unwrap()),
        };
        let server = mcp::serve(all_tools());
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default(),
        );
        let protected = Router::new()
            .nest_service("/mcp", service)
            .layer(middleware::from_fn_with_state(servers.clone(), check));
        let router = Router::new()
            // Not at its usual place: the refusal says where it is.
            .route("/resource-metadata", get(resource_metadata))
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .merge(protected)
            .with_state(servers.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        servers
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap()
    }

    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.base)
    }

    /// What a browser does with the URL of a sign-in: the URL to which it is redirected.
    pub(super) async fn browse(&self, url: &str) -> String {
        assert!(url.starts_with(&self.base), "it is this server: {url}");
        let answer = open(url).await;
        let location = answer
            .lines()
            .find_map(|line| line.strip_prefix("location: "));
        location.unwrap_or_else(|| panic!("{answer}")).to_string()
    }
}

/// Opens a page. Returns its head and its text.
pub(super) async fn open(url: &str) -> String {
    let (address, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn check(State(servers): State<Servers>, request: Request, next: Next) -> Response {
    let token = request.headers().get(header::AUTHORIZATION);
    let token = token.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let (scope, needed) = {
        let known = servers.known();
        let scope = token.and_then(|token| known.access.get(token).cloned());
        (scope, known.needed_scope.clone())
    };
    let place = format!(
        "Bearer resource_metadata=\"{}/resource-metadata\"",
        servers.base
    );
    let refused = |status, challenge| (status, [(header::WWW_AUTHENTICATE, challenge)]);
    let Some(scope) = scope else {
        return refused(StatusCode::UNAUTHORIZED, place).into_response();
    };
    match needed.filter(|needed| !scope.split(' ').any(|it| it == needed)) {
        Some(needed) => {
            let challenge = format!("{place}, error=\"insufficient_scope\", scope=\"{needed}\"");
            refused(StatusCode::FORBIDDEN, challenge).into_response()
        }
        None => next.run(request).await,
    }
}

async fn resource_metadata(State(servers): State<Servers>) -> Json<Value> {
    Json(json!({
        "resource": servers.url(),
        "authorization_servers": [servers.base],
        "scopes_supported": ["tools"],
    }))
}

async fn metadata(State(Servers { base, .. }): State<Servers>) -> Json<Value> {
    Json(json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    }))
}

async fn register(State(servers): State<Servers>, Json(request): Json<Value>) -> Response {
    let mut known = servers.known();
    let id = format!("client-{}", known.clients.len());
    let secret = known.gives_secrets.then(|| known.secret("client"));
    known.clients.insert(id.clone(), secret.clone());
    let mut answer = json!({ "client_id": id, "redirect_uris": request["redirect_uris"] });
    assert_eq!(request["client_name"], "tests");
    if let Some(secret) = secret {
        answer["client_secret"] = secret.into();
    }
    (StatusCode::CREATED, Json(answer)).into_response()
}

async fn authorize(
    State(servers): State<Servers>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let mut known = servers.known();
    assert!(known.clients.contains_key(&query["client_id"]));
    assert_eq!(query["code_challenge_method"], "S256");
    assert_eq!(query["resource"], servers.url());
    let code = known.secret("code");
    let scope = query.get("scope").cloned().unwrap_or_default();
    known.asked_scopes.push(scope);
    let location = format!(
        "{}?code={code}&state={}&iss={}",
        query["redirect_uri"], query["state"], servers.base
    );
    known.codes.insert(code, query);
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}

async fn token(
    servers: State<Servers>,
    headers: HeaderMap,
    form: Form<BTreeMap<String, String>>,
) -> Response {
    let release = servers.known().release.clone();
    let answer = answer_of_token(servers, &headers, form);
    if let Some(release) = release {
        release.notified().await;
    }
    answer
}

fn answer_of_token(
    State(servers): State<Servers>,
    headers: &HeaderMap,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let mut known = servers.known();
    if known.is_broken {
        return (StatusCode::OK, "hidden-page").into_response();
    }
    known.grants.push(form["grant_type"].clone());
    assert_eq!(form["resource"], servers.url());
    let repeated = known.repeats.then(|| format!("{form:?} {headers:?}"));
    let refuse = move |error: &str| {
        let body = json!({ "error": error, "error_description": repeated });
        (StatusCode::BAD_REQUEST, Json(body)).into_response()
    };
    if let Some((id, secret)) = client_of(&form, headers) {
        match known.clients.get(&id) {
            Some(registered) if *registered == secret => {}
            _ => return refuse("invalid_client"),
        }
    }
    match &*form["grant_type"] {
        "authorization_code" => {
            let Some(asked) = known.codes.remove(&form["code"]) else {
                return refuse("invalid_grant");
            };
            let verifier = PkceCodeVerifier::new(form["code_verifier"].clone());
            let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
            if challenge.as_str() != asked["code_challenge"]
                || form["redirect_uri"] != asked["redirect_uri"]
            {
                return refuse("invalid_grant");
            }
            let scope = asked.get("scope").cloned().unwrap_or_default();
            Json(known.tokens(&scope, true)).into_response()
        }
        "refresh_token" => {
            if !known.refresh.remove(&form["refresh_token"]) {
                return refuse("invalid_grant");
            }
            let scope = form.get("scope").cloned().unwrap_or_default();
            Json(known.tokens(&scope, true)).into_response()
        }
        "client_credentials" => {
            let scope = form.get("scope").cloned().unwrap_or_default();
            Json(known.tokens(&scope, false)).into_response()
        }
        _ => refuse("unsupported_grant_type"),
    }
}

/// The id and the secret of a client, in the form or in the header.
fn client_of(
    form: &BTreeMap<String, String>,
    headers: &HeaderMap,
) -> Option<(String, Option<String>)> {
    use base64::Engine as _;
    if let Some(id) = form.get("client_id") {
        return Some((id.clone(), form.get("client_secret").cloned()));
    }
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let engine = base64::engine::general_purpose::STANDARD;
    let pair = engine.decode(value.strip_prefix("Basic ")?).ok()?;
    let pair = String::from_utf8(pair).ok()?;
    let (id, secret) = pair.split_once(':')?;
    Some((id.into(), Some(secret.into())))
}
