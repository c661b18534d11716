//! Tracing and metrics for runs: spans, and the usage of models.
//!
//! [`Spans`] makes a span for each run, each superstep and each attempt of a node. `Traced` wraps a model client or a
//! tool, and makes a span for each call. The spans use the crate `tracing` and the names of the OpenTelemetry
//! conventions for generative AI, so any `tracing` subscriber and any OpenTelemetry tool understands them. With the
//! feature `otel`, `otel::layer` exports them to OpenTelemetry.
//!
//! | span | named | attributes |
//! | --- | --- | --- |
//! | a run | `invoke_workflow {flow}` | `gen_ai.operation.name`, `gen_ai.workflow.name`, `gen_ai.conversation.id` (the thread) |
//! | a superstep | `superstep {number}` | `petalflow.superstep` |
//! | an attempt of a node | `node {node}` | `petalflow.node`, `.superstep`, `.attempt`, `.index`, `.namespace`, `.task.id` |
//! | each agent of a turn | `invoke_agent {agent}` | `gen_ai.agent.name`, `.description`, `gen_ai.conversation.id` |
//! | a call of a model | `chat {model}` | `gen_ai.provider.name`, `gen_ai.request.*`, `gen_ai.response.*`, `gen_ai.usage.*` |
//! | a call of a tool | `execute_tool {tool}` | `gen_ai.tool.name`, `.call.id`, `.description`, `.type` |
//!
//! A failed span has `error.type`, with few distinct values, and the error's message as the status description. A
//! span that is dropped before its end is `cancelled`. The cost of a call is `petalflow.usage.cost`, in US dollars:
//! the conventions have no name for it.
//!
//! **Prompts, answers, arguments and results are left out**, because they may be private. `Traced::with_content` adds
//! them to the spans of one client or tool. [`Spans::with_content`] adds them to all spans of a run, including those
//! of agents. The attributes are `gen_ai.input.messages` (the conversation), `gen_ai.output.messages` (the answer),
//! `gen_ai.system_instructions`, `gen_ai.tool.definitions`, `gen_ai.tool.call.arguments` and
//! `gen_ai.tool.call.result`, in the format of the conventions.
//!
//! Nothing is measured without a subscriber. `Totals` sums up the usage of models by node.
//!
//! Without spans: [`Logged`] writes a line to the log for each run and each attempt of a node, [`Timed`] calls a function
//! with the time of each attempt, and [`Metrics`] counts which nodes are active, completed, failed and paused.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "llm")]
mod content;
#[cfg(feature = "llm")]
mod conventions;
#[cfg(feature = "llm")]
mod current_node;
mod logged;
#[cfg(feature = "llm")]
mod metered;
mod metrics;
#[cfg(feature = "llm")]
mod model;
#[cfg(feature = "otel")]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub mod otel;
#[cfg(feature = "llm")]
mod report;
mod scope;
mod span;
mod spans;
mod spawned;
#[cfg(feature = "tool")]
mod tool;
#[cfg(feature = "llm")]
mod totals;
#[cfg(feature = "tool")]
mod traced;

#[cfg(feature = "llm")]
pub use conventions::{error_type, provider_name};
pub use logged::{Logged, NodeReport, Timed};
#[cfg(feature = "llm")]
pub use metered::Metered;
pub use metrics::{MeasureLaunch, Metrics, MetricsSnapshot, NodeMetrics};
#[cfg(feature = "llm")]
pub use model::ModelSpan;
#[cfg(feature = "llm")]
pub use report::{Report, UsageSummary};
pub use span::agent_span;
pub use spans::{Spans, TraceLaunch};
#[cfg(feature = "tool")]
pub use tool::{ToolSpan, merged_span};
#[cfg(feature = "llm")]
pub use totals::Totals;
#[cfg(feature = "tool")]
pub use traced::Traced;
