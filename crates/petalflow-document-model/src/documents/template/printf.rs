//! `printf`.

use std::fmt::Write as _;

use super::number::{general, scientific};
use super::value::Item;

/// A part of a format.
enum Part {
    Plain(String),
    Verb(Verb),
}

#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "the flags of a format")]
struct Verb {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

/// The largest width and precision.
const MAX_WIDTH: usize = 1_000;

/// The verbs that are known.
const VERBS: &str = "svdqtfFeEgGxXcbo";

/// Checks a format and the number of its values.
pub(super) fn check(format: &str, values: usize) -> Result<(), String> {
    let parts = parts(format)?;
    let verbs = parts
        .iter()
        .filter(|it| matches!(it, Part::Verb(_)))
        .count();
    match verbs.cmp(&values) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err("`printf` has too few values".into()),
        std::cmp::Ordering::Less => Err("`printf` has too many values".into()),
    }
}

/// Fills a format.
pub(super) fn printf(format: &str, values: &[Item<'_>]) -> Result<String, String> {
    check(format, values.len())?;
    let mut values = values.iter();
    let mut text = String::new();
    for part in parts(format)? {
        match part {
            Part::Plain(plain) => text.push_str(&plain),
            Part::Verb(verb) => {
                if let Some(value) = values.next() {
                    verb.write(value, &mut text)?;
                }
            }
        }
    }
    Ok(text)
}

fn parts(format: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            plain.push('%');
            rest = after;
            continue;
        }
        let (verb, after) = verb(rest)?;
        if !plain.is_empty() {
            parts.push(Part::Plain(std::mem::take(&mut plain)));
        }
        parts.push(Part::Verb(verb));
        rest = after;
    }
    plain.push_str(rest);
    parts.push(Part::Plain(plain));
    Ok(parts)
}

fn verb(mut rest: &str) -> Result<(Verb, &str), String> {
    let mut verb = Verb::default();
    loop {
        match rest.as_bytes().first() {
            Some(b'-') => verb.minus = true,
            Some(b'+') => verb.plus = true,
            Some(b'#') => verb.sharp = true,
            Some(b' ') => verb.space = true,
            Some(b'0') => verb.zero = true,
            _ => break,
        }
        rest = &rest[1..];
    }
    verb.width = number(&mut rest)?.unwrap_or(0);
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        verb.precision = Some(number(&mut rest)?.unwrap_or(0));
    }
    match rest.chars().next() {
        Some(letter) if VERBS.contains(letter) => {
            verb.letter = letter;
            Ok((verb, &rest[letter.len_utf8()..]))
        }
        Some(other) => Err(format!(
            "`printf` does not know `%{other}`: it knows `%s`, `%v`, `%d`, `%q`, `%t`, `%f`, `%e`, `%g`, `%x`, `%c`, `%b`, \
             `%o` and `%%`"
        )),
        None => Err("`%` at the end of a format of `printf`: write `%%`".into()),
    }
}

fn number(rest: &mut &str) -> Result<Option<usize>, String> {
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, after) = rest.split_at(length);
    *rest = after;
    if digits.is_empty() {
        return Ok(None);
    }
    match digits.parse() {
        Ok(value) if value <= MAX_WIDTH => Ok(Some(value)),
        _ => Err(format!(
            "a width in a format of `printf` is larger than {MAX_WIDTH}"
        )),
    }
}

impl Verb {
    fn write(&self, value: &Item<'_>, text: &mut String) -> Result<(), String> {
        let wrong = |takes: &str| {
            format!(
                "`%{}` of `printf` takes {takes}, and not {}",
                self.letter,
                value.kind()
            )
        };
        let written = match self.letter {
            's' | 'v' => self.cut(&value.printed()),
            'q' => quote(&self.cut(value.as_str().ok_or_else(|| wrong("a text"))?)),
            't' => match value {
                Item::Bool(value) => value.to_string(),
                _ => return Err(wrong("a truth value")),
            },
            'x' | 'X' if value.as_str().is_some() => self.hex(value.as_str().unwrap_or_default()),
            'd' | 'x' | 'X' | 'b' | 'o' | 'c' => {
                let whole = whole(value).ok_or_else(|| wrong("a whole number"))?;
                self.whole(whole)?
            }
            _ => self.float(float(value).ok_or_else(|| wrong("a number"))?),
        };
        self.pad(&written, is_number(value, self.letter), text);
        Ok(())
    }

