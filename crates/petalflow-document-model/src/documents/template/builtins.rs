//! What the functions of templates compute.

use std::fmt::Write as _;

use super::compare::compare;
use super::functions::Function;
use super::limits::Limits;
use super::printf::printf;
use super::value::Item;

/// Calls a function. No argument is missing, except of functions that accept it.
pub(super) fn call<'a>(
    function: Function,
    arguments: &[Item<'a>],
    limits: &mut Limits,
) -> Result<Item<'a>, String> {
    use Function as F;
    let made = |text: String, limits: &mut Limits| {
        limits.make(text.len())?;
        Ok(Item::text(text))
    };
    match (function, arguments) {
        (F::And | F::Or, _) => Ok(short_circuit(function, arguments)),
        (F::Not, [value]) => Ok(Item::Bool(!value.is_true())),
        (F::Eq | F::Ne | F::Lt | F::Le | F::Gt | F::Ge, _) => {
            let read = arguments
                .iter()
                .filter_map(Item::as_str)
                .map(str::len)
                .sum();
            limits.read(read)?;
            compare(function, arguments).map(Item::Bool)
        }
        (F::Len, [value]) => length(value),
        (F::Index, [value, keys @ ..]) => index(value, keys),
        (F::Slice, [value, bounds @ ..]) => slice(value, bounds, limits),
        (F::Print, _) => made(print(arguments, limits)?, limits),
        (F::Println, _) => {
            let parts: Vec<_> = arguments.iter().map(Item::printed).collect();
            made(parts.join(" ") + "\n", limits)
        }
        (F::Printf, [format, values @ ..]) => {
            let format = text(format, "printf")?;
            made(printf(format, values)?, limits)
        }
        (F::Html, _) => made(html(&print(arguments, limits)?), limits),
        (F::UrlQuery, _) => made(url_query(&print(arguments, limits)?), limits),
        (F::Json, [value]) => made(value.to_json().to_string(), limits),
        (F::JsonPretty, [value]) => {
            let pretty = serde_json::to_string_pretty(&value.to_json());
            made(pretty.map_err(|error| error.to_string())?, limits)
        }
        (F::Join, [a, b]) => {
            // The list is the value, wherever it is.
            let (list, separator) = if b.list_len().is_some() {
                (b, a)
            } else {
                (a, b)
            };
            join(list, text(separator, "join")?, limits)
        }
        (F::Split, [value, separator]) => {
            split(text(value, "split")?, text(separator, "split")?, limits)
        }
        (F::Upper, [value]) => made(mapped(&value.printed(), char::to_uppercase), limits),
        (F::Lower, [value]) => made(mapped(&value.printed(), char::to_lowercase), limits),
        (F::Trim, [value]) => made(value.printed().trim().to_owned(), limits),
        (F::Contains, [value, part]) => contains(value, part, limits),
        (F::HasPrefix, [value, part]) => {
            let (value, part) = (text(value, "hasPrefix")?, text(part, "hasPrefix")?);
            Ok(Item::Bool(value.starts_with(part)))
        }
        (F::HasSuffix, [value, part]) => {
            let (value, part) = (text(value, "hasSuffix")?, text(part, "hasSuffix")?);
            Ok(Item::Bool(value.ends_with(part)))
        }
        (F::Default, [default, value]) => {
            Ok(if value.is_absent() { default } else { value }.clone())
        }
        (F::Coalesce, _) => {
            let found = arguments.iter().find(|value| !value.is_absent());
            Ok(found.cloned().unwrap_or(Item::Null))
        }
        _ => Err(format!(
            "`{}` does not take {} arguments",
            function.name(),
            arguments.len()
        )),
    }
}

/// The first value that decides, or the last one.
fn short_circuit<'a>(function: Function, arguments: &[Item<'a>]) -> Item<'a> {
    let decides = |value: &&Item<'_>| value.is_true() == (function == Function::Or);
    let found = arguments.iter().find(decides).or(arguments.last());
    found.cloned().unwrap_or(Item::Null)
}

fn text<'i>(value: &'i Item<'_>, function: &str) -> Result<&'i str, String> {
    let text = value.as_str();
    text.ok_or_else(|| format!("`{function}` takes a text, and not {}", value.kind()))
}

fn whole(length: usize) -> Item<'static> {
    Item::Int(length.try_into().unwrap_or(i128::MAX))
}

/// The bytes of a text, or the number of items or names.
fn length(value: &Item<'_>) -> Result<Item<'static>, String> {
    let length = value.as_str().map(str::len).or(value.list_len());
    let length = length.or_else(|| value.names().map(|names| names.len()));
    let length = length.ok_or_else(|| format!("{} has no length", value.kind()))?;
    Ok(whole(length))
}

fn index<'a>(value: &Item<'a>, keys: &[Item<'a>]) -> Result<Item<'a>, String> {
    let mut value = value.clone();
    for key in keys {
        let next = match (&value, key, key.as_str()) {
            (Item::Object(_) | Item::Variables(_), _, Some(name)) => {
                let found = value.field(name).flatten();
                found.unwrap_or_else(|| Item::Missing(name.into()))
            }
            (_, Item::Int(at), _) if value.list_len().is_some() || value.as_str().is_some() => {
                at_index(&value, *at)?
            }
            _ => {
                return Err(format!(
                    "{} cannot be the index of {}",
                    key.kind(),
                    value.kind()
                ));
            }
        };
        value = next;
    }
    Ok(value)
}

fn at_index<'a>(value: &Item<'a>, at: i128) -> Result<Item<'a>, String> {
    let index = usize::try_from(at).ok();
    let found = index.and_then(|index| match value.as_str() {
        Some(text) => text
            .as_bytes()
            .get(index)
            .map(|byte| Item::Int((*byte).into())),
        None => value.item(index),
    });
    found.ok_or_else(|| format!("index {at} is out of range"))
}

