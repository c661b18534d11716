//! Asking again.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use super::{Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream};
use petalflow::middleware::BoxFuture;
use petalflow::{BoxError, Retry};

/// A client that asks again after errors that may pass, and does not wait for ever.
///
/// It asks again after [transient](LlmError::is_transient) errors, so long as its [`Retry`] says so, and waits as long as that or the
/// provider says, whichever is longer. A stream is asked for again only before its first piece: what came is never said twice.
///
/// Without timeouts of one's own: 3 attempts, no more than 10 min in all, none for one attempt, and no more than 2 min between
/// two pieces of a stream.
///
/// ```
/// use petalflow_llm::{LlmClient, LlmError, LlmErrorKind, LlmRequest, Reply, Retrying, ScriptedModel};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), LlmError> {
/// let retry_after = Some(Duration::from_secs(30));
/// let busy = LlmError::new(LlmErrorKind::RateLimited { retry_after }, "busy");
/// let model = Retrying::new(ScriptedModel::new([Reply::from(busy), "hello".into()]));
///
/// let start = tokio::time::Instant::now();
/// assert_eq!(model.complete(&LlmRequest::prompt("hi")).await?.text(), "hello");
/// assert_eq!(start.elapsed().as_secs(), 30);
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// As with every client: to drop the future or the stream closes the connection, and nothing is asked again.
#[derive(Clone, Debug)]
pub struct Retrying<C> {
    client: C,
    retry: Retry,
    attempt: Option<Duration>,
    idle: Option<Duration>,
    total: Option<Duration>,
}

impl<C: LlmClient> Retrying<C> {
    /// This client, asked up to 3 times: the first wait is half a second or up to twice that, the next ones longer.
    pub fn new(client: C) -> Self {
        let retry = Retry::times(3).first(Duration::from_millis(500));
        Retrying {
            client,
            retry: retry.max(Duration::from_secs(30)).jitter(),
            attempt: None,
            idle: Some(Duration::from_mins(2)),
            total: Some(Duration::from_mins(10)),
        }
    }

