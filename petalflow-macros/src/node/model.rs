//! The model of a node: its parameters and its result.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, Pat, PatType, ReturnType, Signature, Type, TypeReference, TypeTuple};

use super::ast::is_misspelt;
use crate::attributes;
use crate::types;

/// A node.
pub(crate) struct Node {
    /// The name of the function or method.
    pub(crate) call: Ident,
    pub(crate) is_async: bool,
    pub(crate) params: Vec<Param>,
    /// The parameters that cannot be bound.
    pub(crate) misuses: Vec<Misuse>,
    pub(crate) output: Option<Returned>,
    /// Whether generated code can call the node. If not, the expansion is a placeholder.
    pub(crate) usable: bool,
}

/// A parameter. `S` describes the source of its value.
pub(crate) struct Param<S = Source> {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Its `#[cfg]` attributes.
    pub(crate) cfgs: TokenStream,
    pub(crate) source: S,
}

/// A parameter that cannot be bound.
pub(crate) struct Misuse {
    pub(crate) at: TokenStream,
    pub(crate) problem: Problem,
}

/// Why a parameter cannot be bound.
pub(crate) enum Problem {
    /// The parameter is a pattern.
    NoPlainName,
    /// `#[itme]`.
    MisspeltItem,
    /// `#[item(..)]`.
    ItemOptions,
    /// `#[key]`.
    KeyWithoutType,
    KeyAndItem,
    ImplTrait,
    /// `&'static str`.
    Static,
    MutableItem,
    MutableKey,
    ItemByValue,
    KeyByValue,
    /// `&Context` or `&Managed<..>`.
    RunValueByReference {
        name: &'static str,
    },
    /// `State(db): State<Db>` or `db: State<Db>`, as handlers of axum take values.
    Extractor,
    /// `Managed<dyn Db>`, of this type.
    ManagedUnsized(String),
    /// A value with a lifetime, such as `Cow<'_, str>`.
    RunValueWithLifetime,
    /// `state: Essay`, of this name.
    StateByValue(String),
}

/// The source of the value of a parameter.
pub(crate) enum Source {
    /// The key with the name of the parameter.
    Key(Shape),
    /// The key of this type.
    KeyOf(Box<Type>, Shape),
    /// The whole state.
    State,
    /// The item that the edge delivered, of this type behind `&`.
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

/// The return type, taken apart by its tokens.
pub(crate) enum Returned {
    /// `()`.
    Unit(Type),
    /// A key, a route, or any other type.
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

    /// Whether a name occurs twice. Only then does the node itself check that no key is written twice. (The flow finds an alias
    /// of a key.)
    pub(crate) fn repeats(&self) -> bool {
        let mut names = Vec::new();
        self.names(&mut names);
        (1..names.len()).any(|index| names[..index].contains(&names[index]))
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
    /// The model of a function or method. The parameters that can be bound are always in the model.
    pub(crate) fn build(sig: &Signature, state: Option<&Type>) -> Self {
        let mut misuses = Vec::new();
        let params = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(input) => Param::build(input, state, &mut misuses),
            // The rules check `self`.
            FnArg::Receiver(_) => None,
        });
        let params = params.collect();
        let output = match &sig.output {
            ReturnType::Type(_, ty) => Some(Returned::of(ty)),
            ReturnType::Default => None,
        };
        let mut node = Node {
            call: sig.ident.clone(),
            is_async: sig.asyncness.is_some(),
            params,
            misuses,
            output,
            usable: true,
        };
        // rustc reports `_` in a return type.
        node.usable = !node
            .return_types()
            .iter()
            .any(|output| matches!(output, Returned::One(Type::Infer(_))));
        node
    }

    /// Whether a parameter has a type that rustc may report, too: a trait instead of a type.
    pub(crate) fn has_foreign_parameter(&self) -> bool {
        let is_foreign = |misuse: &Misuse| {
            matches!(
                misuse.problem,
                Problem::Extractor | Problem::RunValueByReference { .. }
            )
        };
        self.misuses.iter().any(is_foreign)
    }

