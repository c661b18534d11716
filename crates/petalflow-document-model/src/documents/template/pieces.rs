//! Splits a template into texts and actions.

use super::error::{TemplateError, error};

/// A text, or what is between two braces.
pub(super) enum Piece<'t> {
    Text(&'t str),
    /// The inside without trim marks, and its position in the template.
    Action(&'t str, usize),
}

/// What Go trims.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

pub(super) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, TemplateError> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut trim_next = false;
    while let Some(start) = text[at..].find("{{").map(|found| at + found) {
        let (inside, end) = inside(text, start)?;
        let (trim_before, body) = match inside.strip_prefix('-') {
            Some(body) if body.starts_with(SPACE) => (true, body),
            _ => (false, inside),
        };
        let (trim_after, body) = match body.strip_suffix('-') {
            Some(body) if body.ends_with(SPACE) => (true, body),
            _ => (false, body),
        };
        push_text(&mut pieces, &text[at..start], trim_next, trim_before);
        let trimmed = body.trim_start_matches(SPACE);
        let before_body = usize::from(trim_before) + body.len() - trimmed.len();
        let position = start + 2 + before_body;
        if trimmed.starts_with("/*") {
            // A comment is the whole action, and has no space around it but that of the trim marks.
            let is_alone = trimmed.trim_end_matches(SPACE).ends_with("*/")
                && (trim_before || trimmed.len() == body.len())
                && (trim_after || trimmed.ends_with("*/"));
            if !is_alone {
                return Err(error("a comment is written `{{/* .. */}}`", position));
            }
        } else {
            pieces.push(Piece::Action(trimmed.trim_end(), position));
        }
        trim_next = trim_after;
        at = end;
    }
    push_text(&mut pieces, &text[at..], trim_next, false);
    Ok(pieces)
}

fn push_text<'t>(pieces: &mut Vec<Piece<'t>>, text: &'t str, left: bool, right: bool) {
    let text = if left {
        text.trim_start_matches(SPACE)
    } else {
        text
    };
    let text = if right {
        text.trim_end_matches(SPACE)
    } else {
        text
    };
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
}

/// What is between the braces that begin at `start`, with its trim marks, and the position of the text after it.
fn inside(text: &str, start: usize) -> Result<(&str, usize), TemplateError> {
    let inside = &text[start + 2..];
    let no_end = || error("`{{` has no `}}`", start);
    let after_mark = inside
        .strip_prefix('-')
        .unwrap_or(inside)
        .trim_start_matches(SPACE);
    if after_mark.starts_with("/*") {
        let close = inside
            .find("*/")
            .ok_or_else(|| error("the comment has no end", start))?;
        let length = inside[close + 2..].find("}}").ok_or_else(no_end)?;
        let inside = &inside[..close + 2 + length];
        return Ok((inside, start + 2 + inside.len() + 2));
    }
    let mut quote = None;
    let mut escaped = false;
    for (index, byte) in inside.bytes().enumerate() {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (Some(b'"' | b'\''), b'\\') => escaped = true,
            (Some(open), byte) if open == byte => quote = None,
            (None, b'"' | b'`' | b'\'') => quote = Some(byte),
            (None, b'}') if inside[index + 1..].starts_with('}') => {
                return Ok((&inside[..index], start + 2 + index + 2));
            }
            _ => {}
        }
    }
    Err(no_end())
}
