//! The model of a node: what it reads, takes and returns.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, Pat, PatType, ReturnType, Signature, Type, TypeTuple};

use crate::errors::Errors;
use crate::types;

/// A node.
pub(crate) struct Node {
    /// The function's or the method's name.
    pub(crate) call: Ident,
    pub(crate) is_async: bool,
    pub(crate) params: Vec<Param>,
    pub(crate) output: Option<Returned>,
    /// Whether the node can be called; if not, a stand-in is emitted.
    pub(crate) usable: bool,
}

/// A parameter, in the function's order.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) source: Source,
}

/// Where a parameter's value comes from.
pub(crate) enum Source {
    /// The key of its name.
    Key(Shape),
    /// The key of a type.
    KeyOf(Box<Type>, Shape),
    /// The whole state.
    State,
    /// What the edge delivered. The type without `&`.
    Item(Box<Type>),
    /// The run.
    Run,
}

/// How a key is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `&T`
    Ref,
    /// `Option<&T>`
    Option,
}

/// What is returned, taken apart as far as the tokens tell.
pub(crate) enum Returned {
    /// Nothing.
    Unit(Type),
    /// A key or a route or anything else that is one member.
    One(Type),
    /// `(A, B)`.
    Tuple(TypeTuple, Vec<Returned>),
    /// `Option<A>` or `Result<A, E>`, with the type as written.
    Wrapped(Type, Box<Returned>, Option<Box<Type>>),
}

impl Returned {
    fn of(ty: &Type) -> Self {
        let ty = types::ungroup(ty);
        if let Type::Tuple(tuple) = ty {
            if tuple.elems.is_empty() {
                return Returned::Unit(ty.clone());
            }
            return Returned::Tuple(
                tuple.clone(),
                tuple.elems.iter().map(Returned::of).collect(),
            );
        }
        if let Some(segment) = types::last_segment(ty) {
            let arguments = types::arguments(segment);
            match (&segment.ident, &arguments[..]) {
                (name, [inner]) if name == "Option" || name == "Result" => {
                    return Returned::Wrapped(ty.clone(), Box::new(Returned::of(inner)), None);
                }
                (name, [inner, error]) if name == "Result" => {
                    return Returned::Wrapped(
                        ty.clone(),
                        Box::new(Returned::of(inner)),
                        Some(Box::new((*error).clone())),
                    );
                }
                _ => {}
            }
        }
        Returned::One(ty.clone())
    }

    /// The user's tokens.
    pub(crate) fn tokens(&self) -> TokenStream {
        match self {
            Returned::Unit(ty) | Returned::One(ty) | Returned::Wrapped(ty, ..) => {
                ty.to_token_stream()
            }
            Returned::Tuple(tuple, _) => tuple.to_token_stream(),
        }
    }

    /// Whether it names something twice: only then is it worth asking whether a key is written twice. (An alias of a key is
    /// found by the flow.)
    pub(crate) fn repeats(&self) -> bool {
        let mut names = Vec::new();
        self.names(&mut names);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        names.len() < count
    }

    fn names(&self, names: &mut Vec<String>) {
        match self {
            Returned::Unit(_) => {}
            Returned::One(ty) => {
                let segment = types::last_segment(ty);
                // `Overwrite<EssayDraft>` writes `EssayDraft`.
                let inner = segment.and_then(|segment| types::arguments(segment).first().copied());
                match (segment, inner) {
                    (_, Some(inner)) => Returned::of(inner).names(names),
                    (Some(segment), None) => names.push(segment.ident.to_string()),
                    (None, None) => {}
                }
            }
            Returned::Tuple(_, members) => members.iter().for_each(|member| member.names(names)),
            Returned::Wrapped(_, inner, _) => inner.names(names),
        }
    }
}

impl Node {
    /// Understands a signature; what a node cannot have is reported, with what it can have instead.
    pub(crate) fn build(sig: &Signature, state: Option<&Type>, errors: &mut Errors) -> Self {
        let mut node = Node {
            call: sig.ident.clone(),
            is_async: sig.asyncness.is_some(),
            params: Vec::new(),
            output: None,
            usable: true,
        };
        for input in &sig.inputs {
            // A method's `self` is the caller's business.
            let FnArg::Typed(input) = input else { continue };
            let before = errors.count();
            node.params.extend(Param::build(input, state, errors));
            node.usable &= errors.count() == before;
        }
        if let ReturnType::Type(_, ty) = &sig.output {
            node.output = Some(Returned::of(ty));
        }
        node
    }

    /// The parameter of `#[item]` and its type.
    pub(crate) fn item(&self) -> Option<&Type> {
        self.params.iter().find_map(|param| match &param.source {
            Source::Item(ty) => Some(&**ty),
            _ => None,
        })
    }
}

