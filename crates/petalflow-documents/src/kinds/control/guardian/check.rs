//! The checks of a guardian.

use jsonschema::{PatternOptions, Validator};
use regex::Regex;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::check_config::{CheckConfig, CheckType, ValueType};
use super::pii::PiiType;
use crate::ConfigError;
use crate::config::pattern;
use crate::values::{equal, get, is_empty, length, text, type_name};

/// A failure of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Failure {
    check_name: String,
    check_type: Value,
    #[serde(skip_serializing_if = "String::is_empty")]
    field: String,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pii_type: Option<PiiType>,
}

impl Failure {
    pub(super) fn custom(name: &str, message: String) -> Self {
        Failure {
            check_name: name.into(),
            check_type: "custom".into(),
            field: String::new(),
            message,
            expected: None,
            actual: None,
            pii_type: None,
        }
    }

    fn with_values(self, expected: impl Into<Value>, actual: impl Into<Value>) -> Self {
        Failure {
            expected: Some(expected.into()),
            actual: Some(actual.into()),
            ..self
        }
    }
}

/// A check whose settings are complete.
pub(super) struct Check {
    config: CheckConfig,
    rule: Rule,
    /// Whether a finding is a failure.
    pub(super) blocks: bool,
}

enum Rule {
    Required,
    MaxLength(usize),
    MinLength(usize),
    Pattern(Regex),
    Enum,
    Type(ValueType),
    Range,
    Pii(Vec<PiiType>),
    Schema(Box<Validator>),
}

impl Check {
    pub(super) fn new(index: usize, config: &CheckConfig) -> Result<Self, ConfigError> {
        let field = |name: &str| format!("checks[{index}].{name}");
        let kind = json!(config.kind);
        let missing = |name: &str| {
            let problem = format!("a check of type {kind} needs it");
            ConfigError::new(field(name), problem)
        };
        let rule = match config.kind {
            CheckType::Required => Rule::Required,
            CheckType::MaxLength => {
                Rule::MaxLength(config.max_length.ok_or_else(|| missing("max_length"))?)
            }
            CheckType::MinLength => {
                Rule::MinLength(config.min_length.ok_or_else(|| missing("min_length"))?)
            }
            CheckType::Pattern => {
                let text = config.pattern.as_deref().unwrap_or_default();
                if text.is_empty() {
                    return Err(missing("pattern"));
                }
                Rule::Pattern(pattern(field("pattern"), text)?)
            }
            CheckType::Enum if config.allowed_values.is_empty() => {
                return Err(missing("allowed_values"));
            }
            CheckType::Enum => Rule::Enum,
            CheckType::Type => Rule::Type(
                config
                    .expected_type
                    .ok_or_else(|| missing("expected_type"))?,
            ),
            CheckType::Range => Rule::Range,
            CheckType::Pii if config.pii_types.is_empty() => Rule::Pii(PiiType::ALL.to_vec()),
            CheckType::Pii => Rule::Pii(config.pii_types.clone()),
            CheckType::Schema => {
                let schema = config.schema.as_ref().ok_or_else(|| missing("schema"))?;
                Rule::Schema(Box::new(
                    validator(schema)
                        .map_err(|problem| ConfigError::new(field("schema"), problem))?,
                ))
            }
        };
        let blocks = config.kind != CheckType::Pii || config.block_pii.unwrap_or(true);
        Ok(Check {
            config: config.clone(),
            rule,
            blocks,
        })
    }

    /// The failures of the check for this value.
    pub(super) fn run(&self, input: &Value) -> Vec<Failure> {
        let path = &self.config.field;
        if path.is_empty() {
            return self.check(input, input);
        }
        let Some(object) = input.as_object() else {
            let message = format!("cannot read field `{path}` of a value that is not an object");
            return vec![self.failure(path, message)];
        };
        match get(object, path) {
            Some(value) => self.check(value, input),
            None if matches!(self.rule, Rule::Required) => {
                vec![self.failure(path, format!("required field `{path}` is missing"))]
            }
            None => Vec::new(),
        }
    }

    fn failure(&self, field: &str, message: String) -> Failure {
        let config = &self.config;
        Failure {
            check_type: json!(config.kind),
            field: field.into(),
            ..Failure::custom(
                &config.name,
                match config.message.as_str() {
                    "" => message,
                    own => own.into(),
                },
            )
        }
    }

