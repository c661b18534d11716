//! Schemas, and their strict form: what providers accept is written down here, from their documentation.

use std::collections::{BTreeMap, HashSet};

use petalflow::tool::schema;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::tool::{FuncTool, Tool, ToolContext};
use petalflow_llm::schema::strict;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Calls a tool outside any run.
async fn call(tool: &(impl Tool + ?Sized), arguments: Value) -> Result<Value, String> {
    let result = tool.call(arguments, &ToolContext::new("1")).await;
    result.map_err(|error| error.to_string())
}

/// What both OpenAI's and Anthropic's strict modes take. OpenAI also takes `pattern` and bounds of numbers and lists, which
/// Anthropic refuses; Anthropic also takes `default`, which OpenAI refuses.
pub(crate) const STRICT: &[&str] = &[
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "anyOf",
    "format",
];
pub(crate) const STRICT_FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// What the neutral schema may hold: JSON Schema's draft 2020-12, as far as schemars writes it.
const NEUTRAL_FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
    "uri",
    "ip",
];

/// Calls a function with each nested schema and its path.
fn each(schema: &Value, path: &str, look: &mut impl FnMut(&str, &Map<String, Value>)) {
    let Value::Object(keywords) = schema else {
        panic!("{path}: {schema} is not an object");
    };
    look(path, keywords);
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(inner)) => {
                for (name, schema) in inner {
                    each(schema, &format!("{path}.{name}"), look);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(inner)) => {
                for (index, schema) in inner.iter().enumerate() {
                    each(schema, &format!("{path}.{keyword}[{index}]"), look);
                }
            }
            ("items" | "additionalProperties", Value::Object(_)) => {
                each(value, &format!("{path}[]"), look);
            }
            _ => {}
        }
    }
}

fn assert_known(path: &str, keywords: &Map<String, Value>, known: &[&str]) {
    for keyword in keywords.keys() {
        assert!(
            known.contains(&keyword.as_str()),
            "{path}: `{keyword}` in {keywords:?}"
        );
    }
}

fn names(value: Option<&Value>) -> HashSet<String> {
    match value {
        Some(Value::Object(object)) => object.keys().cloned().collect(),
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(Value::as_str)
            .map(Into::into)
            .collect(),
        _ => HashSet::new(),
    }
}

fn assert_strict(schema: &Value) {
    assert_eq!(schema["type"], "object");
    each(schema, "", &mut |path, keywords| {
        assert_known(path, keywords, STRICT);
        let types = match keywords.get("type") {
            Some(Value::String(one)) => vec![one.as_str()],
            Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
            _ => vec![],
        };
        let says =
            !types.is_empty() || keywords.contains_key("anyOf") || keywords.contains_key("enum");
        assert!(says, "{path}: {keywords:?}");
        if types.contains(&"object") {
            assert_eq!(keywords["additionalProperties"], false, "{path}");
            assert_eq!(
                names(keywords.get("properties")),
                names(keywords.get("required")),
                "{path}"
            );
        }
        if types.contains(&"array") {
            assert!(keywords.contains_key("items"), "{path}");
        }
        if let Some(format) = keywords.get("format").and_then(Value::as_str) {
            assert!(STRICT_FORMATS.contains(&format), "{path}: {format}");
        }
    });
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
enum Plain {
    Red,
    /// Like grass.
    Green,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "read from JSON only")]
enum Tagged {
    Point,
    Circle { radius: f32 },
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
enum Outside {
    Point,
    Circle { radius: u64 },
    Square(i8),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "read from JSON only")]
enum Untagged {
    Number(f64),
    Text(String),
    List(Vec<u8>),
}

/// Everything at once.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
struct Everything {
    /// A text.
    #[schemars(length(min = 1, max = 9), regex(pattern = r"^\w+$"))]
    text: String,
    maybe: Option<String>,
    #[serde(default)]
    count: u32,
    #[schemars(range(min = 0.5, max = 2.5))]
    factor: f64,
    flags: [bool; 3],
    pair: (u8, String),
    #[schemars(length(max = 5))]
    list: Vec<Option<i64>>,
    plain: Plain,
    maybe_plain: Option<Plain>,
    tagged: Tagged,
    outside: Option<Outside>,
    untagged: Untagged,
    nested: Vec<Nested>,
    #[schemars(extend("format" = "date-time"))]
    when: String,
    #[schemars(extend("format" = "color"))]
    colour: String,
    #[serde(default = "red")]
    preset: Plain2,
}

