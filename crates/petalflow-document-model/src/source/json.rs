//! JSON with positions.

use std::borrow::Cow;

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::source::diagnostic::Position;
use crate::source::lines::Lines;
use crate::source::tree::{Entry, MAX_DEPTH, MAX_VALUES, Node, ParseError, Problem, Tree, number};

/// Parses JSON.
pub(crate) fn parse(text: &str) -> Result<Tree<'_>, ParseError> {
    let lines = Lines::new(text);
    check_size(text, &lines)?;
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &strict);
    let parsed = parsed.map_err(|error| ParseError {
        kind: Problem::Syntax,
        message: match error.kind() {
            ParseErrorKind::MultipleRootJsonValues => {
                "the document is not JSON: there is text after its end; remove the text".into()
            }
            kind => format!("the document is not JSON: {kind}"),
        },
        position: lines.position(error.range().start),
    })?;
    let Some(value) = parsed.value else {
        return Err(ParseError {
            kind: Problem::Syntax,
            message: "the document is empty".into(),
            position: lines.position(0),
        });
    };
    Builder {
        lines: &lines,
        values: 0,
    }
    .tree(value)
}

/// Refuses deep nesting before anything recursive sees the text, and many values before they are in memory.
fn check_size(text: &str, lines: &Lines<'_>) -> Result<(), ParseError> {
    let (mut depth, mut commas, mut in_string, mut escaped) = (0_usize, 0_usize, false, false);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            b',' if !in_string => commas += 1,
            _ => {}
        }
        if commas >= MAX_VALUES {
            return Err(too_many(lines.position(index)));
        }
        if depth > MAX_DEPTH {
            return Err(too_deep(lines.position(index)));
        }
    }
    Ok(())
}

pub(crate) fn too_deep(position: Position) -> ParseError {
    ParseError {
        kind: Problem::TooLarge,
        message: format!("the document is nested deeper than {MAX_DEPTH} levels"),
        position,
    }
}

pub(crate) fn too_many(position: Position) -> ParseError {
    ParseError {
        kind: Problem::TooLarge,
        message: format!(
            "the document has more than {MAX_VALUES} values, counting those that aliases repeat"
        ),
        position,
    }
}

struct Builder<'t> {
    lines: &'t Lines<'t>,
    values: usize,
}

impl Builder<'_> {
    /// Recursive: the depth was checked.
    fn tree<'a>(&mut self, ast: Ast<'a>) -> Result<Tree<'a>, ParseError> {
        let position = self.lines.position(ast.range().start);
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(too_many(position));
        }
        let node = match ast {
            Ast::NullKeyword(_) => Node::Null,
            Ast::BooleanLit(literal) => Node::Bool(literal.value),
            Ast::StringLit(literal) => Node::String(literal.value),
            Ast::NumberLit(literal) => {
                let number = number(literal.value);
                Node::Number(number.map_err(|message| ParseError {
                    kind: Problem::WrongValue,
                    message,
                    position,
                })?)
            }
            Ast::Array(array) => {
                let items = array.elements.into_iter().map(|item| self.tree(item));
                Node::List(items.collect::<Result<_, _>>()?)
            }
            Ast::Object(object) => {
                let entries = object.properties.into_iter().map(|property| {
                    Ok(Entry {
                        position: self.lines.position(property.name.range().start),
                        name: Cow::Owned(property.name.into_string()),
                        value: self.tree(property.value)?,
                    })
                });
                Node::Object(entries.collect::<Result<_, _>>()?)
            }
        };
        Ok(Tree {
            position,
            file: 0,
            node,
        })
    }
}
