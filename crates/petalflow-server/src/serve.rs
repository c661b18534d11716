//! Accepts connections, serves them within limits, and stops gracefully.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt;

use crate::{Limits, Notice, Server, request, request_body};

/// The time between two searches for unfinished threads of other processes.
const RECOVERY_INTERVAL: Duration = Duration::from_secs(30);

/// How often a server looks for threads that are due.
const DUE_INTERVAL: Duration = Duration::from_secs(1);
/// How long nodes may run, and connections may last, after the server was told to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);
/// How long the server waits after it could not accept a connection, for example because too many files are open.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// The smallest buffer that hyper accepts.
const MIN_BUFFER_BYTES: usize = 8192;

impl Server {
    /// Serves HTTP/1.1 on this listener until `stop` is ready. It [continues](Self::recover) unfinished threads at the start, and
    /// looks for others every 30 seconds. It begins the threads of schedules. At the end it [drains](Self::drain) the runs, for at most 30 seconds.
    ///
    /// There is no TLS: put a proxy in front of it, or serve the [router](Self::router) with a server of your own.
    ///
    /// # Errors
    ///
    /// If the threads in the store cannot be listed at the start.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the listener and all connections. Runs continue until the runtime ends. Call
    /// [`drain`](Self::drain) to stop them.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        self.inner().check_store().await.map_err(io::Error::other)?;
        let limits = self.inner().settings.limits;
        let http = http_builder(&limits);
        let connections = Arc::new(Semaphore::new(limits.max_connections.max(1)));
        let graceful = GracefulShutdown::new();
        let router = self.router();
        let mut stop = pin!(stop);
        let mut recovery = pin!(self.recover_periodically());
        let mut schedules = pin!(self.scheduled());
        // Closes the connections if this future is dropped.
        let mut serving = tokio::task::JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                () = &mut recovery => continue,
                () = &mut schedules => continue,
                Some(_) = serving.join_next() => continue,
                accepted = accept(&listener, &connections) => accepted,
            };
            let Ok((stream, client, permit)) = accepted else {
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            };
            let router = router.clone();
            let service = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(ConnectInfo(client));
                let router = router.clone();
                let (request, is_read) = request_body::observed(request);
                async move {
                    let response = match request::has_host(&request) {
                        Ok(()) => router.oneshot(request).await?,
                        Err(refusal) => refusal.into_response(),
                    };
                    Ok::<_, Infallible>(is_read.answered(response))
                }
            });
            let connection = http.serve_connection(TokioIo::new(stream), service);
            let connection = graceful.watch(connection);
            serving.spawn(async move {
                // A broken connection is not an error of the server.
                let _ = connection.await;
                drop(permit);
            });
        }
        drop(listener);
        // The streams of events end with the runs, and then the connections.
        let closing = tokio::time::timeout(SHUTDOWN_GRACE, graceful.shutdown());
        let _ = tokio::join!(self.drain(SHUTDOWN_GRACE), closing);
        Ok(())
    }

    /// Begins the threads of schedules, and delivers notifications. It does not return.
    async fn scheduled(&self) {
        #[cfg(feature = "schedules")]
        tokio::join!(self.run_schedules(), self.run_notifications());
        #[cfg(not(feature = "schedules"))]
        self.run_notifications().await;
        std::future::pending::<()>().await;
    }

    /// Continues unfinished threads now, and again at each interval, and meanwhile those that are due.
    async fn recover_periodically(&self) {
        let mut recovered = None::<Instant>;
        // Threads that are due and cannot be continued are tried again with the others.
        let mut refused = HashSet::new();
        loop {
            let is_due = recovered.is_none_or(|at| at.elapsed() >= RECOVERY_INTERVAL);
            let result = if is_due {
                recovered = Some(Instant::now());
                refused.clear();
                self.recover().await
            } else {
                let due = self.recover_due(&mut refused).await;
                match self.begin_queued().await {
                    Ok(()) => due,
                    Err(error) => due.and(Err(error)),
                }
            };
            if let Err(error) = result {
                let problem = &*error.to_string();
                let notice = Notice::NotRecovered {
                    thread: "",
                    problem,
                };
                self.inner().notify(notice);
            }
            tokio::time::sleep(DUE_INTERVAL).await;
        }
    }
}

/// The next connection, as soon as the limit allows it.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections).acquire_owned().await;
    let permit = permit.map_err(io::Error::other)?;
    let (stream, client) = listener.accept().await?;
    Ok((stream, client, permit))
}

fn http_builder(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(limits.max_headers)
        .max_buf_size(limits.max_header_bytes.max(MIN_BUFFER_BYTES));
    http
}
