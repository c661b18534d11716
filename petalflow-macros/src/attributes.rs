//! Reports a second `#[node]` or `#[tool]` on one item. Each makes a type with the name of the function, and rustc reports the name
//! and everything that is generated for it. So the first attribute removes the others.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Meta, Path, parse_quote_spanned};

use crate::errors::Errors;
use crate::site::{self, quote};
use crate::spans::with_spans;

const NODE: &str = "node";
const TOOL: &str = "tool";

/// The attributes that were removed.
pub(crate) struct Others {
    pub(crate) any: bool,
    /// Whether one of them is `#[tool]`.
    pub(crate) tool: bool,
}

/// The attributes of this name.
pub(crate) fn with_name<'a>(attrs: &'a [Attribute], name: &str) -> Vec<&'a Attribute> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident(name))
        .collect()
}

/// The tokens of the attributes of this name.
pub(crate) fn tokens(attrs: &[Attribute], name: &str) -> TokenStream {
    let named = with_name(attrs, name);
    quote!(#(#named)*)
}

/// The lint levels of an item for what is generated from it, which has the lints that the user allowed or expects. What is denied is
/// reported at the item itself. A deprecated item may use itself.
pub(crate) fn lints(attrs: &[Attribute]) -> TokenStream {
    let levels = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::List(list) if is_one_of(attr, &["allow", "expect"]) => {
            let lints = &list.tokens;
            Some(quote!(#[allow(#lints)]))
        }
        _ if attr.path().is_ident("deprecated") => Some(quote!(#[allow(deprecated)])),
        _ => None,
    });
    of_the_macro(levels.collect())
}

/// Attributes at the macro call: clippy reports two that say the same at a place of the user.
pub(crate) fn of_the_macro(attributes: TokenStream) -> TokenStream {
    with_spans(attributes, &|_| Span::call_site())
}

/// Turns off the lints that are about code that a person maintains. rustc applies them to generated code, because it is at a place
/// of the user: see `crate::site`.
pub(crate) fn generated() -> TokenStream {
    quote! {
        #[allow(
            missing_copy_implementations, missing_debug_implementations, missing_docs, private_interfaces,
            unnameable_types, unreachable_pub, unused_qualifications,
            clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction
        )]
    }
}

/// Makes `#[allow]` of each `#[expect]`, for an item that is generated as a whole: several of its parts may fulfil the expectation.
pub(crate) fn allow_expected(attrs: &mut [Attribute]) {
    for attr in attrs {
        if let Meta::List(list) = &mut attr.meta
            && list.path.is_ident("expect")
        {
            let lints = &list.tokens;
            *attr = parse_quote_spanned!(site::span()=> #[allow(#lints)]);
        }
    }
}

/// Whether the attribute has one of these names.
fn is_one_of(attr: &Attribute, names: &[&str]) -> bool {
    names.iter().any(|name| attr.path().is_ident(name))
}

/// Removes the attributes for which this holds, and returns them.
pub(crate) fn extract(
    attrs: &mut Vec<Attribute>,
    is: impl Fn(&Attribute) -> bool,
) -> Vec<Attribute> {
    attrs.extract_if(.., |attr| is(attr)).collect()
}

/// Removes the other attributes of a node, and reports each.
pub(crate) fn take_from_node(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Others {
    take(
        attrs,
        "this is a node already: remove this `#[node]`; a node of another state is another function",
        "a function is a node or a tool, not both, because each is a type with its name: remove `#[tool]`, and write another function for the tool, which calls this one",
        errors,
    )
}

/// Removes the other attributes of a tool, and reports each.
#[cfg(feature = "tool")]
pub(crate) fn take_from_tool(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Others {
    take(
        attrs,
        "a function is a tool or a node, not both, because each is a type with its name: remove `#[node]`, and write another function for the node, which calls this one",
        "this is a tool already: remove this `#[tool]`",
        errors,
    )
}

fn take(
    attrs: &mut Vec<Attribute>,
    second_node: &str,
    second_tool: &str,
    errors: &mut Errors,
) -> Others {
    let mut others = Others {
        any: false,
        tool: false,
    };
    let is_tool = |attr: &Attribute| cfg!(feature = "tool") && is_ours(attr.path(), TOOL);
    for attr in extract(attrs, |attr| is_tool(attr) || is_ours(attr.path(), NODE)) {
        let tool = is_tool(&attr);
        errors.at(&attr, if tool { second_tool } else { second_node });
        others.any = true;
        others.tool |= tool;
    }
    others
}

/// Whether the path is `node`, `petalflow::node` or `petalflow::prelude::node`.
fn is_ours(path: &Path, name: &str) -> bool {
    let first = path.segments.first();
    let last = path.segments.last();
    last.is_some_and(|last| last.ident == name)
        && (path.segments.len() == 1 || first.is_some_and(|first| first.ident == "petalflow"))
}

/// Whether rustc rejects the attribute on a parameter of a tool.
pub(crate) fn is_of_a_tool(attr: &Attribute) -> bool {
    is_one_of(attr, &["doc", "run", "serde", "schemars"])
}
