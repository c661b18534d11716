//! The fields of a document that a [`Conversation`](crate::conversations::Conversation) does not have.

use serde_json::{Map, Value};

use super::Drops;
use crate::conversations::editor::{self, EditorDocument};
use crate::conversations::legacy::StaticFlow;
use crate::source::Pointer;

impl Drops {
    pub(super) fn of_editor(&mut self, document: &EditorDocument) {
        let root = Pointer::root();
        self.fields(&document.extra, &root);
        let (meta, at) = (&document.meta, root.name("meta"));
        if !meta.version.is_empty() {
            self.field(&at.name("version"));
        }
        if meta.description.is_some() {
            self.field(&at.name("description"));
        }
        self.fields(&meta.extra, &at);
        for (index, node) in document.nodes.iter().enumerate() {
            self.of_editor_node(node, &root.name("nodes").item(index));
        }
        let globals = document.global_functions.iter().flatten();
        for (index, function) in globals.enumerate() {
            self.of_editor_function(function, &root.name("global_functions").item(index));
        }
        let message = "the form has no positions of nodes and no lines between them";
        self.add(root.name("nodes"), message);
        for (index, edge) in document.edges.iter().enumerate() {
            self.fields(&edge.extra, &root.name("edges").item(index));
        }
    }

    fn of_editor_node(&mut self, node: &editor::Node, at: &Pointer) {
        self.fields(&node.extra, at);
        self.fields(&node.position.extra, &at.name("position"));
        let (data, at) = (&node.data, at.name("data"));
        self.fields(&data.other_fields(), &at);
        for (list, messages) in [
            ("role_messages", &data.role_messages),
            ("task_messages", &data.task_messages),
        ] {
            for (index, message) in messages.iter().flatten().enumerate() {
                self.fields(&message.extra, &at.name(list).item(index));
            }
        }
        for (index, function) in data.functions().iter().enumerate() {
            self.of_editor_function(function, &at.name("functions").item(index));
        }
        if let Some(strategy) = &data.context_strategy {
            self.fields(&strategy.extra, &at.name("context_strategy"));
        }
    }

    fn of_editor_function(&mut self, function: &editor::Function, at: &Pointer) {
        self.fields(&function.other_fields(), at);
        let Some(decision) = &function.decision else {
            return;
        };
        let at = at.name("decision");
        self.fields(&decision.extra, &at);
        for (index, condition) in decision.conditions.iter().enumerate() {
            self.fields(&condition.extra, &at.name("conditions").item(index));
        }
    }

    pub(super) fn of_static(&mut self, flow: &StaticFlow) {
        let root = Pointer::root();
        self.fields(&flow.extra, &root);
        for (name, node) in &flow.nodes {
            let at = root.name("nodes").name(name);
            self.fields(&node.extra, &at);
            for (index, offered) in node.functions.iter().flatten().enumerate() {
                let at = at.name("functions").item(index);
                for described in offered.described(&at) {
                    for (at, _, others) in described.around {
                        self.fields(others, &at);
                    }
                    let function = &described.function;
                    self.fields(&without_type(&function.extra, "function"), &described.at);
                    if let (Some((_, at)), Some(schema)) = (described.schema, &function.parameters)
                    {
                        self.fields(&without_type(&schema.extra, "object"), &at);
                    }
                }
            }
        }
    }

    fn fields(&mut self, extra: &Map<String, Value>, at: &Pointer) {
        for name in extra.keys() {
            self.field(&at.name(name));
        }
    }

    fn field(&mut self, at: &Pointer) {
        self.add(at.clone(), "the form has no place for this field");
    }
}

/// Without the `type` that is the same in each form.
fn without_type(extra: &Map<String, Value>, same: &str) -> Map<String, Value> {
    let mut extra = extra.clone();
    extra.retain(|name, value| name != "type" || value != same);
    extra
}
