//! Nodes that call models and tools.

mod call_settings;
mod llm;
mod llm_router;
mod noted;
mod retry_config;
mod tool;

pub use llm::{BudgetConfig, LlmConfig, LlmNode};
pub use llm_router::{LlmRouter, LlmRouterConfig};
pub use retry_config::RetryConfig;
pub use tool::{ToolConfig, ToolNode};
