//! Literals of Python.

use std::str::FromStr;

use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, cut_err, delimited, fail, opt, preceded, separated};
use winnow::error::{ContextError, ErrMode, StrContext};
use winnow::prelude::*;
use winnow::token::{any, one_of, take_while};

use super::value::Value;

/// Deeper literals are refused, so that a hostile document cannot exhaust the stack.
const MAX_DEPTH: usize = 32;

/// Why the text of a condition's value is not a literal of Python.
///
/// ```
/// use petalflow_document_model::conversations::decision::{Decision, LiteralError, Operator};
///
/// let error = Decision::new("other").when(Operator::Equal, "adult", "a").unwrap_err();
/// assert_eq!(error, LiteralError::Name("adult".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LiteralError {
    /// The value is empty.
    #[error("the value is empty: write a literal such as `5`, `\"text\"` or `[1, 2]`")]
    Empty,
    /// A word without quotes. Python reads it as the name of a variable.
    #[error("`{0}` is the name of a variable in Python: write `\"{0}\"` for a text")]
    Name(String),
    /// Something else.
    #[error(
        "`{text}` is not a literal of Python at position {position}: write a number, a text in quotes, `True`, `False`, `None`, or a list of them"
    )]
    Syntax {
        /// The whole value.
        text: String,
        /// The position of the mistake, in bytes, from 0.
        position: usize,
    },
}

impl FromStr for Value {
    type Err = LiteralError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(LiteralError::Empty);
        }
        let is_name = trimmed.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && trimmed.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && !matches!(trimmed, "True" | "False" | "None") {
            return Err(LiteralError::Name(trimmed.into()));
        }
        delimited(multispace0, |input: &mut &str| value(input, 0), multispace0)
            .parse(text)
            .map_err(|error| LiteralError::Syntax {
                text: text.into(),
                position: error.offset(),
            })
    }
}

type Parsed<T> = Result<T, ErrMode<ContextError>>;

fn value(input: &mut &str, depth: usize) -> Parsed<Value> {
    if depth > MAX_DEPTH {
        return fail.context(StrContext::Label("depth")).parse_next(input);
    }
    alt((
        |input: &mut &str| keyword(input),
        |input: &mut &str| number(input),
        |input: &mut &str| text(input).map(Value::Text),
        |input: &mut &str| list(input, depth),
        |input: &mut &str| tuple(input, depth),
        |input: &mut &str| braces(input, depth),
    ))
    .parse_next(input)
}

fn keyword(input: &mut &str) -> Parsed<Value> {
    take_while(1.., |c: char| c.is_alphanumeric() || c == '_')
        .verify_map(|word: &str| match word {
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            "None" => Some(Value::None),
            _ => None,
        })
        .parse_next(input)
}

/// `-1`, `1_000`, `2.5`, `.5`, `1e3`.
fn number(input: &mut &str) -> Parsed<Value> {
    let digits = |input: &mut &str| -> Parsed<()> {
        separated::<_, _, (), _, _, _, _>(1.., digit1, '_').parse_next(input)
    };
    let exponent = |input: &mut &str| -> Parsed<()> {
        (one_of(['e', 'E']), opt(one_of(['+', '-'])), digits)
            .void()
            .parse_next(input)
    };
    (
        opt(one_of(['+', '-'])),
        alt((
            (digits, opt(('.', opt(digits)))).void(),
            ('.', digits).void(),
        )),
        opt(exponent),
    )
        .take()
        .verify_map(|text: &str| {
            let text = text.replace('_', "");
            if text.contains(['.', 'e', 'E']) {
                text.parse().ok().map(Value::Float)
            } else {
                // Python refuses a leading zero, which was octal once.
                let digits = text.trim_start_matches(['+', '-']);
                let octal = digits.len() > 1
                    && digits.starts_with('0')
                    && digits.bytes().any(|b| b != b'0');
                (!octal)
                    .then(|| text.parse().ok().map(Value::Int))
                    .flatten()
            }
        })
        .parse_next(input)
}

fn text(input: &mut &str) -> Parsed<String> {
    let quote = one_of(['"', '\'']).parse_next(input)?;
    let mut text = String::new();
    loop {
        match cut_err(any).parse_next(input)? {
            c if c == quote => return Ok(text),
            '\n' => return cut_err(fail).parse_next(input),
            '\\' => {
                if let Some(c) = escape(input)? {
                    text.push(c);
                }
            }
            c => text.push(c),
        }
    }
}

/// What follows a backslash; `None` for an escaped line end.
fn escape(input: &mut &str) -> Parsed<Option<char>> {
    let hex = |digits: usize| {
        move |input: &mut &str| -> Parsed<char> {
            take_while(digits, |c: char| c.is_ascii_hexdigit())
                .verify_map(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?))
                .parse_next(input)
        }
    };
    Ok(Some(match cut_err(any).parse_next(input)? {
        '\n' => return Ok(None),
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        'x' => cut_err(hex(2)).parse_next(input)?,
        'u' => cut_err(hex(4)).parse_next(input)?,
        'U' => cut_err(hex(8)).parse_next(input)?,
        c @ ('\\' | '\'' | '"') => c,
        _ => return cut_err(fail).parse_next(input),
    }))
}

/// Items between commas, with an optional comma at the end.
fn items<T>(input: &mut &str, item: impl Fn(&mut &str) -> Parsed<T>) -> Parsed<(Vec<T>, bool)> {
    let list: Vec<T> =
        separated(0.., preceded(multispace0, item), (multispace0, ',')).parse_next(input)?;
    let comma = if list.is_empty() {
        None
    } else {
        opt((multispace0, ',')).parse_next(input)?
    };
    multispace0.parse_next(input)?;
    Ok((list, comma.is_some()))
}

fn list(input: &mut &str, depth: usize) -> Parsed<Value> {
    delimited(
        '[',
        |input: &mut &str| items(input, |input: &mut &str| value(input, depth + 1)),
        cut_err(']'),
    )
    .map(|(items, _)| Value::List(items))
    .parse_next(input)
}

/// `(a, b)`, `(a,)`, `()`; `(a)` is `a`.
fn tuple(input: &mut &str, depth: usize) -> Parsed<Value> {
    delimited(
        '(',
        |input: &mut &str| items(input, |input: &mut &str| value(input, depth + 1)),
        cut_err(')'),
    )
    .map(|(mut items, comma)| match (items.len(), comma) {
        (1, false) => items.remove(0),
        _ => Value::Tuple(items),
    })
    .parse_next(input)
}

/// `{a: b}`, `{a, b}`; `{}` is an empty dictionary.
fn braces(input: &mut &str, depth: usize) -> Parsed<Value> {
    // Each member is parsed only once: a second try per level would take exponential time.
    let member = |input: &mut &str| -> Parsed<(Value, Option<Value>)> {
        let key = (|input: &mut &str| value(input, depth + 1)).verify(Value::is_hashable);
        let entry = preceded((multispace0, ':', multispace0), |input: &mut &str| {
            value(input, depth + 1)
        });
        (key, opt(entry)).parse_next(input)
    };
    delimited('{', |input: &mut &str| items(input, member), cut_err('}'))
        .verify_map(|(members, _)| {
            if members.iter().all(|(_, value)| value.is_some()) {
                let entries = members
                    .into_iter()
                    .filter_map(|(key, value)| Some((key, value?)));
                return Some(Value::Dict(entries.collect()));
            }
            let is_set = members.iter().all(|(_, value)| value.is_none());
            is_set.then(|| Value::Set(members.into_iter().map(|(key, _)| key).collect()))
        })
        .parse_next(input)
}
