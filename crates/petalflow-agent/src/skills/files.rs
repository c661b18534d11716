//! The files of a skill besides its `SKILL.md`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::SkillError;
use petalflow::BoxError;

/// The maximum number of files of a skill.
const MAX_FILES: usize = 1000;
/// The maximum size of a file that a model reads, in bytes.
const MAX_SIZE: u64 = 256 * 1024;

/// Where the files are, by their names, such as `references/limits.md`. The names are known from the start: a model cannot
/// name a file that is not in the skill.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(BTreeMap<String, Place>);

#[derive(Clone, Debug)]
enum Place {
    /// In a folder.
    Disk(PathBuf),
    /// In the program.
    Embedded(Arc<str>),
}

impl Files {
    /// The files with these texts.
    pub(super) fn embedded(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let files = files.into_iter();
        Files(
            files
                .map(|(name, text)| (name, Place::Embedded(text.into())))
                .collect(),
        )
    }

    /// The files below a folder, without its `SKILL.md`.
    pub(super) fn below(skill: &str, folder: &Path) -> Result<Self, SkillError> {
        let mut found = Files::default();
        let mut folders = vec![(String::new(), folder.to_path_buf())];
        while let Some((prefix, folder)) = folders.pop() {
            for (name, path) in entries(&folder)? {
                let kind =
                    fs::symlink_metadata(&path).map_err(|source| read_error(&path, source))?;
                if kind.is_symlink() {
                    let problem = format!(
                        "`{prefix}{name}` is a link: put the file itself into the skill, since files outside of it are not read"
                    );
                    return Err(SkillError::invalid(skill, problem));
                }
                if kind.is_dir() {
                    folders.push((format!("{prefix}{name}/"), path));
                } else if !(prefix.is_empty() && name == "SKILL.md") {
                    found.0.insert(format!("{prefix}{name}"), Place::Disk(path));
                }
            }
            if found.0.len() > MAX_FILES {
                let problem = format!(
                    "it has more than {MAX_FILES} files: keep what it does not need elsewhere"
                );
                return Err(SkillError::invalid(skill, problem));
            }
        }
        Ok(found)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The text of a file. The errors are for the model.
    pub(super) async fn text(&self, name: &str) -> Result<Cow<'_, str>, BoxError> {
        match self.0.get(name) {
            None => {
                let names: Vec<&str> = self.names().collect();
                Err(format!(
                    "the skill has no file `{name}`; its files: {}",
                    names.join(", ")
                )
                .into())
            }
            Some(Place::Embedded(text)) => Ok(Cow::Borrowed(text)),
            Some(Place::Disk(path)) => {
                let (path, name) = (path.clone(), name.to_string());
                let read = tokio::task::spawn_blocking(move || read(&path, &name)).await?;
                Ok(Cow::Owned(read?))
            }
        }
    }
}

fn read(path: &Path, name: &str) -> Result<String, BoxError> {
    let size = fs::metadata(path)?.len();
    if size > MAX_SIZE {
        return Err(
            format!("the file `{name}` has {size} bytes, and at most {MAX_SIZE} are read").into(),
        );
    }
    String::from_utf8(fs::read(path)?).map_err(|_| format!("the file `{name}` is no text").into())
}

/// The names and paths in a folder, in the order of their names, without hidden ones.
pub(super) fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, SkillError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|source| read_error(folder, source))? {
        let path = entry.map_err(|source| read_error(folder, source))?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with('.') {
            found.push((name, path));
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn read_error(path: &Path, source: std::io::Error) -> SkillError {
    SkillError::Read {
        path: path.into(),
        source,
    }
}
