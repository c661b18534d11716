//! The type of a flow.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Type, Visibility};

use super::cx::Cx;
use super::tokens::{check_at, number};
use super::{builder, docs};
use crate::paths::keyword;
use crate::site::quote;
use crate::types;

/// The module for the type of this flow, if `#[state]` may have made a type of the same name for a key, as in `ResearchCompany` for
/// the key `company` of the state `Research`. Two types of one name in one module are an error of rustc, which does not say
/// where the other type comes from. A glob import gives way to the other type, and [`check`] reports it.
pub(crate) fn module(name: &Ident, state: &Type) -> Option<Ident> {
    let state = types::last_segment(state)?.ident.unraw().to_string();
    let text = name.unraw().to_string();
    let key = text.strip_prefix(&state)?;
    key.starts_with(char::is_uppercase)
        .then(|| format_ident!("__flow_{text}", span = name.span()))
}

/// The type of the flow, and the type of its builder if it has node values.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let builder = cx.has_values().then(|| builder::item(cx));
    let vis = cx.vis;
    let Some(module) = cx.module else {
        let item = item(cx, &vis.to_token_stream(), &TokenStream::new());
        return quote!(#item #builder);
    };
    let cfgs = cx.cfgs();
    let item = item(cx, &from_within(vis), &quote!(pub(super)));
    quote! {
        #cfgs
        #[allow(non_snake_case, unreachable_pub)]
        mod #module {
            #[allow(unused_imports)]
            use super::*;
            #item
        }
        #cfgs
        #[allow(unused_imports)]
        #vis use #module::*;
        #builder
    }
}

/// The type. All of its tokens have the span of the user, so that rustc reports there that the name is used twice.
fn item(cx: &Cx<'_>, vis: &TokenStream, of_values: &TokenStream) -> TokenStream {
    let Cx {
        krate, attrs, name, ..
    } = cx;
    let docs = docs::code(cx, &docs::diagram(cx));
    let keyword = keyword("struct", name);
    if cx.has_values() {
        let values = number(cx.values().len());
        let fields = quote_spanned! { name.span()=>
            { #of_values values: #krate::__private::flow::NodeValues<#values> }
        };
        return quote! {
            #(#attrs)*
            #docs
            #[derive(::core::clone::Clone, ::core::fmt::Debug)]
            #vis #keyword #name #fields
        };
    }
    let end = quote_spanned!(name.span()=> ;);
    quote! {
        #(#attrs)*
        #docs
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        #vis #keyword #name #end
    }
}

/// The same visibility, one module further inside.
fn from_within(vis: &Visibility) -> TokenStream {
    let Visibility::Restricted(restricted) = vis else {
        return match vis {
            Visibility::Inherited => quote!(pub(super)),
            _ => vis.to_token_stream(),
        };
    };
    let path = &restricted.path;
    match path.segments.first() {
        Some(first) if first.ident == "self" => quote!(pub(super)),
        Some(first) if first.ident == "super" => quote!(pub(in super::#path)),
        _ => vis.to_token_stream(),
    }
}

/// The check that the name of the flow means its type, at the name.
pub(super) fn check(cx: &Cx<'_>) -> Option<TokenStream> {
    cx.module?;
    let (name, own, state) = (cx.name, cx.own(), cx.state);
    let check = check_at(
        &name.to_token_stream(),
        quote!(__checks::flow_name::<#state, #name>()),
    );
    Some(quote! {
        #[diagnostic::do_not_recommend]
        impl __checks::FlowName<#state> for #own {}
        #check
    })
}
