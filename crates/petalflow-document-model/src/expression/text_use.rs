//! Uses of texts that have one outcome whatever the text is.

use serde_json::Value;

use crate::expression::ast::{BinaryOp, Expr};

/// The first such use, in words.
pub(crate) fn wrong(expr: &Expr, is_text: &dyn Fn(&str) -> bool) -> Option<String> {
    let text = |expr: &Expr| match expr {
        Expr::Name(name) if is_text(name) => Some(name.clone()),
        _ => None,
    };
    match expr {
        Expr::Member(of, part) if part != "length" => match text(of) {
            Some(name) => Some(format!("reads `{part}` of `{name}`, which is a text")),
            None => wrong(of, is_text),
        },
        Expr::Member(of, _) | Expr::Not(of) | Expr::Matches(of, _) => wrong(of, is_text),
        Expr::Index(of, key) => match text(of) {
            Some(name) => Some(format!("reads an item of `{name}`, which is a text")),
            None => wrong(of, is_text).or_else(|| wrong(key, is_text)),
        },
        Expr::Binary(operator, a, b) => {
            let compared = compares(*operator).then(|| {
                let found = text(a).zip(other_literal(b));
                found.or_else(|| text(b).zip(other_literal(a)))
            });
            match compared.flatten() {
                Some((name, value)) => {
                    Some(format!("compares `{name}`, which is a text, with {value}"))
                }
                None => wrong(a, is_text).or_else(|| wrong(b, is_text)),
            }
        }
        Expr::List(items) => items.iter().find_map(|item| wrong(item, is_text)),
        Expr::Literal(_) | Expr::Name(_) => None,
    }
}

fn compares(operator: BinaryOp) -> bool {
    matches!(
        operator,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
    )
}

/// A number or a truth value.
fn other_literal(expr: &Expr) -> Option<&Value> {
    match expr {
        Expr::Literal(value @ (Value::Number(_) | Value::Bool(_))) => Some(value),
        _ => None,
    }
}