    /// The same, asking again as this says. With conditions ([`Retry::only`]), only after transient errors that meet them.
    ///
    /// ```
    /// use petalflow::Retry;
    /// use petalflow_llm::{Retrying, ScriptedModel};
    ///
    /// let patient = Retrying::new(ScriptedModel::new(["hi"])).with_retry(Retry::times(10).jitter());
    /// # let _ = patient;
    /// ```
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The same with the longest time for one attempt: to the whole answer, or to the first piece of a stream.
    ///
    /// ```
    /// use petalflow_llm::{Retrying, ScriptedModel};
    /// use std::time::Duration;
    ///
    /// let model = Retrying::new(ScriptedModel::new(["hi"])).with_attempt_timeout(Duration::from_secs(60));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn with_attempt_timeout(mut self, limit: Duration) -> Self {
        self.attempt = Some(limit);
        self
    }

    /// The same with the longest time between two pieces of a stream. A stream that was silent for longer ends with an error.
    ///
    /// ```
    /// use petalflow_llm::{Retrying, ScriptedModel};
    /// use std::time::Duration;
    ///
    /// let model = Retrying::new(ScriptedModel::new(["hi"])).with_idle_timeout(Duration::from_secs(60));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn with_idle_timeout(mut self, limit: Duration) -> Self {
        self.idle = Some(limit);
        self
    }

    /// The same with the longest time for all of it: attempts, waits, and a stream to its end. It does not begin a wait that it would
    /// not live to see the end of.
    ///
    /// ```
    /// use petalflow_llm::{Retrying, ScriptedModel};
    /// use std::time::Duration;
    ///
    /// let model = Retrying::new(ScriptedModel::new(["hi"])).with_total_timeout(Duration::from_secs(60));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn with_total_timeout(mut self, limit: Duration) -> Self {
        self.total = Some(limit);
        self
    }

    /// The client inside.
    ///
    /// ```
    /// use petalflow_llm::{Retrying, ScriptedModel};
    ///
    /// let model = Retrying::new(ScriptedModel::new(["hi"]));
    /// assert!(model.get_ref().requests().is_empty());
    /// ```
    pub fn get_ref(&self) -> &C {
        &self.client
    }

    /// Tries until it works, until an error is there to stay, or until the time is up.
    async fn persist<T, F>(
        &self,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, LlmError>
    where
        F: Future<Output = Result<T, LlmError>>,
    {
        let mut waits = self.retry.waits();
        loop {
            let own = self
                .attempt
                .and_then(|limit| Instant::now().checked_add(limit));
            let until = [own, deadline].into_iter().flatten().min();
            let error = match until {
                None => attempt().await,
                Some(until) => match timeout_at(until, attempt()).await {
                    Ok(result) => result,
                    // Another attempt has no time left.
                    Err(_) if Some(until) == deadline => return Err(self.late(self.total)),
                    Err(_) => Err(self.late(self.attempt)),
                },
            };
            let error = match error {
                Ok(answer) => return Ok(answer),
                Err(error) if !error.is_transient() => return Err(error),
                Err(error) => error,
            };
            let Some(wait) = waits.next() else {
                return Err(error);
            };
            let wait = wait.max(error.retry_after().unwrap_or_default());
            let error = self.covered(error)?;
            let end = Instant::now().checked_add(wait);
            if end.is_none() || deadline.is_some_and(|deadline| end >= Some(deadline)) {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// The error, if the policy is for it. Policies look at boxed errors.
    fn covered(&self, error: LlmError) -> Result<LlmError, LlmError> {
        let error: BoxError = Box::new(error);
        let covered = self.retry.covers(&error);
        let error = *error
            .downcast::<LlmError>()
            .unwrap_or_else(|_| unreachable!("it was boxed above"));
        if covered { Ok(error) } else { Err(error) }
    }

    fn late(&self, limit: Option<Duration>) -> LlmError {
        late(self.client.name(), limit.unwrap_or_default())
    }

    fn deadline(&self) -> Option<Instant> {
        self.total
            .and_then(|limit| Instant::now().checked_add(limit))
    }
}

fn late(name: &str, limit: Duration) -> LlmError {
    LlmError::new(
        LlmErrorKind::Timeout,
        format!("`{name}` did not answer within {limit:?}"),
    )
}

impl<C: LlmClient> LlmClient for Retrying<C> {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn model(&self) -> Option<&str> {
        self.client.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }

    fn complete<'a>(
        &'a self,
        request: &'a LlmRequest,
    ) -> BoxFuture<'a, Result<LlmResponse, LlmError>> {
        Box::pin(self.persist(self.deadline(), || self.client.complete(request)))
    }

    fn stream<'a>(&'a self, request: &'a LlmRequest) -> BoxFuture<'a, Result<LlmStream, LlmError>> {
        Box::pin(async move {
            let deadline = self.deadline();
            let stream = self.persist(deadline, || async {
                self.client.stream(request).await?.begun().await
            });
            let stream = stream.await?;
            let name: Arc<str> = self.client.name().into();
            let (idle, total) = (self.idle, self.total);
            Ok(stream.wrap_source(move |pieces| {
                stream::unfold(Some(pieces), move |pieces| {
                    let name = Arc::clone(&name);
                    let silent = idle.and_then(|limit| Instant::now().checked_add(limit));
                    let until = [silent, deadline].into_iter().flatten().min();
                    let limit = if until == deadline { total } else { idle };
                    async move {
                        let mut pieces = pieces?;
                        let Some(until) = until else {
                            return Some((pieces.next().await?, Some(pieces)));
                        };
                        match timeout_at(until, pieces.next()).await {
                            Ok(piece) => Some((piece?, Some(pieces))),
                            Err(_) => Some((Err(late(&name, limit.unwrap_or_default())), None)),
                        }
                    }
                })
            }))
        })
    }
}
