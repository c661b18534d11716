//! An MCP server as the client sees it: its address, the options, and the current connection.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{RoleClient, RunningService, ServiceError};
use serde_json::Value;
use tokio::sync::Mutex;

use super::McpError;
use super::changes::Subscriptions;
use super::connect::{Target, connect};
use super::connection::{Connection, ListedTool, ToolList};
use super::handler::MessageHandler;
#[cfg(feature = "oauth")]
use super::oauth::{Authorization, OAuth, Refused};
use super::options::Options;
use super::output_schema::described;
#[cfg(feature = "oauth")]
use super::problem;
use super::result::object_schema;
use petalflow::BoxError;
use petalflow::policy::Retry;
use petalflow::tool::ToolSpec;

/// A connection of `rmcp`.
type Service = RunningService<RoleClient, MessageHandler>;

/// An MCP server as the client sees it.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) name: String,
    target: Arc<Target>,
    pub(super) options: Options,
    /// The current connection. Locked during a connect: there is at most one connection.
    connection: Arc<Mutex<Option<Arc<Connection>>>>,
    /// The resources that this copy has subscribed to, on each of its connections.
    pub(super) subscriptions: Subscriptions,
}

impl Session {
    pub(super) fn new(name: String, target: Target) -> Self {
        Session {
            name,
            target: Arc::new(target),
            options: Options::default(),
            connection: Arc::default(),
            subscriptions: Subscriptions::default(),
        }
    }

    /// Changes the options. The cached tool list depends on them, so this copy gets a connection of its own.
    pub(super) fn set_options(&mut self, change: impl FnOnce(&mut Options)) {
        change(&mut self.options);
        self.connection = Arc::default();
        self.subscriptions = Subscriptions::default();
    }

