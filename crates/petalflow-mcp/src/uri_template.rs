//! Addresses with variables, such as `notes://{day}`.

use std::collections::BTreeMap;

/// An address with variables. Of the forms of RFC 6570 it has `{name}`, and `{+name}` at the end.
#[derive(Clone, Debug)]
pub(super) struct UriTemplate {
    /// The text before the first variable.
    start: String,
    /// Each variable with the text after it.
    variables: Vec<Variable>,
}

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    /// Whether the value can have a slash.
    has_slashes: bool,
    after: String,
}

impl UriTemplate {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = text.split('{');
        let start = pieces.next().unwrap_or_default();
        let mut variables: Vec<Variable> = Vec::new();
        for piece in pieces {
            let Some((expression, after)) = piece.split_once('}') else {
                return Err("a `{` has no `}`".into());
            };
            let name = expression.strip_prefix('+').unwrap_or(expression);
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_name) {
                return Err(format!(
                    "`{{{expression}}}` is not supported; write `{{name}}`, or `{{+name}}` for a value with slashes"
                ));
            }
            if let Some(before) = variables.last() {
                if before.after.is_empty() {
                    return Err(format!("no text separates `{}` from `{name}`", before.name));
                }
                if before.has_slashes {
                    return Err(format!("`{{+{}}}` is not the last variable", before.name));
                }
            }
            if variables.iter().any(|it| it.name == name) {
                return Err(format!("it has `{name}` twice"));
            }
            variables.push(Variable {
                name: name.into(),
                has_slashes: expression.starts_with('+'),
                after: after.into(),
            });
        }
        let texts = variables.iter().map(|it| &*it.after);
        if texts.chain([start]).any(|text| text.contains('}')) {
            return Err("a `}` has no `{`".into());
        }
        if variables.is_empty() {
            return Err("it has no variable; serve it with `McpServer::resource`".into());
        }
        Ok(UriTemplate {
            start: start.into(),
            variables,
        })
    }

    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.variables.iter().any(|variable| variable.name == name)
    }

    /// The values of the variables, decoded, if the address has this form. A variable takes as little as possible, and at
    /// least one character.
    pub(super) fn values(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let mut rest = uri.strip_prefix(&*self.start)?;
        let mut values = BTreeMap::new();
        for (at, variable) in self.variables.iter().enumerate() {
            let is_last = at + 1 == self.variables.len();
            let value = if is_last {
                rest.strip_suffix(&*variable.after)?
            } else {
                let first = rest.chars().next()?.len_utf8();
                let end = first + rest[first..].find(&*variable.after)?;
                &rest[..end]
            };
            if value.is_empty() || (value.contains('/') && !variable.has_slashes) {
                return None;
            }
            rest = &rest[value.len() + variable.after.len()..];
            values.insert(variable.name.clone(), decoded(value)?);
        }
        Some(values)
    }
}

/// Text with `%20` and others decoded. `None` if it is not text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else {
            return None;
        };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = digit(*high)? * 16 + digit(*low)?;
        bytes.push(u8::try_from(byte).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_values_or_another_form() {
        for (template, uri, expected) in [
            ("notes://{day}", "notes://today", Some("day=today")),
            ("notes://{day}", "notes://to/day", None),
            ("notes://{day}", "notes://", None),
            ("notes://{day}", "other://today", None),
            ("notes://{day}", "notes://gr%C3%BC%20n", Some("day=grü n")),
            ("notes://{day}", "notes://%C3", None),
            ("notes://{day}", "notes://%zz", None),
            ("notes://{day}", "notes://%2", None),
            ("notes://{day}", "notes://üç", Some("day=üç")),
            ("file:///{+path}", "file:///a/b.txt", Some("path=a/b.txt")),
            ("a://{x}/{y}", "a://1/2", Some("x=1,y=2")),
            ("a://{x}/{y}", "a://1/2/3", None),
            ("a://{x}-{y}.md", "a://1-2-3.md", Some("x=1,y=2-3")),
            ("a://{x}-{y}.md", "a://--3.md", Some("x=-,y=3")),
            ("a://{x}.md", "a://.md", None),
        ] {
            let values = UriTemplate::parse(template).unwrap().values(uri);
            let values = values.map(|values| {
                let values = values.iter().map(|(name, value)| format!("{name}={value}"));
                values.collect::<Vec<_>>().join(",")
            });
            assert_eq!(values.as_deref(), expected, "{template} {uri}");
        }
    }

    #[test]
    fn a_wrong_template_is_an_error() {
        for (template, problem) in [
            ("notes://{day", "a `{` has no `}`"),
            ("notes://day}", "a `}` has no `{`"),
            ("notes://{day}}", "a `}` has no `{`"),
            (
                "notes://day",
                "it has no variable; serve it with `McpServer::resource`",
            ),
            ("a://{x}{y}", "no text separates `x` from `y`"),
            ("a://{+x}/{y}", "`{+x}` is not the last variable"),
            ("a://{x}/{x}", "it has `x` twice"),
            (
                "a://{?x}",
                "`{?x}` is not supported; write `{name}`, or `{+name}` for a value with slashes",
            ),
        ] {
            assert_eq!(UriTemplate::parse(template).unwrap_err(), problem);
        }
    }
}
