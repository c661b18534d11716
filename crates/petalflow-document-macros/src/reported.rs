//! What the document says is wrong, as errors and warnings of `rustc` at the path of the document.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Attribute;

/// One error for each text.
pub(crate) fn errors(texts: &[String], span: Span) -> TokenStream {
    quote_spanned!(span=> #(::core::compile_error!(#texts);)*)
}

/// What makes `rustc` warn. The attributes of the user can allow it.
pub(crate) fn warnings(
    texts: &[String],
    attributes: &[Attribute],
    span: Span,
) -> Option<TokenStream> {
    if texts.is_empty() {
        return None;
    }
    let lints = attributes.iter().filter(|it| {
        let path = it.path();
        ["allow", "expect"].iter().any(|name| path.is_ident(name))
    });
    let document = Ident::new("document", span);
    // Macros have no other way to warn.
    Some(quote_spanned! {span=>
        #(#lints)*
        #[allow(non_upper_case_globals)]
        const _: () = {
            #({
                #[deprecated(note = #texts)]
                const #document: () = ();
                #document
            })*
        };
    })
}
