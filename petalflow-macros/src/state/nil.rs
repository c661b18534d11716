//! Types of which a store would lose a difference: the format of what is stored has one nil.

use syn::{GenericArgument, PathArguments, Type, TypePath};

/// Types whose parts are stored as they are.
const TRANSPARENT: &[&str] = &[
    "Arc", "BTreeMap", "BTreeSet", "Box", "HashMap", "HashSet", "Option", "Vec", "VecDeque",
];

/// The first `Option` in the type that holds what is stored as nil itself, and what that is.
pub(super) fn ambiguous(ty: &Type) -> Option<(&Type, &'static str)> {
    let parts: Vec<&Type> = match ty {
        Type::Array(array) => vec![&array.elem],
        Type::Group(group) => vec![&group.elem],
        Type::Paren(paren) => vec![&paren.elem],
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        Type::Path(path) => arguments(path),
        _ => Vec::new(),
    };
    if let ([part], true) = (&parts[..], is_option(ty)) {
        if is_option(part) {
            return Some((ty, "None"));
        }
        if is_unit(part) {
            return Some((ty, "()"));
        }
    }
    parts.into_iter().find_map(ambiguous)
}

fn is_option(ty: &Type) -> bool {
    let Type::Path(path) = ungrouped(ty) else {
        return false;
    };
    let names: Vec<String> = path
        .path
        .segments
        .iter()
        .map(|name| name.ident.to_string())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    matches!(names[..], ["Option"] | ["std" | "core", "option", "Option"])
}

fn is_unit(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// A type behind the parentheses, or the invisible ones of a `macro_rules!` variable.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        other => other,
    }
}

/// The type arguments of a type that stores them as they are; a user's own type may do otherwise.
fn arguments(path: &TypePath) -> Vec<&Type> {
    let Some(last) = path.path.segments.last() else {
        return Vec::new();
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Vec::new();
    };
    if !TRANSPARENT.iter().any(|name| last.ident == name) {
        return Vec::new();
    }
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn an_option_of_nil_is_found_wherever_it_is_stored_as_such() {
        let lossy: [Type; 6] = [
            parse_quote!(Option<Option<u8>>),
            parse_quote!(std::option::Option<Option<u8>>),
            parse_quote!(Vec<(u8, [Option<(Option<u8>)>; 2])>),
            parse_quote!(std::collections::HashMap<String, Option<Option<u8>>>),
            parse_quote!(Option<()>),
            parse_quote!(Option<Box<Option<Option<u8>>>>),
        ];
        for ty in lossy {
            assert!(ambiguous(&ty).is_some(), "{ty:?}", ty = quote::quote!(#ty));
        }
        let whole: [Type; 5] = [
            parse_quote!(Option<u8>),
            parse_quote!(Option<Vec<Option<u8>>>),
            parse_quote!(mine::Option<Option<u8>>),
            parse_quote!(Mine<Option<Option<u8>>>),
            parse_quote!(Option<(u8,)>),
        ];
        for ty in whole {
            assert!(ambiguous(&ty).is_none(), "{ty:?}", ty = quote::quote!(#ty));
        }
    }
}
