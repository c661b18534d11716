//! `flow.lock`: the outlines of flows as text, and the check of a program against them.

use std::fmt;

use super::changes::{Change, changes, difference};
use super::fields::{field_lines, is_said_by_its_key, problems as field_problems};
use super::reads;
use crate::codec::{FieldOutline, Line, Outline, key_lines};
use crate::migration::Named;

/// The first lines of the file.
const HEAD: &str = "\
# What stored threads depend on. Written by `PETALFLOW_LOCK=write cargo test`; commit it.
";

/// The outlines of some flows as text, with the types of answers and effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    flows: Named<Locked>,
    /// The type of each answer under `question NAME`, and of each effect's result under `effect NAME`.
    types: Named<String>,
}

/// The record of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locked {
    pub state: String,
    /// The version of the state.
    pub version: u32,
    pub outline: Outline,
    /// What the values of the keys consist of, sorted.
    pub fields: Vec<FieldOutline>,
}

impl LockFile {
    /// Parses the text. Unknown lines have no influence.
    pub fn parse(text: &str) -> Self {
        let mut flows: Named<Locked> = Named::default();
        let mut types = Named::default();
        let mut current = String::new();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("flow ") {
                current = name.trim().into();
                flows.get_or(&current, Locked::default);
            } else if (line.starts_with("question ") || line.starts_with("effect "))
                && let Some((what, ty)) = line.rsplit_once(": ")
            {
                types.insert(what.into(), ty.trim().into());
            } else if let Some(line) = line.strip_prefix("  ")
                && let Some(locked) = flows.get_mut(&current)
            {
                locked.add_line(line);
            }
        }
        let sorted = |(name, mut locked): (String, Locked)| {
            locked.outline = locked.outline.sorted();
            locked.fields.sort_unstable();
            (name, locked)
        };
        LockFile {
            flows: flows.into_iter().map(sorted).collect(),
            types,
        }
    }

    pub fn get(&self, flow: &str) -> Option<&Locked> {
        self.flows.get(flow)
    }

    pub fn set(&mut self, flow: &str, locked: Locked) {
        self.flows.insert(flow.into(), locked);
    }

    /// Checks the type of an answer or of the result of an effect.
    pub fn check_type(&self, what: &str, ty: &str) -> Result<(), String> {
        let (is, accept) = (short(ty), "`PETALFLOW_LOCK=write cargo test`");
        let Some(was) = self.types.get(what) else {
            return Err(format!(
                "the {what} is not in the lock yet: write it with {accept}, and commit the file"
            ));
        };
        if *was == is {
            return Ok(());
        }
        let changed = format!("the {what} has changed from `{was}` to `{is}`");
        Err(if reads(was, &is) {
            format!(
                "{changed}. What is stored can be read: write the lock again with {accept}, and commit it"
            )
        } else {
            format!(
                "{changed}, and a thread with a recorded one may be unable to resume: give it another name, or fork such threads at their newest checkpoint. If there are no such threads, accept the change with {accept}"
            )
        })
    }

    pub fn set_type(&mut self, what: String, ty: &str) {
        self.types.insert(what, short(ty));
    }
}

/// The text of the file. It is sorted, so it changes only where a flow changes.
impl fmt::Display for LockFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (what, ty) in self.types.iter() {
            write!(f, "\n{what}: {ty}")?;
        }
        if self.types.iter().next().is_some() {
            writeln!(f)?;
        }
        for (name, locked) in self.flows.iter() {
            write!(f, "\nflow {name}\n  {}\n", locked.state_line())?;
            for lines in [
                key_lines(&locked.outline.keys),
                locked.field_lines(),
                locked.outline.graph.lines(),
            ] {
                let mut texts: Vec<String> = lines.into_iter().map(|line| line.text).collect();
                texts.sort_unstable();
                texts.iter().try_for_each(|text| writeln!(f, "  {text}"))?;
            }
        }
        Ok(())
    }
}

impl Locked {
    /// Adds what the values consist of, as far as the lines of their keys do not say it.
    #[must_use]
    pub fn with_fields(mut self, mut fields: Vec<FieldOutline>) -> Self {
        fields.retain(|field| !is_said_by_its_key(field, &self.outline.keys));
        fields.sort_unstable();
        self.fields = fields;
        self
    }

