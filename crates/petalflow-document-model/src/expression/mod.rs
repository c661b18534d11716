//! The expression language of conditions, over the variables of an envelope.
//!
//! `petalflow_documents::expression` describes the language.

mod ast;
mod error;
mod eval;
mod lexer;
mod parser;
mod pattern;
mod text_use;
mod values;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use ast::Expr;
pub use error::{EvalError, ParseError};
pub use pattern::compile;
pub use values::{compare, equal, length, truthy};

/// A parsed expression. See the [module](self) for the language.
#[derive(Clone, Debug)]
pub struct Expression {
    root: Expr,
    names: BTreeSet<String>,
    pattern_bytes: usize,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    ///
    /// If it does not follow the language, has more than 64 KiB, or is nested deeper than 100 levels; or if its regular
    /// expressions need more than 4 MiB together.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let parser::Parsed {
            root,
            names,
            pattern_bytes,
        } = parser::parse(text)?;
        Ok(Expression {
            root,
            names,
            pattern_bytes,
        })
    }

    /// Evaluates the expression with these variables.
    ///
    /// # Errors
    ///
    /// If the right side of `matches` is a text that is not a regular expression; if the regular expressions from variables
    /// need more than 4 MiB together; or if lists in the expression copy more than 16 MiB of the variables.
    pub fn evaluate(&self, vars: &Map<String, Value>) -> Result<Value, EvalError> {
        Ok(eval::eval(&self.root, vars, &eval::Budget::default())?.into_owned())
    }

    /// The memory of its regular expressions, in bytes: an upper limit. For programs that read many expressions.
    ///
    /// ```
    /// use petalflow_document_model::expression::Expression;
    ///
    /// assert_eq!(Expression::parse("a > 1")?.pattern_bytes(), 0);
    /// assert!(Expression::parse("a matches \"^b+$\"")?.pattern_bytes() > 0);
    /// # Ok::<(), petalflow_document_model::expression::ParseError>(())
    /// ```
    pub fn pattern_bytes(&self) -> usize {
        self.pattern_bytes
    }

    /// Whether the expression reads a variable.
    ///
    /// ```
    /// use petalflow_document_model::expression::Expression;
    ///
    /// let expression = Expression::parse("a.b == c")?;
    /// assert!(expression.reads("a") && !expression.reads("b"));
    /// # Ok::<(), petalflow_document_model::expression::ParseError>(())
    /// ```
    pub fn reads(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// A use of a variable with a text that has one outcome whatever the text is, in words: it reads a part of the text, or
    /// compares it with a number. For warnings.
    ///
    /// ```
    /// use petalflow_document_model::expression::Expression;
    ///
    /// let is_text = |name: &str| name == "answer";
    /// let used = |text: &str| Expression::parse(text).unwrap().wrong_use_of_text(is_text);
    /// assert_eq!(used("answer.score > 3").as_deref(), Some("reads `score` of `answer`, which is a text"));
    /// assert_eq!(used("x || answer >= 3").as_deref(), Some("compares `answer`, which is a text, with 3"));
    /// assert_eq!(used("answer.length > 3 && answer == \"yes\""), None);
    /// ```
    pub fn wrong_use_of_text(&self, is_text: impl Fn(&str) -> bool) -> Option<String> {
        text_use::wrong(&self.root, &is_text)
    }
}
