//! The options of a question to a person.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::documents::diagnostic::{Code, Report};
use crate::source::{Pointer, names::shown, names::suggestion};

/// Checks the options and the default option.
pub(super) fn check(config: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    let options = config.get("options").and_then(Value::as_array);
    let options = options.map_or(&[][..], Vec::as_slice);
    if !ids_unique(options, at, report) {
        return;
    }
    choice_has_options(config, options, at, report);
    default_is_an_option(config, options, at, report);
}

fn ids(options: &[Value]) -> impl Iterator<Item = (usize, &str)> {
    let options = options.iter().enumerate();
    options.filter_map(|(index, option)| Some((index, option.get("id")?.as_str()?)))
}

/// Reports the first id that occurs again. Returns whether there is none.
fn ids_unique(options: &[Value], at: &Pointer, report: &mut Report) -> bool {
    let mut known = HashSet::new();
    let Some((index, id)) = ids(options).find(|(_, id)| !known.insert(*id)) else {
        return true;
    };
    let at = at.name("options").item(index).name("id");
    let message = format!("two options have the id `{}`: rename one", shown(id));
    report.add(Code::WrongValue, at, message);
    false
}

fn choice_has_options(
    config: &Map<String, Value>,
    options: &[Value],
    at: &Pointer,
    report: &mut Report,
) {
    let is_choice = config.get("mode").is_some_and(|mode| mode == "choice");
    let at = at.name("options");
    if options.is_empty() && is_choice && !report.is_wrong(at.as_str()) {
        let message = "a choice needs `options`, each with an `id`";
        report.add(Code::WrongValue, at, message);
    }
}

fn default_is_an_option(
    config: &Map<String, Value>,
    options: &[Value],
    at: &Pointer,
    report: &mut Report,
) {
    let default = config.get("default_option").and_then(Value::as_str);
    let Some(default) = default.filter(|it| !it.is_empty()) else {
        return;
    };
    let ids: Vec<&str> = ids(options).map(|(_, id)| id).collect();
    if !ids.is_empty() && !ids.contains(&default) {
        let suggestion = suggestion(default, ids);
        let message = format!("`{}` is not one of the options{suggestion}", shown(default));
        report.add(Code::WrongValue, at.name("default_option"), message);
    }
}
