//! Types as they are written: what their tokens show.

use quote::ToTokens;
use syn::{Expr, GenericArgument, PathArguments, PathSegment, Type};

/// The type without invisible delimiters, which `macro_rules!` puts around a `$t:ty`, and without parentheses.
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
