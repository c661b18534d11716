//! Webhooks: a request with an order starts a run of a document. A clerk approves large orders.

use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow_documents::flow_from;
use petalflow_documents::kinds::{ThreadHandler, TriggerAuth};
use petalflow_server::Server;

flow_from!(
    /// What happens with an order. The document is checked while this program compiles.
    pub Orders = "../documents/orders.graph.yaml"
);

/// The server. The tokens are in the environment: `ORDERS_TOKEN` of those who send orders, `CLERK_TOKEN` of those who approve.
///
/// # Errors
///
/// If a token is missing.
pub fn server(store: &(impl Store + Clone)) -> petalflow::Result<Server> {
    let orders = Orders::new(OrdersServices {
        // The run stops until the answer is there.
        human: Arc::new(ThreadHandler),
    })?;
    let clerks = TriggerAuth::HeaderToken {
        header: "X-Clerk-Token".into(),
        token: "env:CLERK_TOKEN".into(),
    };
    let server = Server::builder(store)
        .webhooks("orders", &orders)
        .threads(clerks)
        .on_notice(|notice| println!("{notice}"))
        .build()?;
    Ok(server)
}
