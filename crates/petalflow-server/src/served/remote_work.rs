//! Work on copies of threads that an engine keeps, with a result.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use petalflow::Flow;
use petalflow::checkpoint::StoreError;
use petalflow::thread::{Thread, ThreadError};

use super::remote::{RemoteThreads, ThreadWork};

/// Reads a thread.
pub(super) async fn read<F: Flow, T: Send + 'static, D: Future<Output = T> + Send + 'static>(
    threads: &dyn RemoteThreads<F>,
    thread: &str,
    work: impl FnOnce(Thread<F>) -> D + Send + 'static,
) -> Result<T, ThreadError> {
    let (work, result) = storing(work);
    threads.read(thread, work).await?;
    result.take()
}

/// Changes a thread.
pub(super) async fn edit<F: Flow, T: Send + 'static, D: Future<Output = T> + Send + 'static>(
    threads: &dyn RemoteThreads<F>,
    thread: &str,
    work: impl FnOnce(Thread<F>) -> D + Send + 'static,
) -> Result<T, ThreadError> {
    let (work, result) = storing(work);
    threads.edit(thread, work).await?;
    result.take()
}

/// Makes another thread.
pub(super) async fn make<F: Flow, T: Send + 'static, D: Future<Output = T> + Send + 'static>(
    threads: &dyn RemoteThreads<F>,
    thread: &str,
    other: &str,
    work: impl FnOnce(Thread<F>) -> D + Send + 'static,
) -> Result<T, ThreadError> {
    let (work, result) = storing(work);
    threads.make(thread, other, work).await?;
    result.take()
}

/// A place for the result of work.
struct Place<T>(Arc<Mutex<Option<T>>>);

/// The work, which stores its result in the place.
fn storing<F: Flow, T: Send + 'static, D: Future<Output = T> + Send + 'static>(
    work: impl FnOnce(Thread<F>) -> D + Send + 'static,
) -> (ThreadWork<F>, Place<T>) {
    let place = Place(Arc::default());
    let result = Arc::clone(&place.0);
    let work: ThreadWork<F> = Box::new(move |thread| {
        let work = work(thread);
        Box::pin(async move {
            let done = work.await;
            // Nothing under this lock can panic.
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        })
    });
    (work, place)
}

impl<T> Place<T> {
    fn take(self) -> Result<T, ThreadError> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| {
            let problem = "it has returned before the work was done";
            StoreError::other("the engine has not opened the thread", problem).into()
        })
    }
}
