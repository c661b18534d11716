//! The code of a flow: tables, one slot per node, and calls into the runtime. Cannot fail.

mod api;
mod builder;
mod docs;
mod gates;
mod items;
mod nodes;
mod policy;
mod reads;
mod reports;
mod step;
mod subflow;
mod tables;

use petalflow_graph::{Analysis, Graph, NodeIdx};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, LitStr, Type, Visibility};

use super::model::{Kind, Model};

/// All that the code is made from.
pub(crate) struct Cx<'a> {
    pub(crate) krate: &'a TokenStream,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) vis: &'a Visibility,
    pub(crate) name: &'a Ident,
    /// Its name in storage, if that is another.
    pub(crate) stored: Option<&'a LitStr>,
    pub(crate) state: &'a Type,
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a Graph,
    pub(crate) analysis: &'a Analysis,
    /// A part of the graph is missing because of a mistake: what the nodes' types say about the rest is not worth saying.
    pub(crate) lost: bool,
}

/// At most this many nodes are named in one list of bounds and in one `match`: both are quadratic in rustc.
const CHUNK: usize = 32;

pub(crate) fn flow(cx: &Cx<'_>) -> TokenStream {
    let Cx { krate, .. } = cx;
    let item = api::item(cx);
    let cfgs = cx.cfgs();
    let (inherent, flow) = (api::inherent(cx), api::flow(cx));
    let (nodes, tables, step) = (nodes::code(cx), tables::code(cx), step::code(cx));
    let (guards, own_name) = (gates::code(cx), api::own_name(cx));
    let (reports, items) = if cx.lost {
        Default::default()
    } else {
        (reports::code(cx), items::code(cx))
    };
    quote! {
        #item
        #(#cfgs)*
        #[allow(long_running_const_eval, unused_qualifications)]
        const _: () = {
            use #krate::__private::flow as __petalflow;
            #own_name
            #nodes
            #tables
            #reports
            #items
            #step
            #guards
            #flow
            #inherent
        };
    }
}

impl Cx<'_> {
    /// The attributes that decide whether the flow exists.
    fn cfgs(&self) -> Vec<&Attribute> {
        self.attrs
            .iter()
            .filter(|attr| attr.path().is_ident("cfg"))
            .collect()
    }

    /// The flow's type, by a name that means it in its own code whatever else has its name.
    fn own(&self) -> Ident {
        Ident::new("__Flow", Span::call_site().located_at(self.name.span()))
    }

    fn has_values(&self) -> bool {
        self.values().next().is_some()
    }

    /// Holds if the state is a state and node values can be shared between threads. Otherwise that is reported elsewhere.
    fn exists(&self) -> TokenStream {
        let Cx { krate, state, .. } = self;
        let values = self.values().enumerate().map(|(index, value)| {
            let ty = value.ty;
            quote!(for<'__b> #ty: #krate::__private::SharedFor<'__b, #index>)
        });
        quote!(where for<'__b> #state: #krate::__private::flow::StateFor<'__b>, #(#values,)*)
    }

    /// The node values: their places, names, types and default values.
    fn values(&self) -> impl Iterator<Item = Value<'_>> {
        let nodes = self.model.nodes.iter().enumerate();
        nodes.filter_map(|(place, node)| match &node.kind {
            Kind::Value(name, value) => Some(Value {
                place,
                name,
                ty: &value.ty,
                default: value.default.as_ref(),
            }),
            _ => None,
        })
    }
}

/// A node value.
struct Value<'a> {
    place: usize,
    name: &'a Ident,
    ty: &'a Type,
    default: Option<&'a syn::Expr>,
}

/// A number without a suffix, so that its type is inferred.
fn number(number: usize) -> Literal {
    Literal::usize_unsuffixed(number)
}

fn int(number: u32) -> Literal {
    Literal::u32_unsuffixed(number)
}

/// A node's index, as a constant of its type.
fn index(node: NodeIdx) -> TokenStream {
    let index = int(node.as_u32());
    quote!(__petalflow::NodeIdx::new(#index))
}

/// `a, b, c`.
fn list<T: ToTokens>(elements: impl Iterator<Item = T>) -> TokenStream {
    let mut tokens = TokenStream::new();
    for element in elements {
        element.to_tokens(&mut tokens);
        tokens.extend(quote!(,));
    }
    tokens
}
