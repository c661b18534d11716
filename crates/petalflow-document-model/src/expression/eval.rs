//! Evaluates an expression, within limits on copies and patterns.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::expression::ast::{BinaryOp, Expr};
use crate::expression::error::EvalError;
use crate::expression::pattern::{PATTERN_BUDGET, compile_within};
use crate::expression::values::{compare, equal, length, truthy};

type Evaluated<'a> = Result<Cow<'a, Value>, EvalError>;

/// The most bytes of variables that lists in an expression copy.
const COPY_BUDGET: usize = 16 << 20;

/// What the evaluation may still use.
pub(crate) struct Budget {
    copies: Cell<usize>,
    patterns: Cell<usize>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            copies: Cell::new(COPY_BUDGET),
            patterns: Cell::new(PATTERN_BUDGET),
        }
    }
}

impl Budget {
    /// Copies a value into a list.
    fn copy(&self, value: Cow<'_, Value>) -> Result<Value, EvalError> {
        if let Cow::Borrowed(value) = value {
            let left = self.copies.get().checked_sub(size(value));
            self.copies.set(left.ok_or_else(|| {
                EvalError(format!("the lists of the expression copy more than {COPY_BUDGET} bytes of the variables"))
            })?);
        }
        Ok(value.into_owned())
    }

    fn is_match(&self, text: &str, pattern: &str) -> Result<bool, EvalError> {
        let mut left = self.patterns.get();
        let pattern = compile_within(pattern, &mut left).map_err(|problem| {
            EvalError(format!("the right side of `matches` is wrong: {problem}"))
        })?;
        self.patterns.set(left);
        Ok(pattern.is_match(text))
    }
}

/// About the bytes of a value.
fn size(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(object) => object
            .iter()
            .map(|(name, value)| name.len() + size(value))
            .sum(),
        _ => 0,
    };
    inside + size_of::<Value>()
}

pub(crate) fn eval<'a>(
    expr: &'a Expr,
    vars: &'a Map<String, Value>,
    budget: &Budget,
) -> Evaluated<'a> {
    Ok(match expr {
        Expr::Literal(value) => Cow::Borrowed(value),
        Expr::Name(name) => vars.get(name).map_or(NULL, Cow::Borrowed),
        Expr::List(items) => {
            let items = items
                .iter()
                .map(|item| budget.copy(eval(item, vars, budget)?));
            Cow::Owned(Value::Array(items.collect::<Result<_, _>>()?))
        }
        Expr::Member(object, name) => member(eval(object, vars, budget)?, name),
        Expr::Index(object, index) => {
            let object = eval(object, vars, budget)?;
            match &*eval(index, vars, budget)? {
                Value::String(name) => member(object, name),
                index => item(object, index),
            }
        }
        Expr::Not(operand) => bool(!truthy(&*eval(operand, vars, budget)?)),
        Expr::Matches(text, pattern) => {
            let text = eval(text, vars, budget)?;
            bool(text.as_str().is_some_and(|text| pattern.is_match(text)))
        }
        Expr::Binary(op, left, right) => return binary(*op, left, right, vars, budget),
    })
}

const NULL: Cow<'static, Value> = Cow::Owned(Value::Null);

fn bool(value: bool) -> Cow<'static, Value> {
    Cow::Owned(Value::Bool(value))
}

fn binary<'a>(
    op: BinaryOp,
    left: &'a Expr,
    right: &'a Expr,
    vars: &'a Map<String, Value>,
    budget: &Budget,
) -> Evaluated<'a> {
    let left = eval(left, vars, budget)?;
    match op {
        BinaryOp::And if !truthy(&left) => return Ok(bool(false)),
        BinaryOp::Or if truthy(&left) => return Ok(bool(true)),
        BinaryOp::Coalesce if !left.is_null() => return Ok(left),
        _ => {}
    }
    let right = eval(right, vars, budget)?;
    let ordered = |accept: fn(Ordering) -> bool| compare(&left, &right).is_some_and(accept);
    let texts = |accept: fn(&str, &str) -> bool| match (&*left, &*right) {
        (Value::String(left), Value::String(right)) => accept(left, right),
        _ => false,
    };
    Ok(bool(match op {
        BinaryOp::Coalesce => return Ok(right),
        BinaryOp::And | BinaryOp::Or => truthy(&right),
        BinaryOp::Eq => equal(&left, &right),
        BinaryOp::Ne => !equal(&left, &right),
        BinaryOp::Lt => ordered(Ordering::is_lt),
        BinaryOp::Le => ordered(Ordering::is_le),
        BinaryOp::Gt => ordered(Ordering::is_gt),
        BinaryOp::Ge => ordered(Ordering::is_ge),
        BinaryOp::In => {
            let items = right.as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().any(|item| equal(&left, item))
        }
        BinaryOp::Has => match (&*left, &*right) {
            (Value::Object(object), Value::String(name)) => object.contains_key(name),
            _ => false,
        },
        BinaryOp::Contains => texts(|text, part| text.contains(part)),
        BinaryOp::StartsWith => texts(|text, part| text.starts_with(part)),
        BinaryOp::EndsWith => texts(|text, part| text.ends_with(part)),
        BinaryOp::Matches => match (&*left, &*right) {
            (Value::String(text), Value::String(pattern)) => budget.is_match(text, pattern)?,
            _ => false,
        },
    }))
}

/// A member of an object, or the length of a value.
fn member<'a>(object: Cow<'a, Value>, name: &str) -> Cow<'a, Value> {
    let count = (name == "length").then(|| length(&object)).flatten();
    let found = match object {
        Cow::Borrowed(object) => object.get(name).map(Cow::Borrowed),
        Cow::Owned(mut object) => object.get_mut(name).map(|value| Cow::Owned(value.take())),
    };
    found.unwrap_or_else(|| count.map_or(NULL, |count| Cow::Owned(count.into())))
}

/// An item of a list.
fn item<'a>(list: Cow<'a, Value>, index: &Value) -> Cow<'a, Value> {
    let whole = index.as_f64().filter(|index| index.fract() == 0.0);
    // A number that is negative or too large has no item.
    let Some(index) = whole.and_then(|index| format!("{index:.0}").parse::<usize>().ok()) else {
        return NULL;
    };
    let found = match list {
        Cow::Borrowed(list) => list.get(index).map(Cow::Borrowed),
        Cow::Owned(mut list) => list.get_mut(index).map(|value| Cow::Owned(value.take())),
    };
    found.unwrap_or(NULL)
}
