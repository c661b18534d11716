//! Log messages of a server.

// Logging is deprecated in the protocol, but servers still use it.
#![allow(deprecated)]

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::{Peer, RoleClient};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// How severe a log message is, least severe first: the levels of syslog (RFC 5424).
///
/// ```
/// use petalflow_mcp::LogLevel;
///
/// assert!(LogLevel::Warning > LogLevel::Info);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For developers of the server.
    Debug,
    /// What happens.
    Info,
    /// What happens seldom.
    Notice,
    /// What may be wrong.
    Warning,
    /// What failed.
    Error,
    /// A part of the server failed.
    Critical,
    /// Someone must act at once.
    Alert,
    /// The server does not work.
    Emergency,
}

/// A log message of a server: see [`McpClient::logs`](crate::McpClient::logs).
///
/// ```
/// use petalflow_mcp::LogMessage;
///
/// fn line(message: &LogMessage) -> String {
///     format!("{} {:?}: {}", message.server, message.level, message.data)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LogMessage {
    /// The name of the server.
    pub server: String,
    /// How severe it is.
    pub level: LogLevel,
    /// The part of the server that logs.
    pub logger: Option<String>,
    /// The message: a text, or fields.
    pub data: Value,
}

/// What a program does with log messages.
#[derive(Clone)]
pub(super) struct Logs {
    pub(super) level: LogLevel,
    pub(super) take: Arc<dyn Fn(LogMessage) + Send + Sync>,
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Logs").field(&self.level).finish()
    }
}

/// Reads a message if it is a log message.
pub(super) fn read(message: &[u8]) -> Option<LoggingMessageNotificationParam> {
    /// A message with another field is none, and is not read further.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Notification<'m> {
        #[serde(rename = "jsonrpc")]
        _version: IgnoredAny,
        #[serde(borrow)]
        method: Cow<'m, str>,
        params: LoggingMessageNotificationParam,
    }
    let message: Notification<'_> = serde_json::from_slice(message).ok()?;
    (message.method == "notifications/message").then_some(message.params)
}

impl Logs {
    /// Asks a server that logs for its messages.
    pub(super) async fn request(&self, peer: &Peer<RoleClient>) {
        let info = peer.peer_info();
        if info.is_some_and(|info| info.capabilities.logging.is_some()) {
            // A server that refuses logs as it likes.
            let _ = peer
                .set_level(SetLevelRequestParams::new(self.level.into()))
                .await;
        }
    }

    pub(super) fn take(&self, server: &str, message: LoggingMessageNotificationParam) {
        let level = match message.level {
            LoggingLevel::Debug => LogLevel::Debug,
            LoggingLevel::Info => LogLevel::Info,
            LoggingLevel::Notice => LogLevel::Notice,
            LoggingLevel::Warning => LogLevel::Warning,
            LoggingLevel::Error => LogLevel::Error,
            LoggingLevel::Critical => LogLevel::Critical,
            LoggingLevel::Alert => LogLevel::Alert,
            LoggingLevel::Emergency => LogLevel::Emergency,
        };
        // A server may also send messages below the level that it was told.
        if level < self.level {
            return;
        }
        let message = LogMessage {
            server: server.into(),
            level,
            logger: message.logger,
            data: message.data,
        };
        // It runs where messages are read: a panic must not end the connection.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.take)(message)));
    }
}

impl From<LogLevel> for LoggingLevel {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Debug => LoggingLevel::Debug,
            LogLevel::Info => LoggingLevel::Info,
            LogLevel::Notice => LoggingLevel::Notice,
            LogLevel::Warning => LoggingLevel::Warning,
            LogLevel::Error => LoggingLevel::Error,
            LogLevel::Critical => LoggingLevel::Critical,
            LogLevel::Alert => LoggingLevel::Alert,
            LogLevel::Emergency => LoggingLevel::Emergency,
        }
    }
}
