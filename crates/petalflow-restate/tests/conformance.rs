//! The contract of drivers, on Restate: with all nodes in the driver, and with some placed on another process, and with
//! all bodies in an object store.

use std::sync::Arc;

use object_store::memory::InMemory;
use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::ThreadRecords;
use petalflow::state::Storable;
use petalflow::thread::Retention;
use petalflow::{BoxError, Flow, async_trait};
use petalflow_restate::{Bodies, Client, Endpoint, RestateFlow};
use petalflow_testing::{Driver, DriverCase};

use crate::support::Server;

struct RestateDriver {
    server: Server,
    places: bool,
    /// Whether the log of events is kept, and all bodies are in an object store.
    logs: bool,
}

#[async_trait]
impl Driver for RestateDriver {
    async fn drive<F: Flow<State: Storable>>(
        &self,
        case: &DriverCase<F>,
    ) -> Result<ThreadRecords, BoxError> {
        let mut flow = RestateFlow::new((case.launch)()).retention(Retention::ALL);
        for node in case.placed.iter().filter(|_| self.places) {
            flow = flow.place(node, "pool")?;
        }
        if self.logs {
            let objects = Bodies::new(Arc::new(InMemory::new())).above(0);
            flow = flow.event_log(10).bodies(objects);
        }
        let driver = Endpoint::new().threads(&flow)?.bind("127.0.0.1:0").await?;
        let host = Endpoint::new()
            .nodes(&flow, "pool")?
            .concurrency(2)
            .bind("127.0.0.1:0")
            .await?;
        let urls = [&driver, &host].map(|bound| format!("http://{}", bound.address()));
        tokio::spawn(driver.serve());
        tokio::spawn(host.serve());
        for url in urls {
            self.server.admin().register(&url).await?;
        }
        let thread = Client::new(&flow, self.server.ingress()).thread(DriverCase::<F>::THREAD);
        if let Some(records) = &case.records {
            thread.import(records).await?;
        }
        for step in &case.steps {
            thread.edit(*step).await??;
            let rest = thread.wait().await?;
            assert_ne!(rest.status, ThreadStatus::Running);
        }
        Ok(thread.export().await?)
    }
}

async fn driver(places: bool, logs: bool) -> Result<Option<RestateDriver>, BoxError> {
    let server = Server::start().await;
    Ok(server.map(|server| RestateDriver {
        server,
        places,
        logs,
    }))
}

petalflow_testing::driver_contract! { inline, async || super::driver(false, false).await }
petalflow_testing::driver_contract! { placed, async || super::driver(true, false).await }
petalflow_testing::driver_contract! { logging, async || super::driver(true, true).await }
