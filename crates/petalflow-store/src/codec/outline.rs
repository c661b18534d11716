//! The parts of a program that stored threads depend on.
//!
//! A checkpoint stores an outline as a structure. `flow.lock` and errors show it as text, one line for each part.
#![allow(
    missing_docs,
    reason = "`docs/reference/checkpoint-format.md` describes the fields"
)]

use std::borrow::Cow;
use std::fmt;

use crate::codec::{CodecError, Reducer, Unpack, pack};

/// The parts of a program that stored threads depend on. Checkpoints that are their own base contain it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Sorted by id.
    pub keys: Vec<KeyOutline>,
    pub graph: GraphOutline,
}

/// The graph of a program, by the names in storage. All lists are sorted, so the order of a declaration has no influence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphOutline {
    pub nodes: Vec<NodeOutline>,
    /// Edges between nodes, each as one text: they are compared and shown.
    pub edges: Vec<String>,
    /// The names of the joins in storage.
    pub joins: Vec<String>,
}

/// A key of the state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyOutline {
    /// The name in storage.
    pub id: Cow<'static, str>,
    /// The type of the values, as written in the program. Empty if it is not known.
    pub ty: Cow<'static, str>,
    pub reducer: Reducer,
    /// The value exists for one superstep only.
    pub ephemeral: bool,
    /// The key has no default, so every thread must have a value.
    pub required: bool,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeOutline {
    /// The name in storage.
    pub name: String,
    /// The type of the item, if the node takes one.
    pub item: Option<String>,
    pub deferred: bool,
}

/// A part of an outline as text.
#[derive(Debug)]
pub struct Line {
    /// The name of the key or node; the whole text of an edge or join.
    pub name: String,
    pub text: String,
}

impl Outline {
    /// Adds the part that a line of `flow.lock` describes. Ignores a line that this program does not know.
    pub fn add_line(&mut self, line: &str) {
        let Some((kind, rest)) = line.split_once(' ') else {
            return;
        };
        match kind {
            "key" => self.keys.extend(KeyOutline::parse(rest)),
            "node" => self.graph.nodes.extend(NodeOutline::parse(rest)),
            "edge" => self.graph.edges.push(rest.into()),
            "join" => self.graph.joins.push(rest.into()),
            _ => {}
        }
    }

    /// The same outline in the order in which it is compared.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.keys.sort_unstable();
        self.graph.nodes.sort_unstable();
        self.graph.edges.sort_unstable();
        self.graph.joins.sort_unstable();
        self
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        pack::array(2, out);
        encode_keys(&self.keys, out);
        self.graph.encode(out);
    }

    pub(crate) fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(2)?;
        let outline = Outline {
            keys: from.list(KeyOutline::decode)?,
            graph: GraphOutline::decode(from)?,
        };
        Ok(outline.sorted())
    }
}

impl GraphOutline {
    pub fn lines(&self) -> Vec<Line> {
        let whole = |kind: &str, text: &String| Line {
            name: text.clone(),
            text: format!("{kind} {text}"),
        };
        let nodes = self.nodes.iter().map(|node| Line {
            name: node.name.clone(),
            text: node.to_string(),
        });
        let edges = self.edges.iter().map(|edge| whole("edge", edge));
        let joins = self.joins.iter().map(|join| whole("join", join));
        nodes.chain(edges).chain(joins).collect()
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        pack::array(3, out);
        pack::list(self.nodes.iter(), out, |node, out| {
            pack::array(3, out);
            pack::text(&node.name, out);
            pack::option(node.item.as_deref(), out, pack::text);
            pack::boolean(node.deferred, out);
        });
        for texts in [&self.edges, &self.joins] {
            pack::list(texts.iter(), out, |text, out| pack::text(text, out));
        }
    }

    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(3)?;
        Ok(GraphOutline {
            nodes: from.list(|from| {
                from.tuple(3)?;
                Ok(NodeOutline {
                    name: from.text()?,
                    item: from.option(Unpack::text)?,
                    deferred: from.boolean()?,
                })
            })?,
            edges: from.list(Unpack::text)?,
            joins: from.list(Unpack::text)?,
        })
    }
}

pub fn encode_keys(keys: &[KeyOutline], out: &mut Vec<u8>) {
    pack::list(keys.iter(), out, |key, out| {
        pack::array(5, out);
        pack::text(&key.id, out);
        pack::text(&key.ty, out);
        pack::text(key.reducer.name(), out);
        pack::boolean(key.ephemeral, out);
        pack::boolean(key.required, out);
    });
}

pub fn key_lines(keys: &[KeyOutline]) -> Vec<Line> {
    let line = |key: &KeyOutline| Line {
        name: key.id.to_string(),
        text: key.to_string(),
    };
    keys.iter().map(line).collect()
}

/// The line of a key: `key notes: Vec<String> append`.
impl fmt::Display for KeyOutline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}: ", quoted(&self.id))?;
        if !self.ty.is_empty() {
            write!(f, "{} ", self.ty)?;
        }
        f.write_str(self.reducer.name())?;
        if self.ephemeral {
            f.write_str(" ephemeral")?;
        }
        if self.required {
            f.write_str(" required")?;
        }
        Ok(())
    }
}

