//! `Deserialize` for the input. The code is generated without serde's derive, so that users need not depend on serde, and so that a
//! missing key has its initial value.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::cx::{Cx, bounds, where_each};
use crate::paths::{local, local_at};
use crate::state::model::{BuiltIn, Initial, Key, Reducer, State};

pub(super) fn input(cx: &Cx) -> TokenStream {
    let State { input, .. } = cx.state;
    let runtime = cx.runtime;
    let inputs = cx.inputs();
    let keys = cx.keys(|key| key.flags.input.is_some());
    let zeros = cx.keys(|key| key.flags.input.is_some() && matches!(absent(key), Absent::Zero));
    let zero = bounds(cx, &zeros, "DefaultFor");
    let where_data = where_each(cx, &keys, "DataFor");
    let slots = local("slots");
    let map = local("map");
    let key = local("key");
    let text = input.to_string();
    let deserializer = local("deserializer");
    let names = keys.iter().map(|key| &key.name);
    let fields: Vec<_> = keys.iter().map(|key| &key.field).collect();
    let types = keys.iter().map(|key| cx.ty(key));
    let reads = keys.iter().enumerate().map(|(index, key)| {
let field = &key.field;
        let ty = cx.ty(key);
quote!(#index => <#ty as #runtime::__private::DataFor<'_, #index>>::read(&mut self.#field, #map),)
});
    let values = inputs.iter().enumerate().map(|(index, input)| {
        let field = &input.1.field;
        let value = value(cx, index, *input, &slots);
        quote!(#field: #value,)
    });
    quote! {
        // Outside of the impls: rustc must not evaluate constants under a `where` with a type that does not exist.
        const __INPUTS: &[&::core::primitive::str] = &[#(#names),*];
        #[allow(non_camel_case_types, dead_code)]
        struct __Slots {
            #(#fields: ::core::option::Option<#types>,)*
        }
        #[automatically_derived]
        impl<'de> #runtime::__private::Slots<'de> for __Slots #where_data {
            #[allow(unused_variables)]
            fn read<__A: #runtime::__private::MapAccess<'de>>(&mut self, #key: ::core::primitive::usize, #map: &mut __A) -> ::core::result::Result<::core::primitive::bool, __A::Error> {
                match #key {
                    #(#reads)*
                    _ => ::core::unreachable!(),
                }
            }
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl<'de> #runtime::__private::Deserialize<'de> for #input #where_data #zero {
            fn deserialize<__D: #runtime::__private::Deserializer<'de>>(#deserializer: __D) -> ::core::result::Result<Self, __D::Error> {
                #[allow(unused_mut)]
                let mut #slots = __Slots { #(#fields: ::core::option::Option::None,)* };
                #runtime::__private::read_input(#deserializer, #text, __INPUTS, &mut #slots)?;
                ::core::result::Result::Ok(#input { #(#values)* })
            }
        }
    }
}

/// The value that was read, or the value of a missing key. `index` is that among the keys of the input.
fn value(cx: &Cx, index: usize, (key_index, key): (usize, &Key), slots: &Ident) -> TokenStream {
    let runtime = cx.runtime;
    let field = &key.field;
    let name = &key.name;
    let ty = cx.ty(key);
    let default = local_at("default_", key_index);
    let absent = match absent(key) {
        Absent::Error => {
            return quote!(<#ty as #runtime::__private::DataFor<'_, #index>>::required(#slots.#field, #name)?);
        }
        Absent::Initial => quote!(#default),
        Absent::Zero => quote!(::core::default::Default::default),
    };
    quote!(::core::option::Option::unwrap_or_else(#slots.#field, #absent))
}

/// The value of a missing key of the input.
enum Absent {
    /// The initial value of the key.
    Initial,
    /// The default of the type. The reducer folds it into the initial value without a change.
    Zero,
    /// A missing key is an error.
    Error,
}

fn absent(key: &Key) -> Absent {
    let explicit = !matches!(key.initial, Initial::Implicit);
    match &key.reducer {
        Reducer::Replace | Reducer::BuiltIn(BuiltIn::Min | BuiltIn::Max) if explicit => {
            Absent::Initial
        }
        Reducer::Replace | Reducer::BuiltIn(BuiltIn::Min | BuiltIn::Max) | Reducer::Custom(_) => {
            Absent::Error
        }
        Reducer::BuiltIn(BuiltIn::First) => Absent::Initial,
        Reducer::BuiltIn(_) if matches!(key.initial, Initial::Expr(_)) => Absent::Zero,
        // The initial value is the default of the type.
        Reducer::BuiltIn(_) => Absent::Initial,
    }
}
