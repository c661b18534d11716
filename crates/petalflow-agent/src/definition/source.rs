//! A source of tools that may be unavailable for a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::BoxError;
use petalflow::error::message_with_sources;
use petalflow::tool::{ToolSet, ToolSource};
use tokio::time::Instant;

/// The name of the tool with which a model searches in sources.
pub(crate) const SEARCH: &str = "search_tools";

/// The shortest time after a failure in which the source is not asked again.
const PAUSE: Duration = Duration::from_secs(10);

/// A source of tools of an agent. Its failure is remembered for a time: a server that is down must not delay every step.
pub(crate) struct Source {
    source: Arc<dyn ToolSource>,
    failure: Mutex<Option<Failure>>,
}

/// The failure of a source.
struct Failure {
    problem: Arc<str>,
    until: Instant,
}

/// Why a source has no tools now.
pub(crate) enum Unavailable {
    /// It has failed just now.
    Failed(BoxError),
    /// It failed a short time ago, and was not asked again.
    Paused(Arc<str>),
}

impl Unavailable {
    /// The problem, in words.
    pub(crate) fn problem(&self) -> String {
        match self {
            Unavailable::Failed(error) => message_with_sources(&**error),
            Unavailable::Paused(problem) => problem.to_string(),
        }
    }
}

impl From<Unavailable> for BoxError {
    fn from(unavailable: Unavailable) -> Self {
        match unavailable {
            Unavailable::Failed(error) => error,
            Unavailable::Paused(problem) => problem.to_string().into(),
        }
    }
}

impl Source {
    pub(crate) fn new(source: impl ToolSource) -> Self {
        Source {
            source: Arc::new(source),
            failure: Mutex::default(),
        }
    }

    /// Its tools. After a failure, it is asked again once 10 seconds have passed, and at least the time that it took to fail.
    pub(crate) async fn tools(&self) -> Result<ToolSet, Unavailable> {
        if let Some(failure) = &*self.failure()
            && Instant::now() < failure.until
        {
            return Err(Unavailable::Paused(Arc::clone(&failure.problem)));
        }
        let begun = Instant::now();
        match self.source.tools().await {
            Ok(tools) => {
                *self.failure() = None;
                Ok(tools)
            }
            Err(error) => {
                let failed = Instant::now();
                *self.failure() = Some(Failure {
                    problem: message_with_sources(&*error).into(),
                    until: failed + failed.duration_since(begun).max(PAUSE),
                });
                Err(Unavailable::Failed(error))
            }
        }
    }

    /// Forgets a failure, so that the source is asked again at once.
    pub(crate) fn forget(&self) {
        *self.failure() = None;
    }

    fn failure(&self) -> MutexGuard<'_, Option<Failure>> {
        // The value is always consistent.
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
