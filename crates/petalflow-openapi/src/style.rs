//! How values become texts: the styles of parameters.

use serde::Deserialize;
use serde_json::Value;

use super::encode;

/// How lists and objects are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
}

/// How a parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) style: Style,
    pub(super) explode: bool,
    /// Whether reserved characters of the query are not encoded.
    pub(super) allow_reserved: bool,
}

impl Form {
    fn encode(self, text: &str) -> String {
        if self.allow_reserved {
            encode::reserved_value(text)
        } else {
            encode::value(text)
        }
    }
}

/// A value that is no list and no object, as a text.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // Lists and objects inside of others have no style: they are JSON.
        value => value.to_string(),
    }
}

/// A part of a path, percent-encoded.
pub(super) fn path(name: &str, form: Form, value: &Value) -> String {
    let encode = |text: &str| encode::value(text);
    let name = encode(name);
    match form.style {
        Style::Label => {
            let between = if form.explode { "." } else { "," };
            format!(".{}", joined(value, form.explode, between, &encode))
        }
        Style::Matrix => {
            let pair = |key: &str, value: &str| format!(";{key}={value}");
            let pairs: Vec<String> = match value {
                Value::Array(items) if form.explode => {
                    let items = items.iter();
                    items.map(|it| pair(&name, &encode(&text(it)))).collect()
                }
                Value::Object(fields) if form.explode => {
                    let fields = fields.iter();
                    let pairs = fields.map(|(key, it)| pair(&encode(key), &encode(&text(it))));
                    pairs.collect()
                }
                value => vec![pair(&name, &joined(value, false, ",", &encode))],
            };
            pairs.concat()
        }
        _ => joined(value, form.explode, ",", &encode),
    }
}

/// The value of a header. It is not encoded.
pub(super) fn header(form: Form, value: &Value) -> String {
    joined(value, form.explode, ",", &str::to_owned)
}

/// The pairs `name=value` of a query or of cookies, percent-encoded.
pub(super) fn pairs(name: &str, form: Form, value: &Value) -> Vec<String> {
    let encode = Encode {
        name: &encode::value,
        value: &|text| form.encode(text),
    };
    let fields = fields(name, form, value, encode).into_iter();
    fields
        .map(|(name, text)| format!("{name}={text}"))
        .collect()
}

/// How the names and the values of fields are encoded.
#[derive(Clone, Copy)]
struct Encode<'a> {
    name: &'a dyn Fn(&str) -> String,
    value: &'a dyn Fn(&str) -> String,
}

/// The names and values of a form whose parts are not encoded.
pub(super) fn plain_fields(name: &str, form: Form, value: &Value) -> Vec<(String, String)> {
    let encode = Encode {
        name: &str::to_owned,
        value: &str::to_owned,
    };
    fields(name, form, value, encode)
}

fn fields(name: &str, form: Form, value: &Value, encode: Encode<'_>) -> Vec<(String, String)> {
    let key = (encode.name)(name);
    let field = |it: &Value| (key.clone(), (encode.value)(&text(it)));
    if form.style == Style::DeepObject {
        let mut fields = Vec::new();
        deep(&key, value, encode, &mut fields);
        return fields;
    }
    let between = match form.style {
        Style::SpaceDelimited => (encode.value)(" "),
        Style::PipeDelimited => (encode.value)("|"),
        _ => ",".into(),
    };
    match value {
        Value::Array(items) if form.explode => items.iter().map(field).collect(),
        Value::Object(fields) if form.explode => {
            let fields = fields.iter();
            fields
                .map(|(key, it)| ((encode.name)(key), (encode.value)(&text(it))))
                .collect()
        }
        // An empty list has no value.
        Value::Array(items) if items.is_empty() => Vec::new(),
        Value::Object(fields) if fields.is_empty() => Vec::new(),
        value => vec![(key, joined(value, false, &between, encode.value))],
    }
}

/// `filter[price][min]=3`: objects in objects too, and lists as repeated fields.
fn deep(key: &str, value: &Value, encode: Encode<'_>, all: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let key = format!("{key}{}", (encode.name)(&format!("[{name}]")));
                deep(&key, value, encode, all);
            }
        }
        Value::Array(items) => {
            for item in items {
                all.push((key.into(), (encode.value)(&text(item))));
            }
        }
        value => all.push((key.into(), (encode.value)(&text(value)))),
    }
}

