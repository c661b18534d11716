//! `#[flow(id = "…")]`: the name of a flow in storage.

use petalflow_graph::Rule;
use syn::{Attribute, LitStr, Meta};

use crate::attributes;
use crate::errors::Errors;
use crate::options::{self, Seen};

/// Removes the `#[flow]` attributes and returns their `id`.
pub(crate) fn stored_name(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<LitStr> {
    let mut name = None;
    let mut seen = Seen::new(&["id"]);
    for attr in attributes::extract(attrs, |attr| attr.path().is_ident("flow")) {
        let Meta::List(list) = &attr.meta else {
            let message = "the options of a flow are written in parentheses: `#[flow(id = \"…\")]`";
            errors.rule(Rule::Option, &attr, message);
            continue;
        };
        for option in options::parse_tokens(list.tokens.clone(), errors) {
            if seen.accept(&option, errors).is_some() {
                name = option.text(errors);
            }
        }
    }
    name
}
