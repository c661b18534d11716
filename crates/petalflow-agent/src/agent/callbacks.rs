//! The methods of [`Agent`] that add callbacks.

use std::sync::Arc;

use serde_json::Value;

use super::Agent;
use crate::extension::{Callbacks, ModelCall, ToolStep};
use petalflow::{BoxError, async_trait};
use petalflow_llm::{LlmError, LlmResponse};

impl Agent {
    /// Adds callbacks around the agent's model and tools.
    #[must_use]
    pub fn callbacks(self, callbacks: impl Callbacks) -> Self {
        self.edit(|agent| agent.callbacks.push(Arc::new(callbacks)))
    }

    /// Adds callbacks around the models and tools of this agent and all agents below it, before their own callbacks.
    #[must_use]
    pub fn plugin(self, plugin: impl Callbacks) -> Self {
        self.edit(|agent| agent.plugins.push(Arc::new(plugin)))
    }
}

/// Writes for each method of [`Callbacks`] a method of [`Agent`] that takes a closure.
macro_rules! closures {
    ($($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)*) => {
        impl Agent {$(
            #[doc = concat!("Adds a closure as [`Callbacks::", stringify!($method), "`].")]
            #[must_use]
            pub fn $method(
                self,
                callback: impl Fn($($type),*) -> Result<Option<$value>, BoxError> + Send + Sync + 'static,
            ) -> Self {
                struct Closure<F>(F);

                #[async_trait]
                impl<F> Callbacks for Closure<F>
                where
                    F: Fn($($type),*) -> Result<Option<$value>, BoxError> + Send + Sync + 'static,
                {
                    async fn $method(
                        &self,
                        $($argument: $type),*
                    ) -> Result<Option<$value>, BoxError> {
                        (self.0)($($argument),*)
                    }
                }

                self.callbacks(Closure(callback))
            }
        )*}
    };
}

closures! {
    before_model(call: &mut ModelCall<'_>) -> LlmResponse;
    after_model(call: &mut ModelCall<'_>, response: &LlmResponse) -> LlmResponse;
    on_model_error(call: &mut ModelCall<'_>, error: &LlmError) -> LlmResponse;
    before_tool(step: &mut ToolStep<'_>) -> Value;
    after_tool(step: &mut ToolStep<'_>, outcome: &Result<Value, BoxError>) -> Value;
    on_tool_error(step: &mut ToolStep<'_>, error: &BoxError) -> Value;
}
