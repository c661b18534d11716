//! i028: retries, timeouts and caches around tools. The other layers are in `limits`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use petalflow::Managed;
use petalflow::cache::InMemoryCache;
use petalflow::node::ManagedValues;
use petalflow::policy::Retry;
use petalflow::tool::layer::{Cached, RetryLayer, TimeoutLayer};
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
    let tool = tool.layer(RetryLayer::new([Retry::attempts(3)]));
    assert_eq!(call(&tool, json!({})).await, Ok(json!(2)));
    let (tool, _) = flaky(9);
    let tool = tool.layer(RetryLayer::new([Retry::attempts(3)]));
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
        .layer(RetryLayer::new([Retry::attempts(2).first(Duration::ZERO)]));
    let begun = Instant::now();
    assert_eq!(
        call(&tool, json!({})).await,
        Err("tool `slow` timed out after 1s".into())
    );
    assert_eq!(begun.elapsed(), Duration::from_secs(2));
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
            .layer(RetryLayer::new([Retry::attempts(2)]))
            .layer(Cached::new(InMemoryCache::new(), Duration::from_secs(5)));
        for name in ["ann", "bob"] {
            let result = tool.call(json!({}), &of_user(name)).await.unwrap();
            assert_eq!(result, name);
        }
    }

    // The context of a user alone does not matter.
    let (tool, calls) = flaky(0);
    let tool = tool
        .layer(RetryLayer::new([Retry::attempts(2)]))
        .layer(Cached::new(InMemoryCache::new(), Duration::from_secs(5)));
    for name in ["ann", "bob"] {
        tool.call(json!({}), &of_user(name)).await.unwrap();
    }
    assert_eq!(calls.load(Ordering::SeqCst), 1);
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
