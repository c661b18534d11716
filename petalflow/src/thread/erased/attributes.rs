//! Conditions on search attributes, compared with the keys of the flow.

use super::AnyThreads;
use crate::checkpoint::{AttributeKind, ThreadQuery};
use crate::outcome::ThreadError;

impl AnyThreads {
    /// The names and types of the search attributes of the flow.
    pub(crate) fn attributes(&self) -> Vec<(&'static str, AttributeKind)> {
        (self.flow.state_type().attribute_kinds)()
    }

    /// Fails if the query has a condition that no thread of the flow can meet: on an attribute that its state does not have, or with a
    /// value of another type.
    pub(super) fn check_attributes(&self, query: &ThreadQuery<'_>) -> Result<(), ThreadError> {
        let conditions = query.filter.map(|filter| filter.attributes());
        for (name, test) in conditions.into_iter().flatten() {
            let known = self.attributes();
            let flow = self.flow.name();
            let Some((_, kind)) = known.iter().find(|(known, _)| *known == name) else {
                let names: Vec<_> = known
                    .iter()
                    .map(|(name, kind)| format!("`{name}` ({kind})"))
                    .collect();
                let has = match &*names {
                    [] => "it indexes no key: add `indexed` to the options of one, as in `#[key(indexed)]`".into(),
                    names => format!("it indexes {}", names.join(", ")),
                };
                return Err(ThreadError::Request(format!(
                    "flow `{flow}` has no attribute `{name}`: {has}"
                )));
            };
            if !test.fits(*kind) {
                return Err(ThreadError::Request(format!(
                    "attribute `{name}` of flow `{flow}` is a {kind}, and the condition is on another type"
                )));
            }
        }
        Ok(())
    }
}
