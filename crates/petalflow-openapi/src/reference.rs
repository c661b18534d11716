//! References between the files of a document.
//!
//! In a document that was read, references to other files are complete: `schemas/pet.yaml#/Pet`, from the folder of the
//! document, whichever file has the reference. Those within the document start with `#`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use reqwest::Url;
use serde_json::Value;

/// The name of the document itself among its files.
pub(super) const DOCUMENT: &str = "";

/// The file and the place in it.
pub(super) fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// The last name in a reference: that of the schema, or that of the file without its ending.
pub(super) fn last_name(reference: &str) -> &str {
    let (file, place) = split(reference);
    if let Some((_, name)) = place.rsplit_once('/') {
        return name;
    }
    let name = file.rsplit('/').next().unwrap_or_default();
    name.split('.').next().unwrap_or_default()
}

/// Whether a file is an address, and not a path.
pub(super) fn is_address(file: &str) -> bool {
    let scheme = file.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|it| {
        it.starts_with(|c: char| c.is_ascii_alphabetic())
            && it
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// Makes the references of a file complete. `document` is the file name of the document itself, if it has one.
pub(super) fn complete(value: &mut Value, file: &str, document: Option<&str>) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                    *reference = completed(reference, file, document);
                }
                pending.extend(fields.values_mut());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
}

/// The files that the value refers to.
pub(super) fn files(value: &Value) -> Vec<&str> {
    let mut files = Vec::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    files.push(split(reference).0);
                }
                pending.extend(fields.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    files.retain(|it| *it != DOCUMENT);
    files
}

fn completed(reference: &str, file: &str, document: Option<&str>) -> String {
    let (target, place) = split(reference);
    let target = match target {
        "" => file.into(),
        target => joined(file, target),
    };
    let target = match document {
        Some(document) if document == target => DOCUMENT,
        _ => &target,
    };
    match place {
        "" if target != DOCUMENT => target.into(),
        place => format!("{target}#{place}"),
    }
}

/// The path or the address of a file, as another file refers to it.
pub(super) fn joined(file: &str, target: &str) -> String {
    if is_address(file)
        && let Ok(url) = Url::parse(file).and_then(|url| url.join(target))
    {
        return url.into();
    }
    // An absolute path, and `//host/path`, stay what they are: neither is in the folder.
    if is_address(target) || target.starts_with('/') {
        return target.into();
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let target: Cow<'_, str> = percent_decode_str(target).decode_utf8_lossy();
    normalized(&format!("{folder}/{target}"))
}

/// The path without `.`, and without `..` that has a folder before it.
pub(super) fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f44_6_references_are_complete() {
        for (file, reference, expected) in [
            ("", "#/a", "#/a"),
            ("", "./schemas/pet.yaml#/Pet", "schemas/pet.yaml#/Pet"),
            ("", "schemas/pet.yaml", "schemas/pet.yaml"),
            ("", "schemas/../api.yaml#/a", "#/a"),
            ("schemas/pet.yaml", "#/Pet", "schemas/pet.yaml#/Pet"),
            ("schemas/pet.yaml", "#", "schemas/pet.yaml"),
            ("schemas/pet.yaml", "cat.yaml", "schemas/cat.yaml"),
            ("schemas/pet.yaml", "../api.yaml#/a", "#/a"),
            ("schemas/pet.yaml", "../../up.yaml", "../up.yaml"),
            ("../up.yaml", "../../more.yaml#/a", "../../../more.yaml#/a"),
            ("", "a%20b.yaml#/c%20d", "a b.yaml#/c%20d"),
            ("", "/etc/passwd", "/etc/passwd"),
            ("", "//example.com/a.yaml", "//example.com/a.yaml"),
            (
                "",
                "https://example.com/a.yaml#/b",
                "https://example.com/a.yaml#/b",
            ),
            (
                "https://example.com/x/a.yaml",
                "../b.yaml#/c",
                "https://example.com/b.yaml#/c",
            ),
            (
                "https://example.com/a.yaml",
                "#/c",
                "https://example.com/a.yaml#/c",
            ),
        ] {
            let mut value = json!({ "all": [{ "$ref": reference }] });
            complete(&mut value, file, Some("api.yaml"));
            assert_eq!(value["all"][0]["$ref"], expected, "{reference} in {file}");
        }
        assert_eq!(last_name("#/components/schemas/Pet"), "Pet");
        assert_eq!(last_name("schemas/pet.v1.yaml"), "pet");
        // A property of this name is no reference.
        let mut property = json!({ "properties": { "$ref": { "type": "string" } } });
        let before = property.clone();
        complete(&mut property, "a.yaml", None);
        assert_eq!(property, before);
    }
}
