//! The settings of the steps, which are a document.

use std::path::Path;

use serde::Deserialize;

use crate::Result;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The name of the model.
    pub model: String,
    /// The instructions of the agent.
    pub instructions: String,
    /// How often the agent asks its model for one complaint.
    pub max_rounds: usize,
    /// The beginning of the reply if a person declines.
    pub apology: String,
}

impl Config {
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file)?;
        Ok(serde_saphyr::from_str(&text)?)
    }
}
