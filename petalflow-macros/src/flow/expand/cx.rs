//! The input of code generation.

use petalflow_graph::{Analysis, Graph};
use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Expr, LitStr, Type, Visibility};

use crate::attributes;
use crate::flow::model::{Kind, Model};
use crate::site::{self, quote};

/// The flow whose code is generated.
pub(crate) struct Cx<'a> {
    /// The path of the `petalflow` crate.
    pub(crate) krate: &'a TokenStream,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) vis: &'a Visibility,
    pub(crate) name: &'a Ident,
    /// The module of its type, if the state may have made a type of this name.
    pub(crate) module: Option<&'a Ident>,
    /// The name of the flow in storage, if it is not the type's name.
    pub(crate) stored: Option<&'a LitStr>,
    pub(crate) state: &'a Type,
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a Graph,
    pub(crate) analysis: &'a Analysis,
    /// Part of the graph is missing because of a mistake. The checks that depend on node types are left out, because they
    /// would report consequences of that mistake.
    pub(crate) lost: bool,
}

impl Cx<'_> {
    /// The `#[cfg]` attributes of the flow. Every generated item repeats them.
    pub(crate) fn cfgs(&self) -> TokenStream {
        attributes::tokens(self.attrs, "cfg")
    }

    /// The lint levels of the flow. All of its code is generated, so everything has them.
    pub(super) fn lints(&self) -> TokenStream {
        let levels = ["allow", "warn", "deny", "forbid"];
        let levels = levels.map(|level| attributes::tokens(self.attrs, level));
        let deprecated = attributes::with_name(self.attrs, "deprecated");
        let deprecated = (!deprecated.is_empty()).then(|| quote!(#[allow(deprecated)]));
        attributes::of_the_macro(quote!(#(#levels)* #deprecated))
    }

    /// The type of the flow in generated code. rustc reports what is wrong with an implementation at the name.
    pub(super) fn own(&self) -> TokenStream {
        let mut own = self.name.clone();
        own.set_span(site::span().located_at(self.name.span()));
        let module = self.module.map(|module| quote!(#module::));
        quote!(#module #own)
    }

    pub(crate) fn has_values(&self) -> bool {
        !self.values().is_empty()
    }

    /// The position of a node among the node values.
    pub(super) fn field(&self, index: usize) -> usize {
        let nodes = self.model.nodes[..index].iter();
        nodes
            .filter(|node| matches!(node.kind, Kind::Value(..)))
            .count()
    }

    /// The node values.
    pub(crate) fn values(&self) -> Vec<Value<'_>> {
        let nodes = self.model.nodes.iter().enumerate();
        let mut at = 0..;
        let values = nodes.filter_map(|(index, node)| match &node.kind {
            Kind::Value(name, value) => Some(Value {
                index,
                at: at.next()?,
                name,
                ty: &value.ty,
                default: value.default.as_ref(),
            }),
            _ => None,
        });
        values.collect()
    }
}

/// A node value.
pub(crate) struct Value<'a> {
    /// The index of the node.
    pub(super) index: usize,
    /// Its position among the node values.
    pub(super) at: usize,
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) default: Option<&'a Expr>,
}
