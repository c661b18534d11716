//! The variables without which a template cannot be filled.

use std::collections::BTreeSet;

use super::ast::{Expr, FunctionCall, Node, Pipeline};

/// The names of the variables that the nodes use where a missing value is an error. Variables that an `if` around the use has
/// asked for are not among them, nor what is read where `.` is another value.
pub(super) fn needed(nodes: &[Node]) -> BTreeSet<String> {
    let mut needs = Needs::default();
    needs.nodes(nodes, true);
    needs.names
}

#[derive(Default)]
struct Needs<'t> {
    names: BTreeSet<String>,
    /// The variables that are there, because a condition around the nodes asks for them.
    asked: Vec<&'t str>,
}

impl<'t> Needs<'t> {
    /// `is_root` is whether `.` has the variables.
    fn nodes(&mut self, nodes: &'t [Node], is_root: bool) {
        for node in nodes {
            match node {
                Node::Text(_) | Node::Break | Node::Continue | Node::Call(_) => {}
                // A variable of the template may have no value.
                Node::Action(pipeline) => {
                    self.pipeline(pipeline, is_root, !pipeline.variables.is_empty());
                }
                Node::If(branches, otherwise) => {
                    let before = self.asked.len();
                    for (condition, body) in branches {
                        self.pipeline(condition, is_root, true);
                        let outer = self.asked.len();
                        self.ask(condition);
                        self.nodes(body, is_root);
                        self.asked.truncate(outer);
                    }
                    // `{{if not .name}} .. {{else}}`: what is there depends on the conditions.
                    for (condition, _) in branches {
                        self.ask(condition);
                    }
                    self.nodes(otherwise, is_root);
                    self.asked.truncate(before);
                }
                Node::With(branches, otherwise) => {
                    for (condition, body) in branches {
                        self.pipeline(condition, is_root, true);
                        self.nodes(body, false);
                    }
                    self.nodes(otherwise, is_root);
                }
                Node::Range(range) => {
                    self.pipeline(&range.list, is_root, true);
                    self.nodes(&range.body, false);
                    self.nodes(&range.otherwise, is_root);
                }
            }
        }
    }

    /// Adds what a condition asks for.
    fn ask(&mut self, condition: &'t Pipeline) {
        self.ask_expression(&condition.first);
        for call in &condition.then {
            call.arguments.iter().for_each(|it| self.ask_expression(it));
        }
    }

    fn ask_expression(&mut self, expression: &'t Expr) {
        match expression {
            Expr::Dot(names) | Expr::Variable(0, _, names) => {
                self.asked.extend(names.first().map(String::as_str));
            }
            Expr::Group(pipeline, _) => self.ask(pipeline),
            Expr::Call(call) => call.arguments.iter().for_each(|it| self.ask_expression(it)),
            _ => {}
        }
    }

    /// `may_miss` is whether a missing value of the whole is accepted.
    fn pipeline(&mut self, pipeline: &'t Pipeline, is_root: bool, may_miss: bool) {
        let accepts = |call: Option<&FunctionCall>| {
            call.map_or(may_miss, |call| call.function.accepts_missing())
        };
        self.expression(&pipeline.first, is_root, accepts(pipeline.then.first()));
        for call in &pipeline.then {
            self.arguments(call, is_root);
        }
    }

    fn arguments(&mut self, call: &'t FunctionCall, is_root: bool) {
        for argument in &call.arguments {
            self.expression(argument, is_root, call.function.accepts_missing());
        }
    }

    fn expression(&mut self, expression: &'t Expr, is_root: bool, may_miss: bool) {
        match expression {
            Expr::Dot(names) if is_root => self.name(names, may_miss),
            // `$` is the value that the template began with.
            Expr::Variable(0, name, names) if name.is_empty() => self.name(names, may_miss),
            Expr::Group(pipeline, names) => {
                self.pipeline(pipeline, is_root, may_miss && names.is_empty());
            }
            Expr::Call(call) => self.arguments(call, is_root),
            _ => {}
        }
    }

    fn name(&mut self, names: &[String], may_miss: bool) {
        if let Some(name) = names.first()
            && !may_miss
            && !self.asked.contains(&name.as_str())
        {
            self.names.insert(name.clone());
        }
    }
}
