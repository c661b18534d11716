//! The fields and variants of a type, as its `Deserialize` implementation asks for them.
//!
//! serde tells a deserializer the names of the fields of a struct and of the variants of an enum. A [`Recorder`] notes them
//! and returns an error, so no value is made. It sees one place of the type: to see the next, `deserialize` runs again with
//! the path to that place. What a type hides from serde (`flatten`, `untagged`, its own implementation) stays unknown.

mod place;
mod recorder;
mod zero;

use std::cell::RefCell;
use std::fmt;

use serde_core::de::DeserializeOwned;

use place::{Found, Place, Step, Stop};
use recorder::Recorder;

/// The deepest place that is looked at.
const MAX_STEPS: usize = 24;

/// The most places of one type that are looked at.
const MAX_PLACES: usize = 2_000;

/// How the form of an option begins.
const OPTION: &str = "option of ";

/// What precedes another name of a field in its line.
const ALIAS: &str = ", alias ";

/// A field or a variant in the values of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldOutline {
    /// The key, and the names of the fields and variants that lead to it: `documents.lines`. `documents` for the value itself.
    pub path: String,
    /// What its value is: `text`, `list of struct`.
    pub form: String,
    /// Whether a stored value may lack it.
    pub optional: bool,
    /// Its other names.
    pub aliases: Vec<String>,
}

/// The line of a field in `flow.lock`, after the word `field`.
impl fmt::Display for FieldOutline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let optional = if self.optional { " optional" } else { "" };
        write!(f, "{}: {}{optional}", self.path, self.form)?;
        let mut aliases = self.aliases.iter();
        aliases.try_for_each(|alias| write!(f, "{ALIAS}{alias}"))
    }
}

impl FieldOutline {
    /// Parses a line after the word `field`.
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(ALIAS);
        let (path, form) = parts.next()?.rsplit_once(": ")?;
        let (form, optional) = match form.strip_suffix(" optional") {
            Some(form) => (form, true),
            None => (form, false),
        };
        Some(FieldOutline {
            path: path.into(),
            form: form.into(),
            optional,
            aliases: parts.map(Into::into).collect(),
        })
    }
}

/// The fields and variants of the values of a key, sorted.
pub fn fields_of<T: DeserializeOwned>(key: &str) -> Vec<FieldOutline> {
    let mut explorer = Explorer {
        look: look::<T>,
        steps: Vec::new(),
        structs: Vec::new(),
        fields: Vec::new(),
        places: 0,
    };
    let form = explorer.form(key);
    explorer.fields.push(FieldOutline {
        path: key.into(),
        form,
        optional: false,
        aliases: Vec::new(),
    });
    explorer.fields.sort_unstable();
    explorer.fields
}

