//! The options of a question to a person.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::diagnostic::{Code, Report};
use petalflow_source::{Pointer, names::shown, names::suggestion};

/// Checks that a choice has options, each once, and that the default is one of them.
pub(super) fn check(config: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    let options = config.get("options").and_then(Value::as_array);
    let (mut ids, mut known) = (Vec::new(), HashSet::new());
    for (index, option) in options.into_iter().flatten().enumerate() {
        let Some(id) = option.get("id").and_then(Value::as_str) else {
            continue;
        };
        if !known.insert(id) {
            let at = at.name("options").item(index).name("id");
            let message = format!("two options have the id `{}`: rename one", shown(id));
            report.add(Code::WrongValue, at, message);
            return;
        }
        ids.push(id);
    }
    if ids.is_empty() {
        if options.is_none_or(Vec::is_empty)
            && config.get("mode").is_some_and(|mode| mode == "choice")
            && !report.is_wrong(&at.name("options").to_string())
        {
            let message = "a choice needs `options`, each with an `id`";
            report.add(Code::WrongValue, at.name("options"), message);
        }
        return;
    }
    let default = config.get("default_option").and_then(Value::as_str);
    if let Some(default) = default.filter(|it| !it.is_empty() && !known.contains(it)) {
        let suggestion = suggestion(default, ids.iter().copied());
        let message = format!("`{}` is not one of the options{suggestion}", shown(default));
        report.add(Code::WrongValue, at.name("default_option"), message);
    }
}
