//! Types and expressions, judged by their tokens.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, GenericArgument, PathArguments, PathSegment, Type};

use crate::site::quote;

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

/// The last segment of the type, if it is a path.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungroup(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// The type arguments of a segment.
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

/// Whether two types have the same tokens.
pub(crate) fn same(a: &Type, b: &Type) -> bool {
    ungroup(a).to_token_stream().to_string() == ungroup(b).to_token_stream().to_string()
}

/// The tokens of a type, with spaces only between words.
pub(crate) fn text_of(ty: &Type) -> String {
    let mut text = String::new();
    for token in ty.to_token_stream().to_string().split_whitespace() {
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        if text.chars().next_back().is_some_and(word) && token.chars().next().is_some_and(word) {
            text.push(' ');
        }
        text.push_str(token);
    }
    text
}

/// The owned form of the type, for a type behind `&`: `<str as ToOwned>::Owned` for `str`.
pub(crate) fn owned_form(ty: &Type) -> TokenStream {
    let ty = ungroup(ty);
    if is_part(ty) {
        quote_spanned!(ty.span()=> <#ty as ::std::borrow::ToOwned>::Owned)
    } else {
        quote!(#ty)
    }
}

/// Whether the type is a part of an owned type, such as `str` of `String`.
fn is_part(ty: &Type) -> bool {
    match ty {
        Type::Slice(_) => true,
        ty => last_segment(ty).is_some_and(|segment| {
            let unsized_types = ["str", "Path", "OsStr", "CStr"];
            segment.arguments.is_none() && unsized_types.iter().any(|name| segment.ident == name)
        }),
    }
}

/// Whether the type has no size, judged by its tokens.
pub(crate) fn is_unsized(ty: &Type) -> bool {
    let ty = ungroup(ty);
    matches!(ty, Type::TraitObject(_)) || is_part(ty)
}

/// Whether the tokens have a lifetime other than `'static`.
pub(crate) fn borrows(tokens: &impl ToTokens) -> bool {
    fn any(tokens: TokenStream) -> bool {
        let mut after_quote = false;
        tokens.into_iter().any(|token| {
            let is_lifetime =
                after_quote && !matches!(&token, TokenTree::Ident(name) if name == "static");
            after_quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
            is_lifetime || matches!(token, TokenTree::Group(group) if any(group.stream()))
        })
    }
    any(tokens.to_token_stream())
}

/// The message for a flow or a node with the name of its state.
pub(crate) fn named_like_the_state(what: &str, name: &Ident) -> String {
    let name = name.unraw();
    format!(
        "{what} `{name}` has the same name as its state, and both are types: rename one of them"
    )
}

/// The types of the language that a function can be named like.
const PRIMITIVES: &[&str] = &[
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16",
    "u32", "u64", "u8", "usize",
];

/// Whether an item of this name hides a type of the language from the code beside it.
pub(crate) fn is_primitive(name: &Ident) -> bool {
    PRIMITIVES.iter().any(|primitive| name == primitive)
}

/// Types that threads can share, if their arguments are such types.
const SHARED: &[&str] = &[
    "Arc", "BTreeMap", "BTreeSet", "Context", "HashMap", "HashSet", "Option", "PathBuf", "String",
    "Vec", "VecDeque", "bool", "char", "f32", "f64", "i16", "i32", "i64", "i8", "str", "u16",
    "u32", "u64", "u8", "usize",
];

/// Whether the type may be one that threads cannot share: all but the usual types of std.
pub(crate) fn may_be_unshared(ty: &Type) -> bool {
    fn any(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => any(group.stream()),
            TokenTree::Ident(word) => SHARED.iter().all(|shared| word != shared),
            TokenTree::Punct(punct) => punct.as_char() == '*',
            TokenTree::Literal(_) => false,
        })
    }
    any(ty.to_token_stream())
}

/// Whether the type has a reference that lives as long as the program, such as `&'static str`, outside of the types of functions.
pub(crate) fn borrows_static(ty: &Type) -> bool {
    match ungroup(ty) {
        Type::Reference(reference) => reference
            .lifetime
            .as_ref()
            .is_some_and(|lifetime| lifetime.ident == "static"),
        Type::Array(array) => borrows_static(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().any(borrows_static),
        ty => last_segment(ty).is_some_and(|last| {
            last.ident != "PhantomData" && arguments(last).iter().any(|ty| borrows_static(ty))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{borrows_static, may_be_unshared};

    fn all(judge: fn(&syn::Type) -> bool, types: &[&str]) -> Vec<bool> {
        let judge = |ty: &&str| judge(&syn::parse_str(ty).unwrap());
        types.iter().map(judge).collect()
    }

    #[test]
    fn types_that_threads_may_not_share_are_found_by_their_tokens() {
        let unknown = [
            "Rc<String>",
            "Option<Topic>",
            "(u8, [Cell<u32>; 2])",
            "Arc<dyn Fn()>",
            "*const u8",
        ];
        assert_eq!(all(may_be_unshared, &unknown), [true; 5]);
        let shared = [
            "Arc<String>",
            "Option<&str>",
            "[(u8, Vec<bool>)]",
            "Context",
        ];
        assert_eq!(all(may_be_unshared, &shared), [false; 4]);
    }

    #[test]
    fn references_for_the_whole_program_are_found() {
        let borrowed = ["&'static str", "Vec<(u8, &'static [u8])>"];
        assert_eq!(all(borrows_static, &borrowed), [true; 2]);
        let owned = [
            "String",
            "Cow<'static, str>",
            "PhantomData<&'static str>",
            "fn(&'static str)",
        ];
        assert_eq!(all(borrows_static, &owned), [false; 4]);
    }
}
