//! JSON that arrives in pieces.

use std::mem;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::accumulator::set_at_path;
use super::free_text;
use super::json_path::{self, Step};
use super::json_text::{JsonText, TextEnd};

/// The JSON value in a text that arrives in pieces, as far as it is known.
///
/// * Lists and objects grow, and have what has arrived.
/// * A text grows while it arrives. With the [schema](Self::of_schema) of the value, a text of which only some values are
///   allowed, such as that of an enum or a date, is there when it is complete.
/// * A number, `true`, `false` and `null` are there when they are complete: `12` may be the start of `123`.
/// * A Markdown block around the JSON is removed, as for complete answers.
///
/// A value is never known to be the whole answer: a model, or the connection, may stop anywhere. What is not JSON ends the
/// growth, and the value stays as it is.
///
/// The cost of a piece is its own length. [`value`](Self::value) copies what has arrived.
///
/// ```
/// use petalflow_llm::stream::PartialJson;
/// use serde_json::json;
///
/// let mut answer = PartialJson::new();
/// answer.push(r#"{"name": "wild ro"#);
/// assert_eq!(answer.value(), Some(json!({ "name": "wild ro" })));
/// answer.push(r#"se", "petals": 1"#);
/// assert_eq!(answer.value(), Some(json!({ "name": "wild rose" })));
/// answer.push(r#"2, "colors": ["red", "wh"#);
/// assert_eq!(answer.value(), Some(json!({ "name": "wild rose", "petals": 12, "colors": ["red", "wh"] })));
/// ```
#[derive(Clone, Debug, Default)]
pub struct PartialJson {
    schema: Option<Arc<Value>>,
    /// The lists and objects that have no end yet, the outermost first.
    open: Vec<Open>,
    expects: Expects,
    lexeme: Lexeme,
    whole: Option<Value>,
    /// The value by paths, from providers that send it so.
    by_path: Value,
    /// The newest text by path, if it is not shown before it is complete.
    hidden: Option<(String, Value)>,
    /// The number of bytes that have arrived.
    len: usize,
}

/// A list or an object without its end.
#[derive(Clone, Debug)]
enum Open {
    List(Vec<Value>),
    /// With the name of the value that follows.
    Object(Map<String, Value>, Option<String>),
}

/// What may come next, between two lexemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expects {
    #[default]
    Value,
    ValueOrEnd,
    Name,
    NameOrEnd,
    Colon,
    CommaOrEnd,
    /// The rest of the first line of a Markdown block.
    FenceEnd,
    /// Nothing: the value is whole, or what follows is not JSON.
    Nothing,
}

/// A lexeme without its end.
#[derive(Clone, Debug, Default)]
enum Lexeme {
    #[default]
    None,
    Text(JsonText),
    Name(JsonText),
    /// A number, `true`, `false` or `null`.
    Scalar(String),
}

/// The most lists and objects inside each other, as in complete JSON: a deeper value cannot be parsed back, or dropped.
const MAX_DEPTH: usize = 127;

impl PartialJson {
    /// A value of which nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// A value that follows this JSON Schema. Values that do not follow it are not rejected.
    ///
    /// ```
    /// use petalflow_llm::stream::PartialJson;
    /// use serde_json::json;
    ///
    /// let schema = json!({ "type": "object", "properties": { "risk": { "enum": ["low", "lower"] } } });
    /// let mut answer = PartialJson::of_schema(schema);
    /// answer.push(r#"{"risk": "low"#);
    /// assert_eq!(answer.value(), Some(json!({})));
    /// answer.push(r#"er""#);
    /// assert_eq!(answer.value(), Some(json!({ "risk": "lower" })));
    /// ```
    pub fn of_schema(schema: impl Into<Arc<Value>>) -> Self {
        PartialJson {
            schema: Some(schema.into()),
            ..Self::default()
        }
    }

    /// The number of bytes that have arrived.
    #[expect(clippy::len_without_is_empty, reason = "it is not a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a piece of the text.
    pub fn push(&mut self, piece: &str) {
        self.len += piece.len();
        for letter in piece.chars() {
            self.letter(letter);
        }
    }

    /// Sets the value at a path, such as `$.city.name`, for providers that send arguments so. A text is appended to the one that
    /// is there.
    ///
    /// ```
    /// use petalflow_llm::stream::PartialJson;
    /// use serde_json::json;
    ///
    /// let mut answer = PartialJson::new();
    /// answer.set("$.city", &json!("Kyo"));
    /// answer.set("$.city", &json!("to"));
    /// assert_eq!(answer.value(), Some(json!({ "city": "Kyoto" })));
    /// ```
    pub fn set(&mut self, path: &str, value: &Value) {
        self.len += path.len();
        if let Some((hidden, text)) = self.hidden.take_if(|(hidden, _)| hidden != path) {
            set_at_path(&mut self.by_path, &json_path::parse(&hidden), &text);
        }
        let steps = json_path::parse(path);
        match value {
            Value::String(text) if !self.shows(&steps) => {
                self.len += text.len();
                let (_, hidden) = self
                    .hidden
                    .get_or_insert_with(|| (path.into(), Value::String(String::new())));
                set_at_path(hidden, &[], value);
            }
            _ => set_at_path(&mut self.by_path, &steps, value),
        }
    }