    /// The return type and all of its members.
    pub(crate) fn return_types(&self) -> Vec<&Returned> {
        let mut all = Vec::from_iter(&self.output);
        let mut next = 0;
        while let Some(output) = all.get(next).copied() {
            match output {
                Returned::Unit(_) | Returned::One(_) => {}
                Returned::Tuple(_, members) => all.extend(members),
                Returned::Wrapped(_, inner, _) => all.push(inner),
            }
            next += 1;
        }
        all
    }

    /// The type of the item behind `&`, if the node takes it.
    pub(crate) fn item(&self) -> Option<&Type> {
        item(&self.params)
    }
}

/// The type of the item behind `&`, if a parameter takes it.
pub(crate) fn item(params: &[Param]) -> Option<&Type> {
    params.iter().find_map(|param| match &param.source {
        Source::Item(ty) => Some(&**ty),
        _ => None,
    })
}

impl Param {
    /// The model of a parameter. A parameter that cannot be bound is added to `misuses`. Even then the result can be a
    /// parameter: one that takes the item, because edges deliver to it.
    pub(crate) fn build(
        input: &PatType,
        state: Option<&Type>,
        misuses: &mut Vec<Misuse>,
    ) -> Option<Self> {
        let mut misuse = |at: &dyn ToTokens, problem| {
            let at = at.to_token_stream();
            misuses.push(Misuse { at, problem });
        };
        let item = input
            .attrs
            .iter()
            .find(|attr| attr.path().is_ident("item") || is_misspelt(attr));
        let key = attributes::with_name(&input.attrs, "key").first().copied();
        let ident = match &*input.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
            pat => {
                if item.is_none() && is_extractor(pat, &input.ty) {
                    misuse(pat, Problem::Extractor);
                    return None;
                }
                misuse(pat, Problem::NoPlainName);
                item?;
                Ident::new("item", pat.span())
            }
        };
        if let Some(item) = item.filter(|item| is_misspelt(item)) {
            misuse(item, Problem::MisspeltItem);
        } else if let Some(item) = item
            && item.meta.require_path_only().is_err()
        {
            misuse(item, Problem::ItemOptions);
        }
        let ty = types::ungroup(&input.ty);
        let source = match (item, key) {
            (Some(_), Some(key)) => {
                misuse(key, Problem::KeyAndItem);
                return None;
            }
            (Some(_), None) => item_source(ty, &mut misuse),
            (None, Some(key)) => {
                let Ok(key_ty) = key.parse_args::<Type>() else {
                    misuse(key, Problem::KeyWithoutType);
                    return None;
                };
                let shape = key_shape(ty, &mut misuse)?;
                Some(Source::KeyOf(Box::new(key_ty), shape))
            }
            (None, None) => plain_source(&ident, ty, state, &mut misuse),
        }?;
        Some(Param {
            ident,
            ty: ty.clone(),
            cfgs: attributes::tokens(&input.attrs, "cfg"),
            source,
        })
    }
}

/// Records a misuse at these tokens.
type Record<'a> = dyn FnMut(&dyn ToTokens, Problem) + 'a;

/// The source of a parameter with `#[item]`.
fn item_source(ty: &Type, misuse: &mut Record<'_>) -> Option<Source> {
    let Type::Reference(reference) = ty else {
        if let Type::ImplTrait(_) = ty {
            misuse(ty, Problem::ImplTrait);
            return None;
        }
        misuse(ty, Problem::ItemByValue);
        return Some(Source::Item(Box::new(ty.clone())));
    };
    if let Some(mutability) = &reference.mutability {
        misuse(mutability, Problem::MutableItem);
    } else if is_impl_trait(reference, misuse) {
        return None;
    }
    Some(Source::Item(reference.elem.clone()))
}

/// How a parameter with `#[key(..)]` reads the key.
fn key_shape(ty: &Type, misuse: &mut Record<'_>) -> Option<Shape> {
    match ty {
        Type::Reference(reference) => shared(reference, misuse).then_some(Shape::Ref),
        ty if reads_option(ty) => Some(Shape::Option),
        ty => {
            let problem = match ty {
                Type::ImplTrait(_) => Problem::ImplTrait,
                _ => Problem::KeyByValue,
            };
            misuse(ty, problem);
            None
        }
    }
}

