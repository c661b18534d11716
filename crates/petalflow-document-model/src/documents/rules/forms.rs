//! The forms of settings that a schema does not say.

use serde_json::{Map, Value};

use super::{contents, options, webhooks};
use crate::documents::diagnostic::{Code, Report};
use crate::expression::compile;
use crate::source::Pointer;

/// Checks the settings of a node, without those of a node in it.
pub(super) fn check(
    kind: &str,
    schema: &Value,
    config: &Map<String, Value>,
    at: &Pointer,
    report: &mut Report,
) {
    durations(schema, schema, config, at, report);
    contents::check(kind, config, at, report);
    match kind {
        "guardian" => patterns(config, "checks", at, report),
        "filter" => patterns(config, "filters", at, report),
        "webhook_call" => webhooks::call(config, at, report),
        "webhook_trigger" => webhooks::trigger(config, at, report),
        "human" => options::check(config, at, report),
        _ => {}
    }
}

/// Checks each setting whose type is `Period`, also in objects.
fn durations(
    root: &Value,
    schema: &Value,
    config: &Map<String, Value>,
    at: &Pointer,
    report: &mut Report,
) {
    for (name, value) in config {
        let property = schema.get("properties").and_then(|it| it.get(name));
        // Optional settings have their type and `null` as variants.
        let variants = property.and_then(|it| it.get("anyOf")?.as_array());
        let mut variants = variants.into_iter().flatten().chain(property);
        let reference = variants.find_map(|it| it.get("$ref")?.as_str()?.strip_prefix("#/$defs/"));
        match (reference, value) {
            (Some("Period"), value) if !is_duration(value) => {
                let message = "a duration is a number of seconds that is not negative, or a text such as `1m30s`";
                report.add(Code::WrongValue, at.name(name), message);
            }
            (Some(other), Value::Object(inner)) if other != "Period" => {
                if let Some(schema) = root.get("$defs").and_then(|it| it.get(other)) {
                    durations(root, schema, inner, &at.name(name), report);
                }
            }
            _ => {}
        }
    }
}

/// The words of units in a text that the loader reads as a duration.
const UNITS: &str = "w wk wks week weeks d day days h hr hrs hour hours m min mins minute minutes s sec secs second seconds \
    ms msec msecs milli millis millisecond milliseconds us usec usecs µs µsec µsecs μs μsec μsecs micro micros \
    microsecond microseconds ns nsec nsecs nano nanos nanosecond nanoseconds ago";

/// Whether a value can be a duration. All that the loader accepts are, and also some that it refuses.
fn is_duration(value: &Value) -> bool {
    let Value::String(text) = value else {
        let seconds = value.as_f64();
        return seconds.is_none_or(|it| (0.0..1.9e19).contains(&it));
    };
    let text = text.trim().to_lowercase();
    let is_negative = text.starts_with('-') && text.contains(|c| matches!(c, '1'..='9'));
    let mut words = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty());
    let is_iso = text.trim_start_matches(['+', '-']).starts_with('p');
    let has_units = words.all(|word| is_iso || UNITS.split_whitespace().any(|unit| unit == word));
    let is_number = text.parse::<f64>().is_ok_and(|it| it != 0.0);
    has_units && !is_negative && !is_number && text.contains(|c: char| c.is_ascii_digit())
}

/// Checks the setting `pattern` of each item of a list.
fn patterns(config: &Map<String, Value>, list: &str, at: &Pointer, report: &mut Report) {
    let items = config.get(list).and_then(Value::as_array);
    for (index, item) in items.into_iter().flatten().enumerate() {
        let kind = item.get("type").and_then(Value::as_str);
        if let (Some("pattern" | "match"), Some(Value::String(text))) = (kind, item.get("pattern"))
            && let Err(problem) = compile(text)
        {
            let at = at.name(list).item(index).name("pattern");
            report.add(Code::WrongValue, at, problem);
        }
    }
}
