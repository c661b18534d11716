//! Subscriptions of the client to what changes on a server.

use std::sync::Arc;

use rmcp::model::{SubscribeRequestParams, UnsubscribeRequestParams};

use super::changes::ChangeHandler;
use super::client::McpClient;
use super::{McpError, ServerChange};

/// The methods for what changes on a server.
impl McpClient {
    /// Calls a function for each change of which the server tells: of its lists of tools, prompts and resources, and of the
    /// resources that were [subscribed](Self::subscribe) to. It must not block.
    ///
    /// ```
    /// use petalflow_mcp::McpClient;
    ///
    /// let server = McpClient::stdio("some-server", [] as [&str; 0]).changes(|change| eprintln!("{change:?}"));
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn changes(self, take: impl Fn(ServerChange) + Send + Sync + 'static) -> Self {
        let handler = ChangeHandler(Arc::new(take));
        self.with(|options| options.request_handlers.changes = Some(handler))
    }

    /// Subscribes to the resource with this URI: the server tells when it changes, and the function of
    /// [`changes`](Self::changes) is called.
    ///
    /// After a lost connection, the subscription is renewed when the client connects again, with its next request. The function
    /// is then called for the resource, because a change may have been missed.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_mcp::{self as mcp, McpClient, Resource, ServerChange};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let today = Resource::new("notes://today", "today");
    /// let serve = mcp::serve(ToolSet::new()).resource(today, async || Ok("rain"));
    /// let notes = serve.changed();
    /// let (changed, mut changes) = tokio::sync::mpsc::unbounded_channel();
    /// let server = McpClient::over("notes", move || {
    ///     let serve = serve.clone();
    ///     async move {
    ///         let (ours, theirs) = tokio::io::duplex(4096);
    ///         tokio::spawn(serve.over(theirs));
    ///         Ok(ours)
    ///     }
    /// });
    /// let server = server.changes(move |change| drop(changed.send(change)));
    /// server.subscribe("notes://today").await?;
    /// notes.notify_resource("notes://today");
    /// assert_eq!(changes.recv().await, Some(ServerChange::Resource("notes://today".into())));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, has no such resource, or does not tell what changes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request. The server may have received it.
    #[expect(
        deprecated,
        reason = "sessions with `initialize` have no other subscriptions"
    )]
    pub async fn subscribe(&self, uri: &str) -> Result<(), McpError> {
        let session = self.session();
        session
            .ask(uri, async |service| {
                service.subscribe(SubscribeRequestParams::new(uri)).await
            })
            .await?;
        session.subscriptions.uris().insert(uri.into());
        Ok(())
    }

    /// Ends the subscription to the resource with this URI.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, or refuses. The subscription is not renewed in any case.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request. The server may have received it.
    #[expect(
        deprecated,
        reason = "sessions with `initialize` have no other subscriptions"
    )]
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), McpError> {
        let session = self.session();
        session.subscriptions.uris().remove(uri);
        session
            .ask(uri, async |service| {
                service
                    .unsubscribe(UnsubscribeRequestParams::new(uri))
                    .await
            })
            .await
    }
}
