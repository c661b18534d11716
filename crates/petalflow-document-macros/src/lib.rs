//! Internal to petalflow: `flow_from!` and `conversation!`. Depend on `petalflow-documents` or `petalflow-conversations`,
//! whose documentation has the macros.

#![allow(
    clippy::too_many_lines,
    reason = "the code in a `quote!` is long and flat"
)]

#[cfg(feature = "conversations")]
mod conversation;
#[cfg(feature = "documents")]
mod flow_from;
#[cfg(any(feature = "conversations", feature = "documents"))]
mod reported;

#[cfg(any(feature = "conversations", feature = "documents"))]
use proc_macro::TokenStream;

/// See `petalflow_conversations::conversation!`, which adds the path of its crate.
#[cfg(feature = "conversations")]
#[doc(hidden)]
#[proc_macro]
pub fn conversation_impl(input: TokenStream) -> TokenStream {
    match syn::parse(input) {
        Ok(input) => conversation::conversation(&input).into(),
        Err(error) => error.into_compile_error().into(),
    }
}

/// See `petalflow_documents::flow_from!`, which adds the path of its crate.
#[cfg(feature = "documents")]
#[doc(hidden)]
#[proc_macro]
pub fn flow_from_impl(input: TokenStream) -> TokenStream {
    flow_from::flow_from(input).into()
}
