//! The types, each with an example of its JSON.
#![allow(dead_code, reason = "the types are read from JSON only")]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::num::{NonZeroI64, NonZeroU8};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use petalflow::tool::schema;
use petalflow::tool::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A type of parameters or answers.
pub(super) struct Type {
    pub(super) name: &'static str,
    pub(super) neutral: Value,
    /// A value of the type.
    pub(super) example: Value,
    /// Whether it has a strict form.
    pub(super) strict: bool,
}

/// Most types are the type of a property.
#[derive(Deserialize, JsonSchema)]
struct Of<T> {
    value: T,
}

fn root<T: DeserializeOwned + JsonSchema>(
    name: &'static str,
    example: Value,
    strict: bool,
) -> Type {
    let read = serde_json::from_value::<T>(example.clone());
    assert!(read.is_ok(), "{name}: {:?}", read.err());
    Type {
        name,
        neutral: schema::of::<T>(),
        example,
        strict,
    }
}

fn property<T: DeserializeOwned + JsonSchema>(
    name: &'static str,
    example: Value,
    strict: bool,
) -> Type {
    root::<Of<T>>(name, json!({ "value": example }), strict)
}

#[derive(Deserialize, JsonSchema, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Plain {
    Red,
    /// Like grass.
    Green,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
enum Renamed {
    DarkRed,
    #[serde(rename = "moss")]
    DarkGreen,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Internal {
    Point,
    Circle { radius: f32 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "data")]
enum Adjacent {
    Point,
    Circle(f32),
    Box { width: u8 },
}

#[derive(Deserialize, JsonSchema)]
enum External {
    Point,
    Circle { radius: u64 },
    Square(i8),
    Pair(u8, String),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Text(String),
    List(Vec<u8>),
    Object { x: u8 },
}

#[derive(Deserialize, JsonSchema)]
struct Newtype(u32);

#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct Transparent {
    inner: String,
}

#[derive(Deserialize, JsonSchema)]
struct Pair(u8, String);

#[derive(Deserialize, JsonSchema)]
struct Unit;

// `schemars` writes the same for it as for an object of any shape.
#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {
    id: u8,
}

#[derive(Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct Defaults {
    first_name: String,
    tries: u32,
    ratio: f32,
    on: bool,
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults {
            first_name: "Ada".into(),
            tries: 3,
            ratio: 0.5,
            on: true,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Limits {
    #[schemars(range(min = 1, max = 10))]
    count: u8,
    #[schemars(range(min = 0.5, max = 2.5))]
    factor: f64,
    #[schemars(length(min = 1, max = 9))]
    name: String,
    #[schemars(regex(pattern = r"^\w+$"))]
    word: String,
    #[schemars(length(min = 2, max = 5))]
    list: Vec<u8>,
    #[schemars(extend("multipleOf" = 5, "exclusiveMinimum" = 0))]
    step: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Formats {
    #[schemars(email)]
    email: String,
    #[schemars(url)]
    url: String,
    #[schemars(extend("format" = "date-time"))]
    at: String,
    #[schemars(extend("format" = "date"))]
    day: String,
    #[schemars(extend("format" = "uuid"))]
    id: String,
    #[schemars(extend("format" = "colour"))]
    colour: String,
    #[schemars(extend("format" = "time"))]
    number: u8,
}

/// A time in words, as `chrono` writes it.
#[derive(Deserialize)]
struct Moment(String);

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "partial-date-time" })
    }
}

/// Documented.
///
/// In two paragraphs.
#[derive(Deserialize, JsonSchema)]
struct Documented {
    /// The title, "quoted".
    title: String,
    #[serde(rename = "type")]
    kind: Plain,
    #[serde(alias = "n")]
    number: i8,
    #[serde(skip)]
    hidden: u8,
    #[schemars(with = "String")]
    shown_as_text: Value,
}

