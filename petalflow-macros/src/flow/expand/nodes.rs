//! The constants of the nodes. Two constants check the state and the nodes. All other code names the state by a type that depends on
//! them: if one fails, there is an error in this type, and rustc reports nothing that follows. An error that two items report is two
//! errors in an incremental build, even if both are equal.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Type, parse_quote};

use super::cx::Cx;
use super::subflow;
use super::tokens::{CHUNK, number, numbered, written};
use crate::flow::model::Kind;

/// The aliases of the state and the nodes, and the table of their associated constants.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx { state, model, .. } = cx;
    let span = state.span();
    let name = cx.own();
    let mut code = quote_spanned! {span=>
        const __STATE: ::core::primitive::usize = {
            let _: <#state as __petalflow::IsState>::State;
            0
        };
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
    code.extend(checks(cx));
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
            // A deprecated node is reported once, where it is checked.
            #[allow(deprecated)]
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

/// The constant that fails if a node is not one over the state, and the state that depends on it.
fn checks(cx: &Cx<'_>) -> TokenStream {
    let state = cx.state;
    let krate = cx.krate;
    let nodes = cx.model.nodes.iter().enumerate();
    let checks = nodes.filter_map(|(index, node)| {
        let (ty, over): (&dyn ToTokens, _) = match &node.kind {
            Kind::Function(path) => (path, "NodeOver"),
            Kind::Value(_, value) => (&value.ty, "ValueOver"),
            Kind::Subflow(_) | Kind::Broken => return None,
        };
        let arm = over_state(cx, index, ty, over, "Arm", "__ValidState");
        Some(quote_spanned!(arm.span()=> let _: #arm;))
    });
    quote! {
        type __ValidState = <#state as #krate::__private::Checked<__STATE>>::Type;
        const __NODES_CHECKED: ::core::primitive::usize = {
            #(#checks)*
            0
        };
        type __State = <__ValidState as #krate::__private::Checked<__NODES_CHECKED>>::Type;
    }
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

/// The state of the user. In contrast to that of [`node_over`], it is valid for a type that is not a state.
pub(super) fn over(cx: &Cx<'_>) -> TokenStream {
    let name = cx.own();
    quote!(<#name as __Over>::State)
}

/// The alias of the state as the user wrote it.
pub(super) fn written_state(cx: &Cx<'_>) -> Type {
    let alias = Ident::new("__WrittenState", cx.state.span());
    parse_quote!(#alias)
}

/// `<write as NodeOver<Essay>>::item`. Every token has the span of the node.
pub(super) fn node_over(
    cx: &Cx<'_>,
    index: usize,
    ty: &dyn ToTokens,
    over: &str,
    item: &str,
) -> TokenStream {
    over_state(cx, index, ty, over, item, "__State")
}

fn over_state(
    cx: &Cx<'_>,
    index: usize,
    ty: &dyn ToTokens,
    over: &str,
    item: &str,
    state: &str,
) -> TokenStream {
    let name = one_name(&cx.model.nodes[index].kind, index);
    let tokens = match name {
        Some(name) => name.into_token_stream(),
        None => ty.to_token_stream(),
    };
    let span = tokens.span();
    let [over, item, state] = [over, item, state].map(|name| Ident::new(name, span));
    quote_spanned!(span=> <#tokens as __petalflow::#over<#state>>::#item)
}
