//! The value of an expression.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::ast::{BinaryOp, Expr};
use crate::error::EvalError;
use crate::pattern::compile;
use crate::values::{compare, equal, length, truthy};

type Evaluated<'a> = Result<Cow<'a, Value>, EvalError>;

pub(crate) fn eval<'a>(expr: &'a Expr, vars: &'a Map<String, Value>) -> Evaluated<'a> {
    Ok(match expr {
        Expr::Literal(value) => Cow::Borrowed(value),
        Expr::Name(name) => vars.get(name).map_or(NULL, Cow::Borrowed),
        Expr::List(items) => {
            let items = items.iter().map(|item| Ok(eval(item, vars)?.into_owned()));
            Cow::Owned(Value::Array(items.collect::<Result<_, _>>()?))
        }
        Expr::Member(object, name) => member(eval(object, vars)?, name),
        Expr::Index(object, index) => {
            let object = eval(object, vars)?;
            match &*eval(index, vars)? {
                Value::String(name) => member(object, name),
                index => item(object, index),
            }
        }
        Expr::Not(operand) => bool(!truthy(&*eval(operand, vars)?)),
        Expr::Matches(text, pattern) => {
            let text = eval(text, vars)?;
            bool(text.as_str().is_some_and(|text| pattern.is_match(text)))
        }
        Expr::Binary(op, left, right) => return binary(*op, left, right, vars),
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
) -> Evaluated<'a> {
    let left = eval(left, vars)?;
    match op {
        BinaryOp::And if !truthy(&left) => return Ok(bool(false)),
        BinaryOp::Or if truthy(&left) => return Ok(bool(true)),
        BinaryOp::Coalesce if !left.is_null() => return Ok(left),
        _ => {}
    }
    let right = eval(right, vars)?;
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
            (Value::String(text), Value::String(pattern)) => {
                compile(pattern).map_err(EvalError)?.is_match(text)
            }
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
