//! The threads of a flow on Restate, for nodes of other threads on Restate that start them and wait for their ends.

use petalflow::checkpoint::StoreError;
use petalflow::engine::{EngineStore, EngineThreads, ThreadAddress, ThreadRecords};
use petalflow::state::Storable;
use petalflow::{Flow, async_trait};

use crate::client::Client;
use crate::error::{RestateError, store_error};

struct Children<F: Flow> {
    client: Client<F>,
}

impl<F: Flow<State: Storable>> Client<F> {
    /// The threads as a store, for nodes of other flows on Restate that [start](petalflow::Context::start) them and wait for their ends:
    /// `Pack::new().store(&client.store())` are the threads that the other flow gets with
    /// [`manage`](petalflow::Launch::manage). Nothing else can be done with this store, because drivers change the threads.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow::thread::Threads;
    /// use petalflow_restate::{Client, RestateFlow};
    ///
    /// #[state]
    /// struct Parcel {
    ///     #[key(input)]
    ///     article: String,
    /// }
    ///
    /// #[node(Parcel)]
    /// async fn pack() {}
    ///
    /// flow!(Pack(Parcel) { pack });
    ///
    /// #[state]
    /// struct Order {
    ///     #[key(input)]
    ///     article: String,
    /// }
    ///
    /// #[node(Order)]
    /// async fn send(article: &str, cx: Context, parcels: Managed<Threads<Pack>>) -> petalflow::Result<()> {
    ///     let parcel = cx.start(&parcels, "parcel-7", article.to_string()).await?;
    ///     cx.join(&parcel).await?;
    ///     Ok(())
    /// }
    ///
    /// flow!(Send(Order) { send });
    ///
    /// let parcels = Client::new(&RestateFlow::new(Pack::new()), "http://127.0.0.1:8080");
    /// let parcels = Pack::new().store(&parcels.store());
    /// let orders = RestateFlow::new(Send::new().manage(parcels));
    /// # let _ = orders;
    /// ```
    pub fn store(&self) -> EngineStore {
        EngineStore::new(Children {
            client: self.clone(),
        })
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> EngineThreads for Children<F> {
    fn name(&self) -> &str {
        &self.client.ingress.service
    }

    async fn read(&self, thread: &str) -> Result<ThreadRecords, StoreError> {
        let records = self.client.thread(thread).export().await;
        records.map_err(store_error)
    }

    async fn begin(&self, thread: &str, records: ThreadRecords) -> Result<bool, StoreError> {
        match self.client.thread(thread).import(&records).await {
            Ok(()) => Ok(true),
            Err(RestateError::Exists(_) | RestateError::Busy(_)) => Ok(false),
            Err(error) => Err(store_error(error)),
        }
    }

    async fn join(&self, thread: &str, by: ThreadAddress) -> Result<(), StoreError> {
        let joined = serde_json::to_vec(&by.to_string());
        let joined = joined.map_err(|error| StoreError::other("the address has no form", error))?;
        let ingress = &self.client.ingress;
        let sent = ingress.send_with(thread, "join", joined).await;
        sent.map_err(store_error)
    }
}