#[derive(Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Plain2 {
    Red,
    Blue,
}

fn red() -> Plain2 {
    Plain2::Red
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
struct Nested {
    #[serde(rename = "id")]
    number: std::num::NonZeroU16,
    unit: Option<()>,
}

/// Grows.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
struct Tree {
    name: String,
    branches: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
struct Maps {
    by_name: BTreeMap<String, u8>,
    anything: Value,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
struct Flat {
    n: u8,
    #[serde(flatten)]
    tagged: Tagged,
}

#[test]
fn the_neutral_schema_has_no_references_and_no_formats_of_its_own() {
    let neutral = schema::of::<Everything>();
    assert_eq!(neutral["description"], "Everything at once.");
    each(&neutral, "", &mut |path, keywords| {
        for keyword in ["$ref", "$schema", "$defs", "title"] {
            assert!(!keywords.contains_key(keyword), "{path}: {keyword}");
        }
        if let Some(format) = keywords.get("format").and_then(Value::as_str) {
            assert!(
                NEUTRAL_FORMATS.contains(&format) || format == "color",
                "{path}: {format}"
            );
        }
    });
    // Only what is recursive refers to itself.
    assert!(schema::of::<Tree>().to_string().contains("\"$ref\""));
}

#[test]
fn strict_schemas_use_only_supported_keywords() {
    let strict = strict(&schema::of::<Everything>()).unwrap();
    assert_strict(&strict);
    let of = |name: &str| &strict["properties"][name];
    // A constraint without a keyword is in the description.
    assert_eq!(
        *of("text"),
        json!({ "type": "string", "description": "A text. (shortest length: 1, longest length: 9, pattern: ^\\w+$)" })
    );
    assert_eq!(*of("maybe"), json!({ "type": ["string", "null"] }));
    assert_eq!(
        *of("count"),
        json!({ "type": ["integer", "null"], "description": "(default: 0, minimum: 0)" })
    );
    assert_eq!(of("colour")["description"], "(format: color)");
    assert_eq!(of("when")["format"], "date-time");
    assert_eq!(of("preset")["enum"], json!(["red", "blue", null]));
    assert!(of("tagged")["anyOf"].is_array());
}

#[test]
fn a_schema_without_a_strict_form_has_a_reason() {
    for (schema, expected) in [
        (schema::of::<Tree>(), "it is recursive or too large"),
        (schema::of::<Maps>(), "it accepts properties with any name"),
        (
            schema::of::<BTreeMap<String, u8>>(),
            "it accepts properties with any name",
        ),
        (schema::of::<Flat>(), "it has alternatives"),
        (json!(true), "it accepts any type"),
        (
            json!({ "type": "object", "properties": { "a": { "type": "array" } } }),
            "`a.[]` accepts any type",
        ),
        (
            json!({ "type": "object", "properties": { "a": { "type": "object", "additionalProperties": { "type": "string" } } } }),
            "`a` accepts properties with any name",
        ),
    ] {
        let error = strict(&schema).unwrap_err().to_string();
        assert_eq!(error, format!("the schema cannot be strict: {expected}"));
    }
}

#[test]
fn schemas_from_elsewhere_are_simplified() {
    let foreign = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "to": { "$ref": "#/definitions/place", "description": "Where to." },
            "via": { "type": "array", "items": { "$ref": "#/definitions/place" } },
            "who": { "allOf": [{ "$ref": "#/definitions/named" }, { "type": "object", "properties": { "age": { "type": "integer", "exclusiveMinimum": 0 } }, "required": ["age"] }] },
            "how": { "oneOf": [{ "const": "car" }, { "const": "train" }] },
            "lost": { "$ref": "https://example.com/schema" },
        },
        "required": ["to"],
        "definitions": {
            "place": { "type": "object", "title": "Place", "properties": { "city": { "type": "string" } }, "required": ["city"] },
            "named": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
        },
    });
    let error = strict(&foreign).unwrap_err().to_string();
    assert_eq!(
        error,
        "the schema cannot be strict: `lost` accepts any type"
    );
    let mut known = foreign;
    known["properties"].as_object_mut().unwrap().remove("lost");
    let strict = strict(&known).unwrap();
    assert_strict(&strict);
    assert_eq!(strict["properties"]["to"]["description"], "Where to.");
    let of = |pointer: &str| strict.pointer(pointer).unwrap().clone();
    assert_eq!(of("/properties/via/items/required"), json!(["city"]));
    let mut required = of("/properties/who/required");
    required
        .as_array_mut()
        .unwrap()
        .sort_by_key(Value::to_string);
    assert_eq!(required, json!(["age", "name"]));
}

