//! Writes of a node that count if it does not finish.

use std::sync::Arc;

use super::{Context, Key};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::state::{Recordable, State};

impl Context {
    /// Stores a write in case this node does not finish. If a new input comes after a crash or a failure, its turn begins with
    /// the write, as with those of nodes that had finished. The key has the option `recover`. A later write of the node to the key
    /// replaces it, and the node's result discards it.
    ///
    /// Use it for what must not be lost with the node, such as what it has cost so far. In a run without a store it does nothing.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// #[derive(Debug)]
    /// struct Bill {
    ///     #[key(sum, ephemeral, recover)]
    ///     unfinished: u64,
    ///     #[key(sum)]
    ///     cents: u64,
    /// }
    ///
    /// #[node(Bill)]
    /// async fn begin(unfinished: &u64) -> BillCents {
    ///     BillCents(*unfinished)
    /// }
    ///
    /// #[node(Bill)]
    /// async fn buy(cx: Context) -> petalflow::Result<()> {
    ///     let before = cx.unfinished::<BillUnfinished>().unwrap_or_default();
    ///     cx.record_unfinished(BillUnfinished(before + 5)).await?;
    ///     Err("it cost 5, and it broke".into())
    /// }
    ///
    /// flow!(Shop(Bill) { begin -> buy });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Shop::new().store(&InMemoryStore::new()).thread("ann");
    /// thread.run(()).await.unwrap_err();
    /// thread.resume(()).await.unwrap_err();
    /// thread.run(()).await.unwrap_err();
    /// assert_eq!(thread.snapshot().await?.expect("it exists").state.cents, 10);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded. If the store fails, the run ends.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the write is stored or not.
    pub fn record_unfinished<K>(&self, write: K) -> BoxFuture<'_, Result<(), BoxError>>
    where
        K: Key<Value: Recordable>,
    {
        Box::pin(async move {
            let Some(services) = &self.0.shared.services else {
                return Ok(());
            };
            let key = <K::State as State>::KEYS[K::INDEX].id;
            let value = write.into_value();
            let task = self.0.task_ref();
            services.record_unfinished(&task, key, &value).await
        })
    }

    /// As [`record_unfinished`](Self::record_unfinished), for `caller`: the node in which the flow of this node runs, or one further out. The
    /// write is stored together with the next checkpoint of this flow, and needs no access to the store of its own. So it counts what this
    /// flow has stored: if the process dies before that checkpoint, the store has neither.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// #[derive(Debug)]
    /// struct Bill {
    ///     #[key(sum, ephemeral, recover)]
    ///     unfinished: u64,
    ///     #[key(sum)]
    ///     cents: u64,
    /// }
    ///
    /// #[node(Bill)]
    /// async fn begin(unfinished: &u64) -> BillCents {
    ///     BillCents(*unfinished)
    /// }
    ///
    /// #[node(Bill)]
    /// async fn buy(cx: Context) -> petalflow::Result<()> {
    ///     Print::new().manage_with(Arc::new(cx.clone())).run_in(&cx, "print", ()).await?;
    ///     Err("it cost 5, and it broke".into())
    /// }
    ///
    /// #[state]
    /// struct Paper {
    ///     sheets: u64,
    /// }
    ///
    /// #[node(Paper)]
    /// async fn print(caller: Managed<Context>, cx: Context) -> petalflow::Result<PaperSheets> {
    ///     cx.record_unfinished_of(&caller, BillUnfinished(5)).await?;
    ///     Ok(PaperSheets(1))
    /// }
    ///
    /// flow!(Print(Paper) { print });
    /// flow!(Shop(Bill) { begin -> buy });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Shop::new().store(&InMemoryStore::new()).thread("ann");
    /// thread.run(()).await.unwrap_err();
    /// thread.run(()).await.unwrap_err();
    /// assert_eq!(thread.snapshot().await?.expect("it exists").state.cents, 5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// In a run without a store, and for a node of the same flow, it is as [`record_unfinished`](Self::record_unfinished) of `caller`.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded, or `caller` has ended or is of another thread.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the write is recorded or not.
    pub fn record_unfinished_of<'a, K>(
        &'a self,
        caller: &'a Context,
        write: K,
    ) -> BoxFuture<'a, Result<(), BoxError>>
    where
        K: Key<Value: Recordable> + 'a,
    {
        Box::pin(async move {
            let Some(own) = &self.0.shared.services else {
                return caller.record_unfinished(write).await;
            };
            let Some(services) = &caller.0.shared.services else {
                return Ok(());
            };
            if Arc::ptr_eq(own, services) {
                // Of this flow: its next checkpoint would discard the write.
                return caller.record_unfinished(write).await;
            }
            if own.storage.thread != services.storage.thread {
                return Err(format!(
                    "`record_unfinished_of` was called in thread `{}` with the `Context` of thread `{}`: it takes the `Context` of the node that runs this flow",
                    own.storage.thread, services.storage.thread
                )
                .into());
            }
            let key = <K::State as State>::KEYS[K::INDEX].id;
            let task = caller.0.task_ref();
            own.record_for_caller((services, &task), key, &write.into_value())
        })
    }

    /// The write that an earlier run of this node has recorded with [`record_unfinished`](Self::record_unfinished), before a
    /// crash or a failure.
    pub fn unfinished<K: Key<Value: Recordable>>(&self) -> Option<K::Value> {
        let services = self.0.shared.services.as_ref()?;
        let key = <K::State as State>::KEYS[K::INDEX].id;
        services.unfinished(self.0.task_id(), key)
    }
}
