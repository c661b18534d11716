//! Retries of requests.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use crate::usage::{Price, TokenCount};
use crate::{Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream};
use petalflow::async_trait;
use petalflow::policy::Retry;

/// A client that retries after transient errors, within time limits.
///
/// It retries [transient](LlmError::is_transient) errors as its [`Retry`] allows, after the longer of the policy's and
/// the provider's delay. A stream is retried only before its first chunk: no content is repeated.
///
/// A provider that asks for a delay of more than 5 min, such as until the next day, is not asked again: the error is
/// returned, with the delay in it.
///
/// Defaults: 3 attempts, at most 10 min in total, no limit for one attempt, and at most 2 min between two chunks of a
/// stream.
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
/// Dropping the future or the stream closes the connection and stops the retries.
#[derive(Clone, Debug)]
pub struct Retrying<C> {
    pub(crate) client: C,
    retry: Retry,
    attempt: Option<Duration>,
    idle: Option<Duration>,
    total: Option<Duration>,
}

impl<C: LlmClient> Retrying<C> {
    /// A client with up to 3 attempts. The first delay is 0.5 s to 1 s; later ones are longer.
    pub fn new(client: C) -> Self {
        let retry = Retry::attempts(3).first(Duration::from_millis(500));
        Retrying {
            client,
            retry: retry.max(Duration::from_secs(30)).jitter(),
            attempt: None,
            idle: Some(Duration::from_mins(2)),
            total: Some(Duration::from_mins(10)),
        }
    }

    /// Removes the limit between two chunks, for a client that has its own.
    #[cfg(feature = "providers")]
    pub(crate) fn without_idle_timeout(mut self) -> Self {
        self.idle = None;
        self
    }

    /// Sets the retry policy. With conditions ([`Retry::only`]), it retries only after transient errors that meet them.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use petalflow_llm::{Retrying, ScriptedModel};
    ///
    /// let patient = Retrying::new(ScriptedModel::new(["hi"])).with_retry(Retry::attempts(10).jitter());
    /// # let _ = patient;
    /// ```
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets the maximum time for one attempt: to the complete response, or to the first chunk of a stream.
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

    /// Sets the maximum time between two chunks of a stream. A stream that is idle for longer ends with an error.
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

    /// Sets the maximum time for the whole request: attempts, delays, and a stream to its end. It does not start a
    /// delay that would end after the limit.
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

    /// The same settings around another client.
    #[cfg(feature = "voice")]
    pub(crate) fn with_client<D>(&self, client: D) -> Retrying<D> {
        Retrying {
            client,
            retry: self.retry,
            attempt: self.attempt,
            idle: self.idle,
            total: self.total,
        }
    }

    /// The wrapped client.
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

    /// Repeats attempts until one succeeds, an error is not transient, or the time is up.
    async fn run_attempts<T, F>(
        &self,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, LlmError>
    where
        F: Future<Output = Result<T, LlmError>>,
    {
        let attempt = |_| self.within_limits(deadline, attempt());
        let decide = |error: &LlmError, delay: Duration| {
            let retried = error.is_transient() && self.retry.covers(error);
            let requested = error.retry_after().unwrap_or_default();
            let delay = delay.max(requested);
            let end = Instant::now().checked_add(delay)?;
            let in_time =
                deadline.is_none_or(|deadline| end < deadline) && requested <= MAX_REQUESTED_DELAY;
            (retried && in_time).then_some(delay)
        };
        self.retry.run_with(attempt, decide).await
    }

    /// Sends another request of the client with retries.
    #[cfg(feature = "providers")]
    pub(crate) async fn retried<'a, T, F>(
        &'a self,
        request: impl Fn(&'a C) -> F + Send,
    ) -> Result<T, LlmError>
    where
        F: Future<Output = Result<T, LlmError>> + Send,
    {
        self.run_attempts(self.deadline(), || request(&self.client))
            .await
    }

    /// Runs one attempt within its own limit and before the deadline.
    async fn within_limits<T>(
        &self,
        deadline: Option<Instant>,
        attempt: impl Future<Output = Result<T, LlmError>>,
    ) -> Result<T, LlmError> {
        let own = self
            .attempt
            .and_then(|limit| Instant::now().checked_add(limit));
        let Some(until) = [own, deadline].into_iter().flatten().min() else {
            return attempt.await;
        };
        let limit = if Some(until) == deadline {
            self.total
        } else {
            self.attempt
        };
        let result = timeout_at(until, attempt).await;
        result.unwrap_or_else(|_| Err(self.timed_out(limit)))
    }

    fn timed_out(&self, limit: Option<Duration>) -> LlmError {
        timed_out(self.client.name(), limit.unwrap_or_default())
    }

    fn deadline(&self) -> Option<Instant> {
        self.total
            .and_then(|limit| Instant::now().checked_add(limit))
    }
}

/// The longest delay that a provider may ask for.
const MAX_REQUESTED_DELAY: Duration = Duration::from_mins(5);

fn timed_out(name: &str, limit: Duration) -> LlmError {
    LlmError::new(
        LlmErrorKind::Timeout,
        format!("`{name}` did not answer within {limit:?}"),
    )
}

#[diagnostic::do_not_recommend]
#[async_trait]
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

    fn price(&self, model: &str) -> Option<Price> {
        self.client.price(model)
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        self.run_attempts(self.deadline(), || self.client.complete(request))
            .await
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        self.run_attempts(self.deadline(), || self.client.count_tokens(request))
            .await
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let deadline = self.deadline();
        let stream = self.run_attempts(deadline, || async {
            self.client
                .stream(request)
                .await?
                .wait_for_first_event()
                .await
        });
        let stream = stream.await?;
        let name: Arc<str> = self.client.name().into();
        let (idle, total) = (self.idle, self.total);
        Ok(stream.wrap_source(move |events| {
            stream::unfold(Some(events), move |events| {
                let name = Arc::clone(&name);
                let idle_deadline = idle.and_then(|limit| Instant::now().checked_add(limit));
                let until = [idle_deadline, deadline].into_iter().flatten().min();
                let limit = if until == deadline { total } else { idle };
                async move {
                    let mut events = events?;
                    let Some(until) = until else {
                        return Some((events.next().await?, Some(events)));
                    };
                    match timeout_at(until, events.next()).await {
                        Ok(event) => Some((event?, Some(events))),
                        Err(_) => Some((Err(timed_out(&name, limit.unwrap_or_default())), None)),
                    }
                }
            })
        }))
    }
}
