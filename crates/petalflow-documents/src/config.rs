//! Errors of settings, and types that several settings share.

use std::time::Duration;

use jiff::SignedDuration;
use petalflow_document_model::expression::compile;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An error in the settings of a node.
///
/// ```
/// use petalflow_documents::kinds::{FilterConfig, FilterNode};
/// use serde_json::json;
///
/// let config: FilterConfig = serde_json::from_value(json!({
///     "filters": [{ "type": "match", "field": "text", "pattern": "(" }],
/// }))?;
/// let error = FilterNode::new(config).unwrap_err();
/// assert!(error.to_string().starts_with("`filters[0].pattern`: "));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {problem}")]
pub struct ConfigError {
    /// The setting.
    pub field: String,
    /// What is wrong with it, and what to do.
    pub problem: String,
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl ConfigError {
    /// Creates an error.
    ///
    /// ```
    /// use petalflow_documents::ConfigError;
    ///
    /// assert_eq!(ConfigError::new("url", "it is empty").to_string(), "`url`: it is empty");
    /// ```
    pub fn new(field: impl Into<String>, problem: impl ToString) -> Self {
        ConfigError {
            field: field.into(),
            problem: problem.to_string(),
        }
    }
}

/// A duration in settings: a number of seconds, or a text such as `1m30s`.
///
/// ```
/// use petalflow_documents::Period;
/// use std::time::Duration;
///
/// let period: Period = serde_json::from_str("\"1m30s\"")?;
/// assert_eq!(period, Period(Duration::from_secs(90)));
/// let period: Period = serde_json::from_str("1.5")?;
/// assert_eq!(period.0, Duration::from_millis(1500));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period(pub Duration);

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum PeriodText {
    Seconds(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = || {
            de::Error::custom(
                "a duration is a number of seconds that is not negative, or a text such as `1m30s`",
            )
        };
        let text = PeriodText::deserialize(deserializer).map_err(|_| expected())?;
        let duration = match text {
            PeriodText::Seconds(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            PeriodText::Text(text) => {
                let parsed: Option<SignedDuration> = text.parse().ok();
                parsed.and_then(|duration| Duration::try_from(duration).ok())
            }
        };
        duration.map(Period).ok_or_else(expected)
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match SignedDuration::try_from(self.0) {
            Ok(duration) => serializer.collect_str(&format_args!("{duration:#}")),
            Err(_) => serializer.serialize_f64(self.0.as_secs_f64()),
        }
    }
}

impl JsonSchema for Period {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Period".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        PeriodText::json_schema(generator)
    }
}

/// Compiles a regular expression of a field.
pub(crate) fn pattern(field: impl Into<String>, pattern: &str) -> Result<Regex, ConfigError> {
    compile(pattern).map_err(|problem| ConfigError::new(field, problem))
}