    fn state_line(&self) -> String {
        format!("state {} version {}", self.state, self.version)
    }

    fn field_lines(&self) -> Vec<Line> {
        field_lines(&self.fields)
    }

    fn add_line(&mut self, line: &str) {
        if let Some(field) = line.strip_prefix("field ") {
            self.fields.extend(FieldOutline::parse(field));
        } else if let Some(state) = line.strip_prefix("state ") {
            let (state, version) = state.rsplit_once(" version ").unwrap_or((state, "0"));
            self.state = state.into();
            self.version = version.trim().parse().unwrap_or_default();
        } else {
            self.outline.add_line(line);
        }
    }
}

/// A type without the modules in its name.
fn short(ty: &str) -> String {
    let mut text = String::new();
    let mut word = 0;
    for (at, c) in ty.char_indices() {
        if !(c.is_alphanumeric() || c == '_' || c == ':') {
            text.push_str(ty[word..at].rsplit("::").next().unwrap_or_default());
            text.push(c);
            word = at + c.len_utf8();
        }
    }
    text + ty[word..].rsplit("::").next().unwrap_or_default()
}

/// Checks that the program `is` can replace the recorded one. The error says what to do, also if only the record is old.
pub fn check_lock(flow: &str, was: Option<&Locked>, is: &Locked) -> Result<(), String> {
    let accept = "`PETALFLOW_LOCK=write cargo test`";
    let Some(was) = was else {
        return Err(format!(
            "the flow `{flow}` is not in the lock yet: write it with {accept}, and commit the file"
        ));
    };
    if was == is {
        return Ok(());
    }
    let mut diff = Vec::new();
    if was.state_line() != is.state_line() {
        diff.extend(
            [("- ", was), ("+ ", is)].map(|(sign, of)| sign.to_string() + &of.state_line()),
        );
    }
    let (old, new) = (&was.outline, &is.outline);
    diff.extend(difference(key_lines(&old.keys), key_lines(&new.keys)));
    diff.extend(difference(was.field_lines(), is.field_lines()));
    diff.extend(difference(old.graph.lines(), new.graph.lines()));
    let diff: String = diff.iter().flat_map(|line| ["\n  ", line]).collect();
    let mut problems = Vec::new();
    if is.version < was.version {
        problems.push(format!(
            "it is at version {} of `{}`, which is newer than the version of this program: raise `version` again",
            was.version, is.state
        ));
    }
    let migrated = |change: &Change| is.version > was.version && change.can_be_migrated();
    for change in changes(old, new) {
        if change.may_break() && !migrated(&change) {
            problems.push(change.problem(&is.state));
        }
    }
    if is.version <= was.version {
        problems.extend(field_problems(&was.fields, &is.fields));
    }
    let problems: String = problems
        .iter()
        .flat_map(|problem| ["\n\n* ", problem])
        .collect();
    Err(if problems.is_empty() {
        format!(
            "the flow `{flow}` has changed. Stored threads can resume: write the lock again with {accept}, and commit it{diff}"
        )
    } else {
        format!(
            "the flow `{flow}` has changed, and stored threads may be unable to resume. The problems of such a thread:{problems}\n\nIf there are no such threads, accept the change with {accept}:{diff}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock_with(version: u32, lines: &[&str]) -> Locked {
        let mut outline = Outline::default();
        lines.iter().for_each(|line| outline.add_line(line));
        Locked {
            state: "Essay".into(),
            version,
            outline: outline.sorted(),
            fields: Vec::new(),
        }
    }

    fn error_of(was: &Locked, is: &Locked) -> String {
        check_lock("Write", Some(was), is).unwrap_err()
    }

    #[test]
    fn a_lock_is_parsed_as_it_was_written() {
        let mut lock = LockFile::default();
        let lines = [
            "key b: u8 sum",
            "key a: u8 sum",
            "node w",
            "edge START -> w",
        ];
        lock.set("Write", lock_with(3, &lines));
        lock.set("Read", lock_with(0, &[]));
        let text = lock.to_string();
        assert_eq!(
            text.strip_prefix(HEAD).unwrap(),
            "\nflow Read\n  state Essay version 0\n\nflow Write\n  state Essay version 3\n  key a: u8 sum\n  key b: u8 sum\n  edge START -> w\n  node w\n"
        );
        assert_eq!(LockFile::parse(&text), lock);
        // A checkout on Windows may contain such line ends.
        assert_eq!(LockFile::parse(&text.replace('\n', "\r\n")), lock);
        assert_eq!(LockFile::parse("? \n flow\n  key a"), LockFile::default());
    }

    #[test]
    fn the_types_of_answers_and_effects_are_compared() {
        let mut lock = LockFile::default();
        lock.set("Write", lock_with(0, &["node w"]));
        lock.set_type(
            "question amount".into(),
            "core::option::Option<alloc::string::String>",
        );
        lock.set_type("effect a: b".into(), "u32");
        let text = lock.to_string();
        assert_eq!(
            text.strip_prefix(HEAD).unwrap(),
            "\neffect a: b: u32\nquestion amount: Option<String>\n\nflow Write\n  state Essay version 0\n  node w\n"
        );
        assert_eq!(LockFile::parse(&text), lock);
        assert_eq!(lock.check_type("effect a: b", "u32"), Ok(()));
        let error = |what, ty| lock.check_type(what, ty).unwrap_err();
        assert!(error("effect a: b", "u64").contains("What is stored can be read"));
        assert!(
            error("effect a: b", "app::Receipt").contains("from `u32` to `Receipt`, and a thread")
        );
        assert!(error("effect other", "u32").contains("is not in the lock yet"));
    }

    #[test]
    fn the_order_of_lines_has_no_influence() {
        let was = lock_with(0, &["key a: u8 sum", "key b: u8 sum", "node w", "node x"]);
        let is = lock_with(0, &["key b: u8 sum", "key a: u8 sum", "node x", "node w"]);
        assert_eq!(check_lock("Write", Some(&was), &is), Ok(()));
    }

    #[test]
    fn a_change_that_breaks_nothing_asks_for_a_new_lock() {
        let error = error_of(&lock_with(0, &[]), &lock_with(0, &["key a: u8 sum"]));
        assert!(
            error.contains("Stored threads can resume: write the lock again"),
            "{error}"
        );
        assert!(error.ends_with("\n  + key a: u8 sum"), "{error}");
        let missing = check_lock("Write", None, &lock_with(0, &[])).unwrap_err();
        assert!(
            missing.contains("`PETALFLOW_LOCK=write cargo test`"),
            "{missing}"
        );
    }

    #[test]
    fn the_error_for_a_change_that_may_break_threads_says_what_to_do() {
        let was = lock_with(0, &["key a: u8 sum"]);
        let error = error_of(&was, &lock_with(0, &["key b: u8 sum"]));
        assert!(error.contains("`#[key(id = \"a\")]`"), "{error}");
        assert!(
            error.ends_with("\n  - key a: u8 sum\n  + key b: u8 sum"),
            "{error}"
        );
        let error = error_of(&was, &lock_with(1, &["key b: u8 sum"]));
        assert!(error.contains("Stored threads can resume"), "{error}");
    }

    #[test]
    fn fields_are_recorded_where_the_line_of_the_key_does_not_say_them() {
        let mut lock = LockFile::default();
        let lines = [
            "key docs: Vec<Doc> append",
            "key n: u8 sum",
            "field n: u8",
            "field docs: list of struct",
            "field docs.note: option of text optional",
            "field docs.text: text",
        ];
        let mut all = Locked::default();
        lines.iter().for_each(|line| all.add_line(line));
        let fields = std::mem::take(&mut all.fields);
        let recorded = all.with_fields(fields);
        lock.set("Write", recorded.clone());
        let text = lock.to_string();
        assert!(
            text.ends_with(
                "  key docs: Vec<Doc> append\n  key n: u8 sum\n  field docs.note: option of text optional\n  field docs.text: text\n  field docs: list of struct\n"
            ),
            "{text}"
        );
        assert_eq!(LockFile::parse(&text), lock);
    }

    /// The error for a change of the fields of the key `docs`.
    fn fields_error(was: &[&str], is: &[&str]) -> String {
        let locked = |lines: &[&str]| {
            let mut locked = lock_with(0, &["key docs: Vec<Doc> append"]);
            locked.add_line("field docs: list of struct");
            for line in lines {
                locked.add_line(&format!("field docs.{line}"));
            }
            locked
        };
        error_of(&locked(was), &locked(is))
    }

    #[test]
    fn a_renamed_field_may_lose_its_content() {
        let error = fields_error(&["name: text"], &["title: text"]);
        for words in [
            "stored threads may be unable to resume",
            "has the field `name`, which the program does not read: if it was renamed, give the new field its old name as well, `#[serde(alias = \"name\")]`",
            "has no field `title`, which the program needs",
            "\n  - field docs.name: text\n  + field docs.title: text",
        ] {
            assert!(error.contains(words), "{error}");
        }
        // One that may be missing loses its content without an error.
        let error = fields_error(&["name: text"], &["title: text optional"]);
        assert!(error.contains("has the field `name`"), "{error}");
        assert!(!error.contains("has no field `title`"), "{error}");
        // With its old name as well, it is read.
        let error = fields_error(
            &["name: struct", "name.a: u8"],
            &["title: struct, alias name", "title.a: u8"],
        );
        assert!(error.contains("Stored threads can resume"), "{error}");
    }

    #[test]
    fn fields_of_another_form_and_missing_variants_may_not_be_read() {
        let error = fields_error(&["n: u32", "at: text"], &["n: u64", "at: option of text"]);
        assert!(error.contains("Stored threads can resume"), "{error}");
        let error = fields_error(&["n: list of u64"], &["n: list of u32"]);
        assert!(
            error.contains("the field `n` in its value of the key `docs` is stored as `list of u64`, and the program reads `list of u32`"),
            "{error}"
        );
        let variants = ["kind: enum", "kind.Old: unit", "kind.Old.deep: text"];
        let error = fields_error(&variants, &["kind: enum", "kind.New: unit"]);
        assert!(error.contains("may have the variant `Old`"), "{error}");
        assert!(!error.contains("deep`"), "{error}");
        assert!(
            !error.contains("`New`,"),
            "a new variant is not needed: {error}"
        );
        // Where a member of a tuple has fields.
        let error = fields_error(
            &["p: tuple of (struct, u8)", "p.0.x: u8"],
            &["p: tuple of (struct, u8)", "p.0.y: u8"],
        );
        assert!(
            error.contains("has the field `x`") && error.contains("has no field `y`"),
            "{error}"
        );
    }

    #[test]
    fn a_migration_converts_fields_and_an_older_lock_has_none() {
        let was = {
            let mut was = lock_with(0, &["key docs: Vec<Doc> append"]);
            was.add_line("field docs: list of struct");
            was.add_line("field docs.name: text");
            was
        };
        let mut is = was.clone();
        is.version = 1;
        is.fields.pop();
        assert!(error_of(&was, &is).contains("Stored threads can resume"));
        let older = lock_with(0, &["key docs: Vec<Doc> append"]);
        let error = error_of(&older, &was);
        assert!(error.contains("Stored threads can resume"), "{error}");
        assert!(
            error.ends_with("\n  + field docs: list of struct\n  + field docs.name: text"),
            "{error}"
        );
    }

    #[test]
    fn another_reducer_changes_what_a_value_means() {
        let error = error_of(
            &lock_with(0, &["key n: u8 sum"]),
            &lock_with(0, &["key n: u8 replace"]),
        );
        assert!(
            error.contains("its value of the key `n` was folded with `sum`, and the next write is folded with `replace`"),
            "{error}"
        );
    }

    #[test]
    fn a_migration_replaces_neither_a_node_nor_a_version() {
        let error = error_of(&lock_with(0, &["node w"]), &lock_with(1, &["node x"]));
        assert!(error.contains("`with .. { id: \"w\" }`"), "{error}");
        let error = error_of(&lock_with(2, &[]), &lock_with(1, &[]));
        assert!(error.contains("raise `version` again"), "{error}");
    }
}
