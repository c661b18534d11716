//! Skills: folders of instructions, files and scripts that an agent reads when a task needs them.
//!
//! The format is that of [Agent Skills](https://agentskills.io/specification): a folder with a file `SKILL.md`, which begins
//! with its name and description in YAML.

mod catalog;
mod error;
mod files;
mod front_matter;
mod of_agent;
mod script;
mod skill;
mod tools;

pub use catalog::Skills;
pub use error::SkillError;
pub use skill::Skill;
