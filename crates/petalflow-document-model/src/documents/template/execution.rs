//! Executes a template.

use super::ast::{Call, Expr, FunctionCall, Named, Node, Pipeline, Range};
use super::builtins;
use super::error::RenderError;
use super::functions::Function;
use super::limits::{Limits, OUTPUT};
use super::missing::MissingValue;
use super::value::{Item, Variables};

/// What follows a node.
#[derive(PartialEq)]
enum Next {
    Node,
    Break,
    Continue,
}

/// What Go writes for a value that is missing.
const NO_VALUE: &str = "<no value>";

pub(super) struct Execution<'a> {
    named: &'a Named,
    variables: &'a Variables<'a>,
    missing: MissingValue,
    output: String,
    /// The variables `$x` of all templates that are being executed.
    frames: Vec<Item<'a>>,
    /// Where those of the innermost template begin.
    frame: usize,
    limits: Limits,
}

type Rendered<T> = Result<T, RenderError>;

impl<'a> Execution<'a> {
    pub(super) fn new(
        named: &'a Named,
        variables: &'a Variables<'a>,
        missing: MissingValue,
    ) -> Self {
        Execution {
            named,
            variables,
            missing,
            output: String::new(),
            frames: Vec::new(),
            frame: 0,
            limits: Limits::default(),
        }
    }

    pub(super) fn run(mut self, nodes: &'a [Node]) -> Rendered<String> {
        let dot = Item::Variables(self.variables);
        self.frames.push(dot.clone());
        self.list(nodes, &dot)?;
        Ok(self.output)
    }

    fn list(&mut self, nodes: &'a [Node], dot: &Item<'a>) -> Rendered<Next> {
        for node in nodes {
            let next = self.node(node, dot)?;
            if next != Next::Node {
                return Ok(next);
            }
        }
        Ok(Next::Node)
    }

    /// The nodes of a block. Variables that they declare end with it.
    fn block(&mut self, nodes: &'a [Node], dot: &Item<'a>) -> Rendered<Next> {
        let outer = self.frames.len();
        let next = self.list(nodes, dot);
        self.frames.truncate(outer);
        next
    }

