//! The folder of a case, in which the agent for policies works.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use petalflow::prelude::*;
use serde::Serialize;

use super::Case;

const LONGEST_COMMAND: Duration = Duration::from_secs(30);

/// The policies that each case has.
pub(super) const POLICIES: [(&str, &str); 3] = [
    (
        "north_health_authorization.md",
        include_str!("../../support/policies/north_health_authorization.md"),
    ),
    (
        "referrals.md",
        include_str!("../../support/policies/referrals.md"),
    ),
    (
        "billing.md",
        include_str!("../../support/policies/billing.md"),
    ),
];

/// The folder of a case: its files, the policies, and what is written about it.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// Writes what a case begins with. What was written about it stays: a process may continue what another one began.
    pub(super) fn of(case: &Case, below: &Path) -> petalflow::Result<Self> {
        let folder = below.join(&case.id);
        for part in ["case", "policies", "output"] {
            fs::create_dir_all(folder.join(part))?;
        }
        fs::write(
            folder.join("case/case.json"),
            serde_json::to_string_pretty(case)?,
        )?;
        fs::write(folder.join("case/transcript.txt"), &case.transcript)?;
        for (name, text) in POLICIES {
            fs::write(folder.join("policies").join(name), text)?;
        }
        Ok(Folder(folder))
    }
}

/// What a command has printed.
#[derive(Debug, Serialize)]
struct Ran {
    /// None if a signal has ended it.
    exit_code: Option<i32>,
    output: String,
}

/// Runs a command of `sh` in the folder of the case.
#[tool]
pub(super) async fn exec_command(
    /// The command.
    cmd: String,
    folder: Managed<Folder>,
) -> petalflow::Result<impl Serialize> {
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", &cmd]).current_dir(&folder.0);
    shell.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LONGEST_COMMAND, shell.output())
        .await
        .map_err(|_| format!("the command took longer than {LONGEST_COMMAND:?}"))??;
    let text = [output.stdout, output.stderr].concat();
    Ok(Ran {
        exit_code: output.status.code(),
        output: String::from_utf8_lossy(&text).into_owned(),
    })
}
