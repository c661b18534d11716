//! The constants of the nodes. Each path of the user occurs once, or with equal spans, so that a wrong path is one error.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::subflow;
use super::tokens::{CHUNK, number, numbered, written};
use crate::flow::model::Kind;

/// The aliases of the state and the nodes, and the table of their associated constants.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx { state, model, .. } = cx;
    let span = state.span();
    let alias = alias(cx);
    let name = cx.own();
    // The alias has the span of the user's state, so that a type that is not a state is one error.
    let mut code = quote_spanned! {span=>
        type #alias = <#state as __petalflow::IsState>::State;
        trait __Over { type State; }
        impl __Over for #name { type State = #state; }
    };
    for (index, node) in model.nodes.iter().enumerate() {
        match (&node.kind, one_name(&node.kind, index)) {
            (Kind::Subflow(subflow), _) => code.extend(subflow::code(cx, index, node, subflow)),
            (Kind::Function(path), Some(name)) => code.extend(quote!(type #name = #path;)),
            (Kind::Value(_, value), Some(name)) => {
                let ty = &value.ty;
                code.extend(quote!(type #name = #ty;));
            }
            _ => {}
        }
    }
    let specs: Vec<_> = (0..model.nodes.len())
        .map(|index| spec(cx, index))
        .collect();
    let chunks = || {
        (0..specs.len())
            .step_by(CHUNK)
            .map(|start| numbered("__SPECS_", start))
    };
    for (chunk, specs) in chunks().zip(specs.chunks(CHUNK)) {
        let count = number(specs.len());
        code.extend(quote! {
            const #chunk: [__petalflow::Spec; #count] = [#(#specs),*];
        });
    }
    let chunks = chunks();
    let count = number(model.nodes.len());
    let names = model.nodes.iter().map(|node| &node.name);
    let nodes = model.nodes.iter().enumerate();
    let declared = nodes.filter(|(_, node)| !node.has_own_name());
    let declared = declared.map(|(index, _)| number(index));
    code.extend(quote! {
        const __NAMES: &[&::core::primitive::str; #count] = &[#(#names),*];
        const __SPECS: &[__petalflow::Spec; #count] = &__petalflow::concat_specs(&[#(&#chunks),*], __NAMES, &[#(#declared),*]);
    });
    code
}

fn spec(cx: &Cx<'_>, index: usize) -> TokenStream {
    match &cx.model.nodes[index].kind {
        Kind::Subflow(subflow) => subflow::spec(cx, index, subflow),
        Kind::Broken => quote!(__petalflow::BROKEN),
        Kind::Function(path) => node_over(cx, index, path, "NodeOver", "SPEC"),
        Kind::Value(_, value) => node_over(cx, index, &value.ty, "ValueOver", "SPEC"),
    }
}

/// An alias for a path or type of several tokens, with the span of one of them. Without it, rustc underlines sometimes the first
/// token and sometimes all of them, so that its errors are not equal.
fn one_name(kind: &Kind, index: usize) -> Option<Ident> {
    let (tokens, span) = match kind {
        Kind::Function(path) => (path.to_token_stream(), path.segments.last()?.ident.span()),
        Kind::Value(_, value) => (value.ty.to_token_stream(), value.ty.span()),
        Kind::Subflow(_) | Kind::Broken => return None,
    };
    let several = tokens.into_iter().nth(1).is_some();
    (several || matches!(kind, Kind::Value(..))).then(|| written(index, span))
}

/// The state of the user. In contrast to [`alias`], it is valid for a type that is not a state.
pub(super) fn over(cx: &Cx<'_>) -> TokenStream {
    let name = cx.own();
    quote!(<#name as __Over>::State)
}

/// The alias of the state.
fn alias(cx: &Cx<'_>) -> Ident {
    Ident::new("__State", cx.state.span())
}

/// `<write as NodeOver<Essay>>::item`. Every token has the span of the node: if it is not a node, all of these errors are equal, and
/// rustc reports one.
pub(super) fn node_over(
    cx: &Cx<'_>,
    index: usize,
    ty: &dyn ToTokens,
    over: &str,
    item: &str,
) -> TokenStream {
    let name = one_name(&cx.model.nodes[index].kind, index);
    let tokens = match name {
        Some(name) => name.into_token_stream(),
        None => ty.to_token_stream(),
    };
    let span = tokens.span();
    let over = Ident::new(over, span);
    let item = Ident::new(item, span);
    let state = alias(cx);
    quote_spanned!(span=> <#tokens as __petalflow::#over<#state>>::#item)
}