    /// A precision cuts a text.
    fn cut(&self, text: &str) -> String {
        match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text.to_owned(),
        }
    }

    fn hex(&self, text: &str) -> String {
        let mut hex = String::new();
        let most = self.precision.unwrap_or(usize::MAX);
        for (index, byte) in text.bytes().take(most).enumerate() {
            if self.space && index > 0 {
                hex.push(' ');
            }
            if self.sharp && (self.space || index == 0) {
                hex.push_str(if self.letter == 'x' { "0x" } else { "0X" });
            }
            let _ = if self.letter == 'x' {
                write!(hex, "{byte:02x}")
            } else {
                write!(hex, "{byte:02X}")
            };
        }
        hex
    }

    fn whole(&self, value: i128) -> Result<String, String> {
        let digits = value.unsigned_abs();
        let mut written = match self.letter {
            'x' => format!("{digits:x}"),
            'X' => format!("{digits:X}"),
            'b' => format!("{digits:b}"),
            'o' => format!("{digits:o}"),
            'c' => {
                let c = u32::try_from(value).ok().and_then(char::from_u32);
                return c
                    .map(String::from)
                    .ok_or_else(|| format!("`%c` of `printf`: {value} is not a character"));
            }
            _ => digits.to_string(),
        };
        let mut least = self.precision.unwrap_or(1);
        if self.precision == Some(0) && value == 0 {
            written.clear();
        }
        if self.zero && !self.minus && self.precision.is_none() {
            let sign = usize::from(value < 0 || self.plus || self.space);
            least = self.width.saturating_sub(sign);
        }
        let zeros = least.saturating_sub(written.len());
        written.insert_str(0, &"0".repeat(zeros));
        if self.sharp {
            let prefix = match self.letter {
                'x' => "0x",
                'X' => "0X",
                'b' => "0b",
                'o' if !written.starts_with('0') => "0",
                _ => "",
            };
            written.insert_str(0, prefix);
        }
        Ok(self.signed(&written, value < 0))
    }

    fn signed(&self, digits: &str, negative: bool) -> String {
        let sign = match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (.., true) => " ",
            _ => "",
        };
        format!("{sign}{digits}")
    }

    fn float(&self, value: f64) -> String {
        let size = value.abs();
        let precision = self.precision.unwrap_or(6);
        let digits = match self.letter {
            'f' | 'F' => format!("{size:.precision$}"),
            'e' | 'E' => scientific(size, precision),
            _ => general(size, self.precision),
        };
        let digits = if matches!(self.letter, 'E' | 'G') {
            digits.to_uppercase()
        } else {
            digits
        };
        let negative = value.is_sign_negative();
        let sign = usize::from(negative || self.plus || self.space);
        let zeros = if self.zero && !self.minus {
            self.width.saturating_sub(sign + digits.len())
        } else {
            0
        };
        self.signed(&format!("{}{digits}", "0".repeat(zeros)), negative)
    }

    fn pad(&self, written: &str, is_number: bool, text: &mut String) {
        let missing = self.width.saturating_sub(written.chars().count());
        if self.minus {
            let _ = write!(text, "{written}{}", " ".repeat(missing));
        } else {
            // Go fills texts with zeros too.
            let fill = if self.zero && !is_number { "0" } else { " " };
            let _ = write!(text, "{}{written}", fill.repeat(missing));
        }
    }
}

fn is_number(value: &Item<'_>, verb: char) -> bool {
    matches!(value, Item::Int(_) | Item::Float(_)) && verb != 's'
}

/// A number without a fraction.
#[allow(clippy::cast_possible_truncation)]
fn whole(value: &Item<'_>) -> Option<i128> {
    match value {
        Item::Int(value) => Some(*value),
        Item::Float(value) if value.fract() == 0.0 && value.abs() < 1e18 => Some(*value as i128),
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss)]
fn float(value: &Item<'_>) -> Option<f64> {
    match value {
        Item::Int(value) => Some(*value as f64),
        Item::Float(value) => Some(*value),
        _ => None,
    }
}

/// A text in quotes, with the escapes of Go.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            c if is_printable(c) => quoted.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..0x80 => write!(quoted, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
                    _ => write!(quoted, "\\U{code:08x}"),
                };
            }
        }
    }
    quoted.push('"');
    quoted
}

/// As the standard library's `escape_debug` decides. After a letter, it does not escape what combines with it.
fn is_printable(c: char) -> bool {
    let text = String::from_iter(['a', c]);
    matches!(c, '\'') || text.escape_debug().eq(text.chars())
}
