//! The JSON Schemas of a state: `#[state(schema)]`.

use proc_macro2::TokenStream;

use super::cx::Cx;
use crate::site::{self, quote};
use crate::state::model::{Key, State};

/// `impl StateSchema`, if it was asked for.
pub(super) fn schema(cx: &Cx) -> TokenStream {
    let State {
        ident,
        schema,
        keys,
        complete,
        ..
    } = cx.state;
    if !schema || !complete {
        return TokenStream::new();
    }
    let runtime = cx.runtime;
    let fields = keys.iter().map(|key| {
        let Key {
            field, ty, docs, ..
        } = key;
        quote!(#docs #field: #ty,)
    });
    let path = quote!(#runtime).to_string().replace(' ', "");
    let path = format!("{path}::__private::tool::schemars");
    let schemars = site::text(&path);
    let inputs = cx.inputs();
    let names = inputs.iter().map(|key| site::text(&key.name));
    let required = inputs.iter().filter(|key| !key.has_default());
    let required = required.map(|key| site::text(&key.name));
    quote! {
        impl #runtime::state::StateSchema for #ident {
            fn state_schema() -> #runtime::__private::tool::Value {
                // The derive calls `into`, which is not in scope with `no_implicit_prelude`.
                #[allow(unused_imports)]
                use ::core::convert::Into as _;
                #[allow(dead_code, non_camel_case_types)]
                #[derive(#runtime::__private::tool::schemars::JsonSchema)]
                #[schemars(crate = #schemars)]
                struct __Keys {
                    #(#fields)*
                }
                #runtime::__private::tool::state_schema::<__Keys>()
            }
            fn input_schema() -> #runtime::__private::tool::Value {
                let state = <Self as #runtime::state::StateSchema>::state_schema();
                #runtime::__private::tool::input_schema(&state, &[#(#names),*], &[#(#required),*])
            }
        }
    }
}
