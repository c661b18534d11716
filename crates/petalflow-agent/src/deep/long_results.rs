//! Long results of tools, which go into files.

use serde_json::{Value, json};

use super::plan_tool;
use super::workspace::{Change, MAX_BYTES, Workspace, tool_names};
use crate::extension::{Callbacks, ToolStep};
use petalflow::tool::ToolContext;
use petalflow::{BoxError, async_trait};
use petalflow_llm::message::Media;

/// How many of the first lines the model reads of a long result, and at most how many characters.
const FIRST_LINES: usize = 20;
const FIRST_CHARACTERS: usize = 2_000;
/// The maximum length of a line in a file of a result, in bytes.
const MAX_LINE: usize = 10_000;

/// Writes long results of tools into files of a [`Workspace`]: callbacks for an agent with this workspace.
///
/// The model gets the path and the first lines instead of the result. Results of the tools for files and of `write_plan` stay
/// as they are: they have limits of their own. So do pictures and other media. A line with more than 10,000 bytes is broken,
/// since a model reads whole lines.
///
/// ```
/// use petalflow::tool::FuncTool;
/// use petalflow_agent::Agent;
/// use petalflow_agent::deep::{LongResults, Workspace};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("report", json!({})), "It is long.".into()]);
/// let report = FuncTool::new("report", "Reads the report.", |_: Value| async { Ok("rain\n".repeat(10_000)) });
/// let files = Workspace::in_thread();
/// let agent = Agent::new(model).tool(report).workspace(files.clone()).callbacks(LongResults::new(files));
/// let talk = agent.run("Read the report.").await?;
/// let (path, text) = Workspace::files_in(&talk).pop_first().ok_or("no file")?;
/// assert!(path.starts_with("results/report-"));
/// assert_eq!(text.lines().count(), 10_000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LongResults {
    workspace: Workspace,
    characters: usize,
}

impl LongResults {
    /// From how many characters on a result is long, unless [`characters`](Self::characters) says otherwise.
    pub(super) const DEFAULT_CHARACTERS: usize = 20_000;

    /// Writes results with more than 20,000 characters into files of this workspace.
    pub fn new(workspace: Workspace) -> Self {
        LongResults {
            workspace,
            characters: Self::DEFAULT_CHARACTERS,
        }
    }

    /// Sets the number of characters that a result may have.
    #[must_use]
    pub fn characters(self, characters: usize) -> Self {
        LongResults { characters, ..self }
    }
}

#[async_trait]
impl Callbacks for LongResults {
    async fn after_tool(
        &self,
        step: &mut ToolStep<'_>,
        outcome: &Result<Value, BoxError>,
    ) -> Result<Option<Value>, BoxError> {
        let name = &step.call().name;
        let is_own = *name == plan_tool::NAME || tool_names::ALL.contains(&&**name);
        let Ok(result) = outcome else { return Ok(None) };
        if is_own {
            return Ok(None);
        }
        let Some(text) = text_of(result)? else {
            return Ok(None);
        };
        let characters = text.chars().count();
        if characters <= self.characters {
            return Ok(None);
        }
        let path = path(name, &step.cx().task_id().to_string());
        let text = wrapped(text);
        let short = shortened(&path, &text, characters);
        let kept = &text[..text.floor_char_boundary(MAX_BYTES)];
        let cx = ToolContext::within(&*step.call().id, step.cx());
        let change = Change::Write(kept.into());
        self.workspace.change(&cx, &path, change).await?;
        for (key, value) in cx.take_actions().state_delta {
            step.set_state(key, value);
        }
        Ok(Some(short))
    }
}

/// The text of a result that can be a file: a text, the only text of an object, or JSON. A model that reads a file would not
/// see a picture.
fn text_of(result: &Value) -> Result<Option<String>, BoxError> {
    let fields = result.as_object().filter(|fields| fields.len() == 1);
    let only = fields.and_then(|fields| fields.values().next());
    Ok(match only.unwrap_or(result) {
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => {
            let has_media = !Media::take_from(&mut result.clone(), "").is_empty();
            let text = (!has_media).then(|| serde_json::to_string_pretty(result));
            text.transpose()?
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    })
}

/// The text with breaks in lines that are too long to be read at once.
fn wrapped(text: String) -> String {
    if text.lines().all(|line| line.len() <= MAX_LINE) {
        return text;
    }
    let mut wrapped = String::with_capacity(text.len() + text.len() / MAX_LINE + 1);
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while rest.trim_end().len() > MAX_LINE {
            let (start, end) = rest.split_at(rest.floor_char_boundary(MAX_LINE));
            wrapped.push_str(start);
            wrapped.push('\n');
            rest = end;
        }
        wrapped.push_str(rest);
    }
    wrapped
}

/// The file of a result. It is the same when the call is repeated after a crash.
fn path(tool: &str, task: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let name: String = tool
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '-' })
        .collect();
    format!("results/{name}-{task}.txt")
}

/// What the model reads instead of the result.
fn shortened(path: &str, text: &str, characters: usize) -> Value {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines[..lines.len().min(FIRST_LINES)].join("\n");
    let first = &first[..first.floor_char_boundary(FIRST_CHARACTERS)];
    let mut short = json!({
        "note": "the result is long: read the lines that you need from the file",
        "file": path,
        "characters": characters,
        "lines": lines.len(),
        "start": first,
    });
    if text.len() > MAX_BYTES {
        short["cut"] = format!("the file has the first {MAX_BYTES} bytes only").into();
    }
    short
}
