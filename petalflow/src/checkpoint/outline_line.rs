//! The lines of an outline. They are read by people, in errors and in `flow.lock`, and taken apart again to be compared.

use std::borrow::Cow;
use std::fmt;

/// What a line says of a key: `notes: Vec<String> append`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyLine<'a> {
    /// The key's name in storage.
    pub(crate) id: Cow<'a, str>,
    /// The type of its values, as written.
    pub(crate) ty: Cow<'a, str>,
    pub(crate) reducer: Cow<'a, str>,
    /// Its value is gone after one superstep.
    pub(crate) ephemeral: bool,
    /// It has no default, so every thread must have a value.
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
    /// A line taken apart. A type may hold spaces, so the rest is taken off its end.
    #[inline]
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let (id, rest) = name(line)?;
        let mut rest = rest.strip_prefix(": ")?;
        let mut flag = |flag: &str| {
            let before = rest.strip_suffix(flag).and_then(|r| r.strip_suffix(' '));
            rest = before.unwrap_or(rest);
            before.is_some()
        };
        // In the order opposite to that in which they are written.
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

/// What a line says of a node: `node research takes Topic deferred`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeLine<'a> {
    /// The node's name in storage.
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
    /// A line taken apart, if it is one of a node.
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

/// A name as it stands in a line: as it is, or in quotes where it could be taken for something else.
#[inline]
pub(crate) fn quoted(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if !name.is_empty() && name.chars().all(plain) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("{name:?}"))
    }
}

/// The name at the beginning of a line, and what follows it.
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
    // Rust's own quoting is JSON's but for characters that no one names a key with.
    let text = inner[..end].replace("\\\"", "\"").replace("\\\\", "\\");
    Some((Cow::Owned(text), &inner[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were() {
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
            // A reducer is never called like a flag.
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
