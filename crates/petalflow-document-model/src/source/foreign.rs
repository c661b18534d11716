//! Documents of other systems, which are named as such in place of an error for each of their fields.

use serde_json::Value;

use crate::source::content::Content;

/// What the document is, and what to do, if it is one of another system. What decides are fields that each export has, and no
/// document of petalflow.
pub(crate) fn foreign(content: Content<'_>) -> Option<String> {
    // An export of several documents is a list.
    let content = content
        .items()
        .and_then(|mut items| items.next())
        .unwrap_or(content);
    if let Some(what) = tool_of_others(content) {
        return Some(format!(
            "the document is {what}, which petalflow does not read: write the tool as a program or a \
             function, and name it in a node of type `tool`"
        ));
    }
    let (what, system) = if is_n8n(content) {
        ("a workflow", "n8n")
    } else if is_dify(content) {
        ("an app", "Dify")
    } else if is_langflow(content) {
        ("a flow", "Langflow")
    } else if is_flowise(content) {
        ("a flow", "Flowise")
    } else {
        return None;
    };
    Some(format!(
        "the document is {what} of {system}, which petalflow does not read: write its steps as a graph (`nodes` and `edges`) or as an \
         agent workflow (`agents`, `tasks` and `execution`), or let {system} run it, and call its URL in a node of type `webhook_call`"
    ))
}

/// A tool by itself: of Flowise with its code, of PetalFlow with how it is called.
fn tool_of_others(content: Content<'_>) -> Option<&'static str> {
    let has = |names: &[&str]| names.iter().all(|name| content.get(name).is_some());
    if has(&["name", "func", "schema"]) {
        Some("a tool of Flowise")
    } else if has(&["manifest_version", "tool"]) {
        Some("a tool manifest of PetalFlow")
    } else if has(&["overlay_version"]) {
        Some("a tool overlay of PetalFlow")
    } else {
        None
    }
}

/// A workflow, or what a server of n8n answers: a workflow or a list of them in `data`, a template in `workflow`.
fn is_n8n(content: Content<'_>) -> bool {
    let answered = ["workflow", "data"]
        .into_iter()
        .filter_map(|name| content.get(name));
    answered
        .flat_map(|it| [it.items().and_then(|mut items| items.next()), Some(it)])
        .flatten()
        .chain([content])
        .any(is_workflow_of_n8n)
}

/// Nodes by list, and connections by the names of nodes. Types have a package as their prefix.
fn is_workflow_of_n8n(content: Content<'_>) -> bool {
    let connects = content.get("connections").is_some_and(is_object);
    let has_version = |node: Content<'_>| node.get("typeVersion").is_some();
    let is_typed = |node: Content<'_>| {
        let kind = text(node, "type").unwrap_or_default();
        kind.starts_with("n8n-nodes-") || kind.starts_with("@n8n/")
    };
    match content.get("nodes").and_then(Content::items) {
        Some(mut nodes) => {
            nodes.any(|node| is_typed(node) || (connects && has_version(node)))
                || (connects && content.get("edges").is_none() && content.get("settings").is_some())
        }
        None => false,
    }
}

/// The description of an app, with a mode.
fn is_dify(content: Content<'_>) -> bool {
    let is_app = content
        .get("app")
        .is_some_and(|app| app.get("mode").is_some());
    let kind = text(content, "kind").unwrap_or_default();
    let has_workflow = content
        .get("workflow")
        .is_some_and(|it| it.get("graph").is_some());
    is_app && (kind == "app" || has_workflow || content.get("model_config").is_some())
        || (kind == "rag_pipeline" && content.get("rag_pipeline").is_some())
}

/// The graph in `data`, in one flow or in a list of flows. A node has its component in `data.node`.
fn is_langflow(content: Content<'_>) -> bool {
    let first = content.get("flows").and_then(Content::items);
    let flow = first.and_then(|mut flows| flows.next()).unwrap_or(content);
    let data = flow.get("data");
    let mut nodes = data
        .into_iter()
        .chain([flow])
        .filter_map(|it| it.get("nodes")?.items());
    let has_component = |node: Content<'_>| {
        text(node, "type").as_deref() == Some("genericNode")
            || node
                .get("data")
                .and_then(|data| data.get("node")?.get("template"))
                .is_some()
    };
    nodes.any(|mut nodes| nodes.any(has_component))
        || (data.is_some_and(|data| data.get("nodes").is_some() && data.get("edges").is_some())
            && flow.get("nodes").is_none())
}

/// Nodes have what the canvas shows, with the anchors of their lines.
fn is_flowise(content: Content<'_>) -> bool {
    let is_on_canvas = |node: Content<'_>| {
        let kind = text(node, "type");
        let data = node.get("data");
        let has = |name: &str| data.is_some_and(|data| data.get(name).is_some());
        let is_custom = matches!(
            kind.as_deref(),
            Some("customNode" | "agentFlow" | "iteration")
        );
        has("inputAnchors")
            || has("outputAnchors")
            || has("baseClasses")
            || (is_custom && has("inputs"))
    };
    let mut nodes = content
        .get("nodes")
        .and_then(Content::items)
        .into_iter()
        .flatten();
    let is_export = ["ChatFlow", "AgentFlow", "AgentFlowV2"].iter().any(|name| {
        let flows = content.get(name).and_then(Content::items);
        flows
            .into_iter()
            .flatten()
            .any(|flow| flow.get("flowData").is_some())
    }) || ["ChatFlow", "Tool"].iter().all(|name| {
        let list = content.get(name).and_then(Content::items);
        list.is_some()
    });
    nodes.any(is_on_canvas) || content.get("flowData").is_some() || is_export
}

fn is_object(content: Content<'_>) -> bool {
    content.entries().is_some()
}

fn text(content: Content<'_>, name: &str) -> Option<String> {
    match content.get(name)?.to_value() {
        Value::String(text) => Some(text),
        _ => None,
    }
}
