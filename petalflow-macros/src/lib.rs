//! Internal to petalflow: its macros. Depend on `petalflow`, which re-exports them.

#![allow(
    clippy::too_many_lines,
    reason = "the code in a `quote!` is long and flat"
)]
#![allow(
    clippy::large_enum_variant,
    reason = "spans are large where `span-locations` is enabled, as for the tests"
)]

mod ask;
mod attributes;
mod dependency;
mod editor;
mod errors;
mod flow;
mod node;
mod options;
#[cfg(feature = "tool")]
mod partial;
mod paths;
mod placeholder;
mod route;
mod site;
mod spans;
mod state;
#[cfg(test)]
mod tests;
#[cfg(feature = "tool")]
mod tool;
mod types;

use proc_macro::TokenStream;

/// Defines an attribute, and the same attribute for rust-analyzer.
macro_rules! for_compilers_and_editors {
    ($(#[doc = $doc:expr])* $name:ident = $expand:path, $in_editor:ident = $expand_in_editor:path) => {
        $(#[doc = $doc])*
        #[proc_macro_attribute]
        pub fn $name(args: TokenStream, item: TokenStream) -> TokenStream {
            site::at_item(item.into(), |item| $expand(args.into(), item)).into()
        }

        $(#[doc = $doc])*
        #[proc_macro_attribute]
        pub fn $in_editor(args: TokenStream, item: TokenStream) -> TokenStream {
            $expand_in_editor(args.into(), item.into()).into()
        }
    };
}

for_compilers_and_editors! {
#[doc = include_str!("../docs/state.md")]
state = state::expand, state_in_editor = state::in_editor
}

/// Replaces `#[state]` if a field has `#[cfg]`. Not for users.
#[doc(hidden)]
#[proc_macro_derive(StateAfterCfg, attributes(key, __petalflow_state))]
pub fn state_after_cfg(item: TokenStream) -> TokenStream {
    site::at_item(item.into(), state::expand_after_cfg).into()
}

for_compilers_and_editors! {
#[doc = include_str!("../docs/node.md")]
node = node::expand, node_in_editor = node::in_editor
}

#[doc = include_str!("../docs/route.md")]
#[proc_macro_derive(Route, attributes(route))]
pub fn derive_route(item: TokenStream) -> TokenStream {
    site::at_item(item.into(), route::expand).into()
}

#[doc = include_str!("../docs/ask.md")]
#[proc_macro_derive(Ask, attributes(ask))]
pub fn derive_ask(item: TokenStream) -> TokenStream {
    site::at_item(item.into(), ask::expand).into()
}

#[doc = include_str!("../docs/tool.md")]
#[cfg(feature = "tool")]
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(args.into(), item.into()).into()
}

/// Says that the feature is missing.
#[cfg(not(feature = "tool"))]
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tool(_: TokenStream, item: TokenStream) -> TokenStream {
    let item: proc_macro2::TokenStream = item.into();
    let mut tokens = item.clone().into_iter();
    tokens.find(|token| token.to_string() == "fn");
    let at = tokens
        .next()
        .map_or_else(proc_macro2::Span::call_site, |name| name.span());
    let text = "`#[tool]` is behind the feature `tool` of petalflow: `cargo add petalflow --features tool`";
    let error = syn::Error::new(at, text).into_compile_error();
    quote::quote!(#item #error).into()
}

/// Makes the partial form of a type, for answers that are read while a model writes them: see the trait of the same name.
#[cfg(feature = "tool")]
#[proc_macro_derive(Partial, attributes(partial, serde))]
pub fn derive_partial(item: TokenStream) -> TokenStream {
    site::at_item(item.into(), partial::expand).into()
}

/// The implementation of `petalflow::tools!`. Takes `[$crate] search, fetch`.
#[cfg(feature = "tool")]
#[doc(hidden)]
#[proc_macro]
pub fn tools_impl(input: TokenStream) -> TokenStream {
    tool::set::expand(input.into()).into()
}

/// The implementation of `petalflow::flow!`. Takes `[$crate] Name(State) { .. }`.
#[doc(hidden)]
#[proc_macro]
pub fn flow_impl(input: TokenStream) -> TokenStream {
    flow::expand(input.into()).into()
}

/// The same for rust-analyzer, which sees the interface of the flow and the names in it.
#[doc(hidden)]
#[proc_macro]
pub fn flow_in_editor(input: TokenStream) -> TokenStream {
    flow::in_editor(input.into()).into()
}

/// The same for rustdoc, which sees the interface of the flow and a picture of its graph.
#[doc(hidden)]
#[proc_macro]
pub fn flow_documented(input: TokenStream) -> TokenStream {
    flow::expand_for_rustdoc(input.into()).into()
}
