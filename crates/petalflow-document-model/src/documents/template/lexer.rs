//! The tokens of an action.

use super::error::{TemplateError, error};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `.a.b`, or `.` without names.
    Path(Vec<String>),
    /// `$` or `$name`, with the names after it. The name of `$` is empty.
    Variable(String, Vec<String>),
    Word(String),
    Text(String),
    Number(String),
    /// A character in single quotes: its number.
    Char(i64),
    Open,
    /// `)` with the names after it, as in `(index .list 0).name`.
    Close(Vec<String>),
    Pipe,
    Comma,
    /// `:=`
    Declare,
    /// `=`
    Assign,
}

impl Token {
    /// Whether a value or a name: two of them need a space between them.
    fn is_operand(&self) -> bool {
        !matches!(
            self,
            Token::Open
                | Token::Close(_)
                | Token::Pipe
                | Token::Comma
                | Token::Declare
                | Token::Assign
        )
    }
}

/// What `{{` is followed by, in one word: letters, digits and `_`.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a word begins an action that is not a value.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "end"
            | "with"
            | "range"
            | "break"
            | "continue"
            | "define"
            | "block"
            | "template"
    )
}

/// The most tokens of an action, with the names of paths.
const MAX_TOKENS: usize = 500;

pub(super) fn tokens(text: &str, position: usize) -> Result<Vec<(Token, usize)>, TemplateError> {
    let mut tokens: Vec<(Token, usize)> = Vec::new();
    let mut names_before = 0;
    let mut at = 0;
    let mut spaced = true;
    while let Some(next) = text[at..].chars().next() {
        let here = position + at;
        if tokens.len() + names_before >= MAX_TOKENS {
            return Err(error("the action is too long", here));
        }
        if next.is_whitespace() {
            at += next.len_utf8();
            spaced = true;
            continue;
        }
        let token = token(text, &mut at, next, here)?;
        if let Token::Path(names) | Token::Variable(_, names) | Token::Close(names) = &token {
            names_before += names.len();
        }
        let follows_operand = tokens
            .last()
            .is_some_and(|(last, _)| last.is_operand() || matches!(last, Token::Close(_)));
        let after_keyword = matches!(&*tokens, [(Token::Word(word), _)] if is_keyword(word));
        if !spaced
            && follows_operand
            && (token.is_operand() || (token == Token::Open && !after_keyword))
        {
            return Err(error(
                format!("unexpected `{next}`: put a space before it"),
                here,
            ));
        }
        tokens.push((token, here));
        spaced = false;
    }
    Ok(tokens)
}

fn token(text: &str, at: &mut usize, next: char, here: usize) -> Result<Token, TemplateError> {
    let simple = match next {
        '(' => Some(Token::Open),
        '|' => Some(Token::Pipe),
        ',' => Some(Token::Comma),
        '=' => Some(Token::Assign),
        _ => None,
    };
    if let Some(token) = simple {
        *at += 1;
        return Ok(token);
    }
    Ok(match next {
        ')' => {
            *at += 1;
            Token::Close(names(text, at))
        }
        ':' if text[*at..].starts_with(":=") => {
            *at += 2;
            Token::Declare
        }
        '.' if text[*at + 1..].starts_with(|c: char| c.is_ascii_digit()) => number(text, at),
        '.' => {
            let names = names(text, at);
            if names.is_empty() {
                *at += 1;
            }
            Token::Path(names)
        }
        '$' => {
            *at += 1;
            let name = word(text, at);
            Token::Variable(name, names(text, at))
        }
        '"' => Token::Text(quoted(text, at, here)?),
        '\'' => Token::Char(character(text, at, here)?),
        '`' => {
            let rest = &text[*at + 1..];
            let length = rest
                .find('`')
                .ok_or_else(|| error("the text has no end", here))?;
            *at += length + 2;
            Token::Text(rest[..length].replace('\r', ""))
        }
        '0'..='9' | '-' | '+' => number(text, at),
        _ if is_word(next) => Token::Word(word(text, at)),
        _ => return Err(error(format!("unexpected `{next}`"), here)),
    })
}

fn word(text: &str, at: &mut usize) -> String {
    let rest = &text[*at..];
    let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
    *at += word.len();
    word.to_owned()
}

