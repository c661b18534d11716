//! Types with which a program extends an agent: callbacks, steps around the model, planners, code executors, approvals and
//! artifacts.

mod approvals;
mod artifacts;
mod callbacks;
mod code_executor;
mod model_call;
mod planner;
mod position;
mod steps;
mod tool_step;

pub use approvals::{Approval, Approvals};
pub use artifacts::Artifacts;
pub use callbacks::Callbacks;
pub use code_executor::{CodeExecutor, CodeOutput};
pub(crate) use model_call::CallStage;
pub use model_call::ModelCall;
pub use planner::{PlanReAct, Planner, Thinking};
pub(crate) use position::{Position, event_id, position_methods};
pub use steps::{RequestProcessor, RequestStep, ResponseProcessor, ResponseStep};
pub use tool_step::ToolStep;
