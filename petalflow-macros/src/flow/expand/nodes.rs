//! One slot per node: the only place where the user's path stands, so that a wrong one is one error.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::{CHUNK, Cx, number, slot, subflow};
use crate::flow::model::Kind;

/// The slots, and what the nodes' types say.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx { name, state, model, .. } = cx;
    let span = state.span();
    let state_of = quote_spanned! {span=>
        trait __Over: ::core::marker::Send + ::core::marker::Sync + 'static { type State: __petalflow::State; }
        impl __Over for #name { type State = #state; }
    };
    let mut code = quote! {
        #state_of
        trait __Slot<I>: __Over {
            type Node: __petalflow::FnNode<Self::State>;
        }
        trait __Value<I>: __Over {
            type Node: __petalflow::Node<Self::State>;
            fn node(&self) -> &Self::Node;
        }
        trait __Sub<I>: __Over {
            fn call<'a>(
                scope: &'a __petalflow::Scope,
                state: &'a Self::State,
                effects: &'a mut __petalflow::Effects<Self::State>,
            ) -> impl ::core::future::Future<Output = ::core::result::Result<(), __petalflow::BoxError>> + ::core::marker::Send + 'a;
        }
    };
    for (place, node) in model.nodes.iter().enumerate() {
        let i = slot(place);
        match &node.kind {
            Kind::Function(path) => {
                let (node, span) = (over(path, "NodeOver", name), path.span());
                code.extend(quote_spanned!(span=> impl __Slot<#i> for #name { type Node = #node; }));
            },
            Kind::Value { name: field, ty, .. } => {
                // A value is given before the flow can be launched, or made from its expression.
                let (node, span) = (over(ty, "ValueOver", name), ty.span());
                code.extend(quote_spanned! {span=>
                    impl __Value<#i> for #name {
                        type Node = #node;
                        fn node(&self) -> &Self::Node {
                            __petalflow::given(&self.#field)
                        }
                    }
                });
            }
            Kind::Subflow(subflow) => code.extend(subflow::code(cx, place, node, subflow)),
            Kind::Broken => {}
        }
    }
    let mut chunks = TokenStream::new();
    for start in (0..model.nodes.len()).step_by(CHUNK) {
        let end = model.nodes.len().min(start + CHUNK);
        let (make, count, bounds) = (chunk("__specs", start), number(end - start), bounds(cx, start, end));
        let specs = (start..end).map(|place| spec(cx, place));
        code.extend(quote! {
            const fn #make<W: #bounds>() -> [__petalflow::Spec; #count] {
                [#(#specs),*]
            }
        });
        chunks.extend(quote!(&#make::<#name>(),));
    }
    let count = number(model.nodes.len());
    code.extend(quote! {
        const __SPECS: &[__petalflow::Spec; #count] = &__petalflow::gather(&[#chunks]);
    });
    code
}

/// The type itself, if it is a node over the state. As a projection of which every token is the user's, because then what is
/// not a node is one error, and an unknown type to all that follows.
fn over(ty: &impl ToTokens, projection: &str, flow: &Ident) -> TokenStream {
    let tokens = ty.to_token_stream();
    let span = tokens.span();
    let projection = Ident::new(projection, span);
    quote_spanned!(span=> <#tokens as __petalflow::#projection<<#flow as __Over>::State>>::Node)
}

fn spec(cx: &Cx<'_>, place: usize) -> TokenStream {
    let (i, node) = (slot(place), &cx.model.nodes[place]);
    let name = &node.name;
    match &node.kind {
        Kind::Function(_) => quote!(__petalflow::of::<<W as __Over>::State, <W as __Slot<#i>>::Node>(#name)),
        Kind::Value { .. } => quote!(__petalflow::of::<<W as __Over>::State, <W as __Value<#i>>::Node>(#name)),
        Kind::Subflow(subflow) => subflow::spec(cx, place, name, subflow),
        Kind::Broken => quote!(__petalflow::of_broken(#name)),
    }
}

/// What a function must know of the flow to name these nodes.
pub(super) fn bounds(cx: &Cx<'_>, start: usize, end: usize) -> TokenStream {
    let mut bounds = quote!(__Over);
    for place in start..end {
        let i = slot(place);
        match cx.model.nodes[place].kind {
            Kind::Function(_) => bounds.extend(quote!(+ __Slot<#i>)),
            Kind::Value { .. } => bounds.extend(quote!(+ __Value<#i>)),
            Kind::Subflow(_) => bounds.extend(quote!(+ __Sub<#i>)),
            Kind::Broken => {}
        }
    }
    bounds
}

/// The name of a generated function for the nodes from a place on.
pub(super) fn chunk(prefix: &str, start: usize) -> Ident {
    format_ident!("{prefix}_{start}", span = Span::call_site())
}

/// A check statement whose every token is the user's, so that rustc underlines what was written and nothing else.
pub(super) fn check_at(at: &TokenStream, call: TokenStream) -> TokenStream {
    let span = at.span();
    let call = respan(call, span);
    quote_spanned!(span=> const _: () = #call;)
}

/// The tokens as if they stood in one place of the user's.
pub(super) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|mut tree| {
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), respan(group.stream(), span)).into();
        }
        tree.set_span(span);
        tree
    });
    respanned.collect()
}
