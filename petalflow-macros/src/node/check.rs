//! The rules of nodes: each rejected form, with the accepted form in its message.

use quote::ToTokens as _;
use syn::{FnArg, ReceiverKind, ReturnType, Safety, Signature, Type};

use super::ast::{NodeArgs, NodeFn, NodeImpl};
use super::model::{Node, Returned, Source};
use crate::errors::Errors;
use crate::types;

/// Keys and a route: as many members as `Output` is implemented for.
const MEMBERS: usize = 9;

/// What a function is.
pub(crate) enum Form {
    Node,
    /// Not a node, and no item can be emitted beside it.
    Method,
    /// No node, because its type would be its state.
    NamedLikeTheState,
}

/// Checks a function. Says whether it can be a node at all.
pub(crate) fn function(
    args: &NodeArgs,
    function: &NodeFn,
    node: &mut Node,
    errors: &mut Errors,
) -> Form {
    let sig = &function.sig;
    if let Some(receiver) = sig.receiver() {
        let message = "a method becomes a node through its `impl` block, which holds only this method: put `#[node(..)]` on the block";
        errors.at(receiver, message);
        return Form::Method;
    }
    let before = errors.is_empty();
    not_generic(sig, errors);
    if named_like_the_state(args, sig, errors) {
        return Form::NamedLikeTheState;
    }
    signature(args, sig, node, errors);
    node.usable &= !before || errors.is_empty();
    Form::Node
}

/// Checks an `impl` block, and finds its method.
pub(crate) fn block<'a>(block: &'a NodeImpl, errors: &mut Errors) -> Option<&'a NodeFn> {
    if let Some((of, _)) = &block.of {
        errors.at(of, "a node value is a type whose own method is the node: `#[node(Essay)] impl Shout { async fn run(&self, ..) -> .. }`");
        return None;
    }
    if let Some(unsafety) = &block.unsafety {
        errors.at(
            unsafety,
            "the `impl` block of a node value cannot be `unsafe`",
        );
        return None;
    }
    match &block.methods[..] {
        [method] if block.others.is_empty() => return Some(method),
        [_] => errors.at(&block.others[0], "this block holds only the method that is the node: move this to another `impl` block"),
        [] => errors.at(&block.ty, "this block needs the method that is the node: `async fn run(&self, ..) -> ..`"),
        [_, second, ..] => errors.at(
            &second.sig.ident,
            "this block holds only the method that is the node: move the others to another `impl` block",
        ),
    }
    None
}

/// Checks the method of an `impl` block.
pub(crate) fn method(args: &NodeArgs, method: &NodeFn, node: &mut Node, errors: &mut Errors) {
    let before = errors.is_empty();
    let sig = &method.sig;
    not_generic(sig, errors);
    match sig.receiver() {
        Some(receiver) => match &receiver.kind {
            ReceiverKind::Reference(_, None, None) => {}
            _ => errors.at(receiver, "a node is shared between runs: take `&self`"),
        },
        None => errors.at(
            &sig.ident,
            "the method of a node value needs `&self` as its first parameter",
        ),
    }
    signature(args, sig, node, errors);
    node.usable &= !before || errors.is_empty();
}

/// The rules that hold for functions and methods.
fn signature(args: &NodeArgs, sig: &Signature, node: &mut Node, errors: &mut Errors) {
    plain_function("a node", sig, errors);
    one_item(node, sig, errors);
    one_thread(args, sig, errors);
    returns_owned_values(sig, node, errors);
}

fn not_generic(sig: &Signature, errors: &mut Errors) {
    let generics = &sig.generics;
    if generics.params.is_empty() {
        return;
    }
    if generics.lifetimes().next().is_some() {
        errors.at(
            generics,
            "a node needs no lifetimes: write `&str`, and return owned values",
        );
    } else {
        let message = "a node cannot be generic: name the types, or make it a node value generic over its keys: \
                       `#[node(K::State)] impl<K: Key> Shout<K> { async fn run(&self, #[key(K)] text: &str) -> K { .. } }`";
        errors.at(generics, message);
    }
}

