//! i028: everything that can stand around a tool.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::Managed;
use petalflow::cache::InMemoryCache;
use petalflow::node::ManagedValues;
use petalflow::policy::Retry;
use petalflow::tool::layer::{
    Cached, Checked, CircuitBreaker, Observed, OnlyIf, RateLimit, RetryLayer, TimeoutLayer,
};
use petalflow::tool::{Confirmation, FuncTool, Tool, ToolContext};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::call;

/// A tool that fails so often, and counts.
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
async fn i028_retry() {
    let (tool, calls) = flaky(2);
    let tool = tool.layer(RetryLayer::new([Retry::times(3)]));
    assert_eq!(call(&tool, json!({})).await, Ok(json!(2)));
    let (tool, _) = flaky(9);
    let tool = tool.layer(RetryLayer::new([Retry::times(3)]));
    assert_eq!(call(&tool, json!({})).await, Err("busy".into()));
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn i028_timeout() {
    let slow = FuncTool::new("slow", "Never ends.", |_: Value| {
        std::future::pending::<petalflow::Result<()>>()
    });
    let tool = slow
        .layer(TimeoutLayer::new(Duration::from_secs(1)))
        .layer(RetryLayer::new([Retry::times(2).first(Duration::ZERO)]));
    let begun = Instant::now();
    assert_eq!(
        call(&tool, json!({})).await,
        Err("tool `slow` timed out after 1s".into())
    );
    assert_eq!(begun.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn i028_rate_limit() {
    let (tool, _) = flaky(0);
    let tool = tool.layer(RateLimit::new(4, Duration::from_secs(2)));
    let begun = Instant::now();
    let cx = ToolContext::new("1");
    // All at once: four go, and then one every half second.
    let calls = (0..8).map(|_| async {
        tool.call(json!({}), &cx).await.unwrap();
        begun.elapsed().as_millis()
    });
    let mut times = futures_util::future::join_all(calls).await;
    times.sort_unstable();
    assert_eq!(times, [0, 0, 0, 0, 500, 1000, 1500, 2000]);
    // A long rest earns no more than the four.
    tokio::time::sleep(Duration::from_mins(1)).await;
    let begun = Instant::now();
    for _ in 0..5 {
        call(&tool, json!({})).await.unwrap();
    }
    assert_eq!(begun.elapsed(), Duration::from_millis(500));
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

#[tokio::test(start_paused = true)]
async fn i028_cache() {
    let (tool, calls) = flaky(1);
    let tool = tool.layer(Cached::new(InMemoryCache::new(), Duration::from_secs(5)));
    // A failure is not cached.
    assert!(call(&tool, json!({ "a": 1 })).await.is_err());
    for _ in 0..3 {
        assert_eq!(call(&tool, json!({ "a": 1 })).await, Ok(json!(1)));
    }
    assert_eq!(call(&tool, json!({ "a": 2 })).await, Ok(json!(2)));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(call(&tool, json!({ "a": 1 })).await, Ok(json!(3)));
    assert_eq!(calls.load(Ordering::SeqCst), 4);

    // A call that wants something done does it every time.
    let remember = FuncTool::with_context("remember", "Remembers.", |_: Value, cx| async move {
        cx.set_state("n", 1);
        Ok(())
    });
    let remember = remember.layer(Cached::new(InMemoryCache::new(), Duration::from_secs(5)));
    for _ in 0..2 {
        let cx = ToolContext::new("1");
        remember.call(json!({}), &cx).await.unwrap();
        assert!(!cx.take_actions().is_empty());
    }
}

/// A tool whose result is this value of the context.
fn reading(read: impl Fn(&ToolContext) -> Value + Send + Sync + 'static) -> FuncTool {
    let read = Arc::new(read);
    FuncTool::with_context("read", "Reads.", move |_: Value, cx: ToolContext| {
        let read = Arc::clone(&read);
        async move { Ok(read(&cx)) }
    })
}

#[tokio::test]
async fn a_result_that_depends_on_the_caller_is_not_cached() {
    let of_user = |name: &str| {
        let yes = Confirmation {
            payload: name.into(),
            ..Confirmation::default()
        };
        let mut values = ManagedValues::default();
        values.insert(Arc::new(name.to_string()));
        ToolContext::managing("1", values)
            .with_credential(name)
            .with_confirmation(yes)
            .with_state(Map::from_iter([("user".to_string(), json!(name))]))
    };
    let reads: [fn(&ToolContext) -> Value; 4] = [
        |cx| cx.credential().cloned().unwrap_or_default(),
        |cx| cx.confirmation().unwrap().payload.clone(),
        |cx| cx.state("user").unwrap_or_default(),
        |cx| cx.extract::<Managed<String>>().unwrap().as_str().into(),
    ];
    for read in reads {
        // The outer cache does not keep what the inner one does not, and layers between them change nothing.
        let tool = reading(read)
            .layer(Cached::new(InMemoryCache::new(), Duration::from_secs(5)))
            .layer(RetryLayer::new([Retry::times(2)]))
            .layer(Cached::new(InMemoryCache::new(), Duration::from_secs(5)));
        for name in ["ann", "bob"] {
            let result = tool.call(json!({}), &of_user(name)).await.unwrap();
            assert_eq!(result, name);
        }
    }

    // The context of a user alone does not matter.
    let (tool, calls) = flaky(0);
    let tool = tool
        .layer(RetryLayer::new([Retry::times(2)]))
        .layer(Cached::new(InMemoryCache::new(), Duration::from_secs(5)));
    for name in ["ann", "bob"] {
        tool.call(json!({}), &of_user(name)).await.unwrap();
    }
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn i028_conditional() {
    let (tool, calls) = flaky(0);
    let tool = tool.layer(OnlyIf::new(|arguments, _| {
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
        .layer(Checked::new(|arguments| match arguments["n"].as_u64() {
            Some(n) if n % 2 == 0 => Ok(()),
            _ => Err("`n` must be even".into()),
        }))
        .layer(RetryLayer::new([Retry::times(5)]));
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
        .layer(Observed::new(move |report| {
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

#[test]
fn a_layer_does_not_change_the_spec() {
    let (tool, _) = flaky(0);
    let tool = tool.confirm_if(|_| Some("really?".into()));
    let layered = tool
        .clone()
        .layer(TimeoutLayer::new(Duration::from_secs(1)));
    assert_eq!(layered.spec(), tool.spec());
    assert_eq!(layered.confirm(&json!({})).as_deref(), Some("really?"));
}
