//! Types and expressions, judged by their tokens.

use proc_macro2::{Ident, TokenStream, TokenTree};
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
pub(crate) fn written(ty: &Type) -> String {
    let mut text = String::new();
    for token in ty.to_token_stream().to_string().split_whitespace() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(word) && token.starts_with(word) {
            text.push(' ');
        }
        text.push_str(token);
    }
    text
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

/// Types of std whose values one thread uses.
const UNSHARED: &[&str] = &[
    "Cell",
    "LazyCell",
    "MutexGuard",
    "OnceCell",
    "Rc",
    "RefCell",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "UnsafeCell",
];

/// Whether the type looks as if it cannot be shared between threads: `Rc<T>`, `Cell<T>`, `dyn Fn()`, `*const T`.
pub(crate) fn unshared(ty: &Type) -> bool {
    is_unshared(ty.to_token_stream())
}

fn is_unshared(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |index: usize, texts: &[&str]| match tokens.get(index) {
        Some(TokenTree::Ident(ident)) => texts.iter().any(|text| ident == text),
        Some(TokenTree::Punct(punct)) => texts.iter().any(|text| *text == punct.to_string()),
        _ => false,
    };
    (0..tokens.len()).any(|at| {
        let closure = || {
            let bounds = tokens[at..].iter().take_while(
                |token| !matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','),
            );
            let names: Vec<String> = bounds.map(ToString::to_string).collect();
            let any = |list: &[&str]| names.iter().any(|name| list.contains(&name.as_str()));
            any(&["Any", "Fn", "FnMut", "FnOnce", "Future"]) && !(any(&["Send"]) && any(&["Sync"]))
        };
        match &tokens[at] {
            TokenTree::Group(group) => is_unshared(group.stream()),
            _ => {
                (is(at, UNSHARED) && is(at + 1, &["<"]))
                    || (is(at, &["*"]) && is(at + 1, &["const", "mut"]))
                    || (is(at, &["dyn"]) && closure())
            }
        }
    })
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
            last.ident != "PhantomData" && arguments(last).into_iter().any(borrows_static)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{borrows_static, unshared};

    fn all(judge: fn(&syn::Type) -> bool, types: &[&str]) -> Vec<bool> {
        let judge = |ty: &&str| judge(&syn::parse_str(ty).unwrap());
        types.iter().map(judge).collect()
    }

    #[test]
    fn types_that_one_thread_uses_are_found_by_their_tokens() {
        let one_thread = [
            "Rc<String>",
            "Option<std::rc::Rc<str>>",
            "(u8, [Cell<u32>; 2])",
            "Arc<dyn Fn()>",
            "Box<dyn FnMut(&str) -> u8 + Send>",
            "Arc<dyn std::any::Any>",
            "*const u8",
        ];
        assert_eq!(all(unshared, &one_thread), [true; 7]);
        let shared = [
            "Arc<String>",
            "Cell",
            "Arc<dyn Fn(&str) + Send + Sync>",
            "Arc<dyn Store>",
            "fn(&str) -> u8",
            "HashMap<Rc, u8>",
        ];
        assert_eq!(all(unshared, &shared), [false; 6]);
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
