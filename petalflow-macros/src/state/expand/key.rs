//! The implementations of a newtype.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident};

use super::cx::Cx;
use super::newtype;
use crate::paths::{impl_at, local, with_lifetimes};
use crate::site::{self, quote};
use crate::state::model::{BuiltIn, Flags, Initial, Key, Reducer, State};
use crate::types;

/// Everything that is emitted for one key in the state's `const` block.
pub(super) fn impls(cx: &Cx, index: usize, key: &Key) -> TokenStream {
    let check = type_check(cx, key);
    let key_impl = key_impl(cx, index, key);
    let output = output_impl(cx, index, key);
    let newtype = newtype::impls(key);
    let inbox = inbox_impl(cx, key);
    quote!(#check #newtype #key_impl #output #inbox)
}

/// `Inbox`, if the key takes messages, and `Receivable`, if these are for nodes.
fn inbox_impl(cx: &Cx, key: &Key) -> Option<TokenStream> {
    let (newtype, bound) = (&key.newtype, cx.bound());
    let Flags { inbox, receive, .. } = &key.flags;
    let receive = receive
        .is_some()
        .then(|| quote!(impl __pf::Receivable for #newtype #bound {}));
    (inbox.is_some() || receive.is_some())
        .then(|| quote!(impl __pf::Inbox for #newtype #bound {} #receive))
}

/// `Key`.
fn key_impl(cx: &Cx, index: usize, key: &Key) -> TokenStream {
    let ident = &cx.state.ident;
    let Key {
        field,
        name,
        newtype,
        ..
    } = key;
    let (index, name) = (site::index(index), site::text(name));
    let value_type = value_type(cx, key);
    let meta = meta(cx, key);
    let initial = initial(cx, key);
    let fold = fold(cx, key);
    let is_zero = is_zero(cx, key);
    let attribute = attribute(cx, key);
    let value = local("value");
    let state = local("state");
    let slots = local("slots");
    let bound = cx.bound();
    quote! {
        impl __pf::Key for #newtype #bound {
            type State = #ident;
            type Value = #value_type;
            const NAME: &'static __pf::str = #name;
            const INDEX: __pf::usize = #index;
            const META: __pf::KeyMeta = #meta;
            fn new(#value: Self::Value) -> Self {
                #newtype(#value)
            }
            fn into_value(self) -> Self::Value {
                self.0
            }
            fn get(#state: &#ident) -> &Self::Value {
                &#state.#field
            }
            fn get_mut(#state: &mut #ident) -> &mut Self::Value {
                &mut #state.#field
            }
            fn slot(#slots: &__Slots) -> &__pf::Writes<Self::Value> {
                &#slots.#field
            }
            fn slot_mut(#slots: &mut __Slots) -> &mut __pf::Writes<Self::Value> {
                &mut #slots.#field
            }
            #initial
            #fold
            #is_zero
            #attribute
        }
    }
}

/// `Self::Value`, in a form of which rustc underlines all: see `Runtime::respan`.
fn value_path() -> TokenStream {
    quote!(<Self as __pf::Key>::Value)
}

/// The properties of the key.
fn meta(cx: &Cx, key: &Key) -> TokenStream {
    let reducer = match key.reducer {
        Reducer::Replace => "Replace".to_owned(),
        Reducer::Custom(_) => "Custom".to_owned(),
        Reducer::BuiltIn(reducer) => reducer.trait_name(),
    };
    let reducer = Ident::new(&reducer, site::span());
    let flags = &key.flags;
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
        (flags.inbox.is_some(), "Inbox"),
        (flags.receive.is_some(), "Receive"),
        (flags.indexed.is_some(), "Indexed"),
        (flags.skip_zero.is_some(), "SkipZero"),
        (!key.has_default(), "Required"),
    ];
    let flags: Vec<_> = known
        .iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, name)| Ident::new(name, site::span()))
        .collect();
    let flags = (!flags.is_empty()).then(|| quote!(.with_all(&[#(__pf::KeyFlag::#flags),*])));
    let id = key.id.as_ref().map(|id| quote!(.stored_as(#id)));
    let ty = (!cx.state.volatile).then(|| {
        let ty = site::text(&types::text_of(&key.ty));
        quote!(.of_type(#ty))
    });
    quote!(__pf::KeyMeta::new(Self::NAME, __pf::Reducer::#reducer) #flags #id #ty)
}

/// `Key::initial`, if the key has a default.
fn initial(cx: &Cx, key: &Key) -> TokenStream {
    if !key.has_default() {
        return TokenStream::new();
    }
    let at_type = |tokens| cx.runtime.respan(&key.ty, tokens);
    let of = value_path();
    let body = if let Initial::Expr(expression) = &key.initial {
        let value = local("value");
        // So that a wrong type is reported at the expression.
        let ty = at_type(quote!(Self::Value));
        quote!(let #value: #ty = #expression; __pf::Some(#value))
    } else {
        // These functions have bounds with their own messages.
        let value = if matches!(key.reducer, Reducer::BuiltIn(BuiltIn::First)) {
            quote!(<#of as __pf::reduce::First>::unset())
        } else if key.flags.skip_zero.is_some() {
            quote!(<#of as __pf::SkipsZero>::zero())
        } else {
            quote!(<#of as __pf::NeedsDefault>::initial())
        };
        let value = at_type(value);
        quote!(__pf::Some(#value))
    };
    quote! {
        fn initial() -> __pf::Option<Self::Value> {
            #body
        }
    }
}

/// `Key::fold`, and `Key::check` of `messages`.
fn fold(cx: &Cx, key: &Key) -> TokenStream {
    let current = local("current");
    let written = local("written");
    let of = value_path();
    let body = match &key.reducer {
        Reducer::Replace => return TokenStream::new(),
        Reducer::Custom(function) => {
            let fold = local("fold");
            // A function pointer, so that the parameters of a closure are inferred and rustc reports the expected type.
            let pointer = quote!(fn(&mut Self::Value, Self::Value));
            let pointer = cx.runtime.respan(&key.ty, pointer);
            quote!(let #fold: #pointer = #function; #fold(#current, #written))
        }
        Reducer::BuiltIn(reducer) => {
            let trait_name = Ident::new(&reducer.trait_name(), site::span());
            let function = Ident::new(&reducer.name(), site::span());
            let fold = quote!(<#of as __pf::reduce::#trait_name>::#function);
            let fold = cx.runtime.respan(&key.ty, fold);
            quote!(#fold(#current, #written))
        }
    };
    let check = matches!(key.reducer, Reducer::BuiltIn(BuiltIn::Messages)).then(|| {
        let writes = local("writes");
        let validate = quote!(<#of as __pf::reduce::Messages>::validate);
        let validate = cx.runtime.respan(&key.ty, validate);
        quote! {
            fn check(#current: &Self::Value, #writes: &[&__pf::Writes<Self::Value>]) -> __pf::Result<(), __pf::WriteError> {
                #validate(#current, Self::NAME, #writes)
            }
        }
    });
    quote! {
        fn fold(#current: &mut Self::Value, #written: Self::Value) {
            #body
        }
        #check
    }
}

/// `Key::is_zero` of `skip_zero`.
fn is_zero(cx: &Cx, key: &Key) -> Option<TokenStream> {
    key.flags.skip_zero.as_ref()?;
    let value = local("value");
    let of = value_path();
    let is_zero = quote!(<#of as __pf::SkipsZero>::is_zero);
    let is_zero = cx.runtime.respan(&key.ty, is_zero);
    Some(quote! {
        fn is_zero(#value: &Self::Value) -> __pf::bool {
            #is_zero(#value)
        }
    })
}

/// `Key::ATTRIBUTE` and `Key::attribute` of `indexed`.
fn attribute(cx: &Cx, key: &Key) -> Option<TokenStream> {
    key.flags.indexed.as_ref()?;
    let value = local("value");
    let of = value_path();
    let kind = cx
        .runtime
        .respan(&key.ty, quote!(<#of as __pf::Indexed>::KIND));
    let attribute = cx
        .runtime
        .respan(&key.ty, quote!(<#of as __pf::Indexed>::attribute));
    Some(quote! {
        const ATTRIBUTE: __pf::Option<__pf::AttributeKind> = __pf::Some(#kind);
        fn attribute(#value: &Self::Value) -> __pf::Option<__pf::Attribute> {
            #attribute(#value)
        }
    })
}

/// `Output`, for a node that returns the key.
///
/// Not an implementation for all keys in the runtime: rustc would name that one, and not the message of `Output`, for a wrong
/// `Result` or a key of another state.
fn output_impl(cx: &Cx, index: usize, key: &Key) -> TokenStream {
    let State { ident, .. } = cx.state;
    let newtype = &key.newtype;
    let index = site::index(index);
    let effects = local("effects");
    let bound = cx.bound();
    // A write of zero is ignored.
    let must = if key.flags.skip_zero.is_some() {
        quote!(NONE)
    } else {
        quote!(of(#index))
    };
    let output = quote! {
        impl __pf::Output<#ident> for #newtype #bound {
            const MAY_WRITE: __pf::KeySet = __pf::KeySet::of(#index);
            const MUST_WRITE: __pf::KeySet = __pf::KeySet::#must;
            type Routing = ();
            fn apply(self, #effects: &mut __pf::Effects<#ident>) -> __pf::Result<(), __pf::BoxError> {
                __pf::apply(self, #effects)
            }
        }
    };
    // Where rustc lists what a node can return, it shows the field.
    let output = impl_at(newtype.span(), output);
    quote! {
        #output
        impl __pf::WriteOutput<#ident> for #newtype #bound {}
    }
}

/// The type of the key's value. A type that is not one of std depends on its check: if that fails, there is an error in the
/// type, and rustc reports nothing that follows from it.
fn value_type(cx: &Cx, key: &Key) -> TokenStream {
    let (ty, newtype) = (&key.ty, &key.newtype);
    if key.is_std {
        return ty.to_token_stream();
    }
    let constant = check_constant(key);
    let begin = quote!(<<#newtype as __pf::Holds>::Value as __pf::Checked<);
    let begin = cx.runtime.respan(ty, begin);
    let end = cx.runtime.respan(ty, quote!(>>::Type));
    // The constant keeps its span, so that rustc prints one note that it has failed.
    quote!(#begin #constant #end)
}

/// The name of the constant, which rustc prints. With the span of the type, where rustc may add a note.
pub(super) fn check_constant(key: &Key) -> Ident {
    use syn::spanned::Spanned as _;
    format_ident!("KEY_{}", key.name, span = key.ty.span())
}

/// A constant that checks, at the field's type, that the state can keep it. The usual types of std need none.
///
/// With bounds alone, the first error would not say which trait is missing, and a type that threads cannot share is dozens.
fn type_check(cx: &Cx, key: &Key) -> TokenStream {
    if key.is_std {
        return TokenStream::new();
    }
    let Key {
        ty, newtype, name, ..
    } = key;
    // Neither is stored.
    let volatile = cx.state.volatile || key.flags.untracked.is_some();
    let (name, written) = (site::text(name), site::text(&types::text_of(ty)));
    let of = quote!(<__pf::KeyType<<#newtype as __pf::Holds>::Value>>);
    let with_lifetimes = with_lifetimes(ty);
    let call = if !volatile && (key.borrows() || with_lifetimes.is_some()) {
        quote!(#of::borrows(#name, #written))
    } else {
        let (serialize, deserialize) = if volatile {
            (quote!(true), quote!(true))
        } else {
            (quote!(#of::SERIALIZE), quote!(#of::DESERIALIZE))
        };
        quote!(#of::check(#name, #written, __pf::KeyTraits {
            shared: #of::SHARED, clone: #of::CLONE, serialize: #serialize, deserialize: #deserialize
        }))
    };
    let call = cx.runtime.respan(ty, call);
    let constant = check_constant(key);
    let value = with_lifetimes.unwrap_or_else(|| ty.to_token_stream());
    quote! {
        impl __pf::Holds for #newtype {
            type Value = #value;
        }
        #[allow(non_upper_case_globals)]
        const #constant: __pf::usize = {
            use __pf::Lacks as _;
            #call
        };
    }
}
