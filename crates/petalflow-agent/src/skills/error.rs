//! Errors of skills.

use std::path::PathBuf;

/// Why a skill cannot be read.
///
/// ```
/// use petalflow_agent::skills::Skill;
///
/// let error = Skill::embedded("refunds", [("SKILL.md", "Pay back.")]).unwrap_err();
/// assert!(error.to_string().starts_with("skill `refunds`: `SKILL.md` does not begin with a line `---`"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A file or a folder cannot be read.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
    /// A folder has no skills.
    #[error("`{}` has no folder with a file `SKILL.md`: each skill is such a folder", .0.display())]
    NoSkills(PathBuf),
    /// A skill is not as the format says.
    #[error("skill `{skill}`: {problem}")]
    Invalid {
        /// The name of the skill's folder.
        skill: String,
        /// What is wrong, and the fix.
        problem: String,
    },
    /// Two skills have the same name.
    #[error("there are two skills `{0}`: give one of them another name")]
    Duplicate(String),
}

impl SkillError {
    pub(super) fn invalid(skill: &str, problem: impl Into<String>) -> Self {
        SkillError::Invalid {
            skill: skill.into(),
            problem: problem.into(),
        }
    }
}
