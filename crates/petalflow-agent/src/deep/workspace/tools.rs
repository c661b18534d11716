//! The tools with which a model works on files.

use std::sync::Arc;

use globset::GlobMatcher;
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::Change;
use super::files::Workspace;
use super::listing::Listing;
use super::path::normalized;
use super::search;
use super::tool_names::{EDIT, FIND, LIST, READ, SEARCH, WRITE};
use crate::deep::pattern::{self, Case};
use petalflow::BoxError;
use petalflow::tool::{FuncTool, Tool, ToolContext};

/// The maximum number of paths in a result.
const MAX_PATHS: usize = 1_000;
/// How many lines of a file are read, unless the model says otherwise.
const LINES: usize = 1_000;
/// The maximum size of what is read of a file at once, in bytes.
const MAX_READ: usize = 50_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// The folder, such as `notes`. Without it: all files.
    #[serde(default)]
    folder: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// The path of the file, such as `notes/roses.md`.
    path: String,
    /// The number of the first line, from 1.
    #[serde(default)]
    first_line: Option<usize>,
    /// How many lines are read.
    #[serde(default)]
    lines: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Write {
    /// The path of the file, such as `notes/roses.md`.
    path: String,
    /// The whole text of the file.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The path of the file.
    path: String,
    /// The text that is replaced, exactly as the file has it. The file must have it once.
    old: String,
    /// The text that replaces it.
    new: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Find {
    /// A pattern of paths, such as `notes/**/*.md`. A pattern without `/` is about file names in any folder.
    pattern: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// A regular expression, which is looked for in each line.
    expression: String,
    /// A pattern of the paths of the files that are read, such as `*.md`. Without it: all files.
    #[serde(default)]
    files: Option<String>,
}

/// The tools for the files of a workspace.
pub(super) fn of(workspace: &Workspace) -> Vec<Arc<dyn Tool>> {
    vec![
        tool(workspace, LIST, "Lists the files.", list),
        tool(workspace, READ, "Reads a file, or some of its lines.", read),
        tool(
            workspace,
            WRITE,
            "Writes a file. It replaces a file that exists.",
            write,
        ),
        tool(workspace, EDIT, "Replaces a part of a file.", edit),
        tool(workspace, FIND, "Finds files by their paths.", find),
        tool(workspace, SEARCH, "Finds lines in files.", grep),
    ]
}

fn tool<A, F>(
    workspace: &Workspace,
    name: &str,
    description: &str,
    function: fn(Workspace, A, ToolContext) -> F,
) -> Arc<dyn Tool>
where
    A: for<'a> Deserialize<'a> + JsonSchema + 'static,
    F: Future<Output = Result<Value, BoxError>> + Send + 'static,
{
    let workspace = workspace.clone();
    Arc::new(FuncTool::with_context(
        name,
        description,
        move |arguments, cx| function(workspace.clone(), arguments, cx),
    ))
}

async fn list(workspace: Workspace, arguments: List, cx: ToolContext) -> Result<Value, BoxError> {
    let folder = arguments.folder.unwrap_or_default();
    let folder = folder.trim_start_matches("./").trim_matches('/');
    let listing = workspace.list(&cx).await?;
    if matches!(folder, "" | ".") {
        return Ok(paths(listing, |_| true));
    }
    let folder = format!("{}/", normalized(folder)?);
    Ok(paths(listing, |path| path.starts_with(&folder)))
}

async fn find(workspace: Workspace, arguments: Find, cx: ToolContext) -> Result<Value, BoxError> {
    let pattern = pattern::paths(&arguments.pattern, Case::Same)?;
    let listing = workspace.list(&cx).await?;
    Ok(paths(listing, |path| pattern.is_match(path)))
}

/// The result with the paths that are selected.
fn paths(listing: Listing, is_selected: impl Fn(&str) -> bool) -> Value {
    let all = listing.paths.into_iter();
    let mut files: Vec<String> = all.filter(|path| is_selected(path)).collect();
    let is_cut = listing.is_cut || files.len() > MAX_PATHS;
    files.truncate(MAX_PATHS);
    if is_cut {
        json!({ "files": files, "note": "there are more files: look for fewer" })
    } else {
        json!({ "files": files })
    }
}

async fn read(workspace: Workspace, arguments: Read, cx: ToolContext) -> Result<Value, BoxError> {
    let path = normalized(&arguments.path)?;
    let Some(text) = workspace.text(&cx, &path).await? else {
        return Err(format!("there is no file `{path}`: `{LIST}` lists the files").into());
    };
    let all = text.lines().count();
    let first = arguments.first_line.unwrap_or(1).max(1);
    let count = arguments.lines.unwrap_or(LINES);
    let (read, last) = search::range(&text, first, count, MAX_READ);
    Ok(json!({ "text": read, "first_line": first, "last_line": last, "lines_of_file": all }))
}

async fn write(workspace: Workspace, arguments: Write, cx: ToolContext) -> Result<Value, BoxError> {
    let path = normalized(&arguments.path)?;
    let change = Change::Write(arguments.text);
    workspace.change(&cx, &path, change).await?;
    Ok(json!({ "written": path }))
}

async fn edit(workspace: Workspace, arguments: Edit, cx: ToolContext) -> Result<Value, BoxError> {
    let path = normalized(&arguments.path)?;
    let (old, new) = (arguments.old, arguments.new);
    let change = Change::Edit { old, new };
    workspace.change(&cx, &path, change).await?;
    Ok(json!({ "edited": path }))
}

async fn grep(workspace: Workspace, arguments: Search, cx: ToolContext) -> Result<Value, BoxError> {
    let expression = search::expression(&arguments.expression)?;
    let files = arguments.files.as_deref();
    let files = files
        .map(|files| pattern::paths(files, Case::Same))
        .transpose()?;
    let listing = workspace.list(&cx).await?;
    let is_selected = |path: &&String| {
        files
            .as_ref()
            .is_none_or(|files: &GlobMatcher| files.is_match(path))
    };
    let found = lines(
        &workspace,
        &cx,
        &expression,
        listing.paths.iter().filter(is_selected),
    )
    .await;
    if found.len() > search::MAX_MATCHES {
        let found = &found[..search::MAX_MATCHES];
        return Ok(json!({ "lines": found, "note": "there are more lines: look for fewer" }));
    }
    if listing.is_cut {
        return Ok(
            json!({ "lines": found, "note": "there are more files than are read: look in fewer" }),
        );
    }
    Ok(json!({ "lines": found }))
}

/// The lines that are found, and at most one more than a result has. Files that are no texts, or too large, have none.
async fn lines(
    workspace: &Workspace,
    cx: &ToolContext,
    expression: &Regex,
    paths: impl Iterator<Item = &String>,
) -> Vec<String> {
    let mut found = Vec::new();
    for path in paths {
        let room = search::MAX_MATCHES + 1 - found.len();
        if room == 0 {
            break;
        }
        if let Ok(Some(text)) = workspace.text(cx, path).await {
            found.extend(search::lines(expression, path, &text, room));
        }
    }
    found
}
