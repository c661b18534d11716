//! The model of a tool: the arguments of a call, what comes from the run, and what is returned.

use proc_macro2::Ident;
use quote::quote;
use syn::{
    Attribute, FnArg, GenericArgument, Pat, PatType, PathArguments, ReturnType, Signature, Type,
    parse_quote,
};

use crate::errors::Errors;
use crate::types;

/// A tool.
pub(crate) struct Tool {
    /// The function's name.
    pub(crate) call: Ident,
    pub(crate) is_async: bool,
    pub(crate) params: Vec<Param>,
    pub(crate) output: Returned,
    /// Whether it can be called; if not, a stand-in is emitted.
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
    /// The call, with the attributes that it has as a field.
    Argument(Vec<Attribute>),
    /// The call's own context.
    ToolContext,
    /// The run.
    Run,
}

/// What is returned.
pub(crate) enum Returned {
    /// Nothing.
    Unit,
    /// A value.
    Value(Box<Type>),
    /// `Result<T, E>`, or `Result<T>` with an error that only the alias knows.
    Result(Box<Type>, Option<Box<Type>>),
}

impl Tool {
    /// Understands a signature; what a tool cannot have is reported, with what it can have instead.
    pub(crate) fn build(sig: &Signature, errors: &mut Errors) -> Self {
        let mut tool = Tool {
            call: sig.ident.clone(),
            is_async: sig.asyncness.is_some(),
            params: Vec::new(),
            output: Returned::of(&sig.output),
            usable: true,
        };
        for input in &sig.inputs {
            // For a function with `self`, only that is reported.
            let FnArg::Typed(input) = input else { continue };
            match Param::build(input, errors) {
                Some(param) => tool.params.push(param),
                None => tool.usable = false,
            }
        }
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

impl Param {
    fn build(input: &PatType, errors: &mut Errors) -> Option<Self> {
        let ident = match &*input.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
            pat => {
                let message = "a parameter of a tool needs a plain name, because a model names its arguments: destructure the value in the body";
                errors.at(pat, message);
                return None;
            }
        };
        let ty = types::ungroup(&input.ty);
        let mark = input.attrs.iter().find(|attr| attr.path().is_ident("run"));
        if let Some(mark) = mark
            && mark.meta.require_path_only().is_err()
        {
            errors.at(mark, "`#[run]` takes no options: `#[run] clock: Clock`");
        }
        if let Some(owned) = owned(ty) {
            errors.at(
                ty,
                format_args!(
                    "a tool takes owned values, because it cannot borrow from the call: write `{}: {}`",
                    ident,
                    text(&owned)
                ),
            );
            return None;
        }
        if let Type::ImplTrait(_) = ty {
            errors.at(ty, "a tool cannot take `impl Trait`, because its schema describes its arguments: name a type");
            return None;
        }
        let cfgs = attributes(input, &["cfg"]);
        let source = match types::last_segment(ty) {
            Some(segment) if segment.ident == "ToolContext" && mark.is_none() => {
                Source::ToolContext
            }
            Some(segment) if segment.ident == "Context" || segment.ident == "Managed" => {
                Source::Run
            }
            _ if mark.is_some() => Source::Run,
            _ => Source::Argument(attributes(input, &["doc", "serde", "schemars"])),
        };
        Some(Param {
            ident,
            ty: ty.clone(),
            cfgs,
            source,
        })
    }
}

fn attributes(input: &PatType, names: &[&str]) -> Vec<Attribute> {
    let named = input
        .attrs
        .iter()
        .filter(|attr| names.iter().any(|name| attr.path().is_ident(name)));
    named.cloned().collect()
}

/// The type without references, if it has some: `String` for `&str`, `Vec<T>` for `&[T]`.
fn owned(ty: &Type) -> Option<Type> {
    match types::ungroup(ty) {
        Type::Reference(reference) => {
            let inner = types::ungroup(&reference.elem);
            let inner = owned(inner).unwrap_or_else(|| inner.clone());
            Some(match &inner {
                Type::Slice(slice) => {
                    let elem = &slice.elem;
                    parse_quote!(Vec<#elem>)
                }
                ty => match types::last_segment(ty) {
                    Some(segment) if segment.ident == "str" => parse_quote!(String),
                    Some(segment) if segment.ident == "Path" => parse_quote!(PathBuf),
                    Some(segment) if segment.ident == "OsStr" => parse_quote!(OsString),
                    _ => inner,
                },
            })
        }
        Type::Path(path) => {
            let mut path = path.clone();
            let mut found = false;
            for segment in &mut path.path.segments {
                let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else {
                    continue;
                };
                for argument in &mut arguments.args {
                    if let GenericArgument::Type(ty) = argument
                        && let Some(owned) = owned(ty)
                    {
                        *ty = owned;
                        found = true;
                    }
                }
            }
            found.then_some(Type::Path(path))
        }
        Type::Tuple(tuple) => {
            let mut tuple = tuple.clone();
            let mut found = false;
            for ty in &mut tuple.elems {
                if let Some(owned) = owned(ty) {
                    *ty = owned;
                    found = true;
                }
            }
            found.then_some(Type::Tuple(tuple))
        }
        Type::Slice(slice) => {
            let mut slice = slice.clone();
            *slice.elem = owned(&slice.elem)?;
            Some(Type::Slice(slice))
        }
        Type::Array(array) => {
            let mut array = array.clone();
            *array.elem = owned(&array.elem)?;
            Some(Type::Array(array))
        }
        _ => None,
    }
}

/// A type as one would write it: without the spaces that tokens have between them.
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
