//! What all cases of a file of tests share.

use std::path::Path;

use petalflow::run::CancelToken;
use serde_json::Value;

use super::compare::{self, Difference};
use super::suite::Case;
use crate::command::run::RunArgs;
use crate::exit::Result;
use crate::program_tool::ProgramTool;

pub(super) struct Runner<'a> {
    /// That of the file.
    pub(super) folder: &'a Path,
    pub(super) settings: &'a RunArgs,
    /// The programs of tools and functions.
    pub(super) tools: &'a [ProgramTool],
    /// Whether golden files are written.
    pub(super) update: bool,
    pub(super) token: &'a CancelToken,
}

impl Runner<'_> {
    /// Compares all variables with those of a golden file, or writes the file.
    pub(super) fn compare_golden(
        &self,
        case: &Case,
        golden: &Path,
        vars: Value,
    ) -> Result<Vec<Difference>> {
        compare::golden(case, &self.folder.join(golden), vars, self.update)
    }
}
