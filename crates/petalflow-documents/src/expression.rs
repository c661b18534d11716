//! The expression language of conditions, over the variables of an envelope.
//!
//! | precedence, lowest first | meaning |
//! | --- | --- |
//! | `a ?? b` | `a`, or `b` if `a` is `null` |
//! | `a \|\| b` | true if one is true |
//! | `a && b` | true if both are true |
//! | `a == b`, `a != b` | equal values; `1` equals `1.0` |
//! | `a < b`, `<=`, `>`, `>=` | the order of two numbers, or of two texts; otherwise false |
//! | `a in b`, `a has b`, `a contains b`, `a startsWith b`, `a endsWith b`, `a matches b` | list `b` has item `a`; object `a` has the name `b`; text `a` contains, begins or ends with `b`, or matches the regular expression `b` |
//! | `!a` | not |
//! | `a.b`, `a["b"]`, `a[0]`, `a.length` | a member, an item, the number of characters or items |
//!
//! Values are `null`, `true`, `false`, numbers, texts in double quotes, lists such as `[1, 2]`, and the names of variables.
//! A missing variable, member or item is `null`. `&&` and `||` return `true` or `false`, and evaluate their right side only if
//! it decides.
//!
//! ```
//! use petalflow_documents::expression::Expression;
//! use serde_json::{Map, json};
//!
//! let expression = Expression::parse(r#"user.age >= 18 && user.tags contains "x" == false"#)?;
//! let vars = Map::from_iter([("user".into(), json!({ "age": 20 }))]);
//! assert_eq!(expression.evaluate(&vars)?, true);
//!
//! let error = Expression::parse("age >= )").unwrap_err();
//! assert_eq!(error.to_string(), "unexpected `)` at position 7");
//! assert_eq!(error.position, 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An expression may come from anyone. It has limits on its length, its depth and its regular expressions, and its evaluation
//! on what lists copy.
//!
//! PetalFlow counts the bytes of a text for `.length`. Here it is the number of characters.

pub use petalflow_document_model::expression::{
    EvalError, Expression, ParseError, compare, compile, equal, length, truthy,
};
