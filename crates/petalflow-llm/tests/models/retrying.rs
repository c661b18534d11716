//! Asking again, and not waiting for ever.

use std::time::Duration;

use futures_util::StreamExt;
use petalflow::policy::Retry;
use petalflow_llm::stream::Delta;
use petalflow_llm::{
    LlmClient, LlmError, LlmErrorKind, LlmRequest, Reply, Retrying, ScriptedModel,
};
use tokio::time::Instant;

fn cut() -> LlmError {
    LlmError::new(LlmErrorKind::Connection, "cut off")
}

fn rate_limited(seconds: u64) -> LlmError {
    let retry_after = Some(Duration::from_secs(seconds));
    LlmError::new(LlmErrorKind::RateLimited { retry_after }, "busy")
}

/// Waits of 1 s, 2 s, 4 s.
fn retry_policy(attempts: u32) -> Retry {
    Retry::attempts(attempts).first(Duration::from_secs(1))
}

fn retrying(replies: Vec<Reply>) -> Retrying<ScriptedModel> {
    Retrying::new(ScriptedModel::new(replies)).with_retry(retry_policy(4))
}

#[tokio::test(start_paused = true)]
async fn temporary_errors_are_retried_with_growing_waits() {
    let model = retrying(vec![cut().into(), cut().into(), "hello".into()]);
    let start = Instant::now();
    let response = model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(response.text(), "hello");
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(model.get_ref().requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn after_the_last_attempt_the_last_error_is_returned() {
    let model = retrying(vec![
        cut().into(),
        cut().into(),
        cut().into(),
        rate_limited(0).into(),
    ]);
    let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_eq!(error.to_string(), "busy");
    assert_eq!(model.get_ref().requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_are_not_retried() {
    for kind in [
        LlmErrorKind::Request,
        LlmErrorKind::Auth,
        LlmErrorKind::Malformed,
        LlmErrorKind::Budget,
        LlmErrorKind::Provider {
            status: Some(400),
            retry_after: None,
        },
    ] {
        let model = retrying(vec![
            LlmError::new(kind.clone(), "no").into(),
            "hello".into(),
        ]);
        let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
        assert_eq!(error.kind, kind);
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_that_the_provider_requests_is_respected() {
    let model = retrying(vec![
        rate_limited(30).into(),
        rate_limited(0).into(),
        "hello".into(),
    ]);
    let start = Instant::now();
    model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    // 30 s as asked; then 2 s of its own, which are longer than 0.
    assert_eq!(start.elapsed(), Duration::from_secs(32));
}

#[tokio::test(start_paused = true)]
async fn a_wait_longer_than_the_time_limit_does_not_begin() {
    let model = retrying(vec![rate_limited(3_600).into(), "hello".into()]);
    let start = Instant::now();
    let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_hours(1)));
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_more_than_five_minutes_does_not_begin() {
    let day = Duration::from_hours(24);
    let model = retrying(vec![rate_limited(300).into(), "hello".into()]).with_total_timeout(day);
    model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    let model = retrying(vec![rate_limited(301).into(), "hello".into()]).with_total_timeout(day);
    let start = Instant::now();
    let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(301)));
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_too_long_is_retried() {
    let slow = || Reply::text("late").after(Duration::from_secs(100));
    let model = retrying(vec![slow(), "hello".into()]).with_attempt_timeout(Duration::from_secs(5));
    let start = Instant::now();
    let response = model.complete(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(
        (response.text().as_str(), start.elapsed().as_secs()),
        ("hello", 6)
    );
}

#[tokio::test(start_paused = true)]
async fn the_total_time_is_limited() {
    let slow = || Reply::text("late").after(Duration::from_secs(100));
    let model = retrying(vec![cut().into(), slow()]).with_total_timeout(Duration::from_secs(10));
    let start = Instant::now();
    let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Timeout);
    assert_eq!(error.to_string(), "`scripted` did not answer within 10s");
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_retried_only_before_its_first_delta() {
    let begun = || Reply::chunks(["Once upon"]).broken(cut());
    let model = retrying(vec![cut().into(), begun(), "never asked".into()]);
    let stream = model.stream(&LlmRequest::prompt("hi")).await.unwrap();
    let chunks: Vec<_> = stream.collect().await;
    assert_eq!(chunks[0].delta, Delta::Text("Once upon".into()));
    assert_eq!(chunks[1].error.as_ref().unwrap().to_string(), "cut off");
    assert_eq!(model.get_ref().requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn i020_a_stream_that_stalls_ends_with_an_error() {
    let stalls = Reply::chunks(["Once", " upon"]).every(Duration::from_mins(1));
    let model = retrying(vec![stalls]).with_idle_timeout(Duration::from_secs(5));
    let mut stream = model.stream(&LlmRequest::prompt("hi")).await.unwrap();
    assert_eq!(
        stream.next().await.unwrap().delta,
        Delta::Text("Once".into())
    );
    let last = stream.next().await.unwrap();
    assert_eq!(
        last.error.unwrap().to_string(),
        "`scripted` did not answer within 5s"
    );
    assert_eq!(last.response.unwrap().text(), "Once");
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_at_its_time_limit() {
    let long = Reply::chunks(vec!["word"; 100]).every(Duration::from_secs(1));
    let model = retrying(vec![long]).with_total_timeout(Duration::from_secs(10));
    let stream = model.stream(&LlmRequest::prompt("hi")).await.unwrap();
    let start = Instant::now();
    let error = stream.into_response().await.unwrap_err();
    assert_eq!(error.to_string(), "`scripted` did not answer within 10s");
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn conditions_are_stored() {
    let model = ScriptedModel::new([Reply::from(cut()), "hello".into()]);
    let only = retry_policy(4).only(|error| error.to_string().contains("busy"));
    let model = Retrying::new(model).with_retry(only);
    let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_eq!(error.to_string(), "cut off");
}
