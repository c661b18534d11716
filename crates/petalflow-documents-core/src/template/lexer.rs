//! The tokens of an action.

use super::error::{TemplateError, error};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `.a.b`, or `.` without names.
    Path(Vec<String>),
    /// `$` or `$name`, as the name in Jinja, with the names after it. The name of `$` is empty.
    Variable(String, Vec<String>),
    Word(String),
    Text(String),
    Number(String),
    Open,
    /// `)` with the names after it, as in `(index .list 0).name`.
    Close(Vec<String>),
    Pipe,
}

/// The name in Jinja of a variable `$name`.
pub(super) fn variable(text: &str) -> Option<String> {
    let name = text.strip_prefix('$')?;
    (!name.is_empty() && name.bytes().all(is_word)).then(|| format!("_var_{name}"))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The most tokens of an action, with the names of paths.
const MAX_TOKENS: usize = 500;

pub(super) fn tokens(text: &str, position: usize) -> Result<Vec<(Token, usize)>, TemplateError> {
    let mut tokens = Vec::new();
    // Each name of a path is a step of its own in Jinja.
    let mut names_before = 0;
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let here = position + at;
        if tokens.len() + names_before >= MAX_TOKENS {
            return Err(error("the action is too long", here));
        }
        let token = match next {
            _ if next.is_whitespace() => {
                at += next.len_utf8();
                continue;
            }
            '(' => {
                at += 1;
                Token::Open
            }
            ')' => {
                at += 1;
                Token::Close(names(text, &mut at))
            }
            '|' => {
                at += 1;
                Token::Pipe
            }
            '.' if text[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => {
                number(text, &mut at)
            }
            '.' => {
                let names = names(text, &mut at);
                if names.is_empty() {
                    at += 1;
                }
                Token::Path(names)
            }
            '$' => {
                let length = text[at + 1..].bytes().take_while(|b| is_word(*b)).count();
                let name = variable(&text[at..at + 1 + length]).unwrap_or_default();
                at += 1 + length;
                Token::Variable(name, names(text, &mut at))
            }
            '"' => Token::Text(quoted(text, &mut at, here)?),
            '`' => {
                let rest = &text[at + 1..];
                let length = rest
                    .find('`')
                    .ok_or_else(|| error("the text has no end", here))?;
                at += length + 2;
                Token::Text(rest[..length].into())
            }
            '0'..='9' | '-' | '+' => number(text, &mut at),
            _ if next.is_ascii_alphabetic() || next == '_' => {
                let length = text[at..].bytes().take_while(|b| is_word(*b)).count();
                at += length;
                Token::Word(text[at - length..at].into())
            }
            _ => return Err(error(format!("unexpected `{next}`"), here)),
        };
        if let Token::Path(names) | Token::Variable(_, names) | Token::Close(names) = &token {
            names_before += names.len();
        }
        tokens.push((token, here));
    }
    Ok(tokens)
}

fn number(text: &str, at: &mut usize) -> Token {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_');
    let length = text[*at..].bytes().take_while(is_part).count();
    *at += length;
    Token::Number(text[*at - length..*at].into())
}

/// The names in `.a.b` at this place.
fn names(text: &str, at: &mut usize) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(rest) = text[*at..].strip_prefix('.') {
        let length = rest.bytes().take_while(|byte| is_word(*byte)).count();
        if length == 0 {
            break;
        }
        names.push(rest[..length].to_owned());
        *at += 1 + length;
        // The caller counts them, and refuses the next token.
        if names.len() > MAX_TOKENS {
            break;
        }
    }
    names
}

fn quoted(text: &str, at: &mut usize, here: usize) -> Result<String, TemplateError> {
    let mut value = String::new();
    let mut chars = text[*at + 1..].char_indices();
    while let Some((index, next)) = chars.next() {
        match next {
            '"' => {
                *at += index + 2;
                return Ok(value);
            }
            '\\' => match chars.next().map(|(_, escaped)| escaped) {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('r') => value.push('\r'),
                Some(escaped @ ('"' | '\\' | '\'')) => value.push(escaped),
                _ => return Err(error("an unknown escape in a text", here + index)),
            },
            next => value.push(next),
        }
    }
    Err(error("the text has no end", here))
}
