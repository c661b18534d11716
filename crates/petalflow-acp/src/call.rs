//! Calls of tools, as an editor shows them.

use std::path::Path;

use agent_client_protocol::v1::schema::{Diff, ToolCallContent, ToolCallLocation, ToolKind};
use petalflow::tool::ToolCall;
use petalflow_agent::deep::FileChange;
use serde_json::Value;

/// The kind of a call, by which an editor chooses a symbol. Tools of programs have none of the known ones.
pub(crate) fn kind(name: &str) -> ToolKind {
    match name {
        "ls" | "read_file" => ToolKind::Read,
        "glob" | "grep" => ToolKind::Search,
        "write_file" | "edit_file" => ToolKind::Edit,
        "write_plan" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

/// What a person reads: the tool, and what it is about if that is short.
pub(crate) fn title(call: &ToolCall) -> String {
    let about = ["path", "folder", "pattern", "expression"];
    let mut about = about
        .iter()
        .filter_map(|name| call.arguments[*name].as_str());
    match about.next() {
        Some(about) if !about.contains('\n') => format!("{} `{about}`", call.name),
        _ => call.name.clone(),
    }
}

/// The file that a call is about.
pub(crate) fn locations(folder: &Path, call: &ToolCall) -> Vec<ToolCallLocation> {
    let Some(path) = call.arguments["path"].as_str() else {
        return Vec::new();
    };
    let line = call.arguments["first_line"].as_u64();
    let line = line.and_then(|line| u32::try_from(line).ok());
    let place = folder.join(path.trim_start_matches('/'));
    vec![ToolCallLocation::new(place).line(line)]
}

/// A change as a diff.
pub(crate) fn diff(folder: &Path, change: FileChange) -> ToolCallContent {
    let diff = Diff::new(folder.join(change.path), change.after);
    ToolCallContent::Diff(diff.old_text(change.before))
}

/// The result of a call as a text for people.
pub(crate) fn text(content: &Value) -> String {
    let only = content.as_object().filter(|fields| fields.len() == 1);
    let only = only.and_then(|fields| fields.get("output").or_else(|| fields.get("error")));
    match only.unwrap_or(content) {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f44_a_call_says_what_it_is_about() {
        let call = |name: &str, arguments| ToolCall {
            name: name.into(),
            arguments,
            ..ToolCall::default()
        };
        let read = call("read_file", json!({ "path": "/a/b.md", "first_line": 7 }));
        assert_eq!(title(&read), "read_file `/a/b.md`");
        let places = locations(Path::new("/home"), &read);
        assert_eq!(
            serde_json::to_value(places).unwrap(),
            json!([{ "path": "/home/a/b.md", "line": 7 }])
        );
        assert_eq!(title(&call("refund", json!({ "euros": 7 }))), "refund");
        assert!(locations(Path::new("/"), &call("ls", json!({}))).is_empty());
    }

    #[test]
    fn f44_results_are_texts() {
        for (content, expected) in [
            (json!("done"), "done"),
            (json!({ "output": "done" }), "done"),
            (json!({ "error": "no such file" }), "no such file"),
            (json!({ "sum": 3 }), "{\n  \"sum\": 3\n}"),
            (json!(3), "3"),
        ] {
            assert_eq!(text(&content), expected);
        }
    }
}
