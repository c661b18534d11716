//! One skill.

use std::fs;
use std::path::Path;

use super::error::SkillError;
use super::files::{self, Files};
use super::front_matter;

/// A skill: what it is for, its instructions, and its files.
#[derive(Clone, Debug)]
pub struct Skill {
    name: String,
    description: String,
    pub(super) instructions: String,
    pub(super) files: Files,
}

impl Skill {
    /// Reads the skill in a folder. Its `SKILL.md` is read now, and other files when the agent needs them.
    ///
    /// # Errors
    ///
    /// If the folder or its `SKILL.md` cannot be read, if the start of `SKILL.md` is not as the format says, or if the folder
    /// has a symbolic link or more than 1,000 files.
    ///
    /// ```
    /// use petalflow_agent::skills::Skill;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let dir = dir.path().join("refunds");
    /// # std::fs::create_dir(&dir).unwrap();
    /// # std::fs::write(dir.join("SKILL.md"), "---\nname: refunds\ndescription: Pays orders back.\n---\nLook first.").unwrap();
    /// let skill = Skill::from_folder(&dir)?;
    /// assert_eq!((skill.name(), skill.description()), ("refunds", "Pays orders back."));
    /// # Ok::<(), petalflow_agent::skills::SkillError>(())
    /// ```
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, SkillError> {
        let folder = folder.as_ref();
        let full = fs::canonicalize(folder).map_err(|source| files::read_error(folder, source))?;
        let name = full.file_name().unwrap_or_default().to_string_lossy();
        let main = folder.join("SKILL.md");
        let text = fs::read_to_string(&main).map_err(|source| files::read_error(&main, source))?;
        Self::new(&name, &text, Files::below(&name, folder)?)
    }

    /// A skill that is part of the program: the name of its folder, and the names and texts of its files, as with
    /// `include_str!`.
    ///
    /// # Errors
    ///
    /// If there is no `SKILL.md`, or if its start is not as the format says.
    ///
    /// ```
    /// use petalflow_agent::skills::Skill;
    ///
    /// let main = "---\nname: refunds\ndescription: Pays orders back.\n---\nRead `references/limits.md` first.";
    /// let skill = Skill::embedded("refunds", [("SKILL.md", main), ("references/limits.md", "At most 50 euros.")])?;
    /// assert_eq!(skill.files().collect::<Vec<_>>(), ["references/limits.md"]);
    /// # Ok::<(), petalflow_agent::skills::SkillError>(())
    /// ```
    pub fn embedded(
        name: &str,
        files: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Result<Self, SkillError> {
        let mut main: Option<String> = None;
        let mut others: Vec<(String, String)> = Vec::new();
        for (file, text) in files {
            match file.into() {
                file if file == "SKILL.md" => main = Some(text.into()),
                file => others.push((file, text.into())),
            }
        }
        let Some(main) = main else {
            return Err(SkillError::invalid(name, "it has no file `SKILL.md`"));
        };
        Self::new(name, &main, Files::embedded(others))
    }

    fn new(folder: &str, main: &str, files: Files) -> Result<Self, SkillError> {
        let (fields, instructions) = front_matter::split(folder, main)
            .map_err(|problem| SkillError::invalid(folder, problem))?;
        Ok(Skill {
            name: fields.name,
            description: fields.description.trim().to_string(),
            instructions: instructions.to_string(),
            files,
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the skill is for, as the model reads it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The names of the files besides `SKILL.md`, such as `scripts/report.py`.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.names()
    }
}
