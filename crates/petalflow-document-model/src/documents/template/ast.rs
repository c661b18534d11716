//! What a template consists of.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::functions::Function;

/// A part of a template that is executed.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    Action(Pipeline),
    /// `if` and `else if`: the first branch whose condition is true.
    If(Vec<(Pipeline, Vec<Node>)>, Vec<Node>),
    /// `with` and `else with`.
    With(Vec<(Pipeline, Vec<Node>)>, Vec<Node>),
    Range(Box<Range>),
    Break,
    Continue,
    /// A call of a template that `define` or `block` names.
    Call(Call),
}

#[derive(Debug)]
pub(super) struct Range {
    pub(super) list: Pipeline,
    pub(super) body: Vec<Node>,
    pub(super) otherwise: Vec<Node>,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) dot: Option<Pipeline>,
    pub(super) position: usize,
}

/// `$a := command | command`.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// The variables that receive the value, by their places in the frame.
    pub(super) variables: Vec<usize>,
    /// Whether they exist before (`=`).
    pub(super) assigns: bool,
    pub(super) first: Expr,
    /// What is called with the value as its last argument.
    pub(super) then: Vec<FunctionCall>,
    pub(super) position: usize,
}

#[derive(Debug)]
pub(super) struct FunctionCall {
    pub(super) function: Function,
    pub(super) arguments: Vec<Expr>,
    /// Whether the last of two arguments is meant to be the first: `.text | contains "part"`.
    pub(super) last_first: bool,
    pub(super) position: usize,
}

#[derive(Debug)]
pub(super) enum Expr {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Arc<str>),
    /// `.` and `.a.b`.
    Dot(Vec<String>),
    /// `$x.a.b`: the place in the frame, the name, and the fields.
    Variable(usize, String, Vec<String>),
    /// `(pipeline).a.b`.
    Group(Box<Pipeline>, Vec<String>),
    Call(FunctionCall),
}

/// The templates that `define` and `block` name.
pub(super) type Named = BTreeMap<String, Vec<Node>>;
