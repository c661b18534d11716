//! Filters on the values of entries.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// A condition on the fields of a value.
///
/// A path names a field: `city`, `home.city`, or the empty text for the value itself. Dots go through objects. A path
/// that starts with a slash is a JSON pointer (RFC 6901), which also reaches into lists and into names with dots. A
/// missing field matches no comparison. Only a negated filter matches it.
///
/// Numbers compare as numbers (1 equals 1.0), texts by their bytes. Values of different types are not equal and have
/// no order.
///
/// ```
/// use petalflow_memory::Filter;
/// use serde_json::json;
///
/// let ann = json!({ "name": "Ann", "home": { "city": "Oslo" }, "age": 41, "likes": ["tulips"] });
/// assert!(Filter::eq("home.city", "Oslo").and(Filter::ge("age", 18)).matches(&ann));
/// assert!(Filter::contains("likes", "tulips").or(Filter::exists("roses")).matches(&ann));
/// assert!((!Filter::one_of("name", ["Bo", "Cy"])).matches(&ann));
/// assert!(Filter::eq("/likes/0", "tulips").matches(&ann));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Filter {
    /// A comparison of one field.
    Field {
        /// The path of the field.
        path: String,
        /// The comparison.
        is: Comparison,
    },
    /// All of these filters match.
    All(Vec<Filter>),
    /// At least one of these filters matches.
    Any(Vec<Filter>),
    /// The filter does not match.
    Not(Box<Filter>),
}

/// A comparison of a field.
///
/// ```
/// use petalflow_memory::{Comparison, Filter};
///
/// let old = Filter::Field { path: "age".into(), is: Comparison::Ge(90.into()) };
/// assert_eq!(old, Filter::ge("age", 90));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Comparison {
    /// The field exists, even if it is `null`.
    There,
    /// The field equals one of these values.
    OneOf(Vec<Value>),
    /// The field is less than this value.
    Lt(Value),
    /// The field is less than or equal to this value.
    Le(Value),
    /// The field is greater than this value.
    Gt(Value),
    /// The field is greater than or equal to this value.
    Ge(Value),
    /// The field is a list that contains this value, or a text that contains this text.
    Contains(Value),
}

impl Filter {
    fn field(path: impl Into<String>, is: Comparison) -> Self {
        Filter::Field {
            path: path.into(),
            is,
        }
    }

    /// The field equals this value.
    ///
    /// ```
    /// use petalflow_memory::Filter;
    /// use serde_json::json;
    ///
    /// let filter = Filter::eq("home.city", "Oslo");
    /// assert!(filter.matches(&json!({ "home": { "city": "Oslo" } })) && !filter.matches(&json!({ "city": "Oslo" })));
    /// ```
    pub fn eq(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::one_of(path, [value])
    }

    /// The field equals one of these values.
    ///
    /// ```
    /// use petalflow_memory::Filter;
    /// use serde_json::json;
    ///
    /// let nordic = Filter::one_of("city", ["Oslo", "Bergen"]);
    /// assert!(nordic.matches(&json!({ "city": "Oslo" })) && !nordic.matches(&json!({ "city": "Rome" })));
    /// ```
    pub fn one_of<V: Into<Value>>(
        path: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self::field(path, Comparison::OneOf(values))
    }

    /// The field exists, even if it is `null`.
    ///
    /// ```
    /// use petalflow_memory::Filter;
    /// use serde_json::json;
    ///
    /// let answered = Filter::exists("answer");
    /// assert!(answered.matches(&json!({ "answer": null })) && !answered.matches(&json!({})));
    /// ```
    pub fn exists(path: impl Into<String>) -> Self {
        Self::field(path, Comparison::There)
    }

    /// The field is less than this value.
    ///
    /// ```
    /// use petalflow_memory::Filter;
    /// use serde_json::json;
    ///
    /// let filter = Filter::lt("age", 90);
    /// assert!(filter.matches(&json!({ "age": 89 })) && !filter.matches(&json!({ "age": 90 })));
    /// ```
    pub fn lt(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::field(path, Comparison::Lt(value.into()))
    }

    /// The field is less than or equal to this value.
    ///
    /// ```
    /// use petalflow_memory::Filter;
    /// use serde_json::json;
    ///
    /// let filter = Filter::le("age", 90);
    /// assert!(filter.matches(&json!({ "age": 90 })) && !filter.matches(&json!({ "age": 91 })));
    /// ```
    pub fn le(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::field(path, Comparison::Le(value.into()))
    }

    /// The field is greater than this value.
    ///
    /// ```
    /// use petalflow_memory::Filter;
    /// use serde_json::json;
    ///
    /// let filter = Filter::gt("age", 90);
    /// assert!(filter.matches(&json!({ "age": 91 })) && !filter.matches(&json!({ "age": 90 })));
    /// ```
    pub fn gt(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::field(path, Comparison::Gt(value.into()))
    }

