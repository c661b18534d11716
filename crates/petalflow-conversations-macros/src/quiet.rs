//! What a document with errors expands to: a trait that has the methods of the program, and types of which rustc reports nothing.
//! So a mistake in the document is not also an error in the program.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::model::{Arguments, Model};
use crate::program::Program;

/// The module, the type of its unknown types, and the errors.
pub(crate) struct Quiet {
    /// The items of the module.
    pub(crate) items: TokenStream,
    /// The members of the type.
    pub(crate) members: TokenStream,
    /// All errors but the first one.
    pub(crate) errors: TokenStream,
}

pub(crate) fn expand(
    errors: &[String],
    model: &Model,
    program: &Program,
    module: &Ident,
    span: Span,
) -> Quiet {
    let (first, rest) = errors
        .split_first()
        .map_or((None, errors), |(it, rest)| (Some(it), rest));
    let names: BTreeSet<&str> = model
        .types
        .iter()
        .map(|it| it.name.as_str())
        .chain(program.types.iter().map(String::as_str))
        .chain(["Node"])
        .collect();
    let names = names.iter().map(|it| Ident::new(it, span));
    let methods = methods(model, program, span);
    Quiet {
        items: quote_spanned! {span=>
            pub trait __Wrong<const __ERROR: usize> {
                type __Unknown;
            }
            // An error in a constant makes a type of which rustc knows that it was reported.
            #[allow(non_camel_case_types)]
            pub type __Unknown = <() as __Wrong<{ ::core::compile_error!(#first) }>>::__Unknown;
            #(pub type #names = __Unknown;)*
            pub trait Handlers { #methods }
        },
        members: quote! {
            #[allow(non_upper_case_globals)]
            pub const builder: #module::__Unknown = loop {};
        },
        errors: quote_spanned!(span=> #(::core::compile_error!(#rest);)*),
    }
}

/// The methods that the program has, and those that it may have in files that were not searched. It need not have any.
fn methods(model: &Model, program: &Program, span: Span) -> TokenStream {
    let mut names = BTreeSet::new();
    let mut methods = TokenStream::new();
    let mut add = |name: &str, takes_self: bool, parameters: usize| {
        if names.insert(name.to_owned()) {
            let name = Ident::new(name, span);
            let this = takes_self.then(|| quote!(&self,));
            let parameters = std::iter::repeat_n(quote!(_: __Unknown), parameters);
            methods.extend(quote_spanned! {span=>
                fn #name(#this #(#parameters),*) -> __Unknown { loop {} }
            });
        }
    };
    for method in program.impls.iter().flat_map(|it| &it.methods) {
        add(&method.name, method.takes_self, method.parameters);
    }
    for function in &model.functions {
        let takes_arguments = !matches!(function.arguments, Arguments::Nothing);
        add(&function.name, true, 1 + usize::from(takes_arguments));
    }
    for action in &model.actions {
        add(&action.name, true, 1);
    }
    let own = program.impls.iter().flat_map(|it| it.own.clone());
    let mut own: BTreeSet<String> = own.collect();
    if program.impls.is_empty() {
        own.extend(model.functions.iter().filter_map(|it| match &it.arguments {
            Arguments::Own(name) => Some(name.clone()),
            _ => None,
        }));
    }
    let own = own.iter().map(|it| Ident::new(it, span));
    quote_spanned!(span=> #(type #own;)* #methods)
}
