//! The model of a tool: its parameters and its result.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{
    Attribute, FnArg, GenericArgument, Pat, PatType, PathArguments, ReturnType, Signature, Type,
    parse_quote_spanned,
};

use crate::site::{self, quote};
use crate::{attributes, node, types};

/// A tool.
pub(crate) struct Tool {
    /// The name of the function.
    pub(crate) call: Ident,
    pub(crate) is_async: bool,
    pub(crate) params: Vec<Param>,
    /// The parameters that nothing can supply.
    pub(crate) misuses: Vec<Misuse>,
    pub(crate) output: Returned,
    /// Whether generated code can call the tool. If not, the expansion is a placeholder.
    pub(crate) usable: bool,
}

pub(crate) type Param = node::model::Param<Source>;

/// The source of the value of a parameter.
pub(crate) enum Source {
    /// The call. The attributes are those of the field in the struct of arguments.
    Argument(Vec<Attribute>),
    /// The context of the call.
    ToolContext,
    /// The run.
    Run,
}

/// A parameter that nothing can supply.
pub(crate) struct Misuse {
    pub(crate) at: TokenStream,
    pub(crate) problem: Problem,
}

/// Why nothing can supply a parameter.
pub(crate) enum Problem {
    /// The parameter is a pattern.
    NoPlainName,
    /// `#[run(..)]`.
    RunOptions,
    /// The type has a reference. `owned` is the type without it.
    Borrowed {
        name: Ident,
        owned: String,
    },
    ImplTrait,
    /// `State(db): State<Db>`, as handlers of axum take values.
    Extractor,
    /// `Managed<dyn Db>`, of this type.
    ManagedUnsized(String),
}

/// The return type.
pub(crate) enum Returned {
    /// No return type.
    Unit,
    /// A value.
    Value(Box<Type>),
    /// `Result<T, E>`, or an alias `Result<T>`, whose error type is unknown.
    Result(Box<Type>, Option<Box<Type>>),
}

impl Tool {
    /// The model of a function. The parameters that are valid are always in the model.
    pub(crate) fn build(sig: &Signature) -> Self {
        let (mut params, mut misuses) = (Vec::new(), Vec::new());
        for input in &sig.inputs {
            // The rules check `self`.
            if let FnArg::Typed(input) = input {
                params.extend(param(input, &mut misuses));
            }
        }
        let mut tool = Tool {
            call: sig.ident.clone(),
            is_async: sig.asyncness.is_some(),
            params,
            misuses,
            output: Returned::of(&sig.output),
            usable: true,
        };
        tool.usable = !tool.repeats_parameter();
        tool
    }

    /// The arguments of a call, with their indices among all parameters.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (usize, &Param, &[Attribute])> {
        let params = self.params.iter().enumerate();
        params.filter_map(|(index, param)| match &param.source {
            Source::Argument(attrs) => Some((index, param, &attrs[..])),
            _ => None,
        })
    }

    /// Whether a parameter is an extractor of axum, whose type can be a trait here.
    pub(crate) fn has_extractor(&self) -> bool {
        let is_extractor = |misuse: &Misuse| matches!(misuse.problem, Problem::Extractor);
        self.misuses.iter().any(is_extractor)
    }

    /// Whether two arguments have one name in the function.
    pub(crate) fn repeats_parameter(&self) -> bool {
        let names: Vec<&Ident> = self.arguments().map(|(_, param, _)| &param.ident).collect();
        (1..names.len()).any(|index| names[..index].contains(&names[index]))
    }
}

impl Returned {
    fn of(output: &ReturnType) -> Self {
        let ReturnType::Type(_, ty) = output else {
            return Returned::Unit;
        };
        let ty = types::ungroup(ty);
        if let Some(segment) = types::last_segment(ty)
            && segment.ident == "Result"
        {
            match types::arguments(segment)[..] {
                [value] => return Returned::Result(Box::new(value.clone()), None),
                [value, error] => {
                    let error = Some(Box::new(error.clone()));
                    return Returned::Result(Box::new(value.clone()), error);
                }
                _ => {}
            }
        }
        Returned::Value(Box::new(ty.clone()))
    }
}

