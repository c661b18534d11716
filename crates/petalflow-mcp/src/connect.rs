//! Opens the connection of a client to a server.

use std::ffi::OsStr;
use std::future::Future;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, io};

use rmcp::ServiceExt as _;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, RoleClient, RunningService, RxJsonRpcMessage, TxJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{Child, Command};

use super::bounded::Bounded;
use super::handler::MessageHandler;
use super::log_reader::LogReader;
use super::options::Options;
use super::problem::{self, TOO_LONG};
use petalflow::BoxError;
use petalflow::middleware::BoxFuture;

/// A byte stream to a server.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<W: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for W {}

type Dial = dyn Fn() -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> + Send + Sync;

/// How to open a connection to a server. Used once per connection.
pub(super) enum Target {
    /// Starts a program.
    Command(Box<dyn Fn() -> std::process::Command + Send + Sync>),
    /// Opens a byte stream.
    Stream(Box<Dial>),
    #[cfg(feature = "http")]
    Http(super::http_client::Address),
}

impl Target {
    pub(super) fn stream<W, F>(dial: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        W: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        F: Future<Output = io::Result<W>> + Send + 'static,
    {
        Target::Stream(Box::new(move || {
            let stream = dial();
            Box::pin(async move { Ok(Box::new(stream.await?) as Box<dyn ByteStream>) })
        }))
    }
}

/// A new connection.
pub(super) struct Connected {
    pub(super) service: RunningService<RoleClient, MessageHandler>,
    pub(super) child: Option<Child>,
    /// Whether the connection ended because a message was too long.
    pub(super) exceeded: Arc<AtomicBool>,
}

/// Opens a connection and initializes it.
pub(super) async fn connect(
    target: &Target,
    handler: MessageHandler,
    options: &Options,
) -> Result<Connected, BoxError> {
    let exceeded = Arc::new(AtomicBool::new(false));
    let bounded = |read: Box<dyn AsyncRead + Send + Unpin>| {
        let read = Bounded::new(read, options.message_limit, Arc::clone(&exceeded));
        LogReader::new(read, handler.clone())
    };
    let (initializing, child) = match target {
        Target::Command(command) => {
            let mut child = start(command(), &options.inherited_env)?;
            let (Some(read), Some(write)) = (child.stdout.take(), child.stdin.take()) else {
                return Err("its pipes are taken".into());
            };
            let transport = lines(bounded(Box::new(read)), write);
            (initialize(handler, transport), Some(child))
        }
        Target::Stream(dial) => {
            let (read, write) = tokio::io::split(dial().await?);
            let transport = lines(bounded(Box::new(read)), write);
            (initialize(handler, transport), None)
        }
        #[cfg(feature = "http")]
        Target::Http(address) => {
            let transport = address.transport(options, Arc::clone(&exceeded), handler.clone())?;
            (initialize(handler, transport), None)
        }
    };
    let service = initializing.await.map_err(|error| -> BoxError {
        if exceeded.load(Ordering::Relaxed) {
            return TOO_LONG.into();
        }
        #[cfg(feature = "oauth")]
        if options.authorization.is_some()
            && let Some(error) = problem::http_of_initialize(&error)
            && let Some(refused) = super::oauth::Refused::of(error)
        {
            return refused.into();
        }
        problem::of_initialize(&error).into()
    })?;
    check_version(&service)?;
    Ok(Connected {
        service,
        child,
        exceeded,
    })
}

/// Refuses a server with a version of the protocol that the library does not know: it may mean other things by the same
/// messages.
fn check_version(service: &RunningService<RoleClient, MessageHandler>) -> Result<(), BoxError> {
    let Some(info) = service.peer_info() else {
        return Ok(());
    };
    let known = ProtocolVersion::KNOWN_VERSIONS;
    if known.contains(&info.protocol_version) {
        return Ok(());
    }
    let names: Vec<_> = known.iter().map(ProtocolVersion::as_str).collect();
    Err(format!(
        "the server answered with the MCP version `{}`, which this client does not know; it knows {}",
        info.protocol_version.as_str().escape_debug(),
        names.join(", ")
    )
    .into())
}

/// The variables that every child process inherits: those of the official SDKs.
const INHERITED_ENV: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "USERNAME",
        "USERPROFILE",
    ]
} else {
    &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]
};

/// Starts a program. It gets the variables of the command, and of this process only those that are listed or `named`.
fn start(mut command: std::process::Command, named: &[String]) -> io::Result<Child> {
    let set: Vec<_> = command
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)))
        .collect();
    command.env_clear();
    for name in INHERITED_ENV.iter().copied() {
        // The SDKs leave out values that are functions of a shell.
        if let Some(value) = env::var_os(name)
            && !value.as_encoded_bytes().starts_with(b"()")
        {
            command.env(name, value);
        }
    }
    for name in named {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    for (name, value) in set {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Command::from(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

fn lines<R, W>(read: R, write: W) -> AsyncRwTransport<RoleClient, R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    // `Bounded` enforces the limit.
    AsyncRwTransport::new(read, write).with_max_line_length(usize::MAX)
}

/// Initializes a connection.
fn initialize<T: Transport<RoleClient> + 'static>(
    handler: MessageHandler,
    transport: T,
) -> BoxFuture<'static, Result<RunningService<RoleClient, MessageHandler>, ClientInitializeError>> {
    let transport = MessageTap {
        transport,
        handler: handler.clone(),
    };
    // Boxed: inside other futures, the compiler cannot prove that it is `Send`.
    Box::pin(handler.serve(transport))
}

/// A transport that passes each message to a [`MessageHandler`] before the library reads it.
struct MessageTap<T> {
    transport: T,
    handler: MessageHandler,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for MessageTap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.transport.receive().await?;
            match self.handler.first(message) {
                Some(message) => return Some(message),
                // Other tasks run too while a server sends one message after the other.
                None => tokio::task::yield_now().await,
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.transport.close()
    }
}
