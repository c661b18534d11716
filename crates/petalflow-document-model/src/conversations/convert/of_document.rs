//! Converts a checked document. A document that has the wanted form already is not changed. Fields that only the old form
//! has are reported.

use super::{Converted, Drops};
use crate::conversations::config::FlowConfig;
use crate::conversations::editor::EditorDocument;
use crate::conversations::source::{Checked, Document};

impl Checked {
    /// Writes a declarative document, as [`Conversation::to_config`](crate::conversations::Conversation::to_config) does. A document of
    /// that form is not changed.
    ///
    /// ```
    /// use petalflow_document_model::conversations::{Source, check};
    ///
    /// let text = r#"{ "initial_node": "a", "author": "Ann", "nodes": { "a": { "messages": [] } } }"#;
    /// let converted = check(&Source::new("a.json", text)).unwrap().to_config();
    /// assert_eq!(converted.dropped[0].to_string(), "/author: the form has no place for this field");
    /// ```
    pub fn to_config(&self) -> Converted<FlowConfig> {
        if let Document::Config(document) = &self.document {
            return Converted::unchanged(document);
        }
        self.with_lost_fields(self.conversation.to_config())
    }

    /// Writes a document of the editor, as [`Conversation::to_editor`](crate::conversations::Conversation::to_editor) does. A document of
    /// that form is not changed.
    ///
    /// ```
    /// use petalflow_document_model::conversations::editor::{EditorDocument, Node, NodeType};
    /// use petalflow_document_model::conversations::{Source, check};
    ///
    /// let mut document = EditorDocument::new("Greeting");
    /// document.nodes.push(Node::template(NodeType::Initial, "Start", []));
    /// document.extra.insert("author".into(), "Ann".into());
    /// let source = Source::new("a.json", serde_json::to_string(&document)?);
    /// assert_eq!(check(&source).unwrap().to_editor().document, document);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn to_editor(&self) -> Converted<EditorDocument> {
        if let Document::Editor(document) = &self.document {
            return Converted::unchanged(document);
        }
        self.with_lost_fields(self.conversation.to_editor())
    }

    fn with_lost_fields<T>(&self, mut converted: Converted<T>) -> Converted<T> {
        let mut lost = Drops::default();
        match &self.document {
            Document::Config(_) => {}
            Document::Editor(document) => lost.of_editor(document),
            Document::Static(flow) => lost.of_static(flow),
        }
        lost.0.append(&mut converted.dropped);
        converted.dropped = lost.0;
        converted
    }
}

impl<T: Clone> Converted<T> {
    fn unchanged(document: &T) -> Self {
        Converted {
            document: document.clone(),
            dropped: Vec::new(),
        }
    }
}