    /// The value as far as it is known. `None` before anything is.
    pub fn value(&self) -> Option<Value> {
        if self.whole.is_some() {
            return self.whole.clone();
        }
        if self.open.is_empty() && !self.by_path.is_null() {
            return Some(self.by_path.clone());
        }
        let text = match &self.lexeme {
            Lexeme::Text(text) if self.shows(&self.path()) => Some(text.so_far().into()),
            _ => None,
        };
        self.open.iter().rev().fold(text, |inner, open| {
            Some(match open {
                Open::List(items) => items.iter().cloned().chain(inner).collect(),
                Open::Object(fields, name) => {
                    let mut fields = fields.clone();
                    if let (Some(name), Some(inner)) = (name, inner) {
                        fields.insert(name.clone(), inner);
                    }
                    fields.into()
                }
            })
        })
    }

    /// Where the value is that arrives now.
    fn path(&self) -> Vec<Step<'_>> {
        let steps = self.open.iter().map(|open| match open {
            Open::List(items) => Step::Index(items.len()),
            Open::Object(_, name) => Step::Key(name.as_deref().unwrap_or_default()),
        });
        steps.collect()
    }

    /// Whether a text at this path is shown before it is complete.
    fn shows(&self, path: &[Step<'_>]) -> bool {
        let schema = self.schema.as_deref();
        schema.is_none_or(|schema| free_text::is_allowed(schema, path))
    }

    fn letter(&mut self, letter: char) {
        match mem::take(&mut self.lexeme) {
            Lexeme::None => self.next(letter),
            Lexeme::Text(mut text) => match text.push(letter) {
                TextEnd::Open => self.lexeme = Lexeme::Text(text),
                TextEnd::Closed => self.close(text.into_text().into()),
            },
            Lexeme::Name(mut name) => match name.push(letter) {
                TextEnd::Open => self.lexeme = Lexeme::Name(name),
                TextEnd::Closed => {
                    if let Some(Open::Object(_, known)) = self.open.last_mut() {
                        *known = Some(name.into_text());
                    }
                    self.expects = Expects::Colon;
                }
            },
            Lexeme::Scalar(mut scalar)
                if letter.is_ascii_alphanumeric() || "+-.".contains(letter) =>
            {
                scalar.push(letter);
                self.lexeme = Lexeme::Scalar(scalar);
            }
            Lexeme::Scalar(scalar) => match serde_json::from_str(&scalar) {
                Ok(value) => {
                    self.close(value);
                    self.next(letter);
                }
                Err(_) => self.expects = Expects::Nothing,
            },
        }
    }

    /// Reads a letter between two lexemes.
    fn next(&mut self, letter: char) {
        let takes_value = matches!(self.expects, Expects::Value | Expects::ValueOrEnd);
        match (letter, self.expects) {
            ('\n', Expects::FenceEnd) | (':', Expects::Colon) => self.expects = Expects::Value,
            ('{' | '[', Expects::FenceEnd) => {
                self.expects = Expects::Value;
                self.next(letter);
            }
            (_, Expects::Nothing | Expects::FenceEnd) | (' ' | '\n' | '\r' | '\t', _) => {}
            ('{' | '[', _) if takes_value && self.open.len() < MAX_DEPTH => {
                let is_list = letter == '[';
                self.open.push(if is_list {
                    Open::List(Vec::new())
                } else {
                    Open::Object(Map::new(), None)
                });
                self.expects = if is_list {
                    Expects::ValueOrEnd
                } else {
                    Expects::NameOrEnd
                };
            }
            ('"', _) if takes_value => self.lexeme = Lexeme::Text(JsonText::default()),
            ('"', Expects::Name | Expects::NameOrEnd) => {
                self.lexeme = Lexeme::Name(JsonText::default());
            }
            (',', Expects::CommaOrEnd) => {
                self.expects = match self.open.last() {
                    Some(Open::Object(..)) => Expects::Name,
                    _ => Expects::Value,
                };
            }
            (']', Expects::ValueOrEnd | Expects::CommaOrEnd)
            | ('}', Expects::NameOrEnd | Expects::CommaOrEnd) => self.end(letter),
            ('`', Expects::Value) if self.open.is_empty() => self.expects = Expects::FenceEnd,
            ('-' | '0'..='9' | 't' | 'f' | 'n', _) if takes_value => {
                self.lexeme = Lexeme::Scalar(letter.into());
            }
            _ => self.expects = Expects::Nothing,
        }
    }

    /// Ends the innermost list or object.
    fn end(&mut self, letter: char) {
        match (self.open.pop(), letter) {
            (Some(Open::List(items)), ']') => self.close(items.into()),
            (Some(Open::Object(fields, _)), '}') => self.close(fields.into()),
            (open, _) => {
                self.open.extend(open);
                self.expects = Expects::Nothing;
            }
        }
    }

    /// Adds a complete value to the list or object that it is in.
    fn close(&mut self, value: Value) {
        self.expects = Expects::CommaOrEnd;
        match self.open.last_mut() {
            Some(Open::List(items)) => items.push(value),
            Some(Open::Object(fields, name)) => {
                fields.insert(name.take().unwrap_or_default(), value);
            }
            None => {
                self.whole = Some(value);
                self.expects = Expects::Nothing;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The value after a text that arrives letter by letter.
    fn after(text: &str) -> Option<Value> {
        let mut json = PartialJson::new();
        let mut bytes = [0; 4];
        for letter in text.chars() {
            json.push(letter.encode_utf8(&mut bytes));
        }
        json.value()
    }

    #[test]
    fn f44_4_numbers_and_words_are_there_when_they_are_complete() {
        for (text, known) in [
            ("[12", json!([])),
            ("[12,", json!([12])),
            ("[-1.5e3 ", json!([-1500.0])),
            ("[tru", json!([])),
            ("[true]", json!([true])),
            (r#"{"a": nul"#, json!({})),
            (r#"{"a": null}"#, json!({ "a": null })),
            (r#"{"a": 12}"#, json!({ "a": 12 })),
        ] {
            assert_eq!(after(text), Some(known), "{text}");
        }
        assert_eq!(after("12"), None, "it may go on");
    }

    #[test]
    fn f44_4_texts_grow_and_escapes_are_there_when_they_are_complete() {
        for (text, known) in [
            (r#"["a\"#, "a"),
            (r#"["a\n"#, "a\n"),
            (r#"["a\u00e"#, "a"),
            (r#"["a\u00e9"#, "aé"),
            (r#"["a\ud83d"#, "a"),
            (r#"["a\ud83d\ude0"#, "a"),
            (r#"["a\ud83d\ude00"#, "a😀"),
            (r#"["a\ud83db"#, "a\u{fffd}b"),
            (r#"["é\"\\\/"#, "é\"\\/"),
        ] {
            assert_eq!(after(text), Some(json!([known])), "{text}");
        }
    }

    #[test]
    fn f44_4_names_are_there_with_their_values() {
        assert_eq!(after(r#"{"na"#), Some(json!({})));
        assert_eq!(after(r#"{"name""#), Some(json!({})));
        assert_eq!(after(r#"{"name": "#), Some(json!({})));
        assert_eq!(after(r#"{"name": {"#), Some(json!({ "name": {} })));
    }

    #[test]
    fn f44_4_a_markdown_block_is_removed() {
        for text in [
            "```json\n{\"a\": 1}\n```",
            "```\n{\"a\": 1}```",
            "  ```json {\"a\": 1}```",
        ] {
            assert_eq!(after(text), Some(json!({ "a": 1 })), "{text}");
        }
    }

    #[test]
    fn f44_4_what_is_not_json_ends_the_growth() {
        assert_eq!(after("Sure! {\"a\": 1}"), None);
        assert_eq!(after(r#"{"a": 1, oh, "b": 2}"#), Some(json!({ "a": 1 })));
        assert_eq!(after(r#"{"a": [1}, "b": 2}"#), Some(json!({ "a": [1] })));
        assert_eq!(after("[truth, 2]"), Some(json!([])));
        assert_eq!(after("{\"a\": 1} and more"), Some(json!({ "a": 1 })));
        let deep = "[".repeat(100_000);
        assert!(after(&deep).is_some());
    }

    #[test]
    fn f44_4_the_value_of_a_whole_text_is_what_a_parser_reads() {
        let value = json!({
            "title": "Pancakes \"à la\" 🥞\n",
            "servings": 4, "price": -0.25, "vegan": false, "note": null, "empty": [{}, [], ""],
            "steps": [{ "text": "Mix.", "minutes": 5 }, { "text": "Bake.", "minutes": 10 }],
        });
        for text in [value.to_string(), format!("{value:#}")] {
            assert_eq!(after(&text), Some(value.clone()));
        }
    }

    #[test]
    fn f44_4_values_by_path_hide_what_is_not_complete() {
        let schema = json!({ "type": "object", "properties": {
            "risk": { "enum": ["low", "lower"] }, "why": { "type": "string" },
        } });
        let mut json = PartialJson::of_schema(schema);
        json.set("$.risk", &json!("low"));
        assert_eq!(json.value(), None);
        json.set("$.risk", &json!("er"));
        json.set("$.why", &json!("bec"));
        assert_eq!(json.value(), Some(json!({ "risk": "lower", "why": "bec" })));
        json.set("$.why", &json!("ause"));
        assert_eq!(
            json.value(),
            Some(json!({ "risk": "lower", "why": "because" }))
        );
    }
}