/// The model of a parameter. A parameter that nothing can supply is added to `misuses`.
fn param(input: &PatType, misuses: &mut Vec<Misuse>) -> Option<Param> {
    let mut misuse = |at: &dyn ToTokens, problem| {
        let at = at.to_token_stream();
        misuses.push(Misuse { at, problem });
    };
    let ident = match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
        pat => {
            let problem = if node::model::is_extractor(pat, &input.ty) {
                Problem::Extractor
            } else {
                Problem::NoPlainName
            };
            misuse(pat, problem);
            return None;
        }
    };
    let ty = types::ungroup(&input.ty);
    if node::model::is_generic_state(ty) {
        misuse(ty, Problem::Extractor);
        return None;
    }
    let run = input.attrs.iter().find(|attr| attr.path().is_ident("run"));
    if let Some(run) = run
        && run.meta.require_path_only().is_err()
    {
        misuse(run, Problem::RunOptions);
    }
    if let Some(owned) = owned_type(ty) {
        let owned = text(&owned);
        misuse(ty, Problem::Borrowed { name: ident, owned });
        return None;
    }
    if let Type::ImplTrait(_) = ty {
        misuse(ty, Problem::ImplTrait);
        return None;
    }
    if let Some(managed) = node::model::unsized_managed(ty) {
        let written = types::text_of(managed);
        misuse(managed, Problem::ManagedUnsized(written));
        return None;
    }
    let source = match types::last_segment(ty) {
        _ if run.is_some() => Source::Run,
        Some(segment) if segment.ident == "ToolContext" => Source::ToolContext,
        Some(segment) if segment.ident == "Context" || segment.ident == "Managed" => Source::Run,
        _ => Source::Argument(field_attributes(input)),
    };
    Some(Param {
        ident,
        ty: ty.clone(),
        cfgs: attributes::tokens(&input.attrs, "cfg"),
        source,
    })
}

/// The attributes of a parameter that are copied to the field of the struct of arguments.
fn field_attributes(input: &PatType) -> Vec<Attribute> {
    let mut taken = Vec::new();
    for attr in &input.attrs {
        if ["doc", "serde", "schemars"]
            .iter()
            .any(|name| attr.path().is_ident(name))
        {
            taken.push(attr.clone());
        }
    }
    taken
}

/// The type with owned types for references: `String` for `&str`, `Vec<T>` for `&[T]`. `None` if it has no references.
fn owned_type(ty: &Type) -> Option<Type> {
    match types::ungroup(ty) {
        Type::Reference(reference) => {
            let inner = types::ungroup(&reference.elem);
            let inner = owned_type(inner).unwrap_or_else(|| inner.clone());
            Some(match &inner {
                Type::Slice(slice) => {
                    let elem = &slice.elem;
                    parse_quote_spanned!(site::span()=> Vec<#elem>)
                }
                ty => match types::last_segment(ty) {
                    Some(segment) if segment.ident == "str" => {
                        parse_quote_spanned!(site::span()=> String)
                    }
                    Some(segment) if segment.ident == "Path" => {
                        parse_quote_spanned!(site::span()=> PathBuf)
                    }
                    Some(segment) if segment.ident == "OsStr" => {
                        parse_quote_spanned!(site::span()=> OsString)
                    }
                    _ => inner,
                },
            })
        }
        Type::Path(path) => {
            let mut path = path.clone();
            let segments = path.path.segments.iter_mut();
            let arguments = segments.filter_map(|segment| match &mut segment.arguments {
                PathArguments::AngleBracketed(arguments) => Some(&mut arguments.args),
                _ => None,
            });
            let types = arguments.flatten().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            make_owned(types).then_some(Type::Path(path))
        }
        Type::Tuple(tuple) => {
            let mut tuple = tuple.clone();
            make_owned(tuple.elems.iter_mut()).then_some(Type::Tuple(tuple))
        }
        Type::Slice(slice) => {
            let mut slice = slice.clone();
            *slice.elem = owned_type(&slice.elem)?;
            Some(Type::Slice(slice))
        }
        Type::Array(array) => {
            let mut array = array.clone();
            *array.elem = owned_type(&array.elem)?;
            Some(Type::Array(array))
        }
        _ => None,
    }
}

/// Replaces each type by its owned form. Returns whether a type changed.
fn make_owned<'a>(types: impl Iterator<Item = &'a mut Type>) -> bool {
    let mut changed = false;
    for ty in types {
        if let Some(owned) = owned_type(ty) {
            *ty = owned;
            changed = true;
        }
    }
    changed
}

/// The usual text of a type, without the spaces between its tokens.
fn text(ty: &Type) -> String {
    let mut text = quote!(#ty).to_string();
    for (spaced, tight) in [
        (" < ", "<"),
        (" >", ">"),
        (" , ", ", "),
        (" ; ", "; "),
        (" :: ", "::"),
        ("& ", "&"),
    ] {
        text = text.replace(spaced, tight);
    }
    text
}
