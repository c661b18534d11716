//! What happens in runs, for those who operate them: spans, and what models took.
//!
//! [`Spans`] makes a span for each run, each superstep and each attempt of a node; `Traced` around a model's client or a tool makes one for
//! each call. They are spans of the `tracing` crate with the names that OpenTelemetry's conventions give them for
//! generative AI, so whatever listens to `tracing` shows them, and OpenTelemetry's tools understand them: with the feature
//! `otel`, `otel::layer` hands them over.
//!
//! | span | named | attributes |
//! | --- | --- | --- |
//! | a run | `invoke_workflow {flow}` | `gen_ai.operation.name`, `gen_ai.workflow.name`, `gen_ai.conversation.id` (the thread) |
//! | a superstep | `superstep {number}` | `petalflow.superstep` |
//! | an attempt of a node | `node {node}` | `petalflow.node`, `.superstep`, `.attempt`, `.index`, `.namespace`, `.task.id` |
//! | an agent | `invoke_agent {agent}` | `gen_ai.agent.name`, `.description`, `gen_ai.conversation.id` |
//! | a call of a model | `chat {model}` | `gen_ai.provider.name`, `gen_ai.request.*`, `gen_ai.response.*`, `gen_ai.usage.*` |
//! | a call of a tool | `execute_tool {tool}` | `gen_ai.tool.name`, `.call.id`, `.description`, `.type` |
//!
//! What fails has `error.type`, of few values, and the error's message as the description of its status. What is dropped before
//! it has ended is `cancelled`. What a call cost is `petalflow.usage.cost`, in US dollars; the conventions have no name for it.
//!
//! **Prompts, answers, arguments and results are left out**, because they may be private. `Traced::with_content` adds them to the
//! spans of one client or tool, [`Spans::with_content`] to all that are called in a run, those of agents among them: the
//! conversation as `gen_ai.input.messages`, the answer as `gen_ai.output.messages`, what sets the model up as
//! `gen_ai.system_instructions`, the tools as `gen_ai.tool.definitions`, and what goes into a tool and comes out of it as
//! `gen_ai.tool.call.arguments` and `.result`, in the form that the conventions give them.
//!
//! Nothing is measured where nobody listens. `Totals` sums up what models took, by node.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "llm")]
mod content;
#[cfg(feature = "llm")]
mod current_node;
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
pub use model::ModelSpan;
#[cfg(feature = "llm")]
pub use report::{Report, UsageSummary};
pub use span::agent_span;
pub use spans::{Spans, TraceLaunch};
#[cfg(feature = "tool")]
pub use tool::{ToolSpan, merged_span};
#[cfg(feature = "llm")]
pub use totals::{Metered, Totals};
#[cfg(feature = "tool")]
pub use traced::Traced;
