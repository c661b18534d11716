//! The results of functions that a case gives.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

pub(super) struct Results {
    given: BTreeMap<String, Given>,
    /// The functions that were called without a result.
    missing: BTreeSet<String>,
}

enum Given {
    /// That of all calls.
    Always(Value),
    /// Those of the next calls.
    Each(VecDeque<Value>),
}

impl Results {
    pub(super) fn new(given: &BTreeMap<String, Value>) -> Self {
        let of = |value: &Value| match value {
            Value::Array(each) => Given::Each(each.iter().cloned().collect()),
            value => Given::Always(value.clone()),
        };
        Results {
            given: given
                .iter()
                .map(|(name, value)| (name.clone(), of(value)))
                .collect(),
            missing: BTreeSet::new(),
        }
    }

    /// The result of the next call of a function.
    pub(super) fn next(&mut self, function: &str) -> Result<Value, String> {
        let next = match self.given.get_mut(function) {
            Some(Given::Always(value)) => Some(value.clone()),
            Some(Given::Each(values)) => values.pop_front(),
            None => None,
        };
        next.ok_or_else(|| {
            self.missing.insert(function.to_owned());
            format!("the test has no result for `{function}`")
        })
    }

    /// Calls without a result, and results without a call.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        let missing = self.missing.iter();
        let missing =
            missing.map(|it| format!("no result for a call of `{it}`: add it to `results`"));
        let unused = self.given.iter().filter_map(|(name, given)| match given {
            Given::Each(values) if !values.is_empty() => Some(format!(
                "{} results of `{name}` were not asked for",
                values.len()
            )),
            _ => None,
        });
        missing.chain(unused)
    }
}
