//! A patient support for patients with a skill: a port of `examples/sandbox/healthcare_support` of
//! [openai/openai-agents-python](https://github.com/openai/openai-agents-python).
//!
//! One agent has the case. Another one reviews the benefits with three look-ups and answers with a type. A third one works in
//! a folder: it loads a skill, searches the policies in a shell, writes two files, and ends with a tool that checks them and
//! that it sees only when the work is done. A person decides before a case goes to a queue. At last an agent of the same
//! conversation says what it remembers.

mod agent;
mod answers;
mod case;
mod folder;
mod packet;
mod records;

pub use agent::{Closed, PatientSupport};
pub use answers::{BenefitReview, CaseResolution, MemoryRecap, PolicyPacket};
pub use case::Case;
pub use records::Records;