/// The source of a parameter without attributes.
fn plain_source(
    ident: &Ident,
    ty: &Type,
    state: Option<&Type>,
    misuse: &mut Record<'_>,
) -> Option<Source> {
    let reference = match ty {
        Type::Reference(reference) => reference,
        Type::ImplTrait(_) => {
            misuse(ty, Problem::ImplTrait);
            return None;
        }
        ty if reads_option(ty) => return Some(Source::Key(Shape::Option)),
        ty => {
            if state.is_some_and(|state| types::same(state, ty)) {
                misuse(ty, Problem::StateByValue(types::text_of(ty)));
                return None;
            }
            if is_generic_state(ty) {
                misuse(ty, Problem::Extractor);
                return None;
            }
            if let Some(managed) = unsized_managed(ty) {
                let written = types::text_of(managed);
                misuse(managed, Problem::ManagedUnsized(written));
                return None;
            }
            if types::borrows(ty) {
                misuse(ty, Problem::RunValueWithLifetime);
                return None;
            }
            return Some(Source::Run);
        }
    };
    if let Some(name) = run_value(ident, &reference.elem) {
        misuse(ty, Problem::RunValueByReference { name });
        return None;
    }
    if !shared(reference, misuse) {
        return None;
    }
    if state.is_some_and(|state| is_state(&reference.elem, state)) {
        return Some(Source::State);
    }
    Some(Source::Key(Shape::Ref))
}

/// Whether a key can be read by this reference.
fn shared(reference: &TypeReference, misuse: &mut Record<'_>) -> bool {
    if let Some(lifetime) = &reference.lifetime
        && lifetime.ident == "static"
    {
        misuse(lifetime, Problem::Static);
        return false;
    }
    if let Some(mutability) = &reference.mutability {
        misuse(mutability, Problem::MutableKey);
        return false;
    }
    !is_impl_trait(reference, misuse)
}

fn is_impl_trait(reference: &TypeReference, misuse: &mut Record<'_>) -> bool {
    let is_impl_trait = matches!(types::ungroup(&reference.elem), Type::ImplTrait(_));
    if is_impl_trait {
        misuse(&reference.elem, Problem::ImplTrait);
    }
    is_impl_trait
}

/// Whether the parameter takes a value apart as an extractor of axum: `Json(body): Json<Body>`.
pub(crate) fn is_extractor(pat: &Pat, ty: &Type) -> bool {
    let Pat::TupleStruct(pat) = pat else {
        return false;
    };
    let name = pat.path.segments.last().map(|segment| &segment.ident);
    types::last_segment(ty).is_some_and(|segment| Some(&segment.ident) == name)
}

/// Whether the type is `State<Db>`, which the trait `State` is not.
pub(crate) fn is_generic_state(ty: &Type) -> bool {
    types::last_segment(ty)
        .is_some_and(|segment| segment.ident == "State" && !segment.arguments.is_none())
}

/// The type without a size in `Managed<dyn Db>`, judged by its tokens.
pub(crate) fn unsized_managed(ty: &Type) -> Option<&Type> {
    let segment = types::last_segment(ty).filter(|segment| segment.ident == "Managed")?;
    let [managed] = types::arguments(segment)[..] else {
        return None;
    };
    types::is_unsized(managed).then_some(managed)
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

/// The name of a type that comes from the run, if the type seems to be one. A parameter of type `&Context` must also have one
/// of the usual names, because a key can have a type of that name. Such a key can always be read with `#[key(..)]`.
fn run_value(ident: &Ident, ty: &Type) -> Option<&'static str> {
    let segment = types::last_segment(ty)?;
    let arguments = types::arguments(segment).len();
    let is_called = |names: &[&str]| names.iter().any(|name| ident == name);
    if segment.ident == "Managed" && arguments == 1 {
        Some("Managed<..>")
    } else if segment.ident == "Context"
        && arguments == 0
        && is_called(&["cx", "_cx", "ctx", "_ctx"])
    {
        Some("Context")
    } else {
        None
    }
}

/// Whether the type is the state, judged by its tokens: they are the same, or the last segments of both paths are.
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
