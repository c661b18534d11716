//! `impl State`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::cx::{Cx, marks};
use super::key::{folding, with_trait, zero};
use super::update::per_written;
use crate::paths::{local, local_at, name, option};
use crate::state::model::{BuiltIn, Key, Reducer, State};
use crate::types;

pub(super) fn state_impl(cx: &Cx) -> TokenStream {
    let State {
        ident,
        input,
        update,
        keys,
        ..
    } = cx.state;
    let runtime = cx.runtime;
    let storage = if cx.state.volatile {
        quote!(Volatile)
    } else {
        quote!(Durable)
    };
    let text = name(ident);
    let metas = keys.iter().map(|key| meta(cx, key));
    let value = local("input");
    let to = local("update");
    let reset = local("keys");
    let start = start(cx, &value);
    let pushes = cx.inputs().into_iter().map(|(_, key)| {
        let (newtype, field) = (&key.newtype, &key.field);
        // A new update accepts one write of each key.
        quote!(let _ = #newtype::__push(#value.#field, false, &mut #to);)
    });
    let resettable = keys.iter().enumerate().filter(|(_, key)| key.has_default());
    let resets = resettable.map(|(index, key)| {
        let field = &key.field;
        let default = local_at("default_", index);
        quote! {
            if #runtime::state::KeySet::contains(&#reset, #index) {
                self.#field = #default();
            }
        }
    });
    let commit = commit(cx);
    let validate = validate(cx);
    let codec = codec(cx);
    // The implementation depends on the checks of the keys. If one fails, there is an error in it, and rustc reports nothing that
    // follows from the key.
    let bound = cx.where_checked();
    let storage = cx.checked(quote!(#runtime::state::#storage));
    let name = cx.constant(
        "NAME",
        quote!(&'static ::core::primitive::str),
        quote!(#text),
    );
    let keys = cx.constant(
        "KEYS",
        quote!(&'static [#runtime::state::KeyMeta]),
        quote!(&[#(#metas),*]),
    );
    quote! {
        #[automatically_derived]
        #[doc(hidden)]
        impl #runtime::State for #ident #bound {
            type Input = #input;
            type Update = #update;
            type Storage = #storage;
            #name
            #keys
            #[allow(unused_variables)]
            fn start(#value: #input) -> ::core::result::Result<(Self, #runtime::state::KeySet), #runtime::state::WriteError> {
                #start
            }
            #[allow(unused_variables)]
            fn input(#value: #input) -> #update {
                #[allow(unused_mut)]
                let mut #to = <#update as ::core::default::Default>::default();
                #(#pushes)*
                #to
            }
            #[allow(unused_variables)]
            fn reset(&mut self, #reset: #runtime::state::KeySet) {
                #(#resets)*
            }
            #commit
            #validate
            #codec
            fn copier() -> ::core::option::Option<fn(&Self) -> Self> {
                #[allow(unused_imports)]
                use #runtime::__private::NoCopy as _;
                #runtime::__private::CopyProbe::<#ident>::COPY
            }
        }
    }
}

fn start(cx: &Cx, input: &Ident) -> TokenStream {
    let State {
        ident,
        keys,
        complete,
        ..
    } = cx.state;
    let runtime = cx.runtime;
    if !complete {
        return quote!(::core::unreachable!());
    }
    let state = local("state");
    let fields = keys.iter().enumerate().map(|(index, key)| {
        let field = &key.field;
        let default = local_at("default_", index);
        if key.moves_input() {
            quote!(#field: #input.#field)
        } else {
            quote!(#field: #default())
        }
    });
    let folded = cx
        .inputs()
        .into_iter()
        .filter(|(_, key)| !key.moves_input());
    let folds = folded.map(|(index, key)| {
        let field = &key.field;
        let fold = folding(cx, index, key);
        let check = matches!(key.reducer, Reducer::BuiltIn(BuiltIn::Sum)).then(|| {
            let (ty, name) = (cx.ty(key), &key.name);
            quote! {{
                #[allow(unused_imports)]
                use #runtime::__private::UncheckedSum as _;
                #runtime::__private::SumProbe::<#ty>::validate_input(&#state.#field, #name, &#input.#field)?;
            }}
        });
        let fold = quote!(#check #fold(&mut #state.#field, #input.#field););
        if key.flags.skip_zero.is_some() {
            let zero = zero(cx, key);
            quote!(if !#zero(&#input.#field) { #fold })
        } else {
            fold
        }
    });
    quote! {
        #[allow(unused_mut)]
        let mut #state = #ident { #(#fields),* };
        #(#folds)*
        ::core::result::Result::Ok((#state, const { #runtime::state::KeyMeta::set(<#ident as #runtime::State>::KEYS, #runtime::state::KeyFlag::Assigned) }))
    }
}

fn commit(cx: &Cx) -> TokenStream {
    let update = &cx.state.update;
    let runtime = cx.runtime;
    let marks = marks();
    // `written`: the keys that this update writes. `known`: the keys that have a value in the state.
    let to = local("update");
    let overwritten = local("overwritten");
    let written = local("written");
    let known = local("known");
    let statements = per_written(cx, |index, key| {
        let field = &key.field;
        let fold = folding(cx, index, key);
        let writes = quote!(&mut #to.#field, &mut self.#field, #runtime::state::KeySet::contains(&#overwritten, #index));
        let folded = if key.folds_from_first() {
            quote!(#runtime::__private::fold_from_first(#writes, !#runtime::state::KeySet::contains(#known, #index), #fold))
        } else {
            quote!(#runtime::state::Writes::fold_into(#writes, #fold))
        };
        quote! {
            if #folded {
                #runtime::state::KeySet::insert(#known, #index);
            }
        }
    });
    quote! {
        #[allow(unused_variables)]
        fn commit(&mut self, #to: &mut #update, #overwritten: #runtime::state::KeySet, #known: &mut #runtime::state::KeySet) {
            let #written = #to.#marks.take();
            #statements
        }
    }
}

/// `messages` and `sum` reject writes.
fn validate(cx: &Cx) -> TokenStream {
    let (runtime, update) = (cx.runtime, &cx.state.update);
    let expired = local("expired");
    let updates = local("updates");
    let one = local("update");
    let mut checks = TokenStream::new();
    for (index, key) in cx.state.keys.iter().enumerate() {
        let (ty, field, name) = (cx.ty(key), &key.field, &key.name);
        let validate = match key.reducer {
            Reducer::BuiltIn(BuiltIn::Messages) => {
                let ty = with_trait(cx, key);
                quote!(<#ty as #runtime::state::reduce::Messages>::validate)
            }
            Reducer::BuiltIn(BuiltIn::Sum) => {
                quote!(#runtime::__private::SumProbe::<#ty>::validate)
            }
            _ => continue,
        };
        let writes = quote!(&mut ::core::iter::Iterator::map(::core::clone::Clone::clone(&#updates), |#one| &#one.#field));
        if key.flags.ephemeral.is_some() && key.has_default() {
            let default = local_at("default_", index);
            checks.extend(quote! {
                if #runtime::state::KeySet::contains(&#expired, #index) {
                    #validate(&#default(), #name, #writes)?;
                } else {
                    #validate(&self.#field, #name, #writes)?;
                }
            });
        } else {
            checks.extend(quote!(#validate(&self.#field, #name, #writes)?;));
        }
    }
    if checks.is_empty() {
        return checks;
    }
    quote! {
        #[allow(unused_variables)]
        fn validate<'__a>(
            &'__a self,
            #expired: #runtime::state::KeySet,
            #updates: impl ::core::iter::Iterator<Item = &'__a #update> + ::core::clone::Clone,
        ) -> ::core::result::Result<(), #runtime::state::WriteError> {
            #[allow(unused_imports)]
            use #runtime::__private::UncheckedSum as _;
            #checks
            ::core::result::Result::Ok(())
        }
    }
}

fn meta(cx: &Cx, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    let Key { name, flags, .. } = key;
    let reducer = match key.reducer {
        Reducer::Replace => "Replace".to_owned(),
        Reducer::Custom(_) => "Custom".to_owned(),
        Reducer::BuiltIn(reducer) => reducer.trait_name(),
    };
    let reducer = Ident::new(&reducer, Span::call_site());
    let known = [
        (key.exclusive(), "Exclusive"),
        (key.assigned(), "Assigned"),
        (flags.input.is_some(), "Input"),
        (flags.turn.is_some(), "Turn"),
        (flags.output.is_some(), "Output"),
        (flags.untracked.is_some(), "Untracked"),
        (flags.ephemeral.is_some(), "Ephemeral"),
        (flags.recover.is_some(), "Recover"),
        (flags.secret.is_some(), "Secret"),
        (flags.skip_zero.is_some(), "SkipZero"),
        (!key.has_default(), "Required"),
    ];
    let flags = known.iter().filter(|(is_set, _)| *is_set);
    let flags = flags.map(|(_, name)| Ident::new(name, Span::call_site()));
    let id = key.id.as_ref().map(|id| quote!(.stored_as(#id)));
    let ty = (!cx.state.volatile).then(|| {
        let ty = types::written(&key.ty);
        quote!(.of_type(#ty))
    });
    quote!(#runtime::state::KeyMeta::new(#name, #runtime::state::Reducer::#reducer) #(.with(#runtime::state::KeyFlag::#flags))* #id #ty)
}

/// How the keys are stored.
fn codec(cx: &Cx) -> TokenStream {
    let State {
        ident,
        keys,
        complete,
        volatile,
        ..
    } = cx.state;
    if *volatile || !complete {
        return TokenStream::new();
    }
    let runtime = cx.runtime;
    let state = local("state");
    let update = local("update");
    let key = local("key");
    let out = local("out");
    let bytes = local("bytes");
    let values = local("values");
    let (overwrite, value) = (local("overwrite"), local("value"));
    let coder = |key: &Key| coder(cx, key);
    let arms = |arm: &dyn Fn(usize, &Key) -> TokenStream| {
        let stored = keys
            .iter()
            .enumerate()
            .filter(|(_, key)| key.flags.untracked.is_none());
        let arms = stored.map(|(index, key)| {
            let body = arm(index, key);
            quote!(#index => #body,)
        });
        quote!(match #key { #(#arms)* _ => ::core::result::Result::Ok(()) })
    };
    let save = arms(&|_, key| {
        let coder = coder(key);
        let field = &key.field;
        quote!(#coder::save(&#state.#field, #out))
    });
    let save_writes = arms(&|_, key| {
        let coder = coder(key);
        let field = &key.field;
        quote!(#coder::save_writes(&#update.#field, #out))
    });
    // A new update accepts the writes of a stored update.
    let load_writes = arms(&|_, key| {
        let coder = coder(key);
        let newtype = &key.newtype;
        quote!({
            for (#overwrite, #value) in #coder::load_writes(#bytes)? {
                let _ = #newtype::__push(#value, #overwrite, #update);
            }
            ::core::result::Result::Ok(())
        })
    });
    let load_value = arms(&|_, key| {
        let coder = coder(key);
        let newtype = &key.newtype;
        quote!({
            let _ = #newtype::__push(#coder::load(#bytes)?, true, #update);
            ::core::result::Result::Ok(())
        })
    });
    let loaded = keys.iter().enumerate();
    let loaded = loaded.map(|(index, key)| loaded_field(cx, &values, index, key));
    let version = option(
        (cx.state.migration.as_ref()).map(|(version, migrate)| quote!((#version, #migrate))),
    );
    let fields = fields_of(cx);
    quote! {
        #fields
        #[allow(unused_variables)]
        fn codec() -> ::core::option::Option<#runtime::__private::StateCodec<Self>> {
            #[allow(unused_imports)]
            use #runtime::__private::NoCoder as _;
            ::core::option::Option::Some(#runtime::__private::StateCodec {
                save: |#state, #key, #out| #save,
                save_writes: |#update, #key, #out| #save_writes,
                load_writes: |#update, #key, #bytes| #load_writes,
                load_value: |#update, #key, #bytes| #load_value,
                load: |#values| ::core::result::Result::Ok(#ident { #(#loaded),* }),
                version: #version,
            })
        }
    }
}

/// What the values of the stored keys consist of.
///
/// `#[inline]`, so that only a program that calls it compiles it: a test of `flow.lock`.
fn fields_of(cx: &Cx) -> TokenStream {
    let runtime = cx.runtime;
    let all = local("fields");
    let stored = cx
        .state
        .keys
        .iter()
        .filter(|key| key.flags.untracked.is_none());
    // A reference cannot be stored, and rustc would report its lifetime here once more.
    let stored = stored.filter(|key| !types::written(&key.ty).contains('&'));
    let fields = stored.map(|key| {
        let coder = coder(cx, key);
        let id = key
            .id
            .as_ref()
            .map_or_else(|| key.name.clone(), syn::LitStr::value);
        quote!(::std::vec::Vec::append(&mut #all, &mut #coder::fields(#id));)
    });
    let list = quote!(::std::vec::Vec<#runtime::__private::FieldOutline>);
    let checked = cx.checked(list.clone());
    quote! {
        #[inline]
        fn fields() -> #list {
            #[allow(unused_imports)]
            use #runtime::__private::NoCoder as _;
            #[allow(unused_mut)]
            let mut #all: #checked = ::std::vec::Vec::new();
            #(#fields)*
            #all
        }
    }
}

/// A field of a state that is loaded from these values.
fn loaded_field(cx: &Cx, values: &Ident, index: usize, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    let field = &key.field;
    let name = &key.name;
    let stored = local("stored");
    let missing = if key.has_default() {
        let default = local_at("default_", index);
        quote!(#default())
    } else {
        quote!(return ::core::result::Result::Err(#runtime::__private::CodecError::Missing(#name)))
    };
    if key.flags.untracked.is_some() && key.has_default() {
        return quote!(#field: #missing);
    }
    let coder = coder(cx, key);
    quote! {
        #field: match #values.get(#index) {
            ::core::option::Option::Some(#stored) => #coder::load(#stored)?,
            ::core::option::Option::None => #missing,
        }
    }
}

/// The type that stores the values of the key.
fn coder(cx: &Cx, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    let ty = cx.ty(key);
    quote!(#runtime::__private::Coder::<#ty>)
}
