//! Handlers that answer at once: with a fixed response, or with a function.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::handler::HumanHandler;
use super::{HumanRequest, HumanResponse};
use crate::clock::now_ms;
use crate::wire::rfc3339;
use petalflow::middleware::BoxFuture;
use petalflow::{BoxError, Context, async_trait};

/// A handler that approves or rejects everything. For tests and programs without people.
///
/// ```
/// use petalflow_documents::kinds::AutoHandler;
/// use std::time::Duration;
///
/// let handler = AutoHandler::reject().notes("not today").delay(Duration::from_secs(1));
/// # let _ = handler;
/// ```
#[derive(Clone, Debug)]
pub struct AutoHandler {
    response: HumanResponse,
    delay: Duration,
}

impl AutoHandler {
    /// Approves, with the choice `approve`.
    pub fn approve() -> Self {
        Self::responding(true, "approve")
    }

    /// Rejects, with the choice `reject`.
    pub fn reject() -> Self {
        Self::responding(false, "reject")
    }

    fn responding(approved: bool, choice: &str) -> Self {
        AutoHandler {
            response: HumanResponse {
                approved,
                choice: choice.into(),
                responded_by: "auto".into(),
                ..HumanResponse::default()
            },
            delay: Duration::ZERO,
        }
    }

    /// Sets the choice.
    ///
    /// ```
    /// use petalflow_documents::kinds::AutoHandler;
    ///
    /// let handler = AutoHandler::approve().choice("large");
    /// # let _ = handler;
    /// ```
    #[must_use]
    pub fn choice(mut self, choice: impl Into<String>) -> Self {
        self.response.choice = choice.into();
        self
    }

    /// Sets the data.
    ///
    /// ```
    /// use petalflow_documents::kinds::AutoHandler;
    ///
    /// let handler = AutoHandler::approve().data(serde_json::json!({ "title": "Petals" }));
    /// # let _ = handler;
    /// ```
    #[must_use]
    pub fn data(mut self, data: impl Into<Value>) -> Self {
        self.response.data = Some(data.into());
        self
    }

    /// Sets the notes.
    #[must_use]
    pub fn notes(mut self, notes: impl Into<String>) -> Self {
        self.response.notes = notes.into();
        self
    }

    /// Waits before the response.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

#[async_trait]
impl HumanHandler for AutoHandler {
    async fn request(
        &self,
        request: HumanRequest,
        _: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        Ok(Some(HumanResponse {
            request_id: request.id,
            responded_at: rfc3339(now_ms()),
            ..self.response.clone()
        }))
    }
}

type Function =
    dyn Fn(HumanRequest) -> BoxFuture<'static, Result<HumanResponse, BoxError>> + Send + Sync;

/// A handler that calls a function.
///
/// ```
/// use petalflow_documents::kinds::{FuncHandler, HumanResponse};
///
/// let handler = FuncHandler::new(|request| async move {
///     println!("{}", request.prompt);
///     Ok(HumanResponse { approved: true, ..HumanResponse::default() })
/// });
/// # let _ = handler;
/// ```
#[derive(Clone)]
pub struct FuncHandler(Arc<Function>);

impl fmt::Debug for FuncHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuncHandler").finish_non_exhaustive()
    }
}

impl FuncHandler {
    /// Asks with this function.
    pub fn new<F>(ask: impl Fn(HumanRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<HumanResponse, BoxError>> + Send + 'static,
    {
        FuncHandler(Arc::new(move |request| Box::pin(ask(request))))
    }
}

#[async_trait]
impl HumanHandler for FuncHandler {
    async fn request(
        &self,
        request: HumanRequest,
        _: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        let id = request.id.clone();
        let mut response = (self.0)(request).await?;
        if response.request_id.is_empty() {
            response.request_id = id;
        }
        Ok(Some(response))
    }
}