    fn node(&mut self, node: &'a Node, dot: &Item<'a>) -> Rendered<Next> {
        match node {
            Node::Text(text) => {
                self.write(text)?;
                Ok(Next::Node)
            }
            Node::Action(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    match (value, self.missing) {
                        (Item::Missing(_), MissingValue::NoValue) => self.write(NO_VALUE)?,
                        (value, _) => self.write(&self.present(value)?.printed())?,
                    }
                }
                Ok(Next::Node)
            }
            Node::If(branches, otherwise) => self.branches(branches, otherwise, dot, false),
            Node::With(branches, otherwise) => self.branches(branches, otherwise, dot, true),
            Node::Range(range) => {
                let outer = self.frames.len();
                let next = self.range(range, dot);
                self.frames.truncate(outer);
                next
            }
            Node::Break => Ok(Next::Break),
            Node::Continue => Ok(Next::Continue),
            Node::Call(call) => self.call_template(call, dot).map(|()| Next::Node),
        }
    }

    fn branches(
        &mut self,
        branches: &'a [(Pipeline, Vec<Node>)],
        otherwise: &'a [Node],
        dot: &Item<'a>,
        is_with: bool,
    ) -> Rendered<Next> {
        let outer = self.frames.len();
        let mut chosen = (otherwise, None);
        for (condition, nodes) in branches {
            let value = self.pipeline(condition, dot)?;
            if value.is_true() {
                chosen = (nodes, is_with.then_some(value));
                break;
            }
        }
        let (nodes, own_dot) = chosen;
        let next = self.block(nodes, own_dot.as_ref().unwrap_or(dot));
        self.frames.truncate(outer);
        next
    }

    fn range(&mut self, range: &'a Range, dot: &Item<'a>) -> Rendered<Next> {
        let value = self.pipeline(&range.list, dot)?;
        let keys = value.names();
        let length = match (&value, &keys) {
            (Item::Missing(_) | Item::Null, _) => 0,
            (Item::Int(count), _) => usize::try_from(*count).unwrap_or(0),
            (_, Some(names)) => names.len(),
            _ => value.list_len().ok_or_else(|| {
                let kind = value.kind();
                let problem = format!("`range` takes a list or an object, and not {kind}");
                failed(problem, range.list.position)
            })?,
        };
        for index in 0..length {
            self.step(range.list.position)?;
            let place = Item::Int(index.try_into().unwrap_or(i128::MAX));
            let (key, item) = match keys.as_ref().and_then(|names| names.get(index)) {
                Some(name) => (Item::Str(name), value.field(name).flatten()),
                None if matches!(value, Item::Int(_)) => (place.clone(), Some(place)),
                None => (place, value.item(index)),
            };
            let item = item.unwrap_or(Item::Null);
            match *range.list.variables {
                [only] => self.set(only, item.clone()),
                [first, second] => {
                    self.set(first, key);
                    self.set(second, item.clone());
                }
                _ => {}
            }
            if self.block(&range.body, &item)? == Next::Break {
                break;
            }
        }
        if length == 0 {
            return self.block(&range.otherwise, dot);
        }
        Ok(Next::Node)
    }

    fn call_template(&mut self, call: &'a Call, dot: &Item<'a>) -> Rendered<()> {
        self.step(call.position)?;
        let dot = match &call.dot {
            Some(pipeline) => self.pipeline(pipeline, dot)?,
            None => Item::Null,
        };
        let Some(nodes) = self.named.get(&call.name) else {
            return Err(failed(
                format!("there is no template `{}`", call.name),
                call.position,
            ));
        };
        self.limits
            .enter()
            .map_err(|problem| failed(problem, call.position))?;
        let (outer_frame, outer) = (self.frame, self.frames.len());
        self.frame = outer;
        self.frames.push(dot.clone());
        self.list(nodes, &dot)?;
        self.frames.truncate(outer);
        self.frame = outer_frame;
        self.limits.leave();
        Ok(())
    }

    /// The value of a pipeline, which its variables receive too.
    fn pipeline(&mut self, pipeline: &'a Pipeline, dot: &Item<'a>) -> Rendered<Item<'a>> {
        let mut value = self.expression(&pipeline.first, dot, pipeline.position)?;
        for call in &pipeline.then {
            value = self.call(call, dot, Some(value))?;
        }
        for place in &pipeline.variables {
            if pipeline.assigns {
                self.set(*place, value.clone());
            } else {
                self.frames.push(value.clone());
            }
        }
        Ok(value)
    }

    fn set(&mut self, place: usize, value: Item<'a>) {
        if let Some(variable) = self.frames.get_mut(self.frame + place) {
            *variable = value;
        }
    }

    fn expression(&mut self, expr: &'a Expr, dot: &Item<'a>, at: usize) -> Rendered<Item<'a>> {
        self.step(at)?;
        match expr {
            Expr::Nil => Ok(Item::Null),
            Expr::Bool(value) => Ok(Item::Bool(*value)),
            Expr::Int(value) => Ok(Item::Int((*value).into())),
            Expr::Float(value) => Ok(Item::Float(*value)),
            Expr::Text(text) => Ok(Item::Str(text)),
            Expr::Dot(names) => fields(dot.clone(), "", names, at),
            Expr::Variable(place, name, names) => {
                let value = self.frames.get(self.frame + place).cloned();
                let label = if name.is_empty() {
                    String::new()
                } else {
                    format!("${name}")
                };
                fields(value.unwrap_or(Item::Null), &label, names, at)
            }
            Expr::Group(pipeline, names) => {
                let value = self.pipeline(pipeline, dot)?;
                fields(value, "(..)", names, at)
            }
            Expr::Call(call) => self.call(call, dot, None),
        }
    }

    fn call(
        &mut self,
        call: &'a FunctionCall,
        dot: &Item<'a>,
        piped: Option<Item<'a>>,
    ) -> Rendered<Item<'a>> {
        self.step(call.position)?;
        let decides = match call.function {
            Function::And => Some(false),
            Function::Or => Some(true),
            _ => None,
        };
        let mut arguments = Vec::with_capacity(call.arguments.len() + 1);
        for argument in &call.arguments {
            let value = self.expression(argument, dot, call.position)?;
            if decides == Some(value.is_true()) {
                return Ok(value);
            }
            arguments.push(value);
        }
        arguments.extend(piped);
        if !call.function.accepts_missing() {
            for argument in &mut arguments {
                if let Item::Missing(name) = argument {
                    *argument = match self.missing {
                        MissingValue::NoValue if call.function.takes_texts() => {
                            return Err(RenderError::Missing {
                                name: name.to_string(),
                            });
                        }
                        _ => self.present(argument.clone())?,
                    };
                }
            }
        }
        if call.last_first {
            arguments.reverse();
        }
        builtins::call(call.function, &arguments, &mut self.limits)
            .map_err(|problem| failed(problem, call.position))
    }

    /// A value that is used. What is missing is an empty text, `null`, or an error.
    fn present(&self, value: Item<'a>) -> Rendered<Item<'a>> {
        match (value, self.missing) {
            (Item::Missing(name), MissingValue::Error) => Err(RenderError::Missing {
                name: name.to_string(),
            }),
            (Item::Missing(_), MissingValue::Empty) => Ok(Item::Str("")),
            (Item::Missing(_), MissingValue::NoValue) => Ok(Item::Null),
            (value, _) => Ok(value),
        }
    }

    fn write(&mut self, text: &str) -> Rendered<()> {
        if self.output.len() + text.len() > OUTPUT {
            return Err(RenderError::TooLong { limit: OUTPUT });
        }
        self.output.push_str(text);
        Ok(())
    }

    fn step(&mut self, position: usize) -> Rendered<()> {
        self.limits
            .step()
            .map_err(|problem| failed(problem, position))
    }
}

fn failed(problem: String, position: usize) -> RenderError {
    RenderError::Action { problem, position }
}

/// The value at the end of `.a.b`. `label` names what the names are in.
fn fields<'a>(value: Item<'a>, label: &str, names: &'a [String], at: usize) -> Rendered<Item<'a>> {
    let mut value = value;
    for (index, name) in names.iter().enumerate() {
        let found = match (&value, value.field(name)) {
            (_, Some(found)) => found,
            (Item::Missing(_) | Item::Null, None) => None,
            (other, None) => {
                let problem = format!("`.{name}` needs an object, and it is in {}", other.kind());
                return Err(failed(problem, at));
            }
        };
        let Some(found) = found else {
            let mut path: Vec<&str> = Vec::new();
            match &value {
                Item::Missing(before) if index == 0 => path.push(before),
                _ if label.is_empty() => {}
                _ => path.push(label),
            }
            path.extend(names.iter().map(String::as_str));
            return Ok(Item::Missing(path.join(".").into()));
        };
        value = found;
    }
    Ok(value)
}