#[derive(Deserialize, JsonSchema)]
struct Tree {
    name: String,
    branches: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
struct List {
    /// The rest.
    next: Option<Box<List>>,
}

#[derive(Deserialize, JsonSchema)]
struct Even {
    odd: Option<Box<Odd>>,
}

#[derive(Deserialize, JsonSchema)]
struct Odd {
    even: Option<Box<Even>>,
}

#[derive(Deserialize, JsonSchema)]
struct FlatStruct {
    n: u8,
    #[serde(flatten)]
    closed: Nested,
}

#[derive(Deserialize, JsonSchema)]
struct Nested {
    id: u16,
    note: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct FlatEnum {
    n: u8,
    #[serde(flatten)]
    shape: Internal,
}

#[derive(Deserialize, JsonSchema)]
struct FlatTwice {
    #[serde(flatten)]
    shape: Internal,
    #[serde(flatten)]
    size: Size,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "size")]
enum Size {
    Small { grams: u8 },
    Large { tonnes: u8 },
}

#[derive(Deserialize, JsonSchema)]
struct FlatMap {
    n: u8,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn default_name() -> String {
    "Ann".into()
}

fn default_colors() -> Vec<Plain> {
    vec![Plain::Red]
}

#[derive(Deserialize, JsonSchema)]
struct DefaultFunctions {
    #[serde(default = "default_name")]
    name: String,
    #[serde(default = "default_colors")]
    colors: Vec<Plain>,
    #[serde(default)]
    inner: Option<Nested>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
struct OtherNames {
    #[serde(alias = "first")]
    first_name: String,
    #[serde(rename = "$ref")]
    reference: Option<u8>,
    #[serde(skip)]
    skipped: u8,
}

/// A choice whose variants refer to other types.
#[derive(Deserialize, JsonSchema)]
enum Choice {
    One(Nested),
    Many {
        all: Vec<Nested>,
        colors: Option<Vec<Plain>>,
    },
}

type Deep<T> = Of<Of<Of<Of<T>>>>;

pub(super) fn types() -> Vec<Type> {
    let mut types = numbers();
    types.extend(collections());
    types.extend(enums());
    types.extend(structs());
    types.extend(roots());
    types
}

fn numbers() -> Vec<Type> {
    vec![
        property::<u8>("u8", json!(7), true),
        property::<u16>("u16", json!(7), true),
        property::<u32>("u32", json!(7), true),
        property::<u64>("u64", json!(u64::MAX), true),
        property::<u128>("u128", json!(7), true),
        property::<usize>("usize", json!(7), true),
        property::<i8>("i8", json!(-7), true),
        property::<i64>("i64", json!(-7), true),
        property::<i128>("i128", json!(-7), true),
        property::<isize>("isize", json!(-7), true),
        property::<f32>("f32", json!(0.5), true),
        property::<f64>("f64", json!(-0.5), true),
        property::<NonZeroU8>("NonZeroU8", json!(7), true),
        property::<NonZeroI64>("NonZeroI64", json!(-7), true),
        property::<bool>("bool", json!(true), true),
        property::<char>("char", json!("é"), true),
        property::<String>("String", json!("text"), true),
        property::<Cow<'static, str>>("Cow<str>", json!("text"), true),
        property::<()>("()", json!(null), true),
        property::<PathBuf>("PathBuf", json!("/tmp"), true),
        property::<IpAddr>("IpAddr", json!("127.0.0.1"), true),
        property::<Ipv4Addr>("Ipv4Addr", json!("127.0.0.1"), true),
        property::<Duration>("Duration", json!({"secs": 1, "nanos": 2}), true),
        property::<Range<u32>>("Range<u32>", json!({"start": 1, "end": 2}), true),
        property::<Moment>("a moment", json!("2026-11-22T15:00:00"), true),
    ]
}

fn collections() -> Vec<Type> {
    vec![
        property::<Option<u32>>("Option<u32>", json!(7), true),
        property::<Option<u32>>("Option<u32>, none", json!(null), true),
        property::<Option<Option<String>>>("Option<Option<String>>", json!("text"), true),
        property::<Option<Plain>>("Option<enum>", json!("Green"), true),
        property::<Option<Nested>>("Option<struct>", json!({"id": 1}), true),
        property::<Option<Internal>>("Option<tagged enum>", json!({"kind": "Point"}), true),
        property::<Vec<u8>>("Vec<u8>", json!([1, 2]), true),
        property::<Vec<Vec<f64>>>("Vec<Vec<f64>>", json!([[1.0], []]), true),
        property::<Vec<Option<Nested>>>("Vec<Option<struct>>", json!([null, {"id": 1}]), true),
        property::<VecDeque<String>>("VecDeque<String>", json!(["a"]), true),
        property::<[u8; 3]>("[u8; 3]", json!([1, 2, 3]), true),
        property::<(u8, String)>("(u8, String)", json!([1, "a"]), true),
        property::<(u8,)>("(u8,)", json!([1]), true),
        property::<BTreeSet<String>>("BTreeSet<String>", json!(["a"]), true),
        property::<HashSet<Plain>>("HashSet<enum>", json!(["Red"]), true),
        property::<Box<u8>>("Box<u8>", json!(7), true),
        property::<Arc<str>>("Arc<str>", json!("text"), true),
        property::<HashMap<String, u8>>("HashMap<String, u8>", json!({"a": 1}), false),
        property::<HashMap<u32, String>>("HashMap<u32, String>", json!({"1": "a"}), false),
        property::<BTreeMap<String, Vec<Nested>>>(
            "BTreeMap<String, Vec<struct>>",
            json!({"a": []}),
            false,
        ),
        property::<Map<String, Value>>("Map", json!({"a": [1]}), false),
        property::<Value>("Value", json!({"a": [1]}), false),
        property::<Vec<Value>>("Vec<Value>", json!([1, "a"]), false),
        property::<Option<Vec<Plain>>>("Option<Vec<enum>>", json!(["Red"]), true),
        property::<[Nested; 2]>("[struct; 2]", json!([{"id": 1}, {"id": 2}]), true),
        property::<Vec<(String, Plain)>>("Vec<(String, enum)>", json!([["a", "Red"]]), true),
        property::<BTreeMap<Plain, u8>>("BTreeMap<enum, u8>", json!({"Red": 1}), false),
        property::<Option<HashMap<String, HashMap<String, Vec<u8>>>>>(
            "Option<HashMap<String, HashMap<String, Vec<u8>>>>",
            json!({"a": {"b": [1]}}),
            false,
        ),
    ]
}

fn enums() -> Vec<Type> {
    vec![
        property::<Plain>("a plain enum", json!("Green"), true),
        property::<Renamed>("a renamed enum", json!("moss"), true),
        property::<Internal>(
            "an internally tagged enum",
            json!({"kind": "Circle", "radius": 0.5}),
            true,
        ),
        property::<Adjacent>(
            "an adjacently tagged enum",
            json!({"kind": "Box", "data": {"width": 1}}),
            true,
        ),
        property::<External>("an externally tagged enum", json!({"Pair": [1, "a"]}), true),
        property::<External>("an externally tagged enum, unit", json!("Point"), true),
        property::<Untagged>("an untagged enum", json!([1, 2]), true),
        property::<Result<u8, String>>("Result<u8, String>", json!({"Ok": 1}), true),
    ]
}

fn structs() -> Vec<Type> {
    vec![
        property::<Newtype>("a newtype", json!(7), true),
        property::<Transparent>("a transparent struct", json!("text"), true),
        property::<Pair>("a tuple struct", json!([1, "a"]), true),
        property::<Unit>("a unit struct", json!(null), true),
        property::<Empty>("a struct without fields", json!({}), false),
        property::<Closed>("a closed struct", json!({"id": 1}), true),
        property::<Defaults>("a struct of defaults", json!({"tries": 1}), true),
        property::<Limits>(
            "a struct with limits",
            json!({"count": 1, "factor": 1.5, "name": "a", "word": "a", "list": [1, 2], "step": 5}),
            true,
        ),
        property::<Formats>(
            "a struct with formats",
            json!({"email": "a@b.c", "url": "http://a", "at": "x", "day": "x", "id": "x", "colour": "x", "number": 1}),
            true,
        ),
        property::<Documented>(
            "a documented struct",
            json!({"title": "a", "type": "Red", "number": 1, "shown_as_text": "x"}),
            true,
        ),
        property::<FlatStruct>("a flattened struct", json!({"n": 1, "id": 2}), true),
        property::<FlatEnum>(
            "a flattened enum",
            json!({"n": 1, "kind": "Circle", "radius": 0.5}),
            true,
        ),
        property::<FlatTwice>(
            "two flattened enums",
            json!({"kind": "Point", "size": "Small", "grams": 1}),
            true,
        ),
        property::<DefaultFunctions>("defaults of functions", json!({"name": "Bo"}), true),
        property::<OtherNames>(
            "a struct with other names",
            json!({"first-name": "a", "$ref": 1}),
            true,
        ),
        property::<Choice>(
            "an enum of structs",
            json!({"Many": {"all": [{"id": 1}], "colors": null}}),
            true,
        ),
        property::<Vec<Choice>>("Vec<enum of structs>", json!([{"One": {"id": 1}}]), true),
        property::<FlatMap>("a flattened map", json!({"n": 1, "x": [1]}), false),
        property::<Tree>(
            "a recursive struct",
            json!({"name": "a", "branches": []}),
            false,
        ),
        property::<List>(
            "a boxed recursive struct",
            json!({"next": {"next": null}}),
            false,
        ),
        property::<Even>(
            "two recursive structs",
            json!({"odd": {"even": null}}),
            false,
        ),
        root::<Deep<u8>>(
            "a generic struct in itself",
            json!({"value": {"value": {"value": {"value": 1}}}}),
            true,
        ),
        root::<Deep<Deep<Deep<u8>>>>(
            "twelve levels",
            (0..12).fold(json!(1), |inner, _| json!({ "value": inner })),
            false,
        ),
    ]
}

/// Types whose root is not one object with properties.
fn roots() -> Vec<Type> {
    vec![
        root::<FlatEnum>(
            "a flattened enum at the root",
            json!({"n": 1, "kind": "Point"}),
            false,
        ),
        root::<FlatTwice>(
            "two flattened enums at the root",
            json!({"kind": "Point", "size": "Large", "tonnes": 1}),
            false,
        ),
        root::<Internal>(
            "a tagged enum at the root",
            json!({"kind": "Circle", "radius": 0.5}),
            false,
        ),
        root::<Adjacent>(
            "an adjacent enum at the root",
            json!({"kind": "Circle", "data": 0.5}),
            false,
        ),
        root::<HashMap<String, u8>>("a map at the root", json!({"a": 1}), false),
        root::<Tree>(
            "a recursive root",
            json!({"name": "a", "branches": [{"name": "b", "branches": []}]}),
            false,
        ),
        root::<Empty>("an empty root", json!({}), true),
        root::<Defaults>("defaults at the root", json!({}), true),
    ]
}
