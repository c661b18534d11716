//! The version of a graph document.

use petalflow::thread::DocumentVersion;

use crate::document::GraphDefinition;

/// The version of a graph: its version for people, and a checksum of its content. Comments, the order of keys, and the form
/// (JSON or YAML) do not count.
///
/// ```
/// use petalflow_documents::document::GraphDefinition;
/// use petalflow_documents::document_version;
/// use serde_json::json;
///
/// let graph: GraphDefinition = serde_json::from_value(json!({
///     "id": "one", "version": "1.0", "nodes": [{ "id": "only", "type": "noop" }], "edges": [],
/// }))?;
/// let version = document_version(&graph)?;
/// assert_eq!(version.document(), "one");
/// assert!(version.to_string().starts_with("1.0 ("));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// If the graph cannot be written as JSON.
pub fn document_version(graph: &GraphDefinition) -> Result<DocumentVersion, serde_json::Error> {
    // Another crate of the program can let maps keep the order of their keys. The checksum does not depend on it.
    let mut content = serde_json::to_value(graph)?;
    content.sort_all_objects();
    let content = serde_json::to_vec(&content)?;
    Ok(DocumentVersion::new(&graph.id, &graph.version, &content))
}
