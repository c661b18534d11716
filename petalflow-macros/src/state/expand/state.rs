//! `impl State`.

use proc_macro2::TokenStream;

use super::cx::Cx;
use crate::paths::{local, name};
use crate::site::{self, quote};
use crate::state::model::{Key, State};

/// The writes of an update: a field per key.
pub(super) fn slots(cx: &Cx) -> TokenStream {
    let keys = cx.state.keys.iter();
    let fields =
        keys.map(|Key { field, newtype, .. }| quote!(#field: __pf::Writes<__pf::Value<#newtype>>,));
    quote! {
        #[derive(::core::default::Default)]
        pub struct __Slots {
            #(#fields)*
        }
    }
}

pub(super) fn state_impl(cx: &Cx) -> TokenStream {
    let State {
        ident, input, keys, ..
    } = cx.state;
    let text = site::text(&name(ident));
    let newtypes: Vec<_> = keys.iter().map(|key| &key.newtype).collect();
    let storage = if cx.state.volatile {
        quote!(Volatile)
    } else {
        quote!(Durable)
    };
    let build = build(cx);
    let stored = storage_items(cx);
    let bound = cx.bound();
    let storage = cx.checked_type(quote!(__pf::#storage));
    // rustc cannot evaluate a constant with a `&str` in an implementation with an error.
    let name_type = cx.checked_type(quote!(&'static __pf::str));
    let keys_type = cx.checked_type(quote!(&'static [__pf::KeyMeta]));
    quote! {
        impl __pf::State for #ident #bound {
            type Input = #input;
            type Slots = __Slots;
            type Storage = #storage;
            const NAME: #name_type = #text;
            const KEYS: #keys_type = &[#(#newtypes::META),*];
            const FUNCTIONS: &'static [__pf::KeyFunctions<Self>] = &[#(__pf::KeyFunctions::of::<#newtypes>()),*];
            #build
            #stored
        }
    }
}

fn build(cx: &Cx) -> TokenStream {
    let State { ident, keys, .. } = cx.state;
    let values = local("values");
    let body = if cx.state.complete {
        let keys = keys.iter();
        let fields = keys
            .map(|Key { field, newtype, .. }| quote!(#field: __pf::value::<#newtype>(#values)?));
        quote!(__pf::Some(#ident { #(#fields),* }))
    } else {
        quote!(::core::unreachable!())
    };
    quote! {
        fn build(#values: &mut __pf::Update<Self>) -> __pf::Option<Self> {
            #body
        }
    }
}

/// How the keys are stored.
fn storage_items(cx: &Cx) -> TokenStream {
    let State { keys, .. } = cx.state;
    if cx.state.volatile {
        return TokenStream::new();
    }
    let is_stored = |key: &&Key| key.flags.untracked.is_none();
    let codecs = keys.iter().map(|key| {
        let newtype = &key.newtype;
        if is_stored(&key) {
            // A type of std may lack serde's traits, because of its arguments.
            cx.runtime
                .respan(&key.ty, quote!(__pf::KeyCodec::of::<#newtype>()))
        } else {
            quote!(__pf::KeyCodec::NONE)
        }
    });
    let indexed: Vec<_> = keys
        .iter()
        .filter(|key| key.flags.indexed.is_some())
        .map(|key| {
            let newtype = &key.newtype;
            quote!(__pf::IndexedKey::of::<#newtype>())
        })
        .collect();
    let indexed = (!indexed.is_empty())
        .then(|| quote!(const INDEXED: &'static [__pf::IndexedKey<Self>] = &[#(#indexed),*];));
    let fields = keys.iter().filter(is_stored).map(|key| &key.newtype);
    let migration = cx.state.migration.as_ref().map(|(version, migrate)| {
        quote!(const MIGRATION: __pf::Option<__pf::Migration> = __pf::Some((#version, #migrate));)
    });
    quote! {
        const CODECS: __pf::Option<&'static [__pf::KeyCodec<Self>]> = __pf::Some(&[#(#codecs),*]);
        #indexed
        #migration
        // Inline, so that only a program that calls it compiles it: a test of `flow.lock`.
        #[inline]
        fn fields() -> __pf::Vec<__pf::FieldOutline> {
            __pf::fields(&[#(__pf::fields_of_key::<#fields>),*])
        }
    }
}
