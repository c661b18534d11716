//! The forms that a tool cannot have, each with the one that it can.

use syn::Signature;

use super::ast::ToolArgs;
use super::model::Tool;
use crate::errors::Errors;
use crate::node::ast::NodeFn;
use crate::node::check::plain_function;
use crate::options;
use crate::paths::name;

/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;

/// What a function can be.
pub(crate) enum Form {
    Tool,
    /// No tool, and no place for anything beside it.
    Method,
}

/// Checks a function. Says whether it can be a tool at all.
pub(crate) fn all(
    args: &ToolArgs,
    function: &NodeFn,
    tool: &mut Tool,
    errors: &mut Errors,
) -> Form {
    let sig = &function.sig;
    if let Some(receiver) = sig.receiver() {
        let message = "a method is no tool, because a model has no `self` to give: make it a function, with what it needs as a `Managed<T>`, or a closure with `FuncTool::new`";
        errors.at(receiver, message);
        return Form::Method;
    }
    let before = errors.count();
    not_generic(sig, errors);
    plain_function("a tool", sig, errors);
    one_thread(args, sig, errors);
    name_that_providers_take(args, sig, errors);
    tool.usable &= errors.count() == before;
    Form::Tool
}

fn not_generic(sig: &Signature, errors: &mut Errors) {
    let generics = &sig.generics;
    if generics.params.is_empty() {
        return;
    }
    if generics.lifetimes().next().is_some() {
        errors.at(
            generics,
            "a tool needs no lifetimes: it takes and returns owned values, such as `String`",
        );
    } else {
        errors.at(
            generics,
            "a tool cannot be generic, because its schema has to say what it takes: name the types",
        );
    }
}

fn one_thread(args: &ToolArgs, sig: &Signature, errors: &mut Errors) {
    if let (Some(blocking), Some(_)) = (&args.blocking, &sig.asyncness) {
        options::clash(
            errors,
            blocking,
            "`blocking` is for a plain `fn`, which then runs on a thread of its own: drop `async`",
        );
    }
}

/// What OpenAI, Anthropic and Gemini all accept.
fn name_that_providers_take(args: &ToolArgs, sig: &Signature, errors: &mut Errors) {
    let text = args
        .name
        .as_ref()
        .map_or_else(|| name(&sig.ident), syn::LitStr::value);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if starts && fits && text.len() <= LONGEST_NAME {
        return;
    }
    let message = format!(
        "providers take names of up to {LONGEST_NAME} letters (`a` to `z`, `A` to `Z`), digits, `_` and `-` that begin with a letter or `_`"
    );
    match &args.name {
        Some(name) => options::wrong(errors, name, format!("{message}: choose another name")),
        None => errors.at(
            &sig.ident,
            format!("{message}: say which one with `#[tool(name = \"…\")]`"),
        ),
    }
}