    /// The field is greater than or equal to this value.
    ///
    /// ```
    /// use petalflow_memory::Filter;
    /// use serde_json::json;
    ///
    /// let filter = Filter::ge("age", 90);
    /// assert!(filter.matches(&json!({ "age": 90 })) && !filter.matches(&json!({ "age": 89 })));
    /// ```
    pub fn ge(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::field(path, Comparison::Ge(value.into()))
    }

    /// The field is a list that contains this value, or a text that contains this text.
    ///
    /// ```
    /// use petalflow_memory::Filter;
    /// use serde_json::json;
    ///
    /// assert!(Filter::contains("likes", "tulips").matches(&json!({ "likes": ["roses", "tulips"] })));
    /// assert!(Filter::contains("text", "tulip").matches(&json!({ "text": "two tulips" })));
    /// ```
    pub fn contains(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::field(path, Comparison::Contains(value.into()))
    }

    /// Both filters match.
    #[must_use]
    pub fn and(self, other: Filter) -> Self {
        match self {
            Filter::All(mut all) => {
                all.push(other);
                Filter::All(all)
            }
            one => Filter::All(vec![one, other]),
        }
    }

    /// At least one of both filters matches.
    #[must_use]
    pub fn or(self, other: Filter) -> Self {
        match self {
            Filter::Any(mut any) => {
                any.push(other);
                Filter::Any(any)
            }
            one => Filter::Any(vec![one, other]),
        }
    }

    /// Whether a value matches the filter.
    pub fn matches(&self, value: &Value) -> bool {
        match self {
            Filter::Field { path, is } => at(value, path).is_some_and(|field| is.matches(field)),
            Filter::All(filters) => filters.iter().all(|filter| filter.matches(value)),
            Filter::Any(filters) => filters.iter().any(|filter| filter.matches(value)),
            Filter::Not(filter) => !filter.matches(value),
        }
    }
}

impl std::ops::Not for Filter {
    type Output = Self;

    fn not(self) -> Self {
        Filter::Not(Box::new(self))
    }
}

impl Comparison {
    fn matches(&self, field: &Value) -> bool {
        let order = |other| compare(field, other);
        match self {
            Comparison::There => true,
            Comparison::OneOf(values) => values.iter().any(|value| same(field, value)),
            Comparison::Lt(value) => order(value).is_some_and(Ordering::is_lt),
            Comparison::Le(value) => order(value).is_some_and(Ordering::is_le),
            Comparison::Gt(value) => order(value).is_some_and(Ordering::is_gt),
            Comparison::Ge(value) => order(value).is_some_and(Ordering::is_ge),
            Comparison::Contains(value) => match (field, value) {
                (Value::Array(items), value) => items.iter().any(|item| same(item, value)),
                (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
                _ => false,
            },
        }
    }
}

/// Returns the field at a path.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() || path.starts_with('/') {
        return value.pointer(path);
    }
    path.split('.')
        .try_fold(value, |value, name| value.as_object()?.get(name))
}

/// Compares two numbers or two texts. Other values have no order.
fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => numbers(one, other),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        _ => None,
    }
}

/// Compares integers exactly, and other numbers as `f64`.
fn numbers(one: &Number, other: &Number) -> Option<Ordering> {
    let whole = |number: &Number| {
        let signed = number.as_i64().map(i128::from);
        signed.or_else(|| number.as_u64().map(i128::from))
    };
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Whether two values are equal. Numbers compare as numbers.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            numbers(one, other).is_some_and(Ordering::is_eq)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let twin = |(name, value)| {
                other
                    .get::<String>(name)
                    .is_some_and(|other| same(value, other))
            };
            one.len() == other.len() && one.iter().all(twin)
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Filter;

    #[test]
    fn kinds_do_not_mix() {
        let value = json!({ "n": 10, "s": "9", "null": null, "list": [1.0, { "a": 1 }] });
        for (filter, expected) in [
            (Filter::eq("n", 10.0), true),
            (Filter::eq("n", "10"), false),
            (Filter::gt("s", 1), false),
            (Filter::lt("s", "91"), true),
            (Filter::le("null", json!(null)), false),
            (Filter::eq("null", json!(null)), true),
            (Filter::exists("null"), true),
            (Filter::exists("nothing"), false),
            (!Filter::exists("nothing"), true),
            (Filter::exists("n.deeper"), false),
            (Filter::contains("list", json!({ "a": 1.0 })), true),
            (Filter::contains("list", 1), true),
            (Filter::contains("n", 1), false),
            (Filter::eq("/list/1/a", 1), true),
            (Filter::exists("list.0"), false),
            (Filter::All(vec![]), true),
            (Filter::Any(vec![]), false),
        ] {
            assert_eq!(filter.matches(&value), expected, "{filter:?}");
        }
    }

    #[test]
    fn large_whole_numbers_are_exact() {
        let value = json!(u64::MAX);
        assert!(Filter::gt("", u64::MAX - 1).matches(&value));
        assert!(!Filter::eq("", u64::MAX - 1).matches(&value));
        assert!(Filter::gt("", -1).matches(&value));
    }
}