/// Looks at the place at the end of the path. With `given`, makes a struct of only these fields there.
fn look<T: DeserializeOwned>(steps: &[Step], given: Option<&[&'static str]>) -> Found {
    let found = RefCell::new(Found::default());
    let recorder = Recorder {
        steps,
        given,
        found: &found,
    };
    let stop = T::deserialize(recorder).err();
    let mut found = found.into_inner();
    match stop {
        Some(Stop::Missing(name)) => found.missing = Some(name),
        Some(Stop::Twice(name)) => found.twice = Some(name),
        Some(Stop::Here) | None => {}
    }
    found
}

/// Goes from place to place. Not generic, because every type would compile it again.
struct Explorer {
    look: fn(&[Step], Option<&[&'static str]>) -> Found,
    /// The path to the current place.
    steps: Vec<Step>,
    /// The structs and enums on the path: a type that contains itself is not followed again.
    structs: Vec<&'static [&'static str]>,
    fields: Vec<FieldOutline>,
    places: usize,
}

impl Explorer {
    /// The form of the value at the current place. Adds the fields in it.
    fn form(&mut self, path: &str) -> String {
        self.places += 1;
        if self.steps.len() >= MAX_STEPS || self.places > MAX_PLACES {
            return "more".into();
        }
        match (self.look)(&self.steps, None).place {
            None => "value".into(),
            Some(Place::Value(name)) => name.into(),
            Some(Place::Option) => format!("{OPTION}{}", self.inside(Step::Inside, path)),
            Some(Place::List) => format!("list of {}", self.inside(Step::Inside, path)),
            Some(Place::Map) => format!("map of {}", self.inside(Step::Inside, path)),
            Some(Place::Tuple(len)) => {
                let members = (0..len).map(|index| {
                    let path = format!("{path}.{index}");
                    self.inside(Step::Member(index), &path)
                });
                format!("tuple of ({})", members.collect::<Vec<_>>().join(", "))
            }
            Some(Place::Struct(names)) => {
                if self.enter(names) {
                    self.add_fields(path, names);
                    self.structs.pop();
                }
                "struct".into()
            }
            Some(Place::Enum(names)) => {
                if self.enter(names) {
                    self.add_variants(path, names);
                    self.structs.pop();
                }
                "enum".into()
            }
        }
    }

    fn inside(&mut self, step: Step, path: &str) -> String {
        self.steps.push(step);
        let form = self.form(path);
        self.steps.pop();
        form
    }

    /// Whether the struct or enum of these names is not on the path yet. It is then.
    fn enter(&mut self, names: &'static [&'static str]) -> bool {
        let is_new = !self.structs.contains(&names);
        if is_new {
            self.structs.push(names);
        }
        is_new
    }

    fn add_fields(&mut self, path: &str, names: &'static [&'static str]) {
        let required = self.required(names);
        for (name, aliases) in self.with_aliases(names) {
            let path = format!("{path}.{name}");
            let form = self.inside(Step::Field(name), &path);
            let optional = match &required {
                Some(required) => !required.contains(&name),
                None => form.starts_with(OPTION),
            };
            self.fields.push(FieldOutline {
                path,
                form,
                optional,
                aliases,
            });
        }
    }

    /// The fields with their other names. serde lists all names of a field one after another.
    fn with_aliases(&self, names: &'static [&'static str]) -> Vec<(&'static str, Vec<String>)> {
        let mut fields: Vec<(&'static str, Vec<String>)> = Vec::new();
        let mut previous = None;
        for name in names {
            let twice = previous.and_then(|previous| {
                let both = [previous, *name];
                (self.look)(&self.steps, Some(&both)).twice
            });
            match (twice, fields.last_mut()) {
                (Some(own), Some((of_field, aliases))) => {
                    let other = if own == *name {
                        std::mem::replace(of_field, own)
                    } else {
                        name
                    };
                    aliases.push(other.into());
                }
                _ => fields.push((name, Vec::new())),
            }
            previous = Some(*name);
        }
        fields
    }

    fn add_variants(&mut self, path: &str, names: &[&'static str]) {
        for name in names {
            let path = format!("{path}.{name}");
            let form = self.inside(Step::Variant(name), &path);
            self.fields.push(FieldOutline {
                path,
                form,
                optional: false,
                aliases: Vec::new(),
            });
        }
    }

    /// The fields without which no value can be made. `None` if it is not known, because none could be made at all.
    fn required(&self, names: &[&'static str]) -> Option<Vec<&'static str>> {
        let mut given = Vec::new();
        loop {
            let found = (self.look)(&self.steps, Some(&given));
            match found.missing {
                // Names come from the type, but not always from this struct.
                Some(name) if names.contains(&name) && !given.contains(&name) => given.push(name),
                _ => return found.made.then_some(given),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::num::NonZeroU32;
    use std::time::Duration;

    use serde::Deserialize;

    use super::*;

    fn lines<T: DeserializeOwned>() -> Vec<String> {
        let fields = fields_of::<T>("k");
        let lines: Vec<String> = fields.iter().map(ToString::to_string).collect();
        for (field, line) in fields.iter().zip(&lines) {
            assert_eq!(FieldOutline::parse(line).as_ref(), Some(field));
        }
        lines
    }

    #[test]
    fn plain_values_have_their_form() {
        assert_eq!(lines::<u8>(), ["k: u8"]);
        assert_eq!(
            lines::<Box<Vec<Option<String>>>>(),
            ["k: list of option of text"]
        );
        assert_eq!(lines::<BTreeMap<String, f64>>(), ["k: map of f64"]);
        assert_eq!(
            lines::<(bool, [char; 2])>(),
            ["k: tuple of (bool, tuple of (char, char))"]
        );
        assert_eq!(lines::<()>(), ["k: unit"]);
        assert_eq!(lines::<serde_json::Value>(), ["k: value"]);
        assert_eq!(
            lines::<Duration>(),
            ["k: struct", "k.nanos: u32", "k.secs: u64"]
        );
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    struct Document {
        path: String,
        #[serde(alias = "rows")]
        lines: Vec<Line>,
        note: Option<String>,
        #[serde(default)]
        size: u32,
        #[serde(rename = "kind")]
        sort: Kind,
        count: NonZeroU32,
        #[serde(skip)]
        skipped: u8,
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    struct Line(u32);

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    enum Kind {
        Plain,
        Of(Line),
        Pair(u8, String),
        Named {
            name: String,
            next: Option<Box<Kind>>,
        },
    }

    #[test]
    fn fields_and_variants_are_found_at_every_level() {
        // No value can be made, because `NonZeroU32` accepts no zero. So it is not known that `size` is optional.
        assert_eq!(
            lines::<Vec<Document>>(),
            [
                "k: list of struct",
                "k.count: u32",
                "k.kind: enum",
                "k.kind.Named: struct",
                "k.kind.Named.name: text",
                "k.kind.Named.next: option of enum optional",
                "k.kind.Of: u32",
                "k.kind.Pair: tuple of (u8, text)",
                "k.kind.Plain: unit",
                "k.lines: list of u32, alias rows",
                "k.note: option of text optional",
                "k.path: text",
                "k.size: u32",
            ]
        );
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    struct Renamed {
        a: u8,
        #[serde(alias = "first", alias = "second", alias = "zeroth")]
        name: String,
        #[serde(default, alias = "size")]
        count: u8,
    }

    #[test]
    fn the_names_of_a_field_stand_together() {
        assert_eq!(
            lines::<Renamed>(),
            [
                "k: struct",
                "k.a: u8",
                "k.count: u8 optional, alias size",
                "k.name: text, alias first, alias second, alias zeroth",
            ]
        );
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    struct Tree {
        #[serde(default)]
        name: String,
        children: Vec<Tree>,
        left: Option<Box<Tree>>,
        pairs: (Leaf, Leaf),
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    #[serde(deny_unknown_fields)]
    struct Leaf {
        at: u64,
        #[serde(default)]
        hidden: bool,
    }

    #[test]
    fn a_type_that_contains_itself_is_followed_once() {
        assert_eq!(
            lines::<Tree>(),
            [
                "k: struct",
                "k.children: list of struct",
                "k.left: option of struct optional",
                "k.name: text optional",
                "k.pairs: tuple of (struct, struct)",
                "k.pairs.0.at: u64",
                "k.pairs.0.hidden: bool optional",
                "k.pairs.1.at: u64",
                "k.pairs.1.hidden: bool optional",
            ]
        );
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    struct Open {
        id: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Number(u8),
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its form is read")]
    #[serde(try_from = "String")]
    struct Checked(String);

    impl TryFrom<String> for Checked {
        type Error = &'static str;

        fn try_from(_: String) -> Result<Self, &'static str> {
            Err("never")
        }
    }

    #[test]
    fn what_serde_does_not_tell_is_a_value() {
        assert_eq!(lines::<Open>(), ["k: map of value"]);
        assert_eq!(lines::<Either>(), ["k: value"]);
        assert_eq!(lines::<Checked>(), ["k: text"]);
    }
}
