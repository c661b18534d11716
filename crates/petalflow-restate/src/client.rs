//! The threads of a flow on a Restate server.

use std::time::Duration;

use petalflow::Flow;
use petalflow::state::Storable;

use crate::admin::Admin;
use crate::error::RestateError;
use crate::flow::RestateFlow;
use crate::http::Http;
use crate::ingress::Ingress;
use crate::thread::RestateThread;

/// How long a driver may take to say that it is there.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The threads of a flow on a Restate server. The [crate](crate) has an example.
#[derive(Debug)]
pub struct Client<F: Flow> {
    pub(crate) flow: RestateFlow<F>,
    pub(crate) ingress: Ingress,
    pub(crate) admin: Option<Admin>,
}

impl<F: Flow> Clone for Client<F> {
    fn clone(&self) -> Self {
        Client {
            flow: self.flow.clone(),
            ingress: self.ingress.clone(),
            admin: self.admin.clone(),
        }
    }
}

impl<F: Flow<State: Storable>> Client<F> {
    /// The threads of a flow on the server whose ingress is at this address, with `http://` or `https://`.
    pub fn new(flow: &RestateFlow<F>, ingress: impl Into<String>) -> Self {
        Client {
            ingress: Ingress {
                http: Http::new(ingress),
                service: flow.threads_service(),
                timeout: TIMEOUT,
            },
            flow: flow.clone(),
            admin: None,
        }
    }

    /// Sends a header with each request, such as the key of Restate Cloud. Its value is in no error and in no `Debug` output.
    ///
    /// ```
    /// use petalflow_restate::{Client, RestateFlow};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// # fn main() -> Result<(), petalflow_restate::RestateError> {
    /// let flow = RestateFlow::new(Write::new());
    /// let client = Client::new(&flow, "https://example.com:8080").header("authorization", "Bearer key_..")?;
    /// # let _ = client;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// It cannot be a header.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, RestateError> {
        self.ingress.http = self.ingress.http.header(name, value)?;
        Ok(self)
    }

    /// Lets threads say what they wait for while a process is away: see [`Rest::trouble`](crate::Rest::trouble). It also lets
    /// [`resume`](RestateThread::resume) continue what Restate has paused. The program must reach the administration.
    #[must_use]
    pub fn admin(mut self, admin: &Admin) -> Self {
        self.admin = Some(admin.clone());
        self
    }

    /// Sets how long a driver may take to say that it is there; 15 seconds by default. Otherwise a call fails with
    /// [`NoDriver`](RestateError::NoDriver). It does not limit how long a thread runs.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.ingress.timeout = timeout;
        self
    }

    #[cfg(feature = "server")]
    pub(crate) fn threads_service(&self) -> String {
        self.flow.threads_service()
    }

    /// Whether threads have a log of their events.
    #[cfg(feature = "server")]
    pub(crate) fn has_event_log(&self) -> bool {
        self.flow.engine.has_event_log()
    }

    /// A thread, which need not exist.
    pub fn thread(&self, id: impl Into<String>) -> RestateThread<F> {
        RestateThread {
            client: self.clone(),
            id: id.into(),
        }
    }
}
