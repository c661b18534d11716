//! Reading a sub-flow: `{ in: |draft: &str| .., out: |r: Review| .. }`.

use petalflow_graph::{Rule, similar, words};
use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprClosure, Pat, PatType, ReturnType, Token, Type, braced};

use super::ast::{Mistakes, Subflow};
use super::parse_group::skip_to_comma;
use crate::node::model::{Param, Source};

const OPTIONS: [&str; 2] = ["in", "out"];

/// The options of a sub-flow; none if one of the two is missing, which is then reported.
pub(super) fn subflow(
    input: ParseStream,
    name: &Ident,
    ty: Type,
    state: &Type,
    mistakes: &mut Mistakes,
) -> syn::Result<Option<Subflow>> {
    let content;
    let braces = braced!(content in input);
    let (mut closures, mut broken): ([Option<ExprClosure>; 2], bool) = ([None, None], false);
    while !content.is_empty() {
        match option(&content) {
            Ok((option, closure)) => {
                broken |= closure.is_none();
                accept(&option, closure, &mut closures, mistakes);
            }
            Err(error) => {
                mistakes.errors.push(error);
                broken = true;
                skip_to_comma(&content);
            }
        }
        if content.is_empty() {
            break;
        }
        if let Err(error) = content.parse::<Token![,]>() {
            mistakes.errors.push(error);
            broken = true;
            skip_to_comma(&content);
        }
    }
    let missing = match &closures {
        [Some(_), Some(_)] => None,
        [None, _] => Some("`in: |draft: &str| ReviewInput { .. }`, which makes its input"),
        [_, None] => Some("`out: |r: Review| EssayNotes(r.notes)`, which says what it writes"),
    };
    if let Some(missing) = missing
        && !broken
    {
        mistakes.errors.push(syn::Error::new(
            braces.span.join(),
            format_args!("sub-flow `{name}` needs {missing}"),
        ));
    }
    Ok(match closures {
        [Some(input), Some(output)] => {
            let (params, end) = (params(&input, state, mistakes), end(&output, mistakes));
            params.zip(end).map(|(params, end)| Subflow {
                ty,
                params,
                input: body(input),
                end,
                output: body(output),
            })
        }
        _ => None,
    })
}

fn accept(
    option: &Ident,
    closure: Option<ExprClosure>,
    closures: &mut [Option<ExprClosure>; 2],
    mistakes: &mut Mistakes,
) {
    let written = option.unraw().to_string();
    let Some(place) = OPTIONS.iter().position(|known| *known == written) else {
        if written == "keep" {
            mistakes.errors.at(option, "`keep` is not supported in this version yet: the state of a sub-flow is fresh each time; remove the option");
        } else {
            let similar = similar(&written, OPTIONS.into_iter());
            let text = words::unknown_option(&written, similar, &OPTIONS);
            mistakes.errors.rule(Rule::Option, option, text);
        }
        return;
    };
    if closures[place].is_some() {
        mistakes
            .errors
            .rule(Rule::Option, option, words::repeated_option(&written));
    } else {
        closures[place] = closure;
    }
}

fn option(input: ParseStream) -> syn::Result<(Ident, Option<ExprClosure>)> {
    let name = Ident::parse_any(input)?;
    if !input.peek(Token![:]) {
        return Err(input.error(format_args!("expected a closure: `{name}: |..| ..`")));
    }
    input.parse::<Token![:]>()?;
    let known = OPTIONS.iter().any(|known| name == known);
    match input.parse::<Expr>()? {
        Expr::Closure(closure) if known => match &closure.asyncness {
            Some(asynchronous) => {
                let text = format_args!(
                    "`{name}` is not async: await in a node before or after the sub-flow"
                );
                Err(syn::Error::new(asynchronous.span(), text))
            }
            None => Ok((name, Some(closure))),
        },
        other if known => Err(syn::Error::new_spanned(
            other,
            format_args!("`{name}` is a closure, written here: `{name}: |..| ..`"),
        )),
        _ => Ok((name, None)),
    }
}

/// What `in` reads, by the rules for the parameters of a node.
fn params(closure: &ExprClosure, state: &Type, mistakes: &mut Mistakes) -> Option<Vec<Param>> {
    let mut params = Vec::new();
    for pat in &closure.inputs {
        let Pat::Type(typed) = pat else {
            mistakes.errors.at(
                pat,
                format_args!(
                    "a parameter needs its type: `{0}: &str` reads the key `{0}`",
                    name_of(pat, "draft")
                ),
            );
            return None;
        };
        let param = Param::build(typed, Some(state), &mut mistakes.errors)?;
        if let Source::Run = param.source {
            mistakes.errors.at(
                &typed.ty,
                "`in` reads keys: a parameter is a reference, such as `draft: &str`",
            );
            return None;
        }
        params.push(param);
    }
    Some(params)
}

/// The final state, which `out` takes.
fn end(closure: &ExprClosure, mistakes: &mut Mistakes) -> Option<PatType> {
    match closure.inputs.iter().collect::<Vec<_>>()[..] {
        [Pat::Type(typed)] => Some(typed.clone()),
        [pat] => {
            mistakes.errors.at(
                pat,
                format_args!(
                    "a parameter needs its type: `{}: Review`, the state of the sub-flow",
                    name_of(pat, "r")
                ),
            );
            None
        }
        _ => {
            let (begin, end) = (closure.inputs_begin.span, closure.inputs_end.span);
            let span = begin.join(end).unwrap_or(begin);
            mistakes.errors.push(syn::Error::new(span, "`out` takes the final state of the sub-flow, and nothing else: `out: |r: Review| ..`"));
            None
        }
    }
}

fn name_of(pat: &Pat, otherwise: &str) -> String {
    if let Pat::Ident(ident) = pat {
        ident.ident.to_string()
    } else {
        otherwise.to_owned()
    }
}

/// What a closure does, with the type it says it returns.
fn body(closure: ExprClosure) -> Expr {
    match closure.output {
        ReturnType::Default => *closure.body,
        ReturnType::Type(_, ty) => {
            let body = closure.body;
            syn::parse_quote_spanned!(ty.span()=> { let it: #ty = #body; it })
        }
    }
}