fn slice<'a>(
    value: &Item<'a>,
    bounds: &[Item<'_>],
    limits: &mut Limits,
) -> Result<Item<'a>, String> {
    let length = value.as_str().map(str::len).or(value.list_len());
    let length = length
        .ok_or_else(|| format!("`slice` takes a text or a list, and not {}", value.kind()))?;
    if bounds.len() > 2 && value.as_str().is_some() {
        return Err("`slice` takes at most two indexes of a text".into());
    }
    let mut places = Vec::new();
    for bound in bounds {
        let place = match bound {
            Item::Int(at) => usize::try_from(*at).ok().filter(|at| *at <= length),
            other => return Err(format!("{} cannot be an index", other.kind())),
        };
        places.push(place.ok_or("an index of `slice` is out of range")?);
    }
    let from = places.first().copied().unwrap_or(0);
    let to = places.get(1).copied().unwrap_or(length);
    if from > to || places.get(2).is_some_and(|most| *most < to) {
        return Err("the indexes of `slice` are in the wrong order".into());
    }
    if let Some(text) = value.as_str() {
        let part = text
            .get(from..to)
            .ok_or("an index of `slice` is inside of a character")?;
        limits.make(part.len())?;
        return Ok(Item::text(part));
    }
    limits.make((to - from) * size_of::<Item<'_>>())?;
    let items = (from..to).filter_map(|index| value.item(index));
    Ok(Item::List(items.collect()))
}

/// The values as one text. There is a space between two values that are not texts.
fn print(values: &[Item<'_>], limits: &mut Limits) -> Result<String, String> {
    let mut text = String::new();
    let mut before = None;
    for value in values {
        let is_text = value.as_str().is_some();
        if before == Some(false) && !is_text {
            text.push(' ');
        }
        let printed = value.printed();
        limits.read(printed.len())?;
        limits.fits(text.len() + printed.len())?;
        text.push_str(&printed);
        before = Some(is_text);
    }
    Ok(text)
}

/// As in Go, a character that would become several stays as it is.
fn mapped<I: ExactSizeIterator<Item = char>>(text: &str, map: fn(char) -> I) -> String {
    let one = |c: char| {
        let mut mapped = map(c);
        match (mapped.next(), mapped.next()) {
            (Some(only), None) => only,
            _ => c,
        }
    };
    text.chars().map(one).collect()
}

fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => escaped.push('\u{fffd}'),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn url_query(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => escaped.push('+'),
            b'-' | b'_' | b'.' | b'~' => escaped.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => escaped.push(byte.into()),
            _ => {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
    }
    escaped
}

fn join<'a>(list: &Item<'a>, separator: &str, limits: &mut Limits) -> Result<Item<'a>, String> {
    let length = list.list_len();
    let length = length.ok_or_else(|| format!("`join` takes a list, and not {}", list.kind()))?;
    let mut text = String::new();
    for index in 0..length {
        if index > 0 {
            text.push_str(separator);
        }
        text.push_str(&list.item(index).unwrap_or(Item::Null).printed());
        limits.fits(text.len())?;
    }
    limits.make(text.len())?;
    Ok(Item::text(text))
}

/// As in Go, nothing separates characters.
fn split<'a>(value: &str, separator: &str, limits: &mut Limits) -> Result<Item<'a>, String> {
    // Each part is a value with a header, and there may be one per byte.
    let parts = if separator.is_empty() {
        value.chars().count()
    } else {
        value.matches(separator).count() + 1
    };
    limits.make(value.len() + parts * (size_of::<Item<'_>>() + 16))?;
    let parts: Vec<Item<'a>> = if separator.is_empty() {
        value.chars().map(|c| Item::text(c.to_string())).collect()
    } else {
        value.split(separator).map(Item::text).collect()
    };
    Ok(Item::List(parts.into()))
}

/// Whether a text contains a part, a list an item, or an object a name.
fn contains<'a>(
    value: &Item<'_>,
    part: &Item<'_>,
    limits: &mut Limits,
) -> Result<Item<'a>, String> {
    if let Some(length) = value.list_len() {
        let wanted = part.to_json();
        let mut found = false;
        for item in (0..length).filter_map(|index| value.item(index)) {
            limits.read(size_of::<Item<'_>>())?;
            found = found || crate::expression::equal(&item.to_json(), &wanted);
        }
        return Ok(Item::Bool(found));
    }
    let part = text(part, "contains")?;
    if let Some(found) = value.field(part) {
        return Ok(Item::Bool(found.is_some()));
    }
    let value = text(value, "contains")?;
    limits.read(value.len())?;
    Ok(Item::Bool(value.contains(part)))
}
