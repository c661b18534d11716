//! Parsing of a sub-flow: `{ in: |draft: &str| .., out: |r: Review| .., values: |flow| flow.model(..) }`.

use petalflow_graph::{Rule, messages, similar};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprClosure, Pat, PatType, ReturnType, Stmt, Token, Type, braced, token};

use super::closure::{name_of, params};
use crate::errors::Errors;
use crate::flow::ast::{Mistakes, Subflow};
use crate::options::comma_separated;

const OPTIONS: [&str; 4] = ["in", "out", "keep", "values"];

/// The value of an option.
enum Value {
    Closure(ExprClosure),
    /// `keep: thread`.
    Thread,
    /// The option is unknown.
    Unknown,
    /// `values`, in another form than a closure.
    BrokenValues(syn::Error),
}

/// The options that were read.
#[derive(Default)]
struct Options {
    input: Option<ExprClosure>,
    output: Option<ExprClosure>,
    values: Option<ExprClosure>,
    /// `values` is reported already: nothing is said of values that were not given.
    values_are_broken: bool,
    keep: bool,
}

/// The options of a sub-flow in braces. `None` if one of the two closures is missing or broken; this is then reported.
pub(super) fn subflow(
    input: ParseStream,
    name: &Ident,
    ty: Type,
    state: &Type,
    mistakes: &mut Mistakes,
) -> syn::Result<Option<Subflow>> {
    let content;
    let braces = braced!(content in input);
    let mut options = Options::default();
    let before = mistakes.errors.count();
    comma_separated(
        &content,
        &mut mistakes.errors,
        Errors::push,
        |content, errors| {
            let (option, value) = option(content)?;
            accept(&option, value, &mut options, errors);
            Ok(())
        },
    );
    let broken = mistakes.errors.count() > before;
    let missing = match &options {
        Options { input: None, .. } => {
            Some("`in`, which makes its input: `in: |draft: &str| ReviewInput { .. }`")
        }
        Options { output: None, .. } => {
            Some("`out`, which makes the values to write: `out: |r: Review| EssayNotes(r.notes)`")
        }
        _ => None,
    };
    if let Some(missing) = missing
        && !broken
    {
        mistakes.errors.push(syn::Error::new(
            braces.span.join(),
            format_args!("sub-flow `{name}` needs {missing}"),
        ));
    }
    let keep = options.keep;
    let has_values = options.values.is_some();
    let values = options.values.and_then(|closure| values(closure, mistakes));
    let values_are_broken = options.values_are_broken || has_values && values.is_none();
    let (Some(input), Some(output)) = (options.input, options.output) else {
        return Ok(None);
    };
    let params = params("`in`", &input, state, mistakes);
    let end = end(&output, mistakes);
    let (Some(params), Some(end), false) = (params, end, values_are_broken) else {
        return Ok(None);
    };
    Ok(Some(Subflow {
        ty,
        params,
        input: body(input),
        end,
        output: body(output),
        keep,
        values,
    }))
}

/// Stores the value of an option.
fn accept(option: &Ident, value: Value, options: &mut Options, errors: &mut Errors) {
    let written = option.unraw().to_string();
    let repeated = match value {
        Value::Closure(closure) => {
            let slot = match written.as_str() {
                "in" => &mut options.input,
                "out" => &mut options.output,
                _ => &mut options.values,
            };
            let repeated = slot.is_some();
            if !repeated {
                *slot = Some(closure);
            }
            repeated
        }
        Value::Thread => std::mem::replace(&mut options.keep, true),
        Value::BrokenValues(error) => {
            errors.push(error);
            options.values_are_broken = true;
            false
        }
        Value::Unknown => {
            let text = messages::unknown_option(
                &written,
                similar(&written, OPTIONS.into_iter()),
                &OPTIONS,
            );
            errors.rule(Rule::Option, option, text);
            false
        }
    };
    if repeated {
        errors.rule(Rule::Option, option, messages::repeated_option(&written));
    }
}

/// One option: its name and its value.
fn option(input: ParseStream) -> syn::Result<(Ident, Value)> {
    let name = Ident::parse_any(input)?;
    if name == "keep" {
        return keep(input).map(|()| (name, Value::Thread));
    }
    if !input.peek(Token![:]) {
        let error = input.error(format_args!("expected a closure: `{name}: |..| ..`"));
        return if name == "values" {
            Ok((name, Value::BrokenValues(error)))
        } else {
            Err(error)
        };
    }
    input.parse::<Token![:]>()?;
    if name == "values" && input.peek(token::Brace) {
        return Ok((name, Value::BrokenValues(values_in_braces(input)?)));
    }
    let known = OPTIONS.iter().any(|known| name == known);
    match input.parse::<Expr>()? {
        Expr::Closure(closure) if known => match &closure.asyncness {
            Some(asynchronous) => {
                let text = format_args!(
                    "`{name}` is not async: await in a node before or after the sub-flow"
                );
                Err(syn::Error::new(asynchronous.span(), text))
            }
            None => Ok((name, Value::Closure(closure))),
        },
        other if name == "values" => {
            let error = syn::Error::new_spanned(other, VALUES_FORM);
            Ok((name, Value::BrokenValues(error)))
        }
        other if known => {
            let text = format_args!("`{name}` must be a closure: `{name}: |..| ..`");
            Err(syn::Error::new_spanned(other, text))
        }
        _ => Ok((name, Value::Unknown)),
    }
}

