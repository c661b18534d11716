//! The addresses to which requests go.

use reqwest::Url;
use serde_json::Value;

use super::encode;

/// Reads an address without a user, a query or a fragment.
pub(super) fn read(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim());
    let url = url.map_err(|_| {
        "it is no absolute URL: give the whole address with `server`, such as `https://example.com/v1`".to_owned()
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{}` is neither `http` nor `https`", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a user or a password: give it with `credential`".into());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it has a query or a fragment: give the address before it".into());
    }
    Ok(url)
}

/// The address of an operation: the first of its servers, of those of its path, or of those of the document.
pub(super) fn of_operation(root: &Value, item: &Value, operation: &Value) -> Result<Url, String> {
    let places = [operation, item, root];
    let server = places.iter().find_map(|place| place.get("servers")?.get(0));
    let Some(server) = server else {
        return Err("the document has no `servers`: give the address with `server`".into());
    };
    let mut text = server["url"].as_str().unwrap_or_default().to_owned();
    let variables = server.get("variables").and_then(Value::as_object);
    for (name, variable) in variables.into_iter().flatten() {
        if let Some(default) = variable["default"].as_str() {
            text = text.replace(&format!("{{{name}}}"), default);
        }
    }
    if text.contains('{') {
        return Err("the first of its `servers` has a variable without a default: give the address with `server`".into());
    }
    read(&text).map_err(|problem| format!("the first of its `servers` cannot be used: {problem}"))
}

/// A part of a path between slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Parameter(String),
}

/// The path `/books/{id}` as its segments.
pub(super) fn segments(path: &str) -> Result<Vec<Segment>, String> {
    if path.contains(['?', '#']) {
        return Err("its path has a query or a fragment: describe the query as parameters".into());
    }
    path.split('/').skip(1).map(segment).collect()
}

fn segment(text: &str) -> Result<Segment, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return Err("its path has `{` without `}`: close it".into());
        };
        if !before.is_empty() {
            pieces.push(Piece::Text(before.into()));
        }
        pieces.push(Piece::Parameter(name.into()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.into()));
    }
    Ok(Segment(pieces))
}

/// The names in the path.
pub(super) fn names(segments: &[Segment]) -> impl Iterator<Item = &str> {
    let pieces = segments.iter().flat_map(|segment| &segment.0);
    pieces.filter_map(|piece| match piece {
        Piece::Parameter(name) => Some(name.as_str()),
        Piece::Text(_) => None,
    })
}

/// The address with the values of the path and of the query, which are percent-encoded. It is below `base`, and has exactly the
/// segments of the path: anything else is `None`.
pub(super) fn join<'v>(
    base: &Url,
    segments: &[Segment],
    value: impl Fn(&str) -> Option<&'v str>,
    query: &[String],
) -> Option<Url> {
    let mut path = base.path().trim_end_matches('/').to_owned();
    for segment in segments {
        path.push('/');
        let start = path.len();
        for piece in &segment.0 {
            match piece {
                Piece::Text(text) => path.push_str(text),
                Piece::Parameter(name) => path.push_str(value(name)?),
            }
        }
        if is_dots(&path[start..]) {
            return None;
        }
    }
    let mut url = base.clone();
    url.set_path(&path);
    url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
    Some(url)
}

/// Whether a URL leaves the segment out, and perhaps the one before it: `.` and `..`, in each of their spellings.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}

/// Whether a value can be in a path: no part of it is empty, `.` or `..`, also for servers that decode slashes.
pub(super) fn is_safe(text: &str) -> bool {
    !text.is_empty()
        && text
            .split(['/', '\\'])
            .all(|part| !matches!(part, "." | ".."))
        && !text.chars().any(char::is_control)
}

/// The pair of a credential in the query or in a cookie.
pub(super) fn pair(name: &str, value: &str) -> String {
    format!("{}={}", encode::value(name), encode::value(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f44_6_addresses_stay_below_the_base() {
        let base = read("https://api.example.com/v1/").unwrap();
        let with = |path: &str, value: &str| {
            let value = encode::value(value);
            let segments = segments(path).unwrap();
            join(&base, &segments, |_| Some(&value), &[]).map(String::from)
        };
        for (value, expected) in [
            ("7", "https://api.example.com/v1/books/7/pages"),
            ("a/b", "https://api.example.com/v1/books/a%2Fb/pages"),
            (
                "@evil.example",
                "https://api.example.com/v1/books/%40evil.example/pages",
            ),
            (
                "?x=1#y",
                "https://api.example.com/v1/books/%3Fx%3D1%23y/pages",
            ),
            (
                "%2e%2e",
                "https://api.example.com/v1/books/%252e%252e/pages",
            ),
            (
                "\\..\\x",
                "https://api.example.com/v1/books/%5C..%5Cx/pages",
            ),
        ] {
            assert_eq!(with("/books/{id}/pages", value).as_deref(), Some(expected));
        }
        for escaping in [".", ".."] {
            assert_eq!(with("/books/{id}/pages", escaping), None);
            assert_eq!(with("/books/{id}", escaping), None);
        }
        // Together they would be `..`.
        assert_eq!(with("/books/{a}{b}", "."), None);
        assert_eq!(with("/books/%2e{a}", "."), None);
        for unsafe_value in ["", ".", "..", "a/../b", "..\\b", "a\nb", "./a"] {
            assert!(!is_safe(unsafe_value), "{unsafe_value:?}");
        }
        assert!(is_safe("...") && is_safe("a..b/c"));
    }

    #[test]
    fn f44_6_servers_have_variables() {
        let root = json!({ "servers": [{ "url": "https://{region}.example.com/{version}",
            "variables": { "region": { "default": "eu" }, "version": { "default": "v2" } } }] });
        let url = of_operation(&root, &json!({}), &json!({})).unwrap();
        assert_eq!(url.as_str(), "https://eu.example.com/v2");
        let own = json!({ "servers": [{ "url": "https://files.example.com" }] });
        let url = of_operation(&root, &own, &json!({})).unwrap();
        assert_eq!(url.as_str(), "https://files.example.com/");
        for (url, problem) in [
            ("/v1", "no absolute URL"),
            ("ftp://example.com", "neither `http` nor `https`"),
            ("https://me:secret@example.com", "has a user or a password"),
            ("https://example.com?key=1", "has a query"),
            ("https://{host}/v1", "a variable without a default"),
        ] {
            let root = json!({ "servers": [{ "url": url }] });
            let error = of_operation(&root, &json!({}), &json!({})).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
