//! Code for rust-analyzer, which finds the meaning of a token through all tokens of the expansion with its span.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

use crate::paths::Runtime;
use crate::spans::with_spans;

/// What rust-analyzer writes at the cursor before it completes.
const MARKER: &str = "raCompletionMarker";

/// The tokens with the span of the macro call, so that an editor does not find them at a token of the user. `$crate` keeps its
/// span, because rustc finds the crate by it.
pub(crate) fn elsewhere(tokens: TokenStream) -> TokenStream {
    with_spans(tokens, &|token| match token {
        TokenTree::Ident(ident) if ident == "$crate" => ident.span(),
        _ => Span::call_site(),
    })
}

/// Whether rust-analyzer completes this name.
pub(crate) fn is_completed(name: &Ident) -> bool {
    name.to_string().contains(MARKER)
}

/// Whether rust-analyzer completes a name of which nothing is typed yet.
pub(crate) fn is_new(name: &Ident) -> bool {
    name == MARKER
}

/// The names in the arguments of an attribute as fields of a struct of `petalflow::__private::editor`, because fields can be completed.
///
/// rust-analyzer compares the expansion that has its marker with the one that has not, and they may only differ by the marker. So a name
/// of which nothing is typed yet is alone, in a place that each expansion has.
pub(crate) fn options(runtime: &Runtime, of: &str, arguments: TokenStream) -> TokenStream {
    let mut names = Vec::new();
    let mut new = None;
    let mut begins = true;
    for token in arguments {
        let ends = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        match token {
            TokenTree::Ident(name) if begins && is_new(&name) => new = Some(name),
            TokenTree::Ident(name) if begins => names.push(name),
            _ => {}
        }
        begins = ends;
    }
    let of = format_ident!("{of}");
    let any = quote!(..#runtime::__private::editor::any());
    quote! {
        #(let _ = #runtime::__private::editor::#of { #names: {}, #any };)*
        let _ = #runtime::__private::editor::#of { #new #any };
    }
}
