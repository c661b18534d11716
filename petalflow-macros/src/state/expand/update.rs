//! The implementations of the update.

use petalflow_graph::KeySet;
use proc_macro2::TokenStream;
use quote::quote;

use super::cx::{Cx, marks, shown, where_each};
use crate::paths::local;
use crate::state::model::{Key, State};

pub(super) fn impls(cx: &Cx) -> TokenStream {
    let State {
        ident,
        update,
        keys,
        ..
    } = cx.state;
    let runtime = cx.runtime;
    let marks = marks();
    let f = local("f");
    let written = local("written");
    let where_debug = where_each(cx, &cx.keys(|_| true), "DebugFor");
    let bound = cx.where_checked();
    let text = update.to_string();
    let fields: Vec<_> = keys.iter().map(|key| &key.field).collect();
    let shown = keys.iter().map(shown);
    let getters = keys.iter().map(|key| {
        let (
            Key {
                field, vis, name, ..
            },
            ty,
        ) = (key, cx.ty(key));
        let doc = format!("The writes to the key `{name}`.");
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            #vis fn #field(&self) -> &#runtime::state::Writes<#ty> {
                &self.#field
            }
        }
    });
    let clear = per_written(cx, |_, key| {
        let field = &key.field;
        quote!(#runtime::state::Writes::clear(&mut self.#field);)
    });
    quote! {
        #[automatically_derived]
        impl #update {
            #(#getters)*
        }
        #[automatically_derived]
        impl ::core::default::Default for #update {
            fn default() -> Self {
                #update { #(#fields: ::core::default::Default::default(),)* #marks: ::core::default::Default::default() }
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for #update {
            fn clone(&self) -> Self {
                #[allow(unused_imports)]
                use #runtime::__private::NotClone as _;
                #update { #(#fields: #runtime::__private::CloneWrites(&self.#fields).cloned(),)* #marks: self.#marks }
            }
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl ::core::fmt::Debug for #update #where_debug {
            fn fmt(&self, #f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #runtime::__private::debug_update(#f, #text, self.#marks.written(), &[#(#shown),*])
            }
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl #runtime::state::Update<#ident> for #update #bound {
            fn written(&self) -> #runtime::state::KeySet {
                self.#marks.written()
            }
            fn overwritten(&self) -> #runtime::state::KeySet {
                self.#marks.overwritten()
            }
            fn clear(&mut self) {
                let #written = self.#marks.take();
                #clear
            }
        }
    }
}

/// Statements for each written key, in blocks. The variable `written` has the set of written keys.
pub(super) fn per_written(cx: &Cx, statement: impl Fn(usize, &Key) -> TokenStream) -> TokenStream {
    let runtime = cx.runtime;
    let written = local("written");
    let blocks = cx.state.keys.chunks(KeySet::BLOCK).enumerate();
    let blocks = blocks.map(|(block, keys)| {
        let indices = block * KeySet::BLOCK..;
        let statements = indices.zip(keys).map(|(index, key)| {
            let statement = statement(index, key);
            quote! {
                if #runtime::state::KeySet::contains(&#written, #index) {
                    #statement
                }
            }
        });
        quote! {
            if #runtime::state::KeySet::any_in_block(&#written, #block) {
                #(#statements)*
            }
        }
    });
    blocks.collect()
}
