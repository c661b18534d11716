//! `flow.lock`: the outlines of flows as text, and the check of a program against them.

use std::fmt;

use super::changes::{Change, changes, difference};
use super::reads;
use crate::migration::Named;
use petalflow_codec::{Outline, key_lines};

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
    fn state_line(&self) -> String {
        format!("state {} version {}", self.state, self.version)
    }

    fn add_line(&mut self, line: &str) {
        if let Some(state) = line.strip_prefix("state ") {
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

    fn locked(version: u32, lines: &[&str]) -> Locked {
        let mut outline = Outline::default();
        lines.iter().for_each(|line| outline.add_line(line));
        Locked {
            state: "Essay".into(),
            version,
            outline: outline.sorted(),
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
        lock.set("Write", locked(3, &lines));
        lock.set("Read", locked(0, &[]));
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
        lock.set("Write", locked(0, &["node w"]));
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
        let was = locked(0, &["key a: u8 sum", "key b: u8 sum", "node w", "node x"]);
        let is = locked(0, &["key b: u8 sum", "key a: u8 sum", "node x", "node w"]);
        assert_eq!(check_lock("Write", Some(&was), &is), Ok(()));
    }

    #[test]
    fn a_change_that_breaks_nothing_asks_for_a_new_lock() {
        let error = error_of(&locked(0, &[]), &locked(0, &["key a: u8 sum"]));
        assert!(
            error.contains("Stored threads can resume: write the lock again"),
            "{error}"
        );
        assert!(error.ends_with("\n  + key a: u8 sum"), "{error}");
        let missing = check_lock("Write", None, &locked(0, &[])).unwrap_err();
        assert!(
            missing.contains("`PETALFLOW_LOCK=write cargo test`"),
            "{missing}"
        );
    }

    #[test]
    fn the_error_for_a_change_that_may_break_threads_says_what_to_do() {
        let was = locked(0, &["key a: u8 sum"]);
        let error = error_of(&was, &locked(0, &["key b: u8 sum"]));
        assert!(error.contains("`#[key(id = \"a\")]`"), "{error}");
        assert!(
            error.ends_with("\n  - key a: u8 sum\n  + key b: u8 sum"),
            "{error}"
        );
        let error = error_of(&was, &locked(1, &["key b: u8 sum"]));
        assert!(error.contains("Stored threads can resume"), "{error}");
    }

    #[test]
    fn a_migration_replaces_neither_a_node_nor_a_version() {
        let error = error_of(&locked(0, &["node w"]), &locked(1, &["node x"]));
        assert!(error.contains("`with .. { id: \"w\" }`"), "{error}");
        let error = error_of(&locked(2, &[]), &locked(1, &[]));
        assert!(error.contains("raise `version` again"), "{error}");
    }
}
