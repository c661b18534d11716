//! Splits the text of an expression into tokens.

use std::fmt;

use winnow::Parser;
use winnow::Result;
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, opt, preceded, repeat};
use winnow::stream::{LocatingSlice, Location, Stream};
use winnow::token::{any, one_of, take_while};

use crate::expression::error::{ParseError, shown};

/// A token. The text of a name, a keyword or a symbol is that in the expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Number(String),
    Text(String),
    Word(String),
    Symbol(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(text) | Token::Word(text) => write!(f, "`{}`", shown(text)),
            Token::Text(text) => write!(f, "text \"{}\"", shown(text)),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::End => f.write_str("end of the expression"),
        }
    }
}

/// The words that are not names, except after a dot.
pub(crate) const KEYWORDS: &[&str] = &[
    "in",
    "has",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "true",
    "false",
    "null",
];

type Input<'a> = LocatingSlice<&'a str>;

/// The tokens with their positions. The last one is [`Token::End`].
pub(crate) fn tokens(text: &str) -> std::result::Result<Vec<(Token, usize)>, ParseError> {
    let mut input = LocatingSlice::new(text);
    let mut tokens = Vec::new();
    loop {
        let space: Result<&str> = multispace0.parse_next(&mut input);
        let position = input.current_token_start();
        if space.is_err() || input.eof_offset() == 0 {
            tokens.push((Token::End, position));
            return Ok(tokens);
        }
        let Ok(token) = token.parse_next(&mut input) else {
            return Err(lex_error(text, position));
        };
        tokens.push((token, position));
    }
}

fn lex_error(text: &str, position: usize) -> ParseError {
    match text[position..].chars().next() {
        Some('"') => ParseError::new("unterminated string", position),
        Some(character) => {
            let hint = match character {
                '\'' => " (texts are in double quotes)",
                '=' => " (`==` compares)",
                '&' => " (`&&` is and)",
                '|' => " (`||` is or)",
                _ => "",
            };
            ParseError::new(
                format!(
                    "unexpected character `{}`{hint}",
                    shown(character.encode_utf8(&mut [0; 4]))
                ),
                position,
            )
        }
        None => ParseError::new("unexpected end of the expression", position),
    }
}

fn token(input: &mut Input<'_>) -> Result<Token> {
    alt((
        number.map(|text: &str| Token::Number(text.into())),
        string.map(Token::Text),
        word.map(|text: &str| Token::Word(text.into())),
        symbol.map(Token::Symbol),
    ))
    .parse_next(input)
}

fn number<'a>(input: &mut Input<'a>) -> Result<&'a str> {
    (opt('-'), digit1, opt(('.', digit1)))
        .take()
        .parse_next(input)
}

fn word<'a>(input: &mut Input<'a>) -> Result<&'a str> {
    let first = |c: char| c.is_alphabetic() || c == '_';
    let next = |c: char| c.is_alphanumeric() || c == '_';
    (one_of(first), take_while(0.., next))
        .take()
        .parse_next(input)
}

fn symbol(input: &mut Input<'_>) -> Result<&'static str> {
    let two = alt((
        "==".value("=="),
        "!=".value("!="),
        ">=".value(">="),
        "<=".value("<="),
        "&&".value("&&"),
        "||".value("||"),
        "??".value("??"),
    ));
    let one = alt((
        ">".value(">"),
        "<".value("<"),
        "!".value("!"),
        ".".value("."),
        ",".value(","),
        "(".value("("),
        ")".value(")"),
        "[".value("["),
        "]".value("]"),
    ));
    alt((two, one)).parse_next(input)
}

fn string(input: &mut Input<'_>) -> Result<String> {
    let plain = take_while(1.., |c| c != '"' && c != '\\').map(str::to_owned);
    let part = alt((plain, preceded('\\', any).map(unescaped)));
    let parts = repeat(0.., part).fold(String::new, |mut text, part: String| {
        text.push_str(&part);
        text
    });
    delimited('"', parts, '"').parse_next(input)
}

/// The text of an escape. An unknown one is kept with its backslash.
fn unescaped(escape: char) -> String {
    match escape {
        '"' | '\\' | '/' => escape.into(),
        'n' => "\n".into(),
        't' => "\t".into(),
        'r' => "\r".into(),
        other => format!("\\{other}"),
    }
}