const VALUES_FORM: &str = "`values` is a closure that sets the node values of the sub-flow: `values: |flow| flow.model(..)`, where `model` is a node value";

/// The error for `values: { model: Llm::new(..) }`.
fn values_in_braces(input: ParseStream) -> syn::Result<syn::Error> {
    let content;
    let braces = braced!(content in input);
    let mut calls = Vec::new();
    while let Ok(value) = Ident::parse_any(&content) {
        calls.push(format!(".{}(..)", value.unraw()));
        while !content.is_empty() && !content.peek(Token![,]) {
            content.parse::<TokenTree>()?;
        }
        content.parse::<Option<Token![,]>>()?;
    }
    content.parse::<TokenStream>()?;
    let text = if calls.is_empty() {
        VALUES_FORM.to_string()
    } else {
        let calls = calls.concat();
        format!("`values` is a closure and not a map: write `values: |flow| flow{calls}`")
    };
    Ok(syn::Error::new(braces.span.join(), text))
}

/// The value of `keep`. There is only one: `thread`.
fn keep(input: ParseStream) -> syn::Result<()> {
    let wrong = format!("{}: {}", Rule::Option.code(), messages::keep_takes_thread());
    if !input.peek(Token![:]) {
        return Err(input.error(wrong));
    }
    input.parse::<Token![:]>()?;
    let value: Expr = input.parse()?;
    match &value {
        Expr::Path(path) if path.path.is_ident("thread") => Ok(()),
        value => Err(syn::Error::new_spanned(value, wrong)),
    }
}

/// The parameter and the body of `values`.
fn values(closure: ExprClosure, mistakes: &mut Mistakes) -> Option<(Pat, TokenStream)> {
    let pat = match closure.inputs.first() {
        Some(Pat::Type(typed)) => (*typed.pat).clone(),
        Some(pat) => pat.clone(),
        None => Pat::Verbatim(TokenStream::new()),
    };
    if let Expr::Block(block) = &*closure.body
        && let Some(Stmt::Expr(_, Some(semicolon))) = block.block.stmts.last()
    {
        let text = "`values` returns the builder with its node values: remove this `;`";
        mistakes
            .errors
            .push(syn::Error::new(semicolon.span(), text));
        return None;
    }
    if closure.inputs.len() == 1 {
        return Some((pat, body(closure)));
    }
    let (begin, end) = (closure.inputs_begin.span, closure.inputs_end.span);
    let span = begin.join(end).unwrap_or(begin);
    mistakes.errors.push(syn::Error::new(span, "`values` takes the builder of the sub-flow, and nothing else: `values: |flow| flow.model(..)`"));
    None
}

/// The parameter of `out`: the final state of the sub-flow.
fn end(closure: &ExprClosure, mistakes: &mut Mistakes) -> Option<PatType> {
    let inputs = &closure.inputs;
    let only = (inputs.len() == 1).then(|| &inputs[0]);
    match only {
        Some(Pat::Type(typed)) => match &*typed.ty {
            Type::Reference(reference) => {
                let name = name_of(&typed.pat, "r");
                let ty = reference.elem.to_token_stream();
                mistakes.errors.at(
                    reference,
                    format_args!(
                        "`out` takes the final state of the sub-flow by value: write `out: |{name}: {ty}| ..`"
                    ),
                );
                None
            }
            _ => Some(typed.clone()),
        },
        Some(pat) => {
            mistakes.errors.at(
                pat,
                format_args!(
                    "a parameter needs its type: `{}: Review`, the state of the sub-flow",
                    name_of(pat, "r")
                ),
            );
            None
        }
        None => {
            let (begin, end) = (closure.inputs_begin.span, closure.inputs_end.span);
            let span = begin.join(end).unwrap_or(begin);
            mistakes.errors.push(syn::Error::new(span, "`out` takes the final state of the sub-flow, and nothing else: `out: |r: Review| ..`"));
            None
        }
    }
}

/// The body of a closure, with the return type if one is written.
fn body(closure: ExprClosure) -> TokenStream {
    let body = closure.body;
    match closure.output {
        ReturnType::Default => body.to_token_stream(),
        ReturnType::Type(_, ty) => quote_spanned!(ty.span()=> { let __it: #ty = #body; __it }),
    }
}
