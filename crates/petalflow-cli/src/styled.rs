//! Text on its way to a terminal: our styles, and everything else without what a terminal obeys.
//!
//! All output of the program passes [`rendered`]. A value may come from a document, a model or a store. So control
//! characters, which move the cursor or write the clipboard, and bidirectional ones, which show text in another order, are
//! written as `\u001b`. In JSON this is the same text.

use std::fmt::{self, Display, Write as _};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Style};

pub(crate) const ERROR: Mark = Mark('e');
pub(crate) const WARNING: Mark = Mark('w');
pub(crate) const NOTE: Mark = Mark('n');
pub(crate) const STRONG: Mark = Mark('s');

/// A style. In a format, `{STRONG}` begins it and `{STRONG:#}` ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(char);

/// The end of a style.
const END: char = 'r';

/// Begins a mark. It is no character of any text.
const BEGIN: char = '\u{fdd0}';

/// Part of each mark, so that no value can have one.
static SECRET: LazyLock<String> = LazyLock::new(|| {
    // The keys of a new `RandomState` are random.
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
});

impl Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = if f.alternate() { END } else { self.0 };
        write!(f, "{BEGIN}{id}{}", *SECRET)
    }
}

/// A text with the codes of its styles, in which nothing else is obeyed by a terminal.
pub(crate) fn rendered(text: impl Display) -> String {
    let text = text.to_string();
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(next) = rest.chars().next() {
        if let Some((style, after)) = mark(rest) {
            safe.push_str(&style);
            rest = after;
            continue;
        }
        if is_obeyed(next) {
            let _ = write!(safe, "\\u{:04x}", u32::from(next));
        } else {
            safe.push(next);
        }
        rest = &rest[next.len_utf8()..];
    }
    safe
}

/// The codes of the mark at the beginning of a text, and what follows it.
fn mark(text: &str) -> Option<(String, &str)> {
    let marked = text.strip_prefix(BEGIN)?;
    let id = marked.chars().next()?;
    let style = match id {
        'e' => AnsiColor::Red.on_default().bold(),
        'w' => AnsiColor::Yellow.on_default().bold(),
        'n' => AnsiColor::Cyan.on_default(),
        's' => Style::new().bold(),
        _ => Style::new(),
    };
    let after = marked[id.len_utf8()..].strip_prefix(SECRET.as_str())?;
    let codes = if id == END {
        anstyle::Reset.render().to_string()
    } else {
        style.render().to_string()
    };
    Some((codes, after))
}

/// Whether a terminal does something else than to show the character.
fn is_obeyed(c: char) -> bool {
    let is_bidirectional = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    is_bidirectional || (c.is_control() && !matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, STRONG, WARNING, rendered};

    #[test]
    fn control_and_bidirectional_characters_of_values_are_escaped() {
        let clipboard = "a\u{1b}]52;c;aGk=\u{7}b\r\n\tc";
        assert_eq!(
            rendered(clipboard),
            "a\\u001b]52;c;aGk=\\u0007b\\u000d\n\tc"
        );
        let others = "\u{9b}31m \u{7f} \u{202e}txt\u{2066} \u{61c}\u{200f} é ß 花";
        assert_eq!(
            rendered(others),
            "\\u009b31m \\u007f \\u202etxt\\u2066 \\u061c\\u200f é ß 花"
        );
    }

    #[test]
    fn only_our_styles_become_codes() {
        let text = format!("{STRONG}name:{STRONG:#} {WARNING}w{WARNING:#}");
        let expected = "\u{1b}[1mname:\u{1b}[0m \u{1b}[1m\u{1b}[33mw\u{1b}[0m";
        assert_eq!(rendered(text), expected);
        let forged = format!("{BEGIN}s0123456789abcdef \u{1b}[8mhidden");
        assert_eq!(
            rendered(&forged),
            format!("{BEGIN}s0123456789abcdef \\u001b[8mhidden")
        );
    }

    #[test]
    fn escaped_json_is_the_same_value() {
        let value = serde_json::json!({ "a\u{202e}": "\u{1b}]52\u{85}\n" });
        let text = rendered(serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.contains(['\u{202e}', '\u{1b}', '\u{85}']));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