    /// Returns the connection, and connects if there is none.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = slot.as_ref().filter(|connection| connection.is_open()) {
            return Ok(Arc::clone(connection));
        }
        *slot = None;
        let connection = Arc::new(self.connect().await?);
        if let Some(logs) = &self.options.request_handlers.logs {
            let limit = self.options.connect_timeout;
            // Without an answer there are no logs.
            let _ = tokio::time::timeout(limit, logs.request(connection.peer())).await;
        }
        let handler = self.options.request_handlers.changes.as_ref();
        let renewing = self.subscriptions.renew(connection.peer(), handler);
        let _ = tokio::time::timeout(self.options.connect_timeout, renewing).await;
        *slot = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Closes the connection, if there is one.
    pub(super) async fn close(&self) {
        let connection = self.connection.lock().await.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// Returns the cached tool list, or requests it from the server.
    pub(super) async fn tool_list(&self) -> Result<ToolList, McpError> {
        let connection = self.connection().await?;
        if let Some(listed) = connection.cached_tools() {
            return Ok(listed);
        }
        match self.list(&connection).await {
            // Listing tools has no effects, so it is safe to repeat.
            Err(McpError::Lost { .. }) => self.list(&*self.connection().await?).await,
            result => result,
        }
    }

    async fn list(&self, connection: &Connection) -> Result<ToolList, McpError> {
        let limit = self.options.connect_timeout;
        let request = async |service: &Service| service.list_all_tools().await;
        let tools = self
            .ask_over(connection, "tools/list", limit, &request)
            .await?;
        let mut names = BTreeSet::new();
        let mut listed = Vec::with_capacity(tools.len());
        for tool in tools {
            if !self.options.includes(&tool.name) {
                continue;
            }
            if tool.name.trim().is_empty() {
                return Err(McpError::NamelessTool {
                    server: self.name.clone(),
                });
            }
            let tool = self.listed_tool(tool)?;
            if !names.insert(tool.spec.name.clone()) {
                return Err(McpError::DuplicateTool {
                    server: self.name.clone(),
                    name: tool.spec.name.clone(),
                });
            }
            listed.push(tool);
        }
        let listed = listed.into();
        connection.cache_tools(&listed);
        Ok(listed)
    }

    /// Makes a request that has no effects, and repeats it once if the connection was lost. `what` is its name in errors.
    pub(super) async fn ask<T>(
        &self,
        what: &str,
        request: impl AsyncFn(&Service) -> Result<T, ServiceError>,
    ) -> Result<T, McpError> {
        let limit = self.options.timeout;
        let connection = self.connection().await?;
        match self.ask_over(&connection, what, limit, &request).await {
            Err(McpError::Lost { .. }) => {
                let connection = self.connection().await?;
                self.ask_over(&connection, what, limit, &request).await
            }
            result => result,
        }
    }

    async fn ask_over<T>(
        &self,
        connection: &Connection,
        what: &str,
        limit: Duration,
        request: &impl AsyncFn(&Service) -> Result<T, ServiceError>,
    ) -> Result<T, McpError> {
        match tokio::time::timeout(limit, request(connection.service())).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.failed(connection, what, error)),
            Err(_) => Err(self.timed_out(what, limit)),
        }
    }

    async fn connect(&self) -> Result<Connection, McpError> {
        let retry =
            Retry::attempts(self.options.connect_attempts).first(Duration::from_millis(200));
        let is_temporary = |error: &McpError| matches!(error, McpError::Connect { .. });
        let connection = retry.run_with(
            |_| self.try_connect(),
            |error, delay| is_temporary(error).then_some(delay),
        );
        connection.await
    }

    async fn try_connect(&self) -> Result<Connection, McpError> {
        let handler = MessageHandler::new(self.name.clone(), self.options.request_handlers.clone());
        let limit = self.options.connect_timeout;
        let connecting = connect(&self.target, handler.clone(), &self.options);
        match tokio::time::timeout(limit, connecting).await {
            Ok(Ok(connected)) => Ok(Connection::new(connected, handler)),
            Ok(Err(error)) => Err(self.not_connected(error)),
            Err(_) => Err(self.not_connected(format!("no answer within {limit:?}").into())),
        }
    }

    fn not_connected(&self, error: BoxError) -> McpError {
        #[cfg(feature = "oauth")]
        let error = match error.downcast::<Refused>().map(|refused| *refused) {
            // Another attempt may find the authorization server.
            Ok(Refused::NoToken {
                problem,
                is_transient: true,
            }) => problem.into(),
            Ok(refused) => return self.refused(refused),
            Err(error) => error,
        };
        McpError::Connect {
            server: self.name.clone(),
            error,
        }
    }

    /// The error for a request that failed because of its tokens.
    #[cfg(feature = "oauth")]
    fn refused(&self, refused: Refused) -> McpError {
        let server = self.name.clone();
        let authorization = self.options.authorization.as_ref();
        let reason = authorization.and_then(|authorization| authorization.reason());
        let reason = reason.unwrap_or_else(|| refused.to_string());
        match refused {
            Refused::Tokens if authorization.is_some_and(|it| it.has_person()) => {
                McpError::SignInRequired { server, reason }
            }
            Refused::Tokens => McpError::SignIn {
                server,
                problem: reason,
            },
            Refused::NoToken { problem, .. } => McpError::SignIn { server, problem },
        }
    }

    /// The tokens for this server, if it is one over HTTP.
    #[cfg(feature = "oauth")]
    pub(super) fn authorization(&self, oauth: OAuth) -> Option<Arc<Authorization>> {
        let Target::Http(address) = &*self.target else {
            return None;
        };
        let authorization = Authorization::new(oauth, &address.url);
        Some(Arc::new(authorization))
    }

    /// Converts the error of a failed request. After a lost connection the next request connects again.
    pub(super) fn failed(
        &self,
        connection: &Connection,
        what: &str,
        error: ServiceError,
    ) -> McpError {
        let (server, what) = (self.name.clone(), what.to_string());
        match error {
            ServiceError::McpError(error) => McpError::Refused {
                server,
                what,
                message: error.message.into_owned(),
            },
            ServiceError::UnexpectedResponse => McpError::Malformed {
                server,
                what,
                problem: "fields are missing, or of another type",
            },
            ServiceError::Timeout { timeout } => self.timed_out(&what, timeout),
            other => {
                connection.mark_broken();
                #[cfg(feature = "oauth")]
                if self.options.authorization.is_some()
                    && let Some(error) = problem::http_of_request(&other)
                    && let Some(refused) = Refused::of(error)
                {
                    return self.refused(refused);
                }
                McpError::Lost {
                    server,
                    what,
                    problem: connection.lost_reason(&other),
                }
            }
        }
    }

    pub(super) fn timed_out(&self, what: &str, after: Duration) -> McpError {
        McpError::Timeout {
            server: self.name.clone(),
            what: what.to_string(),
            after,
        }
    }

    fn listed_tool(&self, tool: rmcp::model::Tool) -> Result<ListedTool, McpError> {
        let title = tool.title.unwrap_or_default();
        let description = tool.description.map_or(title, Into::into);
        let schema = Arc::unwrap_or_clone(tool.input_schema);
        let ty = schema.get("type").map(ToString::to_string);
        let schema = object_schema(schema).ok_or_else(|| McpError::ArgumentsType {
            server: self.name.clone(),
            name: tool.name.to_string(),
            ty: ty.unwrap_or_default(),
        })?;
        let name = self.options.name_of(&tool.name);
        let output = tool.output_schema.map(Arc::unwrap_or_clone);
        let output_schema = output.map(|schema| Arc::new(Value::Object(schema)));
        let description = match &output_schema {
            Some(schema) if self.options.describe_results => described(&description, schema),
            _ => description,
        };
        Ok(ListedTool {
            spec: ToolSpec::new(name, description, schema).into(),
            output_schema,
            name: tool.name.into(),
            destructive: tool.annotations.is_some_and(|hints| is_destructive(&hints)),
        })
    }
}

/// Whether the server says so. By the protocol's default, each tool that does not only read destroys something: too much
/// to ask a person about.
fn is_destructive(hints: &rmcp::model::ToolAnnotations) -> bool {
    hints.destructive_hint == Some(true) && hints.read_only_hint != Some(true)
}