fn named_like_the_state(args: &NodeArgs, sig: &Signature, errors: &mut Errors) -> bool {
    let Some(Type::Path(state)) = args.state.as_ref().map(types::ungroup) else {
        return false;
    };
    let same = state.qself.is_none()
        && state
            .path
            .get_ident()
            .is_some_and(|state| *state == sig.ident);
    if same {
        errors.at(
            &sig.ident,
            format_args!(
                "node `{0}` has the same name as its state, and both are types: rename one of them",
                sig.ident
            ),
        );
    }
    same
}

/// No function that is more, or less, than a plain one; `what` it is meant to be, with its article.
pub(crate) fn plain_function(what: &str, sig: &Signature, errors: &mut Errors) {
    let plain = format_args!("{what} is a plain function: `async fn` or `fn`");
    if let Some(constness) = &sig.constness {
        errors.at(constness, format_args!("{plain}, not a `const` one"));
    }
    if let Safety::Unsafe(unsafety) = &sig.safety {
        errors.at(
            unsafety,
            format_args!("{plain}, not an `unsafe` one: the run calls it from safe code"),
        );
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, format_args!("{plain}, without `extern`"));
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic.dots, format_args!("{plain} with named parameters"));
    }
}

fn one_item(node: &Node, sig: &Signature, errors: &mut Errors) {
    let mut items = node
        .params
        .iter()
        .filter(|param| matches!(param.source, Source::Item(_)));
    if let (Some(first), Some(second)) = (items.next(), items.next()) {
        let attr = sig.inputs.iter().find_map(|input| match input {
            FnArg::Typed(input) if matches!(&*input.pat, syn::Pat::Ident(pat) if pat.ident == second.ident) => {
                input.attrs.iter().find(|attr| attr.path().is_ident("item"))
            }
            _ => None,
        });
        let message = format!(
            "an edge delivers one item, which `{}` already takes: put both values in one struct",
            first.ident
        );
        match attr {
            Some(attr) => errors.at(attr, message),
            None => errors.at(&second.ident, message),
        }
    }
}

fn one_thread(args: &NodeArgs, sig: &Signature, errors: &mut Errors) {
    if let (Some(blocking), Some(_)) = (&args.blocking, &sig.asyncness) {
        errors.at(blocking, "`blocking` is for a plain `fn`, which then runs on its own thread: remove `async`, or use `spawn`");
    }
    if let (Some(_), Some(spawn)) = (&args.blocking, &args.spawn) {
        errors.at(
            spawn,
            "`blocking` already runs on its own thread: remove `spawn`",
        );
    }
}

fn returns_owned_values(sig: &Signature, node: &mut Node, errors: &mut Errors) {
    let ReturnType::Type(_, ty) = &sig.output else {
        return;
    };
    if let Some(output) = &node.output {
        members(output, errors, &mut node.usable);
    }
    let mut previous = None;
    for token in flat(ty.to_token_stream()) {
        let text = token.to_string();
        if let Some(borrow) = previous.take()
            && text != "'"
        {
            errors.at(borrow, "a node returns owned values, because they outlive the snapshot that it read: return `String` for `&str`, `Vec<T>` for `&[T]`");
            node.usable = false;
            return;
        }
        if text == "&" {
            previous = Some(token);
        }
    }
}

/// All tokens, with those in groups.
fn flat(tokens: proc_macro2::TokenStream) -> Vec<proc_macro2::TokenTree> {
    let mut all = Vec::new();
    for token in tokens {
        if let proc_macro2::TokenTree::Group(group) = &token {
            all.extend(flat(group.stream()));
        } else {
            all.push(token);
        }
    }
    all
}

fn members(output: &Returned, errors: &mut Errors, usable: &mut bool) {
    match output {
        Returned::Unit(_) => {}
        Returned::One(ty) => match ty {
            Type::ImplTrait(_) => {
                errors.at(ty, "a node states what it writes, so it cannot return `impl Trait`: name the keys, such as `(EssayDraft, EssayNotes)`");
                *usable = false;
            }
            Type::Infer(_) => *usable = false,
            _ => {}
        },
        Returned::Tuple(tuple, all) => {
            if all.len() > MEMBERS {
                errors.at(tuple, "a node returns at most eight keys and a route in one tuple: put some in a nested tuple, `((A, B), C)`");
                *usable = false;
            }
            for member in all {
                members(member, errors, usable);
            }
        }
        Returned::Wrapped(_, inner, _) => members(inner, errors, usable),
    }
}
