//! What engines read of a launch, and change in it.

use std::sync::Arc;

use super::Launch;
use crate::flow::Flow;
use crate::middleware::AnyMiddleware;

impl<F: Flow> Launch<F> {
    pub(crate) fn has_cache(&self) -> bool {
        let extras = self.settings.extras.as_ref();
        extras.is_some_and(|extras| extras.find_cached.is_some())
    }

    pub(crate) fn has_middleware(&self) -> bool {
        let extras = self.settings.extras.as_ref();
        extras.is_some_and(|extras| !extras.middleware.is_empty())
    }

    /// The launch for the rest of a run that has made so many supersteps, with this middleware around all other.
    pub(crate) fn after(
        mut self,
        supersteps: u64,
        outermost: Option<Arc<dyn AnyMiddleware>>,
    ) -> Self {
        self.settings.limit = self.settings.limit.saturating_sub(supersteps);
        if let Some(outermost) = outermost {
            let middleware = &mut self.settings.extras_mut().middleware;
            middleware.insert(0, outermost);
        }
        self
    }
}
