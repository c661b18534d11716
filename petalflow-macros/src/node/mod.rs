//! `#[node]`: makes a node of a function, or of the method of a type.

pub(crate) mod ast;
pub(crate) mod check;
mod editor;
pub(crate) mod expand;
pub(crate) mod model;

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::spanned::Spanned as _;

use self::ast::{NodeArgs, NodeFn, NodeImpl, NodeItem};
use self::check::Form;
use self::model::Node;
use crate::attributes;
use crate::errors::Errors;
use crate::paths::Runtime;
use crate::placeholder;
use crate::site::quote;

/// Expands `#[node(args)] item`.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    read(args, item, |_, code| code)
}

/// Expands the same for rust-analyzer.
pub(crate) fn in_editor(args: TokenStream, item: TokenStream) -> TokenStream {
    let options = editor::options(&args, item.span());
    let code = read(args, item, editor::node);
    // First, because errors about a name that is completed have the name too.
    quote!(#options #code)
}

/// What becomes of the code of a node.
type Finish = fn(&editor::Cx<'_>, TokenStream) -> TokenStream;

fn read(args: TokenStream, item: TokenStream, code: Finish) -> TokenStream {
    let mut errors = Errors::default();
    let args = NodeArgs::parse(args, item.span(), &mut errors);
    let all = match NodeItem::read(item.clone()) {
        Ok(NodeItem::Fn(mut item)) => {
            let others = attributes::take_from_node(&mut item.attrs, &mut errors);
            if others.any && item.sig.receiver().is_none() {
                expand_reported(&item, others.tool, &Runtime::new(args.krate.as_ref()))
            } else {
                function(&args, &item, code, &mut errors)
            }
        }
        Ok(NodeItem::Impl(mut item)) => {
            attributes::take_from_node(&mut item.attrs, &mut errors);
            block(&args, &item, code, &mut errors)
        }
        Err(error) => {
            errors.push(error);
            item
        }
    };
    let errors = errors.into_tokens();
    quote!(#all #errors)
}

/// A function with several attributes, which were reported: the function, a node over every state and, if `tool`, a tool.
pub(crate) fn expand_reported(item: &NodeFn, tool: bool, runtime: &Runtime) -> TokenStream {
    let node = Node::build(&item.sig, None);
    let code = expand::function(&NodeArgs::default(), item, &node, runtime);
    let tool = tool.then(|| placeholder::fn_tool(&item.sig.ident, runtime));
    let item = item.to_tokens_without(|attr| attributes::is_of_a_tool(attr) || ast::is_ours(attr));
    quote!(#item #code #tool)
}

fn function(args: &NodeArgs, item: &NodeFn, finish: Finish, errors: &mut Errors) -> TokenStream {
    let (mut node, form) = build_checked(args, item, errors, check::function);
    let is_readable = check::body_calls_no_macro_of_its_name("a node", item, errors);
    node.usable &= is_readable;
    let runtime = Runtime::new(args.krate.as_ref());
    let cx = editor::Cx {
        args,
        node: &node,
        runtime: &runtime,
        ty: item.sig.ident.to_token_stream(),
        generics: None,
    };
    let code = match form {
        Form::Node => Some(finish(&cx, expand::function(args, item, &node, &runtime))),
        // Two types cannot have one name, so flows see the state where they name the node.
        Form::NamedLikeTheState => Some(expand::broken(item, &runtime)),
        Form::Method | Form::NamedLikeAPrimitive => None,
    };
    let item = if node.has_foreign_parameter() || !is_readable {
        item.to_tokens_without_parameters()
    } else {
        item.to_tokens()
    };
    quote!(#item #code)
}

fn block(args: &NodeArgs, item: &NodeImpl, finish: Finish, errors: &mut Errors) -> TokenStream {
    let runtime = Runtime::new(args.krate.as_ref());
    let code = check::block(item, errors).map(|method| {
        let (mut node, ()) = build_checked(args, method, errors, check::method);
        node.usable &= check::value_is_owned(item, errors);
        let cx = editor::Cx {
            args,
            node: &node,
            runtime: &runtime,
            ty: item.ty.to_token_stream(),
            generics: Some(&item.generics),
        };
        finish(&cx, expand::value(args, item, &node, &runtime))
    });
    let item = item.to_tokens();
    quote!(#item #code)
}

/// Builds the model of a function and checks it.
fn build_checked<T>(
    args: &NodeArgs,
    item: &NodeFn,
    errors: &mut Errors,
    check: fn(&check::Cx<'_>, &mut Errors) -> T,
) -> (Node, T) {
    let mut node = Node::build(&item.sig, args.state.as_ref());
    let before = errors.count();
    let cx = check::Cx {
        args,
        sig: &item.sig,
        node: &node,
    };
    let checked = check(&cx, errors);
    node.usable &= errors.count() == before && !item.incomplete;
    (node, checked)
}
