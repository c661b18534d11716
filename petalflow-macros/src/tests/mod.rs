//! Tests of whole expansions, from tokens to tokens.

mod half_typed;
mod node;
mod route;
mod snapshots;
mod state;
#[cfg(feature = "tool")]
mod tool;

use proc_macro2::TokenStream;

/// The messages of the `compile_error!`s in an expansion, in order.
fn errors(expansion: TokenStream) -> Vec<String> {
    let file: syn::File =
        syn::parse2(expansion).unwrap_or_else(|error| panic!("the expansion is not Rust: {error}"));
    let messages = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Macro(item)
            if item
                .mac
                .path
                .segments
                .last()
                .is_some_and(|segment| segment.ident == "compile_error") =>
        {
            syn::parse2::<syn::LitStr>(item.mac.tokens)
                .ok()
                .map(|text| text.value())
        }
        _ => None,
    });
    messages.collect()
}

/// The names of the types in an expansion that the rest of the program can use.
fn types(expansion: TokenStream) -> Vec<String> {
    let file: syn::File =
        syn::parse2(expansion).unwrap_or_else(|error| panic!("the expansion is not Rust: {error}"));
    let names = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Struct(item) => Some(item.ident.to_string()),
        syn::Item::Enum(item) if !item.ident.to_string().starts_with("__") => {
            Some(item.ident.to_string())
        }
        syn::Item::Type(item) => Some(item.ident.to_string()),
        syn::Item::Use(item) => imported(&item.tree),
        _ => None,
    });
    names.collect()
}

/// The name in `use a::b as name`.
fn imported(tree: &syn::UseTree) -> Option<String> {
    match tree {
        syn::UseTree::Path(path) => imported(&path.tree),
        syn::UseTree::Rename(rename) => Some(rename.rename.to_string()),
        _ => None,
    }
}

/// The text of an expansion, with spaces between its tokens.
fn text(expansion: TokenStream) -> String {
    expansion.to_string()
}
