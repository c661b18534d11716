//! Calls of the handlers of threads.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::time::{sleep, timeout};

use crate::driver::TOO_LARGE;
use crate::error::RestateError;
use crate::http::{Http, encoded};
use crate::size_limit::too_large;

/// What Restate answers for a service that nobody has registered.
const NOT_FOUND: u16 = 404;

/// The service of the threads of a flow, as clients call it.
#[derive(Clone, Debug)]
pub(crate) struct Ingress {
    pub(crate) http: Http,
    pub(crate) service: String,
    /// How long a driver may take to say that it is there.
    pub(crate) timeout: Duration,
}

fn check_size(body: &[u8]) -> Result<(), RestateError> {
    match too_large("the request", body.len()) {
        Some(problem) => Err(RestateError::TooLarge(problem)),
        None => Ok(()),
    }
}

impl Ingress {
    /// Calls a handler of a thread, for as long as a driver is there.
    pub(crate) async fn call(
        &self,
        thread: &str,
        handler: &str,
        body: Vec<u8>,
    ) -> Result<Vec<u8>, RestateError> {
        self.call_with(thread, handler, body, "ping", self.timeout)
            .await
    }

    /// The same. Each time that there is no answer for so long, another handler is called too, which a driver answers at once.
    pub(crate) async fn call_with(
        &self,
        thread: &str,
        handler: &str,
        body: Vec<u8>,
        meanwhile: &str,
        each: Duration,
    ) -> Result<Vec<u8>, RestateError> {
        check_size(&body)?;
        let path = self.path(thread, handler);
        let mut answer = pin!(self.http.send(&path, body));
        loop {
            match select(answer, pin!(sleep(each))).await {
                Either::Left((answer, _)) => return answer.map_err(|error| self.in_words(error)),
                Either::Right(((), unanswered)) => answer = unanswered,
            }
            let path = self.path(thread, meanwhile);
            let driver = timeout(self.timeout, self.http.send(&path, Vec::new())).await;
            match driver {
                // A driver of an earlier version does not know the handler.
                Ok(Ok(_) | Err(RestateError::Refused { .. })) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    return Err(RestateError::NoDriver {
                        service: self.service.clone(),
                        timeout: self.timeout,
                    });
                }
            }
        }
    }

    /// Calls a handler without an answer.
    pub(crate) async fn send(&self, thread: &str, handler: &str) -> Result<(), RestateError> {
        self.send_with(thread, handler, Vec::new()).await
    }

    /// The same with a body.
    pub(crate) async fn send_with(
        &self,
        thread: &str,
        handler: &str,
        body: Vec<u8>,
    ) -> Result<(), RestateError> {
        check_size(&body)?;
        let path = format!("{}/send", self.path(thread, handler));
        let sent = self.http.send(&path, body).await;
        sent.map(drop).map_err(|error| self.in_words(error))
    }

    fn path(&self, thread: &str, handler: &str) -> String {
        format!("{}/{}/{handler}", encoded(&self.service), encoded(thread))
    }

    fn in_words(&self, error: RestateError) -> RestateError {
        match error {
            RestateError::Refused {
                status, message, ..
            } if status == TOO_LARGE => RestateError::TooLarge(message),
            RestateError::Refused { status, .. } if status == NOT_FOUND => {
                RestateError::NotServed(self.service.clone())
            }
            error => error,
        }
    }
}
