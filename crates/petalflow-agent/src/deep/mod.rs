//! What an agent for long work is made of: a plan, files, long results in files, and a policy for approvals.
//!
//! Each part can be added to any agent: [`Agent::plan`](crate::Agent::plan),
//! [`Agent::workspace`](crate::Agent::workspace), [`LongResults`] and [`ApprovalPolicy`]. [`DeepAgent`] puts them together
//! with a sub-agent that works beside it. Its source is short: copy it to change it.

mod approval_policy;
mod deep_agent;
mod error;
mod long_results;
mod pattern;
mod plan;
mod plan_tool;
mod workspace;

pub use approval_policy::{ApprovalPolicy, Calls};
pub use deep_agent::DeepAgent;
pub use error::DeepError;
pub use long_results::LongResults;
pub use plan::{Plan, PlanChanged, PlanItem, PlanState};
pub use workspace::{FileChange, Workspace};
