//! Types and expressions, judged by their tokens.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, GenericArgument, PathArguments, PathSegment, Type};

/// The type without parentheses, and without the invisible delimiters that `macro_rules!` puts around a `$t:ty`.
pub(crate) fn ungroup(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungroup(&group.elem),
        Type::Paren(paren) => ungroup(&paren.elem),
        ty => ty,
    }
}

/// The expression without invisible delimiters.
pub(crate) fn ungroup_expr(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => ungroup_expr(&group.expr),
        expr => expr,
    }
}

/// The last segment of a type that is a path.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungroup(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// The types between the angle brackets of a segment.
pub(crate) fn arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Whether two types are written alike.
pub(crate) fn same(a: &Type, b: &Type) -> bool {
    ungroup(a).to_token_stream().to_string() == ungroup(b).to_token_stream().to_string()
}

/// The owned form of the type, for a type behind `&`: `<str as ToOwned>::Owned` for `str`.
pub(crate) fn owned(ty: &Type) -> TokenStream {
    let ty = ungroup(ty);
    let is_unsized = match ty {
        Type::Slice(_) => true,
        ty => last_segment(ty).is_some_and(|segment| {
            let unsized_types = ["str", "Path", "OsStr", "CStr"];
            segment.arguments.is_none() && unsized_types.iter().any(|name| segment.ident == name)
        }),
    };
    if is_unsized {
        quote_spanned!(ty.span()=> <#ty as ::std::borrow::ToOwned>::Owned)
    } else {
        quote!(#ty)
    }
}

/// The message for a flow or a node with the name of its state.
pub(crate) fn named_like_the_state(what: &str, name: &Ident) -> String {
    let name = name.unraw();
    format!(
        "{what} `{name}` has the same name as its state, and both are types: rename one of them"
    )
}
