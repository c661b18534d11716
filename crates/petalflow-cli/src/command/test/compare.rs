//! Compares what came out of a case with what it expects.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::suite::Case;
use crate::document::File;
use crate::exit::Result;
use crate::terminal;

/// How the end of a case differs from what it expects.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    pub(super) message: String,
    /// The path of the variable, or the field of the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Value>,
}

impl From<String> for Difference {
    fn from(message: String) -> Self {
        Difference {
            message,
            path: None,
            expected: None,
            found: None,
        }
    }
}

/// The difference of two values, if there is one. `None` is a value that is not there.
pub(super) fn difference(
    path: &str,
    expected: Option<&Value>,
    found: Option<&Value>,
) -> Option<Difference> {
    let text = |value: Option<&Value>| value.map_or_else(|| "nothing".into(), Value::to_string);
    (expected != found).then(|| Difference {
        message: format!("{path}: expected {}, found {}", text(expected), text(found)),
        path: Some(path.to_owned()),
        expected: expected.cloned(),
        found: found.cloned(),
    })
}

/// Compares an error with the one that the case expects.
pub(super) fn failure(case: &Case, message: &str) -> Vec<Difference> {
    match &case.fails {
        Some(text) if message.contains(text) => Vec::new(),
        Some(text) => vec![format!("the error does not say `{text}`: {message}").into()],
        None => vec![message.to_owned().into()],
    }
}

/// The difference of a case that should have failed.
pub(super) fn has_not_failed() -> Difference {
    "the run has not failed".to_owned().into()
}

/// The difference of replies that no model was asked for.
pub(super) fn unused_replies(count: usize) -> Option<Difference> {
    (count > 0).then(|| format!("{count} replies were not asked for").into())
}

/// Compares all variables with those of the golden file, or writes it. `file` is its path.
pub(super) fn golden(
    case: &Case,
    file: &Path,
    vars: Value,
    update: bool,
) -> Result<Vec<Difference>> {
    let vars = compared(vars, &case.ignore);
    if update {
        terminal::output(Some(file), &terminal::pretty(&vars)?)?;
        return Ok(Vec::new());
    }
    if !file.exists() {
        let text = format!(
            "there is no file `{}`: `--update` writes it",
            file.display()
        );
        return Ok(vec![text.into()]);
    }
    let golden = compared(File::read(file)?.value()?, &case.ignore);
    let names = |value: &Value| -> BTreeSet<String> {
        let fields = value.as_object().into_iter().flatten();
        fields.map(|(name, _)| name.clone()).collect()
    };
    let (golden_names, names) = (names(&golden), names(&vars));
    let all = golden_names.union(&names);
    Ok(all
        .filter_map(|name| difference(name, golden.get(name), vars.get(name)))
        .collect())
}

/// The variables without those that are ignored.
fn compared(mut vars: Value, ignored: &[String]) -> Value {
    for path in ignored {
        remove(&mut vars, path);
    }
    vars
}

fn remove(value: &mut Value, path: &str) {
    let Some(fields) = value.as_object_mut() else {
        return;
    };
    match path.split_once('.') {
        None => drop(fields.remove(path)),
        Some((name, rest)) => {
            if let Some(inner) = fields.get_mut(name) {
                remove(inner, rest);
            }
        }
    }
}
