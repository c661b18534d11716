//! Requests to end the process.

/// The requests to end the process: Ctrl-C, and on Unix SIGTERM. From its creation on they do not end it.
#[derive(Debug)]
pub(crate) struct StopRequests {
    #[cfg(unix)]
    signals: Option<[tokio::signal::unix::Signal; 2]>,
}

impl StopRequests {
    pub(crate) fn new() -> Self {
        StopRequests {
            #[cfg(unix)]
            signals: {
                use tokio::signal::unix::{SignalKind, signal};
                let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
                match signals {
                    [Ok(interrupt), Ok(terminate)] => Some([interrupt, terminate]),
                    _ => None,
                }
            },
        }
    }

    /// Waits for the next request.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some([interrupt, terminate]) = &mut self.signals {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        // Without signals nothing can be waited for.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
