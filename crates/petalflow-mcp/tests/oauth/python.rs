//! The authorization server and the server with tokens of the SDK for Python.

use std::process::Stdio;
use std::time::Duration;

use petalflow_mcp::{McpClient, McpError, OAuth};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;

use super::server::open;
use super::{NO_HEADERS, Stored, add};
use crate::peers::python;
use crate::within_ten_seconds;

const SERVER: &str = r#"
import secrets, sys, time
from mcp.server.auth.provider import (
    AccessToken, AuthorizationCode, OAuthAuthorizationServerProvider, RefreshToken, construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken

LIFETIME = 2

class Provider(OAuthAuthorizationServerProvider):
    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client):
        self.clients[client.client_id] = client

    async def authorize(self, client, params):
        code = secrets.token_hex(20)
        self.codes[code] = AuthorizationCode(
            code=code, scopes=params.scopes or [], expires_at=time.time() + 60, client_id=client.client_id,
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client, code):
        return self.codes.get(code)

    def tokens(self, client, scopes, resource):
        access, refresh = secrets.token_hex(20), secrets.token_hex(20)
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=int(time.time()) + LIFETIME,
            resource=resource,
        )
        self.refresh[refresh] = RefreshToken(
            token=refresh, client_id=client.client_id, scopes=scopes, resource=resource,
        )
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=LIFETIME, scope=" ".join(scopes),
        )

    async def exchange_authorization_code(self, client, code):
        del self.codes[code.code]
        return self.tokens(client, code.scopes, code.resource)

    async def load_refresh_token(self, client, token):
        return self.refresh.get(token)

    async def exchange_refresh_token(self, client, token, scopes):
        del self.refresh[token.token]
        return self.tokens(client, scopes, token.resource)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        pass

port = int(sys.argv[1])
base = f"http://127.0.0.1:{port}"
server = MCPServer(
    "python",
    auth_server_provider=Provider(),
    auth=AuthSettings(
        issuer_url=base,
        resource_server_url=f"{base}/mcp",
        required_scopes=["tools"],
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["tools"]),
        validate_token_resource=True,
    ),
)

@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"sum": a + b}

server.run(transport="streamable-http", port=port)
"#;

#[tokio::test]
async fn a_person_signs_in_to_a_server_of_the_python_sdk() {
    let Some(python) = python() else { return };
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut child = tokio::process::Command::new(python)
        .args(["-c", SERVER, &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    loop {
        let line = within_ten_seconds(lines.next_line()).await.unwrap();
        if line.expect("the server starts").contains("running on") {
            break;
        }
    }
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let redirect = format!("http://{}/callback", listener.local_addr().unwrap());
    let stored = Stored::default();
    let client = || {
        let oauth = OAuth::authorization_code(&redirect).store(stored.clone());
        McpClient::http(format!("http://127.0.0.1:{port}/mcp"), NO_HEADERS).oauth(oauth)
    };
    let server = client();
    let error = server.tools().await.unwrap_err();
    assert!(matches!(error, McpError::SignInRequired { .. }), "{error}");
    let sign_in = server.sign_in().await.unwrap();
    let browser = async {
        let page = open(sign_in.url()).await;
        let location = page
            .lines()
            .find_map(|line| line.strip_prefix("location: "));
        open(location.unwrap_or_else(|| panic!("{page}"))).await
    };
    let (_, received) = tokio::join!(browser, sign_in.receive(&listener));
    received.unwrap();
    let sum = super::sum_of(3);
    assert_eq!(add(&server).await, Ok(sum.clone()));
    let before = stored.text();
    // The tokens expire, and a restarted program renews them.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(add(&server).await, Ok(sum.clone()));
    assert_ne!(stored.text(), before);
    assert_eq!(add(&client()).await, Ok(sum));
}
