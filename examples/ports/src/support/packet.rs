//! The packet of a case: the tool that ends its work, and when the model sees this tool.

use std::fs;
use std::path::Path;

use petalflow::prelude::*;
use petalflow::tool::ToolContext;
use petalflow::{BoxError, async_trait};
use petalflow_agent::extension::{Callbacks, ModelCall, ToolStep};
use petalflow_llm::LlmResponse;
use serde_json::Value;

use super::PolicyPacket;
use super::folder::{Folder, POLICIES};

/// The keys of the conversation's state, for the agent that has one case.
const HAS_SKILL: &str = "packet_skill";
const SEARCHES: &str = "packet_searches";

const FINDINGS: &str = "output/policy_findings.md";
const CHECKLIST: &str = "output/human_review_checklist.md";
const HEADINGS: [&str; 5] = [
    "## Case summary",
    "## Matched policy files",
    "## Prior authorization",
    "## Referral",
    "## Missing information",
];

/// Notes what the agent has done, and hides the tool that ends its work until it may end.
pub(super) struct Progress;

#[async_trait]
impl Callbacks for Progress {
    async fn before_model(
        &self,
        call: &mut ModelCall<'_>,
    ) -> Result<Option<LlmResponse>, BoxError> {
        let folder = call.cx().managed::<Folder>();
        let has_files = folder.is_some_and(|folder| {
            [FINDINGS, CHECKLIST]
                .iter()
                .all(|file| folder.0.join(file).exists())
        });
        let may_end =
            has_files && call.state(HAS_SKILL).is_some() && call.state(SEARCHES).is_some();
        if !may_end {
            let tools = call.request.tools.iter();
            let others = tools.filter(|tool| tool.name != "finalize_policy_packet");
            call.request.tools = others.cloned().collect();
        }
        Ok(None)
    }

    async fn after_tool(
        &self,
        step: &mut ToolStep<'_>,
        outcome: &Result<Value, BoxError>,
    ) -> Result<Option<Value>, BoxError> {
        match (&*step.call().name, outcome) {
            ("load_skill", Ok(_)) => step.set_state(HAS_SKILL, true),
            ("exec_command", Ok(ran)) if ran["exit_code"] == 0 => {
                let command = step.arguments["cmd"].clone();
                if command.as_str().is_some_and(|text| text.contains("grep ")) {
                    let mut searches = searches(step.state(SEARCHES));
                    searches.push(command);
                    step.set_state(SEARCHES, searches);
                }
            }
            _ => {}
        }
        Ok(None)
    }
}

fn searches(known: Option<Value>) -> Vec<Value> {
    match known {
        Some(Value::Array(searches)) => searches,
        _ => Vec::new(),
    }
}

/// The name of a file without its folders.
fn name_of(path: &str) -> &str {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    name.unwrap_or(path)
}

/// Checks the files of the packet, and ends the work with a summary of it.
#[tool]
pub(super) fn finalize_policy_packet(
    matched_policy_files: Vec<String>,
    policy_summary: String,
    human_review_recommended: bool,
    folder: Managed<Folder>,
    cx: ToolContext,
) -> petalflow::Result<PolicyPacket> {
    let findings = fs::read_to_string(folder.0.join(FINDINGS))?;
    let lines: Vec<&str> = findings.lines().map(str::trim).collect();
    if let Some(missing) = HEADINGS.iter().find(|heading| !lines.contains(heading)) {
        return Err(format!("`{FINDINGS}` has no heading `{missing}`").into());
    }
    if fs::read_to_string(folder.0.join(CHECKLIST))?
        .trim()
        .is_empty()
    {
        return Err(format!("`{CHECKLIST}` is empty").into());
    }
    let mut files: Vec<&str> = matched_policy_files
        .iter()
        .map(|path| name_of(path))
        .collect();
    files.sort_unstable();
    files.dedup();
    if files.is_empty() {
        return Err("no policy is named: name those that you have read".into());
    }
    for file in &files {
        if !POLICIES.iter().any(|(known, _)| known == file) {
            return Err(format!("there is no policy `{file}`").into());
        }
        if !findings.contains(file) {
            return Err(format!("`{FINDINGS}` does not name `{file}`").into());
        }
    }
    let commands = searches(cx.state(SEARCHES)).into_iter();
    Ok(PolicyPacket {
        matched_policy_files: files.into_iter().map(Into::into).collect(),
        generated_files: [CHECKLIST, FINDINGS].map(Into::into).into(),
        shell_commands: commands
            .filter_map(|command| command.as_str().map(Into::into))
            .collect(),
        policy_summary,
        human_review_recommended,
    })
}