    fn check(&self, value: &Value, input: &Value) -> Vec<Failure> {
        let failure = match &self.rule {
            Rule::Required if !self.config.required_fields.is_empty() => {
                return self.required_fields(input);
            }
            Rule::Required => self.required(value),
            Rule::MaxLength(limit) => self.max_length(value, *limit),
            Rule::MinLength(limit) => self.min_length(value, *limit),
            Rule::Pattern(pattern) => self.pattern(value, pattern),
            Rule::Enum => self.allowed_values(value),
            Rule::Type(expected) => self.value_type(value, *expected),
            Rule::Range => self.range(value),
            Rule::Pii(types) => return self.pii(value, types),
            Rule::Schema(validator) => return self.schema(value, validator),
        };
        failure.into_iter().collect()
    }

    /// A failure at the field of the check.
    fn fail(&self, message: String) -> Failure {
        self.failure(&self.config.field, message)
    }

    fn required_fields(&self, input: &Value) -> Vec<Failure> {
        let Some(object) = input.as_object() else {
            let message = "the check of required fields needs an object".to_owned();
            return vec![self.failure("", message)];
        };
        let absent = |path: &&String| get(object, path).is_none_or(is_empty);
        let absent = self.config.required_fields.iter().filter(absent);
        absent
            .map(|path| self.failure(path, format!("required field `{path}` is missing or empty")))
            .collect()
    }

    fn required(&self, value: &Value) -> Option<Failure> {
        let field = &self.config.field;
        is_empty(value).then(|| self.fail(format!("field `{field}` is required but empty")))
    }

    fn max_length(&self, value: &Value, limit: usize) -> Option<Failure> {
        let length = length(value).unwrap_or_default();
        (length > limit).then(|| {
            self.fail(format!("length {length} exceeds maximum {limit}"))
                .with_values(limit, length)
        })
    }

    fn min_length(&self, value: &Value, limit: usize) -> Option<Failure> {
        let length = length(value).unwrap_or_default();
        (length < limit).then(|| {
            self.fail(format!("length {length} is below minimum {limit}"))
                .with_values(limit, length)
        })
    }

    fn pattern(&self, value: &Value, pattern: &Regex) -> Option<Failure> {
        let text = text(value);
        (!pattern.is_match(&text)).then(|| {
            self.fail(format!("value {text:?} does not match pattern `{pattern}`"))
                .with_values(pattern.as_str(), text.as_str())
        })
    }

    fn allowed_values(&self, value: &Value) -> Option<Failure> {
        let allowed = &self.config.allowed_values;
        (!allowed.iter().any(|it| equal(it, value))).then(|| {
            let list = Value::from(allowed.clone());
            self.fail(format!("value {value} is not in allowed values {list}"))
                .with_values(list, value.clone())
        })
    }

    fn value_type(&self, value: &Value, expected: ValueType) -> Option<Failure> {
        let (expected, actual) = (json!(expected), type_name(value));
        (expected != *actual).then(|| {
            self.fail(format!("expected type {expected}, got \"{actual}\""))
                .with_values(expected, actual)
        })
    }

    fn range(&self, value: &Value) -> Option<Failure> {
        let Some(number) = value.as_f64() else {
            let kind = type_name(value);
            return Some(self.fail(format!("range check needs a number, got \"{kind}\"")));
        };
        if let Some(min) = self.config.min.filter(|min| number < *min) {
            let message = format!("value {number} is below minimum {min}");
            return Some(self.fail(message).with_values(min, number));
        }
        let max = self.config.max.filter(|max| number > *max)?;
        let message = format!("value {number} exceeds maximum {max}");
        Some(self.fail(message).with_values(max, number))
    }

    fn pii(&self, value: &Value, types: &[PiiType]) -> Vec<Failure> {
        let text = text(value);
        let found = types.iter().filter(|kind| kind.is_in(&text));
        let failures = found.map(|kind| Failure {
            pii_type: Some(*kind),
            ..self.fail(format!("potential {} PII detected", kind.name()))
        });
        failures.collect()
    }

    fn schema(&self, value: &Value, validator: &Validator) -> Vec<Failure> {
        let failures = validator.iter_errors(value).map(|error| {
            let path = error.instance_path().to_string().replace('/', ".");
            let path = format!("{}{path}", self.config.field);
            self.failure(path.trim_start_matches('.'), error.to_string())
        });
        failures.collect()
    }
}

/// A validator whose patterns take time in proportion to the text.
fn validator(schema: &Map<String, Value>) -> Result<Validator, String> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .build(&Value::Object(schema.clone()))
        .map_err(|error| format!("it is not a JSON Schema: {error}"))
}
