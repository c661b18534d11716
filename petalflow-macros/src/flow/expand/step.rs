//! The dispatch from the index of a node to its code: a tree of lists of node types. The runtime has the functions over the lists.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::nodes::{span_of, value_type};
use super::subflow;
use super::tokens::{number, numbered, respan};
use crate::flow::model::Kind;
use crate::site::{self, quote};

/// The number of arms of the largest list of the runtime. A list below another one has this size.
const LARGEST: usize = 32;

/// The lists of the nodes.
pub(super) struct Dispatch {
    pub(super) code: TokenStream,
    /// The lists of nodes, in the order of the nodes.
    pub(super) nodes: Vec<List>,
    /// The list that has all others.
    all: List,
}

/// A list of arms.
pub(super) struct List {
    pub(super) name: Ident,
    /// Its trait.
    pub(super) of: Ident,
}

impl Dispatch {
    pub(super) fn of(cx: &Cx<'_>) -> Self {
        let mut code = TokenStream::new();
        let nodes = 0..cx.model.nodes.len();
        let mut arms: Vec<_> = nodes.map(|index| arm(cx, index, &mut code)).collect();
        let mut level = Level {
            width: 1,
            below: quote!(()),
        };
        let mut nodes = Vec::new();
        let between = quote!(::core::option::Option<::core::primitive::u32>);
        while arms.len() > LARGEST {
            let mut above = Vec::new();
            for (at, arms) in arms.chunks(LARGEST).enumerate() {
                let range = format_ident!("__Range{}_{at}", level.width, span = site::span());
                let first = at * LARGEST;
                let list = list(
                    cx,
                    range.clone(),
                    arms,
                    LARGEST,
                    first,
                    &level,
                    &between,
                    &mut code,
                );
                if level.width == 1 {
                    nodes.push(list);
                }
                above.push(quote!(__petalflow::RangeArm<#range>));
            }
            arms = above;
            level = Level {
                width: level.width * LARGEST,
                below: between.clone(),
            };
        }
        // The runtime has lists of these sizes.
        let size = match arms.len() {
            0..=4 => 4,
            5..=16 => 16,
            _ => LARGEST,
        };
        let name = format_ident!("__Nodes", span = site::span());
        let all = list(
            cx,
            name.clone(),
            &arms,
            size,
            0,
            &level,
            &quote!(()),
            &mut code,
        );
        if nodes.is_empty() {
            nodes.push(List {
                of: all.of.clone(),
                name,
            });
        }
        Dispatch { code, nodes, all }
    }

    /// The body of `Flow::step`.
    pub(super) fn step(&self, cx: &Cx<'_>) -> TokenStream {
        let List { name: all, of } = &self.all;
        let function = Ident::new(&of.to_string().to_lowercase(), of.span());
        let (name, state) = (cx.own(), cx.state);
        quote!(__petalflow::#function::<#all, #name, #state>(self, __node, __task))
    }
}

/// The ranges of one width.
struct Level {
    /// The number of nodes of each arm.
    width: usize,
    /// The result of the arms.
    below: TokenStream,
}

/// A type with a list of arms.
#[expect(clippy::too_many_arguments, reason = "one per property of a list")]
fn list(
    cx: &Cx<'_>,
    range: Ident,
    arms: &[TokenStream],
    size: usize,
    first: usize,
    level: &Level,
    end: &TokenStream,
    code: &mut TokenStream,
) -> List {
    let (name, state) = (cx.own(), cx.state);
    let of = format_ident!("Upto{size}", span = site::span());
    let below = &level.below;
    let width = (level.width > 1).then(|| {
        let width = number(level.width);
        quote!(const WIDTH: ::core::primitive::u32 = #width;)
    });
    let first = (first > 0).then(|| {
        let first = number(first);
        quote!(const FIRST: ::core::primitive::u32 = #first;)
    });
    let no_arm = quote!(__petalflow::NoArm);
    let types = (0..size).map(|index| {
        let name = format_ident!("A{index}", span = site::span());
        let arm = arms.get(index).unwrap_or(&no_arm);
        quote!(type #name = #arm;)
    });
    let implementation = site::without_suggestion("impl");
    code.extend(quote! {
        enum #range {}
        #[allow(unused_parens)]
        #implementation __petalflow::#of<#name, #state> for #range {
            #width
            #first
            type Below = #below;
            type Rest = #end;
            #(#types)*
        }
    });
    List { name: range, of }
}

/// The arm of a node, as a type. A node that is not a function gets a separate type, which `code` declares.
fn arm(cx: &Cx<'_>, index: usize, code: &mut TokenStream) -> TokenStream {
    let (name, state) = (cx.own(), cx.state);
    match &cx.model.nodes[index].kind {
        Kind::Function(path) => {
            // In parentheses, a path that is no type is reported as such.
            quote_spanned!(span_of(&cx.model.nodes[index])=> __petalflow::FunctionArm<(#path)>)
        }
        Kind::Broken => quote!(__petalflow::NoArm),
        Kind::Value(_, value) => {
            let (field, ty) = (numbered("__Field", index), value_type(index, &value.ty));
            let at = number(cx.field(index));
            code.extend(quote! {
                enum #field {}
                impl __petalflow::Field<#name> for #field {
                    type Node = #ty;
                    fn get(flow: &#name) -> &Self::Node {
                        flow.values.get(#at)
                    }
                }
            });
            let arm = quote!(__petalflow::ValueArm<#field>);
            respan(arm, value.ty.span())
        }
        Kind::Subflow(subflow) => {
            let arm = numbered("__Subflow", index);
            let call = subflow::call(cx, index, subflow);
            let spec = subflow::spec(cx, index, subflow);
            code.extend(quote! {
                enum #arm {}
                impl __petalflow::Arm<#name, #state, ()> for #arm {
                    type Output = ::core::result::Result<(), __petalflow::BoxError>;
                    const SPEC: __petalflow::Spec = #spec;
                    fn call<'a>(
                        _: &'a #name,
                        _: ::core::primitive::u32,
                        __task: &'a mut __petalflow::Step<'_, #state>,
                    ) -> impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send + 'a {
                        #call
                    }
                    fn finish(__output: Self::Output, _: &mut __petalflow::Step<'_, #state>) -> Self::Output {
                        __output
                    }
                }
            });
            arm.to_token_stream()
        }
    }
}

/// The table of the properties of the nodes. `lists` are the lists of the dispatch that have them.
pub(super) fn specs(cx: &Cx<'_>, lists: &[List]) -> TokenStream {
    let (name, model) = (cx.own(), cx.model);
    let state = cx.state;
    let count = number(model.nodes.len());
    let names = model.nodes.iter().map(|node| site::text(&node.name));
    let nodes = model.nodes.iter().enumerate();
    let declared = nodes.filter(|(_, node)| !node.has_own_name());
    let declared = declared.map(|(index, _)| number(index));
    let lists = lists.iter().map(|list| {
        let List { name: list, of } = list;
        quote!(<#list as __petalflow::#of<#name, #state>>::SPECS)
    });
    quote! {
        const __NAMES: &[&::core::primitive::str; #count] = &[#(#names),*];
        const __SPECS: &[__petalflow::Spec; #count] = &__petalflow::concat_specs(&[#(#lists),*], __NAMES, &[#(#declared),*]);
    }
}
