//! Retries and timeouts of one call.

use std::future::Future;
use std::time::Duration;

use serde_json::Value;

use super::{ToolContext, ToolError};
use crate::error::BoxError;
use crate::policy::Retry;

/// Calls a tool with retries, each attempt with a timeout.
///
/// Arguments that do not fit are not retried, because they would fail again.
pub(crate) async fn attempts<F: Future<Output = Result<Value, ToolError>>>(
    tool: &str,
    retry: &[Retry],
    timeout: Option<Duration>,
    arguments: Value,
    cx: &ToolContext,
    attempt: impl Fn(Value) -> F,
) -> Result<Value, ToolError> {
    let most = retry.iter().map(Retry::attempts).max().unwrap_or(1);
    let before = cx.actions().clone();
    let mut arguments = Some(arguments);
    let mut count = 0;
    loop {
        count += 1;
        // The last attempt needs no copy.
        let given = if count < most {
            arguments.clone()
        } else {
            arguments.take()
        };
        let given = given.unwrap_or_default();
        let error = match within(tool, timeout, attempt(given)).await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let Some(wait) = wait_after(retry, count, &error) else {
            return Err(error);
        };
        // The next attempt repeats the requests of the failed one.
        cx.actions().clone_from(&before);
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
}

/// One attempt with its timeout.
async fn within(
    tool: &str,
    timeout: Option<Duration>,
    attempt: impl Future<Output = Result<Value, ToolError>>,
) -> Result<Value, ToolError> {
    match timeout {
        None => attempt.await,
        Some(time) => tokio::time::timeout(time, attempt)
            .await
            .unwrap_or_else(|_| Err(ToolError::Timeout(tool.into(), time))),
    }
}

/// The wait before the next attempt, if there is one. `attempt` is the failed one, from 1.
fn wait_after(retry: &[Retry], attempt: u32, error: &ToolError) -> Option<Duration> {
    let late: BoxError;
    let cause = match error {
        ToolError::Arguments(_) => return None,
        ToolError::Failed(error) => error,
        ToolError::Timeout(..) => {
            late = error.to_string().into();
            &late
        }
    };
    let retry = retry.iter().find(|retry| retry.covers(cause))?;
    retry.waits().nth(attempt as usize - 1)
}
