//! Parsing of closures whose parameters read keys: `in` of a sub-flow, the guard of an `interrupt`.

use syn::{ExprClosure, Pat, Type};

use crate::flow::ast::Mistakes;
use crate::node::check::report_parameters;
use crate::node::model::{Param, Source};

/// The parameters of the closure, which follow the rules for the parameters of a node. `what` describes the closure in
/// messages.
pub(super) fn params(
    what: &str,
    closure: &ExprClosure,
    state: &Type,
    mistakes: &mut Mistakes,
) -> Option<Vec<Param>> {
    let mut params = Vec::new();
    for pat in &closure.inputs {
        let Pat::Type(typed) = pat else {
            mistakes.errors.at(
                pat,
                format_args!(
                    "a parameter needs its type: `{0}: &str` reads the key `{0}`",
                    name_of(pat, "draft")
                ),
            );
            return None;
        };
        let mut misuses = Vec::new();
        let param = Param::build(typed, Some(state), &mut misuses);
        report_parameters(&misuses, &mut mistakes.errors);
        let param = param?;
        if let Source::Run = param.source {
            mistakes.errors.at(
                &typed.ty,
                format_args!(
                    "{what} reads keys: a parameter is a reference, such as `draft: &str`"
                ),
            );
            return None;
        }
        params.push(param);
    }
    Some(params)
}

/// The name of a parameter, or `default` if the pattern is not a name.
pub(super) fn name_of(pat: &Pat, default: &str) -> String {
    if let Pat::Ident(ident) = pat {
        ident.ident.to_string()
    } else {
        default.to_owned()
    }
}
