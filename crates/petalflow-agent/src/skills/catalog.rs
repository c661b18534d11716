//! The skills of an agent.

use std::path::Path;
use std::sync::Arc;

use super::error::SkillError;
use super::files;
use super::skill::Skill;
use crate::extension::CodeExecutor;

/// The skills of an agent: see [`Agent::skills`](crate::Agent::skills).
#[derive(Clone, Default)]
pub struct Skills {
    skills: Vec<Skill>,
    executor: Option<Arc<dyn CodeExecutor>>,
}

impl Skills {
    /// No skills.
    pub fn new() -> Self {
        Skills::default()
    }

    /// Reads the skills in a folder: each folder in it is one. Names that begin with a dot are left out.
    ///
    /// # Errors
    ///
    /// If the folder has no skills, or if one of them cannot be read: see [`Skill::from_folder`].
    ///
    /// ```
    /// use petalflow_agent::skills::Skills;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let dir = dir.path();
    /// # std::fs::create_dir(dir.join("refunds")).unwrap();
    /// # std::fs::write(dir.join("refunds/SKILL.md"), "---\nname: refunds\ndescription: Pays back.\n---\nLook.").unwrap();
    /// let skills = Skills::from_folder(&dir)?;
    /// assert_eq!(skills.iter().next().unwrap().name(), "refunds");
    /// # Ok::<(), petalflow_agent::skills::SkillError>(())
    /// ```
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, SkillError> {
        let folder = folder.as_ref();
        let entries = files::entries(folder)?.into_iter();
        let folders = entries.map(|(_, path)| path).filter(|path| path.is_dir());
        let mut skills = Skills::new();
        for path in folders {
            skills = skills.with(Skill::from_folder(path)?)?;
        }
        if skills.skills.is_empty() {
            return Err(SkillError::NoSkills(folder.into()));
        }
        Ok(skills)
    }

    /// Adds a skill.
    ///
    /// # Errors
    ///
    /// If there is a skill with the same name.
    pub fn with(mut self, skill: Skill) -> Result<Self, SkillError> {
        if self.find(skill.name()).is_some() {
            return Err(SkillError::Duplicate(skill.name().into()));
        }
        self.skills.push(skill);
        Ok(self)
    }

    /// Lets the model run the scripts of skills, with this executor. Without one, a model can read scripts only.
    ///
    /// An executor runs scripts of its [language](CodeExecutor::language). It gets the text of the script, and before it
    /// a line that sets the arguments: for `python`, `bash`, `sh` and `javascript`. Other files of the skill are not part
    /// of it.
    #[must_use]
    pub fn scripts(mut self, executor: impl CodeExecutor) -> Self {
        self.executor = Some(Arc::new(executor));
        self
    }

    /// The skills, in the order in which the model reads them.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Skill> {
        self.iter().find(|skill| skill.name() == name)
    }

    pub(super) fn executor(&self) -> Option<&Arc<dyn CodeExecutor>> {
        self.executor.as_ref()
    }
}

impl std::fmt::Debug for Skills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.iter().map(Skill::name).collect();
        let executor = self.executor.as_ref().map(|executor| executor.language());
        f.debug_struct("Skills")
            .field("skills", &names)
            .field("executor", &executor)
            .finish()
    }
}
