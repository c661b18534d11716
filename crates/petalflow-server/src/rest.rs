//! Waits until a thread rests, in whichever process it runs.

use std::time::Duration;

use petalflow::checkpoint::{ThreadInfo, ThreadStatus};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};

use crate::refusal::Refusal;
use crate::served::no_thread;
use crate::server::Inner;

/// The first and the longest time between two looks at a thread that another process runs.
const LOOKS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Whether a thread with this status goes on only if a person or a time continues it.
pub(crate) fn is_rest(status: ThreadStatus) -> bool {
    !matches!(status, ThreadStatus::Running | ThreadStatus::Stopped)
}

/// Whether a thread with this status goes on only with another input, or if a person resumes it.
pub(crate) fn is_end(status: ThreadStatus) -> bool {
    matches!(
        status,
        ThreadStatus::Finished | ThreadStatus::Failed | ThreadStatus::Held
    )
}

/// What is listed of a thread when its status is one of these, or after this time. A run of this process is waited for; for one of
/// another process, the store is read from time to time. Nothing is claimed.
pub(crate) async fn reached(
    server: &Inner,
    thread: &str,
    wait: Duration,
    is_over: impl Fn(ThreadStatus) -> bool,
) -> Result<ThreadInfo, Refusal> {
    let until = Instant::now() + wait;
    let mut look = LOOKS.0;
    loop {
        // Before the status is read, which is stored before the run has ended.
        let run = server.subscribe(thread);
        let info = server.info(thread).await?.ok_or_else(no_thread)?;
        // What is damaged does not change.
        let rests = run.is_none() && is_over(info.status);
        if rests || info.damage.is_some() || Instant::now() >= until {
            return Ok(info);
        }
        let next = async {
            match run {
                Some(mut run) => while !matches!(run.recv().await, Err(RecvError::Closed)) {},
                None => tokio::time::sleep(look).await,
            }
        };
        // After the time, the caller gets the status that the thread has then.
        let _ = timeout_at(until, next).await;
        look = (2 * look).min(LOOKS.1);
    }
}
