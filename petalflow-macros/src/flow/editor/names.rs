//! The names of the user, each once.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote};

use super::scan::{Of, Part};
use crate::editor::{elsewhere, is_completed};
use crate::flow::expand::Cx;

/// A constant that is never used. Its statements have the names.
pub(super) fn code(cx: &Cx<'_>, parts: &[Part]) -> TokenStream {
    let krate = cx.krate;
    let state = cx.state;
    let cfgs = cx.cfgs();
    let names = Names {
        cx,
        declared: &declared(parts),
    };
    let variables = parts.iter().map(|part| names.variable(part));
    // What follows a struct would be completed as a struct. So the nodes are first.
    let is_node = |part: &&Part| matches!(part, Part::Node(_) | Part::Word(..));
    let (nodes, others): (Vec<_>, Vec<_>) = parts.iter().partition(is_node);
    let parts = nodes.into_iter().chain(others);
    let parts = parts.map(|part| names.part(part));
    quote! {
        #cfgs
        #[allow(warnings)]
        const _: () = {
            use #krate::graph::{END, START};
            let _: #state;
            #(#variables)*
            #(#parts)*
        };
    }
}

struct Names<'a> {
    cx: &'a Cx<'a>,
    declared: &'a Declared,
}

impl Names<'_> {
    /// The variable that a declared node is. A node value is the function that sets it instead, so that both have one name.
    fn variable(&self, part: &Part) -> TokenStream {
        match part {
            Part::Alias { name, node } => {
                let node = self.node(node);
                quote!(let #name = #node;)
            }
            Part::Subflow { name, ty } => quote!(let #name: #ty;),
            _ => TokenStream::new(),
        }
    }

    /// The statement with a name. It is the same for a word and for the beginning of this word.
    fn part(&self, part: &Part) -> TokenStream {
        match part {
            Part::Node(path) => {
                let node = self.node(path);
                let others = self.other_nodes();
                quote!({ #others let _ = #node; })
            }
            Part::Word(word, keywords) => {
                let keywords = keywords.iter().map(|keyword| format_ident!("{keyword}"));
                let node = self.node(&word.to_token_stream());
                let others = self.other_nodes();
                quote!({
                    #others
                    #(let #keywords = ();)*
                    let _ = #node;
                })
            }
            Part::Arm { node, route } => self.arm(node, route),
            Part::NextArm { node, route } => {
                let arms = self.arms(node);
                let krate = self.cx.krate;
                quote!(let _ = #arms { #route ..#krate::__private::editor::any() };)
            }
            Part::Value { ty, default, .. } if default.is_empty() => quote!(let _: #ty;),
            Part::Value { ty, default, .. } => quote!(let _: #ty = #default;),
            Part::Setting { of, name, value } => self.setting(*of, name, value),
            Part::NextSetting { of, name } => {
                let settings = self.settings(*of);
                let krate = self.cx.krate;
                quote!(let _ = #settings { #name ..#krate::__private::editor::any() };)
            }
            Part::Guard(guard) => {
                let keys = self.keys(guard);
                quote!(let _ = #guard; #keys)
            }
            Part::Alias { .. } | Part::Subflow { .. } => TokenStream::new(),
        }
    }

    /// What can be where a node is, and is neither a function nor a variable: `each`, and the values.
    fn other_nodes(&self) -> TokenStream {
        let values = self.cx.values().into_iter();
        let values = values.map(|value| elsewhere(value.name.to_token_stream()));
        quote!(let each = (); #(let #values = ();)*)
    }

    /// The keys that the parameters of a closure name.
    fn keys(&self, closure: &TokenStream) -> TokenStream {
        let krate = self.cx.krate;
        let state = elsewhere(self.cx.state.to_token_stream());
        let parameters = parameters(closure);
        quote!(#(let _ = #krate::__private::editor::any::<#state>().#parameters;)*)
    }

    fn setting(&self, of: Of, name: &Ident, value: &TokenStream) -> TokenStream {
        let krate = self.cx.krate;
        let settings = self.settings(of);
        let name = match &*name.to_string() {
            "in" => Ident::new_raw("in", name.span()),
            _ => name.clone(),
        };
        // One token is a number or a duration, such as `30s`, which is not an expression.
        let is_expression = value.clone().into_iter().nth(1).is_some();
        let value = is_expression.then(|| {
            let keys = (name == "r#in").then(|| self.keys(value));
            quote!(let _ = #value; #keys)
        });
        quote!(let _ = #settings { #name: { #value }, ..#krate::__private::editor::any() };)
    }

    /// The struct that has the options as fields.
    fn settings(&self, of: Of) -> TokenStream {
        let krate = self.cx.krate;
        let settings = match of {
            Of::Node => quote!(NodeSettings),
            Of::Subflow => quote!(SubflowSettings),
        };
        quote!(#krate::__private::editor::#settings)
    }

    /// A node as an expression. With `()` behind it, a name is completed without them.
    fn node(&self, path: &TokenStream) -> TokenStream {
        let name = single(path);
        let is_value = name.is_some_and(|name| {
            let values = self.cx.values();
            values.iter().any(|value| *value.name == name)
        });
        let builder = is_value.then(|| {
            let builder = format_ident!("{}Builder", self.cx.name);
            let builder = elsewhere(builder.to_token_stream());
            quote!(#builder::)
        });
        let call = ends_with_marker(path).then(|| quote!(()));
        quote!(#builder #path #call)
    }

    /// A route as a field, because fields can be completed, and as a variant of what the node chooses from.
    fn arm(&self, node: &TokenStream, route: &Ident) -> TokenStream {
        if route == "true" || route == "false" {
            return TokenStream::new();
        }
        let krate = self.cx.krate;
        let editor = quote!(#krate::__private::editor);
        let arms = self.arms(node);
        let (node, state) = self.chooses(node);
        quote! {
            let _ = #arms { #route: {}, ..#editor::any() };
            let _ = <<#node as #editor::Chooses<#state>>::Route>::#route;
        }
    }

    /// The struct that has the routes of a node as fields.
    fn arms(&self, node: &TokenStream) -> TokenStream {
        let krate = self.cx.krate;
        let (node, state) = self.chooses(node);
        quote!(#krate::__private::editor::ArmsOf::<#node, #state>)
    }

    /// The type of a node, and the state.
    fn chooses(&self, node: &TokenStream) -> (TokenStream, TokenStream) {
        let state = elsewhere(self.cx.state.to_token_stream());
        let declared = single(node).and_then(|name| self.declared.get(&name.to_string()));
        (elsewhere(declared.unwrap_or(node).clone()), state)
    }
}

/// The types of the declared nodes by their names.
type Declared = BTreeMap<String, TokenStream>;

fn declared(parts: &[Part]) -> Declared {
    let declared = parts.iter().filter_map(|part| match part {
        Part::Alias { name, node: ty } | Part::Value { name, ty, .. } => {
            Some((name.to_string(), ty.clone()))
        }
        _ => None,
    });
    declared.collect()
}

/// The path if it is one word.
fn single(path: &TokenStream) -> Option<Ident> {
    let mut tokens = path.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), None) => Some(name),
        _ => None,
    }
}

/// The names of the parameters of a closure, without those that take the item.
fn parameters(closure: &TokenStream) -> Vec<Ident> {
    let is = |token: &TokenTree, is: char| matches!(token, TokenTree::Punct(punct) if punct.as_char() == is);
    let mut list = Vec::new();
    let mut in_list = false;
    for token in closure.clone() {
        if is(&token, '|') {
            if in_list {
                break;
            }
            in_list = true;
            list.push(Punct::new(',', Spacing::Alone).into());
        } else if in_list {
            list.push(token);
        }
    }
    let mut parameters = Vec::new();
    for three in list.windows(3) {
        if let [before, TokenTree::Ident(name), colon] = three
            && is(before, ',')
            && is(colon, ':')
        {
            parameters.push(name.clone());
        }
    }
    parameters
}

/// Whether the path ends with a name that rust-analyzer completes.
fn ends_with_marker(path: &TokenStream) -> bool {
    match path.clone().into_iter().last() {
        Some(TokenTree::Ident(name)) => is_completed(&name),
        _ => false,
    }
}