impl Param {
    /// Understands a parameter; what a node cannot take is reported, with what it can.
    pub(crate) fn build(
        input: &PatType,
        state: Option<&Type>,
        errors: &mut Errors,
    ) -> Option<Self> {
        let ident = match &*input.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
            pat => {
                let message = "a parameter of a node needs a plain name, because the name selects the key that it reads: destructure the value in the body";
                errors.at(pat, message);
                // Where an item is taken the edges still lead here.
                if !input.attrs.iter().any(|attr| attr.path().is_ident("item")) {
                    return None;
                }
                Ident::new("item", pat.span())
            }
        };
        let mut item = None;
        let mut key = None;
        for attr in &input.attrs {
            if attr.path().is_ident("item") {
                if attr.meta.require_path_only().is_err() {
                    errors.at(attr, "`#[item]` takes no options: `#[item] topic: &str`");
                }
                item = Some(attr);
            } else if attr.path().is_ident("key") {
                let Ok(ty) = attr.parse_args::<Type>() else {
                    errors.at(attr, "`#[key(..)]` on a parameter names the type of a key: `#[key(EssayNotes)] old: &[String]`");
                    return None;
                };
                key = Some((attr, ty));
            }
        }
        if let (Some(_), Some((attr, _))) = (item, &key) {
            errors.at(attr, "a parameter reads a key or takes the item, not both: remove `#[key(..)]` or `#[item]`");
            return None;
        }
        let ty = types::ungroup(&input.ty);
        let cfgs = input
            .attrs
            .iter()
            .filter(|attr| attr.path().is_ident("cfg"))
            .cloned()
            .collect();
        let param = |source| {
            Some(Param {
                ident: ident.clone(),
                ty: ty.clone(),
                cfgs,
                source,
            })
        };
        match ty {
            Type::ImplTrait(_) => {
                let message = "a node cannot take `impl Trait`, because its parameters select what it reads: name a type";
                errors.at(ty, message);
                None
            }
            Type::Reference(reference) => {
                if let Some(mutability) = &reference.mutability {
                    let message = if item.is_some() {
                        "the item is shared with other tasks: take it by `&`"
                    } else {
                        "a node does not change the state in place: read with `&`, and return a typed key (such as `EssayDraft(..)`) to write"
                    };
                    errors.at(mutability, message);
                    return item.and_then(|_| param(Source::Item(reference.elem.clone())));
                }
                if let Type::ImplTrait(_) = types::ungroup(&reference.elem) {
                    let message = "a node cannot take `impl Trait`, because its parameters select what it reads: name a type";
                    errors.at(&reference.elem, message);
                    return None;
                }
                match (item, key) {
                    (Some(_), _) => param(Source::Item(reference.elem.clone())),
                    (None, Some((_, key))) => param(Source::KeyOf(Box::new(key), Shape::Ref)),
                    (None, None) if state.is_some_and(|state| is_state(&reference.elem, state)) => {
                        param(Source::State)
                    }
                    (None, None) => {
                        if let Some(name) = comes_by_value(&ident, &reference.elem) {
                            let message = format_args!(
                                "a reference reads the key of its name, and `{name}` comes from the run: take it by value, without `&`"
                            );
                            errors.at(ty, message);
                            return None;
                        }
                        param(Source::Key(Shape::Ref))
                    }
                }
            }
            ty if item.is_some() => {
                errors.at(
                    ty,
                    "the item is shared with other tasks: take it by `&`: `#[item] topic: &str`",
                );
                param(Source::Item(Box::new(ty.clone())))
            }
            ty if reads_option(ty) => match key {
                Some((_, key)) => param(Source::KeyOf(Box::new(key), Shape::Option)),
                None => param(Source::Key(Shape::Option)),
            },
            ty => match key {
                Some(_) => {
                    errors.at(
                        ty,
                        "a key is read by `&`: `#[key(EssayNotes)] old: &[String]`",
                    );
                    None
                }
                None => param(Source::Run),
            },
        }
    }
}

/// `Option<&T>`.
fn reads_option(ty: &Type) -> bool {
    let Some(segment) = types::last_segment(ty) else {
        return false;
    };
    let [Type::Reference(reference)] = types::arguments(segment)[..] else {
        return false;
    };
    segment.ident == "Option" && reference.mutability.is_none()
}

/// What a reference to cannot be meant to read a key: as far as the tokens tell, which is why a `Context` goes by the usual names
/// of such a parameter too. A key whose type is called like this is read with `#[key(..)]`.
fn comes_by_value(ident: &Ident, ty: &Type) -> Option<&'static str> {
    let segment = types::last_segment(ty)?;
    let arguments = types::arguments(segment).len();
    let called = |names: &[&str]| names.iter().any(|name| ident == name);
    if segment.ident == "Managed" && arguments == 1 {
        Some("Managed<..>")
    } else if segment.ident == "Context" && arguments == 0 && called(&["cx", "_cx", "ctx", "_ctx"])
    {
        Some("Context")
    } else {
        None
    }
}

/// Whether the type is the state, as far as the tokens tell: written alike, or of the same name by another path.
fn is_state(ty: &Type, state: &Type) -> bool {
    if types::same(ty, state) {
        return true;
    }
    let (Type::Path(a), Type::Path(b)) = (types::ungroup(ty), types::ungroup(state)) else {
        return false;
    };
    let (Some(a), Some(b)) = (a.path.segments.last(), b.path.segments.last()) else {
        return false;
    };
    a.ident.unraw() == b.ident.unraw() && a.arguments.is_none() && b.arguments.is_none()
}
