//! Retries and timeouts of one call.

use std::future::Future;
use std::time::Duration;

use serde_json::Value;

use super::{ToolContext, ToolError};
use crate::policy::{Retry, pause};

/// Calls a tool with retries, each attempt within the timeout. Wrong arguments are not retried.
pub(crate) async fn attempts<F: Future<Output = Result<Value, ToolError>>>(
    tool: &str,
    retry: &[Retry],
    timeout: Option<Duration>,
    arguments: Value,
    cx: &ToolContext,
    attempt: impl Fn(Value) -> F,
) -> Result<Value, ToolError> {
    let most = retry.iter().map(Retry::max_attempts).max().unwrap_or(1);
    let before = cx.requests().clone();
    let mut arguments = Some(arguments);
    let attempt = |number| {
        // The last attempt needs no copy.
        let given = if number < most {
            arguments.clone()
        } else {
            arguments.take()
        };
        within(tool, timeout, attempt(given.unwrap_or_default()))
    };
    repeat(attempt, |number, error| {
        let delay = delay_after(retry, number, error)?;
        // The next attempt requests its actions again.
        cx.requests().clone_from(&before);
        Some(delay)
    })
    .await
}

/// Repeats an operation until it succeeds or `delay_after` returns `None`. Both get the number of the attempt, from 1.
async fn repeat<T, E, F: Future<Output = Result<T, E>>>(
    mut attempt: impl FnMut(u32) -> F,
    mut delay_after: impl FnMut(u32, &E) -> Option<Duration>,
) -> Result<T, E> {
    let mut number = 1;
    loop {
        let error = match attempt(number).await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let Some(delay) = delay_after(number, &error) else {
            return Err(error);
        };
        pause(delay).await;
        number += 1;
    }
}

/// One attempt within its time.
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

/// The delay after an attempt that failed, or `None` if it was the last one. Attempts count from 1.
fn delay_after(retry: &[Retry], attempt: u32, error: &ToolError) -> Option<Duration> {
    match error {
        ToolError::Arguments(_) => None,
        ToolError::Failed(source) => Retry::delay_after(retry, attempt, &**source),
        ToolError::Timeout(..) => Retry::delay_after(retry, attempt, error),
    }
}
