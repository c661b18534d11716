//! Conditions on search attributes, compared with those of the flows.

use petalflow::checkpoint::{AttributeCondition, AttributeKind};

use crate::server::Inner;

/// A search attribute of a flow.
#[derive(Debug)]
pub(crate) struct Known {
    flow: String,
    name: String,
    kind: AttributeKind,
}

impl Inner {
    /// The search attributes of these flows, or of all. `None` if one of the flows is that of another program, which may have any.
    pub(crate) fn attributes(&self, flows: &[String]) -> Option<Vec<Known>> {
        let all: Vec<String>;
        let names = if flows.is_empty() {
            if self.settings.stored.is_some() {
                return None;
            }
            let served = self.settings.flows.iter();
            all = served.map(|flow| flow.facts().name.clone()).collect();
            &all
        } else {
            flows
        };
        let mut known = Vec::new();
        for name in names {
            let facts = self.shown_flow(name).ok()?.facts();
            let attributes = facts.attributes.iter();
            known.extend(attributes.map(|(attribute, kind)| Known {
                flow: name.clone(),
                name: attribute.clone(),
                kind: *kind,
            }));
        }
        Some(known)
    }
}

/// Fails if no flow has the attribute, or none with a type that the value of the condition has.
pub(super) fn check(known: &[Known], condition: &AttributeCondition) -> Result<(), String> {
    let name = condition.name();
    let mut of_name = known.iter().filter(|it| it.name == name).peekable();
    if of_name.peek().is_none() {
        let mut names: Vec<_> = known
            .iter()
            .map(|it| format!("`{}` ({})", it.name, it.kind))
            .collect();
        names.sort();
        names.dedup();
        let has = match &*names {
            [] => "no key is marked `indexed`".to_string(),
            names => format!("there are {}", names.join(", ")),
        };
        return Err(format!("no flow has the attribute `{name}`: {has}"));
    }
    let kinds: Vec<&Known> = of_name.collect();
    if kinds.iter().any(|it| condition.fits(it.kind)) {
        return Ok(());
    }
    let is: Vec<_> = kinds
        .iter()
        .map(|it| format!("a {} in flow `{}`", it.kind, it.flow))
        .collect();
    Err(format!(
        "`{condition}` compares the attribute `{name}` with a value of another type: it is {}",
        is.join(", ")
    ))
}
