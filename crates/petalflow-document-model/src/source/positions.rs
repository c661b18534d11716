//! The positions of values, by their pointers.

use std::collections::HashMap;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::source::diagnostic::Position;
use crate::source::lines::Lines;
use crate::source::tree::{Entry, Node, Place, Tree};

/// Finds values by their pointers. The entries of an object are indexed when one of them is asked for, so that many findings
/// in one large object take little time.
pub(crate) struct Positions<'t> {
    root: &'t Tree<'t>,
    /// By the address of the object's entries.
    indexed: HashMap<*const Entry<'t>, HashMap<&'t str, &'t Entry<'t>>>,
}

impl<'t> Positions<'t> {
    pub(crate) fn new(root: &'t Tree<'t>) -> Self {
        Positions {
            root,
            indexed: HashMap::new(),
        }
    }

    /// The place of the value at a pointer, or of its name, or of the nearest value around it.
    pub(crate) fn find(&mut self, pointer: &str, at_name: bool) -> Place {
        let mut tree = self.root;
        let mut place = Place {
            file: tree.file,
            position: tree.position,
        };
        for segment in pointer.split('/').skip(1) {
            let found = match &tree.node {
                Node::List(items) => segment
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| items.get(index))
                    .map(|item| (item, item.position)),
                Node::Object(entries) => {
                    let name = name(segment);
                    let index = self.indexed.entry(entries.as_ptr()).or_insert_with(|| {
                        // Of duplicate names the first is found.
                        let entries = entries.iter().rev();
                        entries.map(|entry| (entry.name.as_ref(), entry)).collect()
                    });
                    index
                        .get(name.as_str())
                        .map(|entry| (&entry.value, entry.position))
                }
                _ => None,
            };
            let Some((value, name_position)) = found else {
                return place;
            };
            // A name is in the file of its object.
            place = if at_name {
                Place {
                    file: tree.file,
                    position: name_position,
                }
            } else {
                Place {
                    file: value.file,
                    position: value.position,
                }
            };
            tree = value;
        }
        place
    }
}

/// Finds values of a text of JSON by their pointers. Only the lists and objects on the way to a value are read, once, so
/// that a few findings in a large document take little time. The text is JSON, and no name occurs twice.
pub(crate) struct TextPositions<'t> {
    text: &'t str,
    lines: Lines<'t>,
    root: Option<&'t RawValue>,
    /// By the offset of the list or the object.
    read: HashMap<usize, Inside<'t>>,
}

/// The values of a list or an object.
enum Inside<'t> {
    List(Vec<&'t RawValue>),
    Object(HashMap<String, Member<'t>>),
    Nothing,
}

/// A name with its quotes, and its value.
type Member<'t> = (&'t RawValue, &'t RawValue);

impl<'t> TextPositions<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        TextPositions {
            text,
            lines: Lines::new(text),
            root: serde_json::from_str(text).ok(),
            read: HashMap::new(),
        }
    }

    /// As [`Positions::find`].
    pub(crate) fn find(&mut self, pointer: &str, at_name: bool) -> Place {
        let position = self.position(pointer, at_name);
        Place { file: 0, position }
    }

    fn position(&mut self, pointer: &str, at_name: bool) -> Position {
        let Some(root) = self.root else {
            return self.lines.position(0);
        };
        let (mut value, mut found) = (root, root);
        for segment in pointer.split('/').skip(1) {
            let offset = self.offset(value);
            let inside = self.read.entry(offset).or_insert_with(|| Inside::of(value));
            let Some((name, inner)) = inside.get(segment) else {
                break;
            };
            value = inner;
            found = if at_name { name } else { inner };
        }
        self.lines.position(self.offset(found))
    }

    /// The offset of a part of the text.
    fn offset(&self, part: &RawValue) -> usize {
        part.get().as_ptr().addr() - self.text.as_ptr().addr()
    }
}

impl<'t> Inside<'t> {
    fn of(value: &'t RawValue) -> Self {
        let text = value.get();
        let read = match text.as_bytes().first() {
            Some(b'[') => serde_json::from_str(text).map(Inside::List),
            Some(b'{') => serde_json::from_str(text).map(|Members(all)| Inside::Object(all)),
            _ => Ok(Inside::Nothing),
        };
        read.unwrap_or(Inside::Nothing)
    }

    /// The name and the value of a segment of a pointer. Items have no name: it is the item.
    fn get(&self, segment: &str) -> Option<Member<'t>> {
        match self {
            Inside::List(items) => {
                let item = items.get(segment.parse::<usize>().ok()?)?;
                Some((item, item))
            }
            Inside::Object(members) => members.get(&name(segment)).copied(),
            Inside::Nothing => None,
        }
    }
}

/// The name that a segment of a pointer stands for.
fn name(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

struct Members<'t>(HashMap<String, Member<'t>>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
                let mut members = HashMap::new();
                while let Some((name, value)) = object.next_entry::<&RawValue, &RawValue>()? {
                    let plain =
                        serde_json::from_str(name.get()).map_err(serde::de::Error::custom)?;
                    members.insert(plain, (name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(All)
    }
}
