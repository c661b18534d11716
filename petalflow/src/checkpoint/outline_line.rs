//! The lines of an outline. People read them in errors and in `flow.lock`, and programs parse them to compare them.

use std::borrow::Cow;
use std::fmt;

/// The line of a key: `notes: Vec<String> append`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyLine<'a> {
    /// The stored name of the key.
    pub(crate) id: Cow<'a, str>,
    /// The type of its values, as the program writes it.
    pub(crate) ty: Cow<'a, str>,
    pub(crate) reducer: Cow<'a, str>,
    /// Whether its value lasts one superstep.
    pub(crate) ephemeral: bool,
    /// Whether it has no default, so that every thread must have a value.
    pub(crate) required: bool,
}

impl fmt::Display for KeyLine<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", quoted(&self.id))?;
        if !self.ty.is_empty() {
            write!(f, "{} ", self.ty)?;
        }
        f.write_str(&self.reducer)?;
        if self.ephemeral {
            f.write_str(" ephemeral")?;
        }
        if self.required {
            f.write_str(" required")?;
        }
        Ok(())
    }
}

impl<'a> KeyLine<'a> {
    /// Parses a line. A type may contain spaces, so the other parts are removed from the end.
    #[inline]
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let (id, rest) = name(line)?;
        let mut rest = rest.strip_prefix(": ")?;
        let mut flag = |flag: &str| {
            let before = rest.strip_suffix(flag).and_then(|r| r.strip_suffix(' '));
            rest = before.unwrap_or(rest);
            before.is_some()
        };
        // In the reverse order of `Display`.
        let required = flag("required");
        let ephemeral = flag("ephemeral");
        let (ty, reducer) = rest.rsplit_once(' ').unwrap_or(("", rest));
        Some(KeyLine {
            id,
            ty: ty.into(),
            reducer: reducer.into(),
            ephemeral,
            required,
        })
    }

    #[inline]
    pub(crate) fn into_owned(self) -> KeyLine<'static> {
        KeyLine {
            id: self.id.into_owned().into(),
            ty: self.ty.into_owned().into(),
            reducer: self.reducer.into_owned().into(),
            ephemeral: self.ephemeral,
            required: self.required,
        }
    }
}

/// The line of a node: `node research takes Topic deferred`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeLine<'a> {
    /// The stored name of the node.
    pub(crate) name: Cow<'a, str>,
    /// The type of its item, if it takes one.
    pub(crate) takes: Option<Cow<'a, str>>,
    pub(crate) deferred: bool,
}

impl fmt::Display for NodeLine<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", quoted(&self.name))?;
        if let Some(item) = &self.takes {
            write!(f, " takes {item}")?;
        }
        if self.deferred {
            f.write_str(" deferred")?;
        }
        Ok(())
    }
}

impl<'a> NodeLine<'a> {
    /// Parses a line. `None` if it is not the line of a node.
    #[inline]
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let (name, rest) = name(line.strip_prefix("node ")?)?;
        let (rest, deferred) = match rest.strip_suffix(" deferred") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let takes = rest.strip_prefix(" takes ").map(Cow::Borrowed);
        Some(NodeLine {
            name,
            takes,
            deferred,
        })
    }
}

/// A name in a line, in quotes if it could be mistaken for something else.
#[inline]
pub(crate) fn quoted(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if !name.is_empty() && name.chars().all(plain) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("{name:?}"))
    }
}

/// The name at the beginning of a line, and the rest.
#[inline]
fn name(line: &str) -> Option<(Cow<'_, str>, &str)> {
    let Some(inner) = line.strip_prefix('"') else {
        let end = line.find([':', ' ']).unwrap_or(line.len());
        return Some((Cow::Borrowed(&line[..end]), &line[end..]));
    };
    let mut escaped = false;
    let end = inner.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    // Only the escapes of quotes and backslashes are undone. Names have no other characters that Rust escapes.
    let text = inner[..end].replace("\\\"", "\"").replace("\\\\", "\\");
    Some((Cow::Owned(text), &inner[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed_as_they_were_formatted() {
        for (id, ty, reducer, ephemeral, required) in [
            ("notes", "Vec<String>", "append", false, false),
            ("topic", "[u8; 4]", "replace", false, true),
            ("scratch", "", "replace", true, false),
            ("both", "dyn Any", "reduce", true, true),
            ("a: b", "ephemeral", "required", false, false),
            ("say \"a\\b\"", "u8", "sum", false, false),
            ("", "u8", "sum", false, false),
        ] {
            let line = KeyLine {
                id: id.into(),
                ty: ty.into(),
                reducer: reducer.into(),
                ephemeral,
                required,
            };
            // A reducer never has the name of a flag.
            if reducer != "required" {
                assert_eq!(KeyLine::parse(&line.to_string()), Some(line));
            }
        }
        for (name, takes, deferred) in [
            ("write", None, false),
            ("dig", Some("Vec<u8>"), false),
            ("report", None, true),
            ("a b", Some("(u8, u8)"), true),
        ] {
            let line = NodeLine {
                name: name.into(),
                takes: takes.map(Into::into),
                deferred,
            };
            assert_eq!(NodeLine::parse(&line.to_string()), Some(line));
        }
        assert_eq!(NodeLine::parse("edge a -> b"), None);
    }
}
