//! Items of one name in one scope. rustc reports the name, and then everything that is generated for both. So nothing is generated
//! for the second one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::{Mutex, PoisonError};

use proc_macro2::{Ident, TokenStream, fallback};

use crate::paths::name;

/// Where the name of an item stands. Line and column begin with 1, and a column is a `char`.
type Place = (PathBuf, usize, usize);

/// The last place of each name, by the macro that the item has. Only this one is compared, so that a file with a name in many
/// scopes is read once for each.
static PLACES: Mutex<BTreeMap<(&str, String), Place>> = Mutex::new(BTreeMap::new());

/// Whether this macro has already expanded an item of this name in the same scope. Not for rust-analyzer, in whose process each
/// item is expanded many times.
pub(crate) fn is_second(of: &'static str, ident: &Ident) -> bool {
    if !proc_macro::is_available() {
        return false;
    }
    let span = ident.span().unwrap();
    let Some(file) = span.local_file() else {
        return false;
    };
    let place = (file, span.line(), span.column());
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    let last = places.insert((of, name(ident)), place.clone());
    last.is_some_and(|last| {
        last.0 == place.0 && text_between(&last, &place).is_some_and(|text| is_balanced(&text))
    })
}

/// The source between two places of a file, if the first one is above.
fn text_between(first: &Place, second: &Place) -> Option<String> {
    if first.1 >= second.1 {
        return None;
    }
    let source = std::fs::read_to_string(&first.0).ok()?;
    let lines = source.split_inclusive('\n').skip(first.1 - 1);
    let mut text = String::new();
    for (line, number) in lines.zip(first.1..=second.1) {
        let from = if number == first.1 { first.2 - 1 } else { 0 };
        let to = if number == second.1 {
            second.2 - 1
        } else {
            line.len()
        };
        text.extend(line.chars().take(to).skip(from));
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
    fn the_text_between_two_places_has_no_names() {
        let file = std::env::temp_dir().join(format!("petalflow-twice-{}", std::process::id()));
        std::fs::write(&file, "mod a;\nstruct Größe {}\nstruct Größe {}\n").unwrap();
        let place = |line| (file.clone(), line, 8);
        assert_eq!(
            text_between(&place(2), &place(3)).as_deref(),
            Some("Größe {}\nstruct ")
        );
        assert_eq!(text_between(&place(3), &place(2)), None);
        std::fs::remove_file(file).unwrap();
    }
}