/// The parts of a list or an object in one text: `a,b`, or `key,value`, or, of an exploded object, `key=value`.
fn joined(value: &Value, explode: bool, between: &str, encode: &dyn Fn(&str) -> String) -> String {
    let parts: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|it| encode(&text(it))).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let equals = if explode { "=" } else { between };
            fields
                .map(|(key, it)| format!("{}{equals}{}", encode(key), encode(&text(it))))
                .collect()
        }
        value => return encode(&text(value)),
    };
    parts.join(between)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(style: Style, explode: bool) -> Form {
        Form {
            style,
            explode,
            allow_reserved: false,
        }
    }

    /// The examples of the specification: "Style Examples" of OpenAPI 3.1.
    #[test]
    fn f44_6_styles_are_those_of_the_specification() {
        use Style::{DeepObject, Form, Label, Matrix, PipeDelimited, Simple, SpaceDelimited};
        let (word, list) = (json!("blue"), json!(["blue", "black", "brown"]));
        let object = json!({ "B": 150, "G": 200, "R": 100 });
        for (style, explode, of_word, of_list, of_object) in [
            (
                Matrix,
                false,
                ";color=blue",
                ";color=blue,black,brown",
                ";color=B,150,G,200,R,100",
            ),
            (
                Matrix,
                true,
                ";color=blue",
                ";color=blue;color=black;color=brown",
                ";B=150;G=200;R=100",
            ),
            (
                Label,
                false,
                ".blue",
                ".blue,black,brown",
                ".B,150,G,200,R,100",
            ),
            (
                Label,
                true,
                ".blue",
                ".blue.black.brown",
                ".B=150.G=200.R=100",
            ),
            (
                Simple,
                false,
                "blue",
                "blue,black,brown",
                "B,150,G,200,R,100",
            ),
            (
                Simple,
                true,
                "blue",
                "blue,black,brown",
                "B=150,G=200,R=100",
            ),
        ] {
            let written = |value| path("color", form(style, explode), value);
            assert_eq!(written(&word), of_word);
            assert_eq!(written(&list), of_list);
            assert_eq!(written(&object), of_object);
        }
        for (style, explode, value, expected) in [
            (Form, false, &word, "color=blue"),
            (Form, false, &list, "color=blue,black,brown"),
            (Form, false, &object, "color=B,150,G,200,R,100"),
            (Form, true, &list, "color=blue&color=black&color=brown"),
            (Form, true, &object, "B=150&G=200&R=100"),
            (SpaceDelimited, false, &list, "color=blue%20black%20brown"),
            (PipeDelimited, false, &list, "color=blue%7Cblack%7Cbrown"),
            (
                PipeDelimited,
                false,
                &object,
                "color=B%7C150%7CG%7C200%7CR%7C100",
            ),
            (
                DeepObject,
                true,
                &object,
                "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100",
            ),
            (Form, false, &json!([]), ""),
            (Form, true, &json!(""), "color="),
            (Form, true, &json!(true), "color=true"),
        ] {
            assert_eq!(
                pairs("color", form(style, explode), value).join("&"),
                expected
            );
        }
        let nested = json!({ "price": { "min": 3 }, "tag": ["a&b", "c"] });
        assert_eq!(
            pairs("f[x]", form(DeepObject, true), &nested).join("&"),
            "f%5Bx%5D%5Bprice%5D%5Bmin%5D=3&f%5Bx%5D%5Btag%5D=a%26b&f%5Bx%5D%5Btag%5D=c"
        );
        assert_eq!(header(form(Simple, true), &object), "B=150,G=200,R=100");
        assert_eq!(header(form(Simple, false), &list), "blue,black,brown");
    }

    #[test]
    fn f44_6_a_value_cannot_end_its_parameter() {
        let query = form(Style::Form, true);
        let escaping = json!("a&admin=1#x?y=%26 +/\u{e9}\r\n");
        assert_eq!(
            pairs("q", query, &escaping),
            ["q=a%26admin%3D1%23x%3Fy%3D%2526%20%2B%2F%C3%A9%0D%0A"]
        );
        let reserved = Form {
            allow_reserved: true,
            ..query
        };
        assert_eq!(
            pairs("q", reserved, &escaping),
            ["q=a%26admin%3D1%23x?y%3D%2526%20%2B/%C3%A9%0D%0A"]
        );
        let separators = json!(["a,b", "c"]);
        assert_eq!(
            pairs("q", form(Style::Form, false), &separators),
            ["q=a%2Cb,c"]
        );
    }
}
