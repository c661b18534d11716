//! Finds two items of one name in one scope. rustc reports the name, and then everything that is generated for both. So nothing is
//! generated for the second one.

use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr as _;
use std::sync::{Mutex, PoisonError};

use proc_macro2::{Ident, TokenStream, fallback};

use crate::paths::name;

/// Where the name of an item stands.
#[derive(Clone, PartialEq)]
#[cfg_attr(test, derive(Debug))]
struct Place {
    file: OsString,
    /// From 1.
    line: usize,
    /// From 1, in `char`s.
    column: usize,
    /// Whether the name stands between the braces of a macro that makes the item, such as `flow!`.
    in_macro: bool,
}

/// What has a name.
#[derive(Clone)]
pub(crate) enum What {
    State,
    /// The type of a key.
    Key {
        key: String,
        state: String,
    },
    Node,
    #[cfg_attr(
        not(feature = "tool"),
        expect(dead_code, reason = "only that feature makes tools")
    )]
    Tool,
    Route,
    Question,
    Flow,
}

impl What {
    /// Whether a macro makes the type, so that it has no functions of the user.
    pub(crate) fn is_generated(&self) -> bool {
        matches!(self, What::Key { .. } | What::Node | What::Tool)
    }
}

impl Display for What {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = match self {
            What::State => "a state",
            What::Key { key, state } => {
                return write!(f, "the type of key `{key}` of state `{state}`");
            }
            What::Node => "a node",
            What::Tool => "a tool",
            What::Route => "a route",
            What::Question => "a question",
            What::Flow => "another flow",
        };
        f.write_str(text)
    }
}

/// The last item of a name.
struct Item {
    name: String,
    place: Place,
    what: What,
    /// What had the name before in the same scope.
    before: Option<What>,
}

/// The last item of each name, in the order of the names. Only this one is compared, so that a file with a name in many scopes is read once for each.
static ITEMS: Mutex<Vec<Item>> = Mutex::new(Vec::new());

/// Whether an item of this name in the same scope has already been expanded. Not for rust-analyzer, in whose process each item is
/// expanded many times: its macros have other names.
pub(crate) fn is_second(what: What, ident: &Ident) -> bool {
    place(ident, false).is_some_and(|place| declare(&name(ident), what, place).is_some())
}

/// Declares a flow. Returns what has its name in the same scope.
pub(crate) fn flow(ident: &Ident) -> Option<What> {
    declare(&name(ident), What::Flow, place(ident, true)?)
}

/// Declares a type that the macro makes for the item `of`.
pub(crate) fn made(type_name: &Ident, what: What, of: &Ident) {
    if let Some(place) = place(of, false) {
        declare(&name(type_name), what, place);
    }
}

fn place(ident: &Ident, in_macro: bool) -> Option<Place> {
    if !proc_macro::is_available() {
        return None;
    }
    let span = ident.span().unwrap();
    Some(Place {
        file: span.local_file()?.into_os_string(),
        line: span.line(),
        column: span.column(),
        in_macro,
    })
}

fn declare(name: &str, what: What, place: Place) -> Option<What> {
    let mut items = ITEMS.lock().unwrap_or_else(PoisonError::into_inner);
    let index = items.binary_search_by(|item| item.name.as_str().cmp(name));
    let before = match index.map(|index| &items[index]) {
        // Two derives of one item.
        Ok(last) if last.place == place => last.before.clone(),
        Ok(last) if in_one_scope(&last.place, &place) => Some(last.what.clone()),
        _ => None,
    };
    let item = Item {
        name: name.to_owned(),
        place,
        what,
        before: before.clone(),
    };
    match index {
        Ok(index) => items[index] = item,
        Err(index) => items.insert(index, item),
    }
    before
}

/// Whether two places of a file are in one scope. Not if they are in one line: it may be the text of a `macro_rules!` macro.
fn in_one_scope(one: &Place, other: &Place) -> bool {
    let (first, second) = if one.line < other.line {
        (one, other)
    } else {
        (other, one)
    };
    if first.file != second.file || first.line == second.line {
        return false;
    }
    // The text begins and ends in the braces of a macro.
    let opened: &[&str] = if first.in_macro {
        &["{", "(", "["]
    } else {
        &[""]
    };
    let closed: &[&str] = if second.in_macro {
        &["}", ")", "]"]
    } else {
        &[""]
    };
    let Some(text) = text_between(first, second) else {
        return false;
    };
    for open in opened {
        for close in closed {
            if is_balanced(&format!("{open}{text}{close}")) {
                return true;
            }
        }
    }
    false
}

/// The source between two places of a file. The first one is above.
fn text_between(first: &Place, second: &Place) -> Option<String> {
    let source = std::fs::read_to_string(&first.file).ok()?;
    let mut text = String::new();
    for (index, line) in source.split_inclusive('\n').enumerate() {
        let number = index + 1;
        if number < first.line || number > second.line {
            continue;
        }
        for (index, letter) in line.chars().enumerate() {
            let column = index + 1;
            let before = number == first.line && column < first.column;
            let after = number == second.line && column >= second.column;
            if !before && !after {
                text.push(letter);
            }
        }
    }
    Some(text)
}

/// Whether the text opens no braces that it does not close, and the reverse: then it begins and ends in one scope.
fn is_balanced(text: &str) -> bool {
    // The compiler would report the braces. This parser returns an error.
    fallback::force();
    let balanced = TokenStream::from_str(text).is_ok();
    fallback::unforce();
    balanced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_separate_scopes_and_others_do_not() {
        for same in [
            "Essay { a: u8 }\nstruct ",
            "write() { f(\"}\", '{'); } // }\nfn ",
        ] {
            assert!(is_balanced(same), "{same}");
        }
        for other in [
            "Essay {} } struct ",
            "Essay {} mod a { struct ",
            "Essay); module!(",
        ] {
            assert!(!is_balanced(other), "{other}");
        }
    }

    #[test]
    fn two_places_are_in_one_scope_if_no_brace_separates_them() {
        let file = std::env::temp_dir().join(format!("petalflow-twice-{}", std::process::id()));
        let source = "mod a;\nstruct Größe {}\nstruct Größe {}\nflow! { Größe }\nflow!(Größe);\nmod b {\nflow!(Größe);\n}";
        std::fs::write(&file, source).unwrap();
        let place = |line, column, in_macro| Place {
            file: file.clone().into(),
            line,
            column,
            in_macro,
        };
        let first = place(2, 8, false);
        let second = place(3, 8, false);
        let braces = place(4, 9, true);
        let parentheses = place(5, 7, true);
        assert_eq!(
            text_between(&first, &second).as_deref(),
            Some("Größe {}\nstruct ")
        );
        let all = [&first, &second, &braces, &parentheses];
        for one in all {
            for other in all {
                assert_eq!(in_one_scope(one, other), one != other, "{one:?} {other:?}");
            }
            assert!(!in_one_scope(one, &place(7, 7, true)), "{one:?}");
        }
        std::fs::remove_file(file).unwrap();
    }
}
