//! Our client is told what changes on a server.

use petalflow::tool::ToolSet;
use petalflow_mcp::{self as mcp, McpClient, McpError, ServerChange};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::resourced::with_notes;
use super::{connect_in_process, within_ten_seconds};

fn resource(uri: &str) -> ServerChange {
    ServerChange::Resource(uri.into())
}

/// The client with the changes that it is told.
fn told(server: McpClient) -> (McpClient, UnboundedReceiver<ServerChange>) {
    let (sender, changes) = unbounded_channel();
    let server = server.changes(move |change| {
        sender.send(change).unwrap();
    });
    (server, changes)
}

async fn next(changes: &mut UnboundedReceiver<ServerChange>) -> ServerChange {
    within_ten_seconds(changes.recv()).await.unwrap()
}

#[tokio::test]
async fn f44_6_a_client_is_told_about_what_it_has_subscribed_to() {
    let serve = with_notes(mcp::serve(ToolSet::new()));
    let changed = serve.changed();
    let (server, mut changes) = told(connect_in_process(serve).0);
    server.subscribe("notes://today").await.unwrap();
    server.subscribe("notes://dot.png").await.unwrap();
    let error = server.subscribe("notes://none").await.unwrap_err();
    assert!(matches!(error, McpError::Refused { .. }), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("there is no resource `notes://none`")
    );

    changed.notify_resource("notes://lost");
    changed.notify_resource("notes://today");
    changed.notify();
    changed.notify_resource("notes://dot.png");
    assert_eq!(next(&mut changes).await, resource("notes://today"));
    assert_eq!(next(&mut changes).await, ServerChange::Tools);
    assert_eq!(next(&mut changes).await, resource("notes://dot.png"));

    server.unsubscribe("notes://today").await.unwrap();
    changed.notify_resource("notes://today");
    changed.notify_resource("notes://dot.png");
    assert_eq!(next(&mut changes).await, resource("notes://dot.png"));
    assert!(changes.is_empty());
}

#[tokio::test]
async fn f44_6_a_subscription_outlives_its_connection() {
    let serve = with_notes(mcp::serve(ToolSet::new()));
    let changed = serve.changed();
    let (server, dials) = connect_in_process(serve);
    let (server, mut changes) = told(server);
    for uri in ["notes://today", "notes://dot.png"] {
        server.subscribe(uri).await.unwrap();
    }
    server.unsubscribe("notes://dot.png").await.unwrap();
    server.close().await;
    // Nobody hears it.
    changed.notify_resource("notes://today");
    server.resources().await.unwrap();
    assert_eq!(dials.load(std::sync::atomic::Ordering::SeqCst), 2);
    // It may have changed meanwhile.
    assert_eq!(next(&mut changes).await, resource("notes://today"));
    changed.notify_resource("notes://dot.png");
    changed.notify_resource("notes://today");
    assert_eq!(next(&mut changes).await, resource("notes://today"));
    assert!(changes.is_empty());
}

#[tokio::test]
async fn f44_6_a_function_that_panics_does_not_end_the_connection() {
    let serve = with_notes(mcp::serve(ToolSet::new()));
    let changed = serve.changed();
    let (server, dials) = connect_in_process(serve);
    let (sender, mut changes) = unbounded_channel();
    let server = server.changes(move |change| {
        let is_tools = change == ServerChange::Tools;
        sender.send(change).unwrap();
        assert!(!is_tools, "no tools, please");
    });
    server.subscribe("notes://today").await.unwrap();
    changed.notify();
    assert_eq!(next(&mut changes).await, ServerChange::Tools);
    changed.notify_resource("notes://today");
    assert_eq!(next(&mut changes).await, resource("notes://today"));
    server.resources().await.unwrap();
    assert_eq!(dials.load(std::sync::atomic::Ordering::SeqCst), 1);
}