#[test]
fn keywords_beside_a_reference_or_all_of_are_part_of_the_schema() {
    let point = json!({ "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"] });
    let own = json!({ "y": { "type": "integer" } });
    for schema in [
        json!({ "type": "object", "properties": own, "required": ["y"], "allOf": [point] }),
        json!({ "$ref": "#/$defs/point", "properties": own, "required": ["y"], "$defs": { "point": point } }),
    ] {
        let strict = strict(&schema).unwrap();
        assert_strict(&strict);
        assert_eq!(
            names(strict.get("properties")),
            names(Some(&json!(["x", "y"])))
        );
    }
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
struct TwoChoices {
    inner: FlatTwice,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
struct FlatTwice {
    #[serde(flatten)]
    first: Tagged,
    #[serde(flatten)]
    second: Sized2,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "size")]
#[allow(dead_code, reason = "read from JSON only")]
enum Sized2 {
    Small { grams: u8 },
    Large { tonnes: u8 },
}

#[test]
fn all_flattened_enums_are_part_of_the_schema() {
    let strict = strict(&schema::of::<TwoChoices>()).unwrap();
    assert_strict(&strict);
    let ways = strict.pointer("/properties/inner/anyOf").unwrap();
    let ways: Vec<_> = ways.as_array().unwrap().iter().collect();
    assert_eq!(ways.len(), 4, "{ways:?}");
    for way in ways {
        let names = names(way.get("properties"));
        assert!(
            names.contains("kind") && names.contains("size"),
            "{names:?}"
        );
    }
}

#[test]
fn a_map_with_number_keys_is_not_an_empty_object() {
    let error = strict(&schema::of::<BTreeMap<u32, u8>>()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the schema cannot be strict: it accepts properties with any name"
    );
}

#[test]
fn an_expanding_schema_is_limited() {
    // Thirty definitions, each of which refers twice to the next: a billion parts.
    let mut defs = Map::new();
    for n in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
        defs.insert(
            format!("d{n}"),
            json!({ "type": "object", "properties": { "a": next, "b": next } }),
        );
    }
    defs.insert("d30".into(), json!({ "type": "string" }));
    let bomb =
        json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/d0" } }, "$defs": defs });
    assert!(strict(&bomb).is_err());
}

#[tokio::test]
async fn null_for_an_optional_argument_is_read_in_strict_mode() {
    #[derive(Deserialize, JsonSchema)]
    struct Search {
        query: String,
        #[serde(default = "ten")]
        limit: u32,
        order: Option<String>,
    }
    fn ten() -> u32 {
        10
    }
    let search = FuncTool::new("search", "Searches.", |search: Search| async move {
        Ok((search.query, search.limit, search.order))
    });
    assert_strict(&strict(&search.spec().parameters).unwrap());
    let all = json!({ "query": "petals", "limit": null, "order": null });
    assert_eq!(call(&search, all).await, Ok(json!(["petals", 10, null])));
}

/// Any JSON that looks like a schema, more or less.
fn schema_like() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!("string")),
        Just(json!("object")),
        Just(json!("null")),
        Just(json!(["integer", "null"])),
        Just(json!(["array", "object"])),
        Just(json!("#/properties/a")),
        Just(json!("#")),
        Just(json!(true)),
        Just(json!(null)),
        Just(json!(3)),
        Just(json!(["a", "b"])),
    ];
    let keywords = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "$ref",
        "required",
        "additionalProperties",
        "prefixItems",
        "description",
        "format",
        "minimum",
        "default",
        "a",
        "b",
        "not",
    ]);
    leaf.prop_recursive(6, 96, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keywords.clone().prop_map(String::from), inner, 0..6)
                .prop_map(|object| Value::Object(object.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_strict_schema_is_valid(inner in schema_like()) {
        let schema = json!({ "type": "object", "properties": { "a": inner, "b": { "type": "string" } } });
        if let Ok(strict) = strict(&schema) {
            assert_strict(&strict);
        }
        let _ = strict(&inner);
    }
}
