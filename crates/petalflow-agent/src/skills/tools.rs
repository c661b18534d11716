//! The tools with which a model reads and uses skills.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::catalog::Skills;
use super::script;
use super::skill::Skill;
use petalflow::BoxError;
use petalflow::tool::{FuncTool, Tool, ToolContext};

/// The name of the tool that reads the instructions of a skill.
pub(super) const LOAD: &str = "load_skill";
const LOAD_RESOURCE: &str = "load_skill_resource";
const RUN_SCRIPT: &str = "run_skill_script";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoadSkill {
    /// The name of the skill.
    skill: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoadResource {
    /// The name of the skill.
    skill: String,
    /// The name of the file in the skill, such as `references/limits.md`.
    file: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunScript {
    /// The name of the skill.
    skill: String,
    /// The name of the script in the skill, such as `scripts/report.py`.
    script: String,
    /// The arguments of the script.
    #[serde(default)]
    arguments: Vec<String>,
}

/// The tools for these skills.
pub(super) fn of(skills: Arc<Skills>) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    let of_load = Arc::clone(&skills);
    tools.push(Arc::new(FuncTool::new(
        LOAD,
        "Reads the instructions of a skill, and the names of its files.",
        move |arguments: LoadSkill| {
            let loaded = skill(&of_load, &arguments.skill).map(|skill| {
                let files: Vec<&str> = skill.files().collect();
                json!({ "instructions": skill.instructions, "files": files })
            });
            async move { loaded }
        },
    )));
    let of_resource = Arc::clone(&skills);
    tools.push(Arc::new(FuncTool::new(
        LOAD_RESOURCE,
        "Reads a file of a skill.",
        move |arguments: LoadResource| {
            let skills = Arc::clone(&of_resource);
            async move {
                let skill = skill(&skills, &arguments.skill)?;
                let text = skill.files.text(&arguments.file).await?;
                Ok(json!({ "text": text }))
            }
        },
    )));
    if skills.executor().is_some() {
        tools.push(Arc::new(FuncTool::with_context(
            RUN_SCRIPT,
            "Runs a script of a skill.",
            move |arguments: RunScript, cx| {
                let skills = Arc::clone(&skills);
                async move { run(&skills, &arguments, &cx).await }
            },
        )));
    }
    tools
}

fn skill<'s>(skills: &'s Skills, name: &str) -> Result<&'s Skill, BoxError> {
    skills.find(name).ok_or_else(|| {
        let names: Vec<&str> = skills.iter().map(Skill::name).collect();
        format!(
            "there is no skill `{name}`; the skills are: {}",
            names.join(", ")
        )
        .into()
    })
}

async fn run(skills: &Skills, arguments: &RunScript, cx: &ToolContext) -> Result<Value, BoxError> {
    let executor = skills.executor().ok_or("no script can be run")?;
    let skill = skill(skills, &arguments.skill)?;
    let text = skill.files.text(&arguments.script).await?;
    let code = script::code(
        executor.language(),
        &arguments.script,
        &text,
        &arguments.arguments,
    )?;
    let context = cx
        .context()
        .ok_or("a script can be run in a run of the agent only")?;
    let output = executor.execute(&code, &context).await?;
    if output.ok {
        Ok(json!({ "output": output.text }))
    } else {
        Err(output.text.into())
    }
}
