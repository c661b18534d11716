//! Propagation of the span, the traced run and the current node to work that a node spawns.

use std::sync::{Arc, Once};

use petalflow::middleware::{CapturedContext, TaskContext, carry_task_context};
use tracing::Span;

#[cfg(feature = "llm")]
use crate::current_node::{self, CurrentNode};
use crate::scope::{self, Run};

/// Registers the propagation with petalflow, once.
pub(crate) fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| carry_task_context(&Tracing));
}

struct Tracing;

struct Captured {
    span: Span,
    run: Option<Arc<Run>>,
    #[cfg(feature = "llm")]
    node: Option<CurrentNode>,
}

impl TaskContext for Tracing {
    fn capture(&self) -> Option<Box<dyn CapturedContext>> {
        Some(Box::new(Captured {
            span: Span::current(),
            run: scope::current(),
            #[cfg(feature = "llm")]
            node: current_node::current(),
        }))
    }
}

impl CapturedContext for Captured {
    fn within(&self, work: &mut dyn FnMut()) {
        let _entered = self.span.enter();
        #[cfg(feature = "llm")]
        let work = || current_node::enter(self.node.clone(), work);
        scope::enter(self.run.clone(), work);
    }
}
