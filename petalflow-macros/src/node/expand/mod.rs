//! The code for a node. It cannot fail.

mod output;
pub(crate) mod params;

use proc_macro2::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Type};

use self::params::{Binder, reads_all};
use super::ast::{NodeArgs, NodeFn, NodeImpl};
use super::model::{Node, Source};
use crate::attributes;
use crate::paths::{Runtime, impl_at, local, name, option};
use crate::site::{self, quote};
use crate::types;

/// The node of a function: `struct write {}` and its implementations.
pub(crate) fn function(
    args: &NodeArgs,
    function: &NodeFn,
    node: &Node,
    runtime: &Runtime,
) -> TokenStream {
    let NodeFn { attrs, sig, .. } = function;
    let ident = &sig.ident;
    let cfgs = attributes::tokens(attrs, "cfg");
    let docs = attributes::tokens(attrs, "doc");
    let doc = site::text(&format!("The node `{}`, as flows name it.", name(ident)));
    let marker = marker(function);
    let deprecated = attributes::tokens(attrs, "deprecated");
    let lints = attributes::lints(attrs);
    let item = |code: &TokenStream| {
        quote! {
            #cfgs
            #docs
            #[doc = ""]
            #[doc = #doc]
            #deprecated
            #lints
            #[allow(non_camel_case_types, dead_code, missing_copy_implementations, missing_debug_implementations, unreachable_pub, clippy::empty_structs_with_brackets, clippy::items_after_statements)]
            #marker
            #code
        }
    };
    let Some(state) = &args.state else {
        return item(&broken(function, runtime));
    };
    let written = types::ungroup(state);
    let state = &Ident::new("__State", written.span()).into_token_stream();
    let cx = Cx {
        args,
        node,
        runtime,
        written,
        state,
        ty: quote!(#ident),
        generics: None,
        where_clause: TokenStream::new(),
        text: site::text(&node_name(args, name(ident))),
        state_name: last_name(written),
        method: false,
        checked: true,
        diagnostics: &[],
    };
    let node_impl = cx.node_impl();
    let takes = cx.takes();
    let from_run = cx.binder().takes(&node.params);
    let checked_state = checked_state(written, runtime);
    let item_check = cx.item_check();
    let member_check = cx.member_check();
    let generated = attributes::generated();
    let mut once = None;
    if let Some(output) = &node.output
        && output.repeats()
    {
        let check = quote!(#runtime::__private::written_once::<#state, #ident>());
        let check = runtime.respan(&output.tokens(), check);
        once = Some(quote!(const _: () = #check;));
    }
    item(&quote! {
        #cfgs
        #lints
        #generated
        const _: () = {
            #checked_state
            #from_run
            #item_check
            #member_check
            #node_impl
            #takes
            #once
        };
    })
}

/// `struct write {}` with the span of the function. If another item has the same name, rustc reports it at the function, once for
/// both.
pub(crate) fn marker(function: &NodeFn) -> TokenStream {
    let NodeFn { vis, sig, body, .. } = function;
    let begin = match sig.to_token_stream().into_iter().next() {
        Some(first) => first.span(),
        None => site::span(),
    };
    let end = match body.clone().into_iter().next() {
        Some(TokenTree::Group(body)) => body.span_close(),
        Some(token) => token.span(),
        None => begin,
    };
    let mut braces = Group::new(Delimiter::Brace, TokenStream::new());
    braces.set_span(end);
    let keyword = quote_spanned!(begin=> struct);
    let ident = &sig.ident;
    quote!(#vis #keyword #ident #braces)
}

/// A placeholder for a function that was reported: a node over every state.
pub(crate) fn broken(function: &NodeFn, runtime: &Runtime) -> TokenStream {
    let ident = &function.sig.ident;
    let cfgs = attributes::tokens(&function.attrs, "cfg");
    let lints = attributes::lints(&function.attrs);
    let text = site::text(&name(ident));
    quote! {
        #cfgs
        #lints
        const _: () = {
            #[automatically_derived]
            #[doc(hidden)]
            impl<__S: #runtime::State> #runtime::node::Node<__S> for #ident {
                type Output = #runtime::__private::Broken;
                type Item = ();
                const NAME: &'static ::core::primitive::str = #text;
                const READS: #runtime::state::KeySet = #runtime::state::KeySet::NONE;
                const FUNCTION: ::core::option::Option<&'static Self> = ::core::option::Option::Some(&Self {});
                async fn run(&self, _: &__S, _: &#runtime::node::Scope) -> Self::Output {
                    ::core::future::pending().await
                }
            }
        };
    }
}

/// The implementations of a node value.
pub(crate) fn value(
    args: &NodeArgs,
    block: &NodeImpl,
    node: &Node,
    runtime: &Runtime,
) -> TokenStream {
    let Some(state) = &args.state else {
        return TokenStream::new();
    };
    let ty = types::ungroup(&block.ty);
    let written = types::ungroup(state);
    // No constant can check a state with parameters.
    let (checked_state, state) = if is_generic(block) {
        (TokenStream::new(), written.to_token_stream())
    } else {
        let state = Ident::new("__State", written.span()).into_token_stream();
        (checked_state(written, runtime), state)
    };
    let state = &state;
    let generics = block
        .generics
        .lt_token
        .map(|_| block.generics.to_token_stream());
    let where_clause = value_where_clause(block, runtime);
    let cx = Cx {
        args,
        node,
        runtime,
        written,
        state,
        ty: quote!(#ty),
        generics,
        where_clause,
        text: site::text(&node_name(args, last_name(ty))),
        state_name: last_name(written),
        method: true,
        checked: !checked_state.is_empty(),
        diagnostics: &block.diagnostics,
    };
    let node_impl = cx.node_impl();
    let takes = cx.takes();
    let cfgs = attributes::tokens(&block.attrs, "cfg");
    let generated = attributes::generated();
    let lints = attributes::lints(&block.attrs);
    let method_lints = block
        .methods
        .iter()
        .map(|method| attributes::lints(&method.attrs));
    quote! {
        #cfgs
        #lints
        #(#method_lints)*
        #generated
        const _: () = {
            #checked_state
            #node_impl
            #takes
        };
    }
}

/// The state under the name `__State`. If it is not a state, a constant fails, and the name is a type with an error: what uses it is
/// not reported.
fn checked_state(written: &Type, runtime: &Runtime) -> TokenStream {
    let check = runtime.respan(written, quote!(#runtime::checks::is_state));
    let [alias, state] = ["__Written", "__State"].map(|name| Ident::new(name, written.span()));
    quote! {
        type #alias = #written;
        const __STATE: ::core::primitive::usize = #check::<#alias>();
        type #state = <#alias as #runtime::__private::Checked<__STATE>>::Type;
    }
}

/// The `where` clause of a node value. Values of a generic type are nodes if threads can share them, which a flow requires of them.
fn value_where_clause(block: &NodeImpl, runtime: &Runtime) -> TokenStream {
    let clause = block.generics.where_clause.as_ref();
    if !is_generic(block) {
        return clause.to_token_stream();
    }
    let bounds = clause.map(|clause| clause.predicates.iter());
    let bounds = bounds.into_iter().flatten();
    quote!(where #(#bounds,)* Self: #runtime::state::ThreadSafe)
}

/// Whether the implementation has parameters, or lifetimes without a name.
fn is_generic(block: &NodeImpl) -> bool {
    block.generics.lt_token.is_some() || types::borrows(&block.ty)
}

/// The last segment of a path.
fn last_name(ty: &Type) -> String {
    types::last_segment(ty).map_or_else(String::new, |segment| name(&segment.ident))
}

fn node_name(args: &NodeArgs, written: String) -> String {
    args.name.as_ref().map_or(written, syn::LitStr::value)
}

struct Cx<'a> {
    args: &'a NodeArgs,
    node: &'a Node,
    runtime: &'a Runtime,
    /// The state, with the tokens of the user.
    written: &'a Type,
    /// The state, or an alias of it.
    state: &'a TokenStream,
    /// The type that implements `Node`.
    ty: TokenStream,
    generics: Option<TokenStream>,
    where_clause: TokenStream,
    text: Literal,
    /// The name of the state.
    state_name: String,
    method: bool,
    /// Whether `__Written` is the state.
    checked: bool,
    /// The attributes of the implementation.
    diagnostics: &'a [Attribute],
}

impl Cx<'_> {
    fn node_impl(&self) -> TokenStream {
        let Cx {
            runtime,
            state,
            ty,
            generics,
            where_clause,
            text,
            node,
            diagnostics,
            ..
        } = self;
        let output = self.output();
        let (item, takes) = match self.item() {
            Some(item) => {
                let takes = quote! {
                    const TAKES_ITEM: ::core::primitive::bool = true;
                    const ITEM_CODEC: ::core::option::Option<#runtime::node::ItemCodec> = {
                        #[allow(unused_imports)]
                        use #runtime::__private::NoItemCodec as _;
                        #runtime::__private::ItemProbe::<#item>::CODEC
                    };
                };
                (self.shared_item(item), takes)
            }
            None => (quote!(()), TokenStream::new()),
        };
        let reads = self.binder().reads(&node.params);
        // Set where the default does not fit.
        let reads_all = reads_all(&node.params);
        let is_default = reads_all != Binder::reads_keys(&node.params);
        let reads_all =
            (!is_default).then(|| quote!(const READS_ALL: ::core::primitive::bool = #reads_all;));
        let function = (!self.method).then(|| {
            quote!(
                const FUNCTION: ::core::option::Option<&'static Self> =
                    ::core::option::Option::Some(&Self {});
            )
        });
        let policy = self.policy();
        let require = self.require();
        let snapshot = local("state");
        let scope = local("scope");
        let body = if node.usable {
            self.body()
        } else {
            quote!(::core::future::pending())
        };
        // As the user wrote it, because rustc shows it where it lists the implementations.
        let over = if self.checked {
            quote!(__Written)
        } else {
            state.to_token_stream()
        };
        let of = runtime.respan(self.written, quote!(#runtime::node::Node<#over>));
        // The future's type has the span of the node's name: rustc reports there that it is not `Send`.
        let future = quote_spanned! {node.call.span()=>
            impl ::core::future::Future<Output = Self::Output> + ::core::marker::Send + '__a
        };
        let implementation = quote! {
            #[automatically_derived]
            #[doc(hidden)]
            #(#diagnostics)*
            impl #generics #of for #ty #where_clause {
                #output
                type Item = #item;
                const NAME: &'static ::core::primitive::str = #text;
                const READS: #runtime::state::KeySet = #reads;
                #reads_all
                #function
                #takes
                #policy
                #require
                #[allow(unused_variables)]
                fn run<'__a>(&'__a self, #snapshot: &'__a #state, #scope: &'__a #runtime::node::Scope) -> #future {
                    #body
                }
            }
        };
        // Where rustc lists the nodes of a program, it shows the name of this one.
        impl_at(ty.span(), implementation)
    }

    fn binder(&self) -> Binder<'_> {
        Binder {
            runtime: self.runtime,
            state: self.state,
            declares: !self.method && self.node.usable,
            owned: self.on_own_thread(),
        }
    }

    fn require(&self) -> TokenStream {
        let runtime = self.runtime;
        let requirements = local("requirements");
        let requires = self.binder().requires(&self.node.params);
        if requires.is_empty() || !self.node.usable {
            return TokenStream::new();
        }
        quote! {
            fn require(#requirements: &mut #runtime::node::Requirements<'_>) {
                #requires
            }
        }
    }

    fn takes(&self) -> TokenStream {
        let Cx {
            runtime,
            state,
            ty,
            generics,
            where_clause,
            node,
            ..
        } = self;
        if node.item().is_none() {
            return TokenStream::new();
        }
        let accepts = quote! {
            #[automatically_derived]
            #[doc(hidden)]
            impl #generics #runtime::node::AcceptsItem<<Self as #runtime::node::Node<#state>>::Item> for #ty #where_clause {}
        };
        impl_at(ty.span(), accepts)
    }

    /// A constant that fails if threads cannot share the item. Without it, rustc reports `Send` and `Sync` with the types of the
    /// generated code, and not what to use.
    fn item_check(&self) -> TokenStream {
        let check = |item: &Type| {
            let runtime = self.runtime;
            let owned = types::owned_form(item);
            let shared = runtime.respan(item, quote!(#runtime::checks::shared));
            quote!(const __ITEM: ::core::primitive::usize = #shared::<#owned>();)
        };
        self.doubtful_item().map_or_else(TokenStream::new, check)
    }

    /// The type of the item. If it cannot be shared, it is a type with an error.
    fn shared_item(&self, item: TokenStream) -> TokenStream {
        let runtime = self.runtime;
        match self.doubtful_item() {
            Some(_) => quote!(<#item as #runtime::__private::Checked<__ITEM>>::Type),
            None => item,
        }
    }

    /// The item of a function, if threads may not be able to share it.
    fn doubtful_item(&self) -> Option<&Type> {
        let item = self.node.item().filter(|_| !self.method);
        item.filter(|item| types::may_be_unshared(item))
    }

    /// The owned type of the item.
    fn item(&self) -> Option<TokenStream> {
        self.node.item().map(types::owned_form)
    }

    fn policy(&self) -> TokenStream {
        let Cx { runtime, args, .. } = self;
        let NodeArgs {
            retry,
            timeout,
            idle,
            cache,
            ..
        } = args;
        if retry.is_none() && timeout.is_none() && idle.is_none() && cache.is_none() {
            return TokenStream::new();
        }
        let retry = if let Some(retry) = retry {
            retry.clone()
        } else {
            quote!(&[])
        };
        let timeout = option(timeout.clone());
        let idle = option(idle.clone());
        let cache = option(cache.clone());
        quote!(const POLICY: #runtime::policy::Policy = #runtime::policy::Policy { retry: #retry, timeout: #timeout, idle: #idle, cache: #cache, ..#runtime::policy::Policy::NONE };)
    }

    /// The body of `Node::run`: a future.
    fn body(&self) -> TokenStream {
        let Cx {
            runtime,
            node,
            args,
            ..
        } = self;
        let binder = self.binder();
        let bindings = node
            .params
            .iter()
            .enumerate()
            .map(|(index, param)| binder.bind(index, param));
        let call = if node.is_async && !self.on_own_thread() {
            self.checked_future(self.call())
        } else {
            self.call()
        };
        let returned = if node.is_async {
            quote!(#call.await)
        } else {
            call.clone()
        };
        let returned = self.in_result(returned);
        if !self.on_own_thread() {
            // An async block takes time to compile, and memory. Only a call that something fallible precedes needs one.
            return match (self.fallible(), node.is_async) {
                (true, _) => quote!(async move { #(#bindings)* #returned }),
                (false, true) => {
                    let call = match self.result_alias() {
                        Some((alias, _)) => {
                            let boxed =
                                runtime.respan(alias, quote!(#runtime::checks::boxed_error));
                            quote!(#runtime::__private::boxed_error_of(#call, #boxed))
                        }
                        None => call,
                    };
                    quote!(#(#bindings)* #call)
                }
                (false, false) => {
                    quote!(#runtime::__private::Lazy::new(move || { #(#bindings)* #returned }))
                }
            };
        }
        // The task cannot borrow the snapshot, so it gets clones.
        let clones = node
            .params
            .iter()
            .enumerate()
            .map(|(index, param)| binder.own(index, param));
        let scope = local("scope");
        let this = self.method.then(|| {
            let this = local("this");
            quote_spanned!(node.call.span()=> let #this = ::core::clone::Clone::clone(self);)
        });
        let (function, work) = if args.blocking.is_some() {
            (
                quote!(blocking),
                quote!(move || { #(#bindings)* #returned }),
            )
        } else {
            (
                quote!(spawn),
                quote_spanned!(node.call.span()=> async move { #(#bindings)* #returned }),
            )
        };
        let function = runtime.respan(&node.call, quote!(#runtime::__private::#function));
        let work = self.checked_future(work);
        quote! {
            async move {
                let #scope = ::core::clone::Clone::clone(#scope);
                #this
                #(#clones)*
                #function(#work).await
            }
        }
    }

    /// What the node returned, in a `Result` if binding the parameters can fail.
    fn in_result(&self, returned: TokenStream) -> TokenStream {
        let runtime = self.runtime;
        match self.result_alias() {
            Some((alias, _)) => {
                let boxed = runtime.respan(alias, quote!(#runtime::checks::boxed_error));
                quote!(#boxed(#returned))
            }
            None if self.fallible() => quote!(::core::result::Result::Ok(#returned)),
            None => returned,
        }
    }

    /// The future of the node, whose type depends on the checks of the values from the run. Without it, rustc reports first that the
    /// future is not `Send`, and then which value is not.
    fn checked_future(&self, future: TokenStream) -> TokenStream {
        let runtime = self.runtime;
        let mut params = self.node.params.iter();
        let is_doubtful = params
            .any(|param| matches!(param.source, Source::Run) && types::may_be_unshared(&param.ty));
        if self.method || !is_doubtful {
            return future;
        }
        let takes = self.binder().take_statements(&self.node.params);
        quote!(#runtime::__private::checked::<{ #takes 0 }, _>(#future))
    }

    /// Whether binding the parameters can fail, so that the output is a `Result`.
    fn fallible(&self) -> bool {
        self.on_own_thread()
            || self
                .node
                .params
                .iter()
                .any(|param| matches!(param.source, Source::Item(_) | Source::Run))
    }

    /// Whether the node runs outside of the task that polls the run.
    fn on_own_thread(&self) -> bool {
        self.args.blocking.is_some() || self.args.spawn.is_some()
    }

    fn call(&self) -> TokenStream {
        let node = self.node;
        let call = &node.call;
        let this = local("this");
        let params = node.params.iter().enumerate();
        let arguments = params.map(|(index, param)| {
            let value = params::value(index);
            let cfgs = &param.cfgs;
            quote!(#cfgs #value)
        });
        match (self.method, self.on_own_thread()) {
            (false, _) => quote!(#call(#(#arguments),*)),
            (true, on_own_thread) => {
                let this = if on_own_thread {
                    quote!(&#this)
                } else {
                    quote!(self)
                };
                quote!(Self::#call(#this, #(#arguments),*))
            }
        }
    }
}
