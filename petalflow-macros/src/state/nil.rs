//! Types whose values a store cannot distinguish, because the format has only one nil.

use syn::{Type, TypePath};

use crate::types;

/// Types that are stored as their parts.
const TRANSPARENT: &[&str] = &[
    "Arc", "BTreeMap", "BTreeSet", "Box", "HashMap", "HashSet", "Option", "Vec", "VecDeque",
];

/// The first `Option` in the type whose inner value is also stored as nil, with that inner value.
pub(super) fn ambiguous(ty: &Type) -> Option<(&Type, &'static str)> {
    let ty = types::ungroup(ty);
    let parts = match ty {
        Type::Array(array) => vec![&*array.elem],
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
    let Type::Path(path) = types::ungroup(ty) else {
        return false;
    };
    let segments = &path.path.segments;
    match segments.len() {
        1 => segments[0].ident == "Option",
        3 => {
            (segments[0].ident == "std" || segments[0].ident == "core")
                && segments[1].ident == "option"
                && segments[2].ident == "Option"
        }
        _ => false,
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(types::ungroup(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// The type arguments of a type that is stored as its parts. The format of any other type is unknown.
fn arguments(path: &TypePath) -> Vec<&Type> {
    match path.path.segments.last() {
        Some(last) if TRANSPARENT.iter().any(|name| last.ident == name) => types::arguments(last),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn an_option_of_nil_is_found_in_every_transparent_type() {
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