fn number(text: &str, at: &mut usize) -> Token {
    let rest = &text[*at..];
    let mut length = 0;
    let mut before = ' ';
    for c in rest.chars() {
        // A sign is part of a number at its beginning and in its exponent.
        let is_sign = matches!(c, '+' | '-') && (length == 0 || matches!(before, 'e' | 'E'));
        if !is_sign && !is_word(c) && c != '.' {
            break;
        }
        length += c.len_utf8();
        before = c;
    }
    *at += length;
    Token::Number(rest[..length].into())
}

/// The names in `.a.b` at this place.
fn names(text: &str, at: &mut usize) -> Vec<String> {
    let mut names = Vec::new();
    while text[*at..].starts_with('.') {
        let mut after = *at + 1;
        let name = word(text, &mut after);
        if name.is_empty() {
            break;
        }
        names.push(name);
        *at = after;
        // The caller counts them, and refuses the next token.
        if names.len() > MAX_TOKENS {
            break;
        }
    }
    names
}

/// A text in double quotes, with the escapes of Go.
fn quoted(text: &str, at: &mut usize, here: usize) -> Result<String, TemplateError> {
    let no_end = || error("the text has no end", here);
    let mut bytes = Vec::new();
    let mut rest = &text[*at + 1..];
    loop {
        let next = rest.chars().next().ok_or_else(no_end)?;
        match next {
            '"' => break,
            '\n' => return Err(no_end()),
            '\\' => {
                let escape_at = here + text.len() - *at - rest.len();
                rest = escape(&rest[1..], '"', &mut bytes).map_err(|it| error(it, escape_at))?;
            }
            next => {
                bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    *at = text.len() - rest.len() + 1;
    String::from_utf8(bytes).map_err(|_| {
        error(
            "the bytes that the escapes name are not a text in UTF-8",
            here,
        )
    })
}

/// A character in single quotes.
fn character(text: &str, at: &mut usize, here: usize) -> Result<i64, TemplateError> {
    let wrong = || {
        error(
            "expected one character in single quotes; a text has double quotes",
            here,
        )
    };
    let inside = &text[*at + 1..];
    let next = inside.chars().next().ok_or_else(wrong)?;
    let (value, rest) = match next {
        '\\' => {
            let mut bytes = Vec::new();
            let rest = escape(&inside[1..], '\'', &mut bytes).map_err(|it| error(it, here))?;
            let value = match (&*bytes, std::str::from_utf8(&bytes)) {
                ([byte], _) => i64::from(*byte),
                (_, Ok(text)) => text.chars().next().map_or(0, |c| i64::from(u32::from(c))),
                _ => return Err(wrong()),
            };
            (value, rest)
        }
        '\'' | '\n' => return Err(wrong()),
        next => (i64::from(u32::from(next)), &inside[next.len_utf8()..]),
    };
    let rest = rest.strip_prefix('\'').ok_or_else(wrong)?;
    *at = text.len() - rest.len();
    Ok(value)
}

/// Reads what is after a backslash, and returns what follows it.
fn escape<'t>(text: &'t str, quote: char, bytes: &mut Vec<u8>) -> Result<&'t str, String> {
    let unknown = || "an unknown escape in a text".to_owned();
    let next = text.chars().next().ok_or_else(unknown)?;
    let simple = match next {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' => b'\\',
        next if next == quote => u8::try_from(next).map_err(|_| unknown())?,
        _ => {
            let (start, length, radix) = match next {
                'x' => (1, 2, 16),
                'u' => (1, 4, 16),
                'U' => (1, 8, 16),
                '0'..='7' => (0, 3, 8),
                _ => return Err(unknown()),
            };
            let digits = text.get(start..start + length).ok_or_else(unknown)?;
            if !digits.chars().all(|c| c.is_digit(radix)) {
                return Err(unknown());
            }
            let value = u32::from_str_radix(digits, radix).map_err(|_| unknown())?;
            if matches!(next, 'u' | 'U') {
                let c = char::from_u32(value)
                    .ok_or_else(|| format!("`\\{next}{digits}` is not a character"))?;
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                bytes.push(u8::try_from(value).map_err(|_| unknown())?);
            }
            return Ok(&text[start + length..]);
        }
    };
    bytes.push(simple);
    Ok(&text[1..])
}
