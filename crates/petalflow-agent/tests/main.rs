//! Agents: the loop between a model and its tools, and the prebuilt flows. The number before a test's name is that of the
//! row that it checks: `a027_…` of ADK's agent loop, `i012_…` of the adapters.

mod artifacts;
mod code;
mod compaction;
mod confirmations;
mod credentials;
mod delegation_replays;
mod delegations;
mod durable;
mod families;
mod guardrails;
mod history;
mod killed;
mod kit;
mod limits;
mod long;
mod model_callbacks;
mod nodes;
mod output;
mod parallel;
mod parked;
mod placeholders;
mod planning;
mod prebuilt;
mod replays;
mod requirements;
mod scripts;
mod spans;
mod streamed_replays;
mod streaming;
mod tool_callbacks;
mod transfers;
mod turns;
mod unfinished_usage;
mod waiting;
mod wire;