impl KeyOutline {
    /// The key with this id. The keys are sorted.
    pub fn find<'a>(keys: &'a [Self], id: &str) -> Option<&'a Self> {
        keys.get(Self::position(keys, id)?)
    }

    /// The index of the key with this id.
    pub(crate) fn position(keys: &[Self], id: &str) -> Option<usize> {
        keys.binary_search_by(|key| (*key.id).cmp(id)).ok()
    }

    /// Parses a line after the word `key`. A type may contain spaces, so the words after it are taken off the end.
    fn parse(line: &str) -> Option<Self> {
        let (id, rest) = unquoted(line)?;
        let rest = rest.strip_prefix(": ")?;
        let (rest, required) = without_flag(rest, " required");
        let (rest, ephemeral) = without_flag(rest, " ephemeral");
        let (ty, reducer) = rest.rsplit_once(' ').unwrap_or(("", rest));
        Some(KeyOutline {
            id: id.into(),
            ty: ty.to_string().into(),
            reducer: Reducer::named(reducer)?,
            ephemeral,
            required,
        })
    }

    fn decode(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        from.tuple(5)?;
        Ok(KeyOutline {
            id: from.text()?.into(),
            ty: from.text()?.into(),
            reducer: {
                let name = from.str()?;
                let unknown = || CodecError::Unknown(format!("`{name}` is not a known reducer"));
                Reducer::named(name).ok_or_else(unknown)?
            },
            ephemeral: from.boolean()?,
            required: from.boolean()?,
        })
    }
}

/// The line of a node: `node research takes Topic deferred`.
impl fmt::Display for NodeOutline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", quoted(&self.name))?;
        if let Some(item) = &self.item {
            write!(f, " takes {item}")?;
        }
        if self.deferred {
            f.write_str(" deferred")?;
        }
        Ok(())
    }
}

impl NodeOutline {
    /// The node with this name. The nodes are sorted.
    pub fn find<'a>(nodes: &'a [Self], name: &str) -> Option<&'a Self> {
        nodes.get(Self::position(nodes, name)?)
    }

    /// The index of the node with this name.
    pub(crate) fn position(nodes: &[Self], name: &str) -> Option<usize> {
        nodes.binary_search_by(|node| (*node.name).cmp(name)).ok()
    }

    /// Parses a line after the word `node`.
    fn parse(line: &str) -> Option<Self> {
        let (name, rest) = unquoted(line)?;
        let (rest, deferred) = without_flag(rest, " deferred");
        Some(NodeOutline {
            name,
            item: rest.strip_prefix(" takes ").map(Into::into),
            deferred,
        })
    }
}

fn without_flag<'a>(text: &'a str, flag: &str) -> (&'a str, bool) {
    match text.strip_suffix(flag) {
        Some(rest) => (rest, true),
        None => (text, false),
    }
}

/// A name as it is written in a line: in quotes if it contains characters that separate the parts of a line.
pub fn quoted(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if !name.is_empty() && name.chars().all(plain) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("{name:?}"))
    }
}

/// The name at the beginning of a line, and the rest of the line.
fn unquoted(line: &str) -> Option<(String, &str)> {
    let Some(inner) = line.strip_prefix('"') else {
        let end = line.find([':', ' ']).unwrap_or(line.len());
        return Some((line[..end].into(), &line[end..]));
    };
    let mut escaped = false;
    let end = inner.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    let name = inner[..end].replace("\\\"", "\"").replace("\\\\", "\\");
    Some((name, &inner[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::unpack;

    fn outline() -> Outline {
        let key = |id: &str, ty: &str, reducer, ephemeral, required| KeyOutline {
            id: id.to_string().into(),
            ty: ty.to_string().into(),
            reducer,
            ephemeral,
            required,
        };
        let node = |name: &str, item: Option<&str>, deferred| NodeOutline {
            name: name.into(),
            item: item.map(Into::into),
            deferred,
        };
        Outline {
            keys: vec![
                key("notes", "Vec<String>", Reducer::Append, false, false),
                key("topic", "[u8; 4]", Reducer::Replace, false, true),
                key("scratch", "", Reducer::Replace, true, false),
                key("both", "dyn Any", Reducer::Custom, true, true),
                key("a: b", "ephemeral", Reducer::Sum, false, false),
                key("say \"a\\b\"", "u8", Reducer::Sum, false, false),
                key("", "u8", Reducer::Sum, false, false),
            ],
            graph: GraphOutline {
                nodes: vec![
                    node("write", None, false),
                    node("dig", Some("Vec<u8>"), false),
                    node("report", None, true),
                    node("a b", Some("(u8, u8)"), true),
                ],
                edges: vec!["START -> write".into(), "write [each] -> dig".into()],
                joins: vec!["dig & write -> report".into()],
            },
        }
        .sorted()
    }

    #[test]
    fn an_outline_is_parsed_from_its_lines() {
        let lines = key_lines(&outline().keys).into_iter();
        let mut parsed = Outline::default();
        for line in lines.chain(outline().graph.lines()) {
            parsed.add_line(&line.text);
        }
        assert_eq!(parsed.sorted(), outline());
        parsed = Outline::default();
        for unknown in ["", "node", "shape round", "key a: u8 average", "key a"] {
            parsed.add_line(unknown);
        }
        assert_eq!(parsed, Outline::default());
    }

    #[test]
    fn an_outline_is_decoded_as_it_was_encoded() {
        let mut bytes = Vec::new();
        outline().encode(&mut bytes);
        assert_eq!(unpack(&bytes, Outline::decode).unwrap(), outline());
        let reducer = bytes.windows(6).position(|text| text == b"append").unwrap();
        bytes[reducer] = b'x';
        let error = unpack(&bytes, Outline::decode).unwrap_err().to_string();
        assert!(error.contains("`xppend` is not a known reducer"), "{error}");
    }
}
