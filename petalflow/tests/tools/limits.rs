//! i028: rate limits, circuit breakers, conditions and hooks around tools.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::policy::Retry;
use petalflow::tool::layer::{
    ArgumentCheck, CallCondition, CallObserver, CircuitBreaker, RateLimit, RetryLayer,
};
use petalflow::tool::{FuncTool, Tool, ToolContext};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::call;

/// A tool that fails this many times, and the number of its calls.
fn flaky(failures: u32) -> (FuncTool, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let tool = FuncTool::new("flaky", "Fails at first.", move |_: Value| {
        let call = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            if call < failures {
                Err("busy".into())
            } else {
                Ok(call)
            }
        }
    });
    (tool, calls)
}

#[tokio::test(start_paused = true)]
async fn i028_rate_limit() {
    let (tool, _) = flaky(0);
    let tool = tool.layer(RateLimit::new(4, Duration::from_secs(2)));
    let started = Instant::now();
    let cx = ToolContext::new("1");
    // All start at once: four run, and then one every half second.
    let calls = (0..8).map(|_| async {
        tool.call(json!({}), &cx).await.unwrap();
        started.elapsed().as_millis()
    });
    let mut times = futures_util::future::join_all(calls).await;
    times.sort_unstable();
    assert_eq!(times, [0, 0, 0, 0, 500, 1000, 1500, 2000]);
    // A long pause allows no more than four at once.
    tokio::time::sleep(Duration::from_mins(1)).await;
    let started = Instant::now();
    for _ in 0..5 {
        call(&tool, json!({})).await.unwrap();
    }
    assert_eq!(started.elapsed(), Duration::from_millis(500));
}

#[tokio::test(start_paused = true)]
async fn i028_circuit_breaker() {
    let (tool, calls) = flaky(3);
    let tool = tool.layer(CircuitBreaker::new(2, Duration::from_secs(10)));
    for _ in 0..2 {
        assert_eq!(call(&tool, json!({})).await, Err("busy".into()));
    }
    let skipped = call(&tool, json!({})).await.unwrap_err();
    assert!(skipped.contains("not called for 10s"), "{skipped}");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    // One call tries; it fails, so the pause begins again.
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(call(&tool, json!({})).await, Err("busy".into()));
    let skipped = call(&tool, json!({})).await.unwrap_err();
    assert!(skipped.contains("not called for 10s"), "{skipped}");
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    tokio::time::sleep(Duration::from_secs(10)).await;
    for expected in [3, 4] {
        assert_eq!(call(&tool, json!({})).await, Ok(json!(expected)));
    }
}

#[tokio::test]
async fn i028_conditional() {
    let (tool, calls) = flaky(0);
    let tool = tool.layer(CallCondition::new(|arguments, _| {
        if arguments["dry"] == true {
            Err("not in a dry run".into())
        } else {
            Ok(())
        }
    }));
    assert_eq!(
        call(&tool, json!({ "dry": true })).await,
        Err("not in a dry run".into())
    );
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    assert!(call(&tool, json!({})).await.is_ok());
}

#[tokio::test]
async fn i028_validation_is_never_tried_again() {
    let (tool, calls) = flaky(0);
    let tool = tool
        .layer(ArgumentCheck::new(|arguments| {
            match arguments["n"].as_u64() {
                Some(n) if n % 2 == 0 => Ok(()),
                _ => Err("`n` must be even".into()),
            }
        }))
        .layer(RetryLayer::new([Retry::attempts(5)]));
    assert_eq!(
        call(&tool, json!({ "n": 3 })).await,
        Err("the arguments of tool `flaky` do not fit: `n` must be even".into())
    );
    assert!(call(&tool, json!({ "n": 4 })).await.is_ok());
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn i028_logging_and_metrics() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let (tool, _) = flaky(1);
    let tool = tool
        .layer(RateLimit::new(1, Duration::from_secs(3)))
        .layer(CallObserver::new(move |report| {
            let outcome = match report.result {
                Ok(value) => value.to_string(),
                Err(error) => error.to_string(),
            };
            let line = format!(
                "{} {} {:?} {outcome}",
                report.tool, report.call_id, report.took
            );
            log.lock().unwrap().push(line);
        }));
    let _ = call(&tool, json!({})).await;
    let _ = call(&tool, json!({})).await;
    assert_eq!(*seen.lock().unwrap(), ["flaky 1 0ns busy", "flaky 1 3s 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_counts_no_call_that_was_cancelled_while_it_waited() {
    let (tool, _) = flaky(0);
    let tool = tool.layer(RateLimit::new(10, Duration::from_secs(1)));
    let cx = ToolContext::new("1");
    for _ in 0..10 {
        tool.call(json!({}), &cx).await.unwrap();
    }
    let waiting = (0..90).map(|_| tool.call(json!({}), &cx));
    let waiting = futures_util::future::join_all(waiting);
    let cancelled = tokio::time::timeout(Duration::ZERO, waiting).await;
    assert!(cancelled.is_err());
    let started = Instant::now();
    tool.call(json!({}), &cx).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_millis(100));
}
