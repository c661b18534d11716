//! Serves threads and nodes to the Restate server.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulShutdown;
use petalflow::Flow;
use petalflow::state::Storable;
use restate_sdk::endpoint::Builder;
use restate_sdk::service::ServiceDefinition;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::cancellation;
use crate::error::RestateError;
use crate::flow::RestateFlow;
use crate::service;

/// How long connections may take to end after the signal to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Makes a service, whose tasks share the limit.
type MakeService =
    Box<dyn FnOnce(Option<Arc<Semaphore>>) -> Result<ServiceDefinition, RestateError> + Send>;

/// What a process serves to the Restate server: threads, nodes, or both. The [crate](crate) has an example.
pub struct Endpoint {
    services: Vec<MakeService>,
    identity_keys: Vec<String>,
    concurrency: Option<usize>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("services", &self.services.len())
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self::new()
    }
}

impl Endpoint {
    /// An endpoint that serves nothing.
    pub fn new() -> Self {
        Endpoint {
            services: Vec::new(),
            identity_keys: Vec::new(),
            concurrency: None,
        }
    }

    /// Serves the threads of a flow: executes their supersteps, with the nodes that are not placed.
    ///
    /// # Errors
    ///
    /// The name of the flow cannot be that of a service.
    pub fn threads<F: Flow<State: Storable>>(
        mut self,
        flow: &RestateFlow<F>,
    ) -> Result<Self, RestateError> {
        let definition = service::threads(flow)?;
        self.services.push(Box::new(|_| Ok(definition)));
        Ok(self)
    }

    /// Serves the nodes of a flow that are placed on a pool.
    ///
    /// # Errors
    ///
    /// The name of the pool cannot be part of that of a service.
    pub fn nodes<F: Flow<State: Storable>>(
        mut self,
        flow: &RestateFlow<F>,
        pool: &str,
    ) -> Result<Self, RestateError> {
        service::nodes(flow, pool, None)?;
        let (flow, pool) = (flow.clone(), pool.to_string());
        let make = move |limit| service::nodes(&flow, &pool, limit);
        self.services.push(Box::new(make));
        Ok(self)
    }

    /// Sets how many placed tasks this process runs at a time. Others wait here; by default none does.
    ///
    /// # Panics
    ///
    /// If it is 0, because no task could run.
    #[must_use]
    pub fn concurrency(mut self, tasks: usize) -> Self {
        assert!(
            tasks > 0,
            "the concurrency must be at least 1: with 0 no task could ever run"
        );
        self.concurrency = Some(tasks);
        self
    }

    /// Accepts only requests that a Restate server with this identity has signed. Several keys can be given, to replace one.
    #[must_use]
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.identity_keys.push(key.into());
        self
    }

    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// The port is taken, or an identity key is malformed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the port.
    pub async fn bind(self, address: &str) -> Result<Bound, RestateError> {
        let limit = self
            .concurrency
            .map(|tasks| Arc::new(Semaphore::new(tasks)));
        let mut builder = Builder::new();
        for service in self.services {
            builder = builder.bind(service(limit.clone())?);
        }
        for key in self.identity_keys {
            builder = builder
                .identity_key(&key)
                .map_err(|problem| RestateError::IdentityKey {
                    problem: problem.to_string(),
                    key,
                })?;
        }
        let refused = |source| RestateError::Listen {
            address: address.to_string(),
            source,
        };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        Ok(Bound {
            address: listener.local_addr().map_err(refused)?,
            listener,
            endpoint: builder.build(),
        })
    }
}

/// An endpoint that listens.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    endpoint: restate_sdk::endpoint::Endpoint,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Bound {
    /// The address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process gets SIGTERM or Ctrl-C. What runs then is begun again by another process, from its last step.
    pub async fn serve(self) {
        self.serve_until(stop_signal()).await;
    }

    /// Serves until `stop` completes. Connections then have ten seconds to end.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut stop => break,
            };
            let Ok((stream, _)) = accepted else {
                // For example, no file descriptor is left.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            self.serve_connection(stream, &graceful);
        }
        let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
    }

    fn serve_connection(&self, stream: TcpStream, graceful: &GracefulShutdown) {
        // Without it, each small message of the protocol waits up to 40 ms for the acknowledgement of the one before. A socket that
        // refuses it still works.
        let _ = stream.set_nodelay(true);
        let endpoint = self.endpoint.clone();
        let answer = service_fn(move |request| {
            ready(Ok::<_, Infallible>(cancellation::handle(
                &endpoint, request,
            )))
        });
        let connection = http2::Builder::new(TokioExecutor::default())
            .serve_connection(TokioIo::new(stream), answer);
        let connection = graceful.watch(connection);
        // The server opens another connection after an error.
        tokio::spawn(async move { drop(connection.await) });
    }
}

/// Completes when the process is told to stop.
async fn stop_signal() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
