//! The local driver: a thread in a store.

use petalflow::checkpoint::InMemoryStore;
use petalflow::engine::ThreadRecords;
use petalflow::state::Storable;
use petalflow::{BoxError, Flow};

use super::case::DriverCase;

pub(super) async fn drive<F: Flow<State: Storable>>(
    case: &DriverCase<F>,
) -> Result<ThreadRecords, BoxError> {
    let store = InMemoryStore::new();
    if let Some(records) = &case.records {
        records.write_to(&store, DriverCase::<F>::THREAD).await?;
    }
    let thread = (case.launch)()
        .store(&store)
        .thread(DriverCase::<F>::THREAD);
    for step in &case.steps {
        step(thread.clone()).await?;
    }
    Ok(ThreadRecords::read(&store, DriverCase::<F>::THREAD).await?)
}
