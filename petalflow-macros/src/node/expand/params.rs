//! The parameters: the keys that are read, the values that are bound, and the values that the run must have.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

use super::super::model::{Param, Shape, Source};
use crate::paths::{Runtime, local, local_at, name};
use crate::site::{self, quote};

/// Generates the code that binds parameters. That code reads the variables `state` (the snapshot) and `scope` (the run), and defines
/// `value0`, `value1` and so on.
pub(crate) struct Binder<'a> {
    pub(crate) runtime: &'a Runtime,
    /// The type of the state.
    pub(crate) state: &'a TokenStream,
    /// Whether [`takes`](Self::takes) declares how values are taken from the run. Not in an `impl` with parameters, which no
    /// constant can use.
    pub(crate) declares: bool,
    /// Whether the code cannot borrow the snapshot. Then it binds clones in `owned0`, `owned1` and so on, which
    /// [`own`](Self::own) defines.
    pub(crate) owned: bool,
}

/// The variable that holds the value of the parameter of this index.
pub(crate) fn value(index: usize) -> Ident {
    local_at("value", index)
}

/// Whether a parameter reads the whole state.
pub(crate) fn reads_all(params: &[Param]) -> bool {
    params
        .iter()
        .any(|param| matches!(param.source, Source::State))
}

/// The names of the keys that are named by parameters.
fn key_names(params: &[Param]) -> Vec<TokenStream> {
    let named = params.iter().filter_map(|param| match param.source {
        Source::Key(_) => {
            let (cfgs, name) = (&param.cfgs, site::text(&name(&param.ident)));
            Some(quote!(#cfgs #name))
        }
        _ => None,
    });
    named.collect()
}

impl Binder<'_> {
    /// The set of the keys that are read, without those of a parameter that reads the whole state.
    pub(crate) fn reads(&self, params: &[Param]) -> TokenStream {
        let Binder { runtime, state, .. } = self;
        let named = key_names(params);
        let typed = params.iter().filter_map(|param| match &param.source {
            Source::KeyOf(key, _) => {
                Some(runtime.item_of(key, &quote!(#runtime::__private::KeyOf<#state>), "INDEX"))
            }
            _ => None,
        });
        let typed: Vec<_> = typed.collect();
        let named = if named.is_empty() {
            quote!(#runtime::state::KeySet::NONE)
        } else {
            quote!(#runtime::__private::keys_named::<#state>(&[#(#named),*]))
        };
        quote!(#named #(.with(#typed))*)
    }

    /// Whether a parameter reads a key, as far as the macro knows: not if it has `#[cfg]`.
    pub(crate) fn reads_keys(params: &[Param]) -> bool {
        params.iter().any(|param| {
            matches!(param.source, Source::Key(_) | Source::KeyOf(..)) && param.cfgs.is_empty()
        })
    }

    /// Statements that add the values that the run must have to the variable `requirements`.
    pub(crate) fn requires(&self, params: &[Param]) -> TokenStream {
        let requirements = local("requirements");
        let params = params
            .iter()
            .filter(|param| matches!(param.source, Source::Run) && !is_context(&param.ty));
        let requires = params.map(|param| {
            let require = self.extractor(param, "require");
            let cfgs = &param.cfgs;
            quote!(#cfgs #require(#requirements);)
        });
        requires.collect()
    }

    /// Constants with the functions of `Extract` for each value from the run. With one item for both functions, a type that
    /// cannot be taken is one error.
    pub(crate) fn takes(&self, params: &[Param]) -> TokenStream {
        let runtime = self.runtime;
        let declared = params.iter().filter(|param| self.declared(param));
        let takes = declared.map(|param| {
            let name = take(param);
            let ty = &param.ty;
            let cfgs = &param.cfgs;
            let extracted = extract(runtime, ty, "extract");
            let required = extract(runtime, ty, "require");
            quote! {
                #cfgs
                const #name: (
                    fn(&#runtime::node::Scope) -> ::core::result::Result<#ty, #runtime::BoxError>,
                    fn(&mut #runtime::node::Requirements<'_>),
                ) = (#extracted, #required);
            }
        });
        takes.collect()
    }

    /// Statements that depend on these constants.
    pub(crate) fn take_statements(&self, params: &[Param]) -> TokenStream {
        let declared = params.iter().filter(|param| self.declared(param));
        let taken = declared.map(|param| {
            let name = take(param);
            let cfgs = &param.cfgs;
            quote!(#cfgs let _ = #name;)
        });
        taken.collect()
    }

    /// Whether [`takes`](Self::takes) declares the parameter.
    fn declared(&self, param: &Param) -> bool {
        self.declares && matches!(param.source, Source::Run) && !is_context(&param.ty)
    }

    /// A function of `Extract` for a parameter: `extract` or `require`.
    fn extractor(&self, param: &Param, function: &str) -> TokenStream {
        if !self.declared(param) {
            let ty = &param.ty;
            if is_context(ty) {
                // The function has the type. rustc reports there that `Context` is something else, such as the trait of `anyhow`.
                let inferred = syn::parse_quote_spanned!(site::span()=> _);
                return self
                    .runtime
                    .respan(ty, extract(self.runtime, &inferred, function));
            }
            return extract(self.runtime, ty, function);
        }
        let name = take(param);
        let index = site::index(usize::from(function == "require"));
        quote!((#name.#index))
    }

    /// `let value0: &str = &state.draft;`
    pub(crate) fn bind(&self, index: usize, param: &Param) -> TokenStream {
        let runtime = self.runtime;
        let Param {
            ident,
            ty,
            cfgs,
            source,
        } = param;
        let value = value(index);
        let snapshot = local("state");
        let scope = local("scope");
        let owned = self.owned.then(|| local_at("owned", index));
        let place = || match &owned {
            Some(owned) => owned.to_token_stream(),
            None => self.place(param),
        };
        let bound = match source {
            Source::Key(Shape::Ref) | Source::KeyOf(_, Shape::Ref) => {
                let place = place();
                quote_spanned!(ident.span()=> &#place)
            }
            Source::Key(Shape::Option) | Source::KeyOf(_, Shape::Option) => {
                let place = place();
                let one = local("one");
                let get = runtime.respan(ident, quote!(<_ as #runtime::__private::Optional>::get));
                // In a `match` the inner reference is coerced.
                quote_spanned! {ident.span()=>
                    match #get(&#place) {
                        ::core::option::Option::Some(#one) => ::core::option::Option::Some(#one),
                        ::core::option::Option::None => ::core::option::Option::None,
                    }
                }
            }
            Source::State => {
                if let Some(owned) = owned {
                    quote_spanned!(ident.span()=> &#owned)
                } else {
                    quote_spanned!(ident.span()=> #snapshot)
                }
            }
            Source::Item(_) => {
                let state = self.state;
                quote_spanned!(ident.span()=> #runtime::node::Scope::item::<<Self as #runtime::node::Node<#state>>::Item>(&#scope)?)
            }
            Source::Run => {
                let taken = if let Some(owned) = owned {
                    owned.to_token_stream()
                } else {
                    let extract = self.extractor(param, "extract");
                    quote!(#extract(#scope)?)
                };
                return quote!(#cfgs let #value = #taken;);
            }
        };
        quote!(#cfgs let #value: #ty = #bound;)
    }

    /// Defines the owned value of a parameter: a clone of the key, or the extracted value.
    pub(crate) fn own(&self, index: usize, param: &Param) -> TokenStream {
        let state = self.state;
        let Param {
            ty, cfgs, source, ..
        } = param;
        let owned = local_at("owned", index);
        let value = match source {
            Source::Key(_) | Source::KeyOf(..) => {
                let place = self.place(param);
                quote_spanned!(param.ident.span()=> ::core::clone::Clone::clone(&#place))
            }
            Source::State => {
                let snapshot = local("state");
                quote_spanned!(ty.span()=> <#state as ::core::clone::Clone>::clone(#snapshot))
            }
            // The scope has the item, and it can be cloned.
            Source::Item(_) => return TokenStream::new(),
            Source::Run => {
                let extract = self.extractor(param, "extract");
                let scope = local("scope");
                quote!(#extract(&#scope)?)
            }
        };
        quote!(#cfgs let #owned = #value;)
    }

    /// The place expression of a key.
    fn place(&self, param: &Param) -> TokenStream {
        let runtime = self.runtime;
        let snapshot = local("state");
        if let Source::KeyOf(key, _) = &param.source {
            let state = self.state;
            let get = runtime.item_of(key, &quote!(#runtime::__private::KeyOf<#state>), "get");
            return quote_spanned!(key.span()=> *#get(#snapshot));
        }
        // The span of the parameter, so that rustc suggests a similar field there.
        let field = &param.ident;
        quote_spanned!(field.span()=> (*#snapshot).#field)
    }
}

/// Whether the type is `Context`, which needs nothing from the run.
pub(crate) fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Context"))
}

/// The constant for a value from the run.
fn take(param: &Param) -> Ident {
    let name = name(&param.ident).to_uppercase();
    Ident::new(&format!("__TAKE_{name}"), site::span())
}

/// A function of `Extract`.
fn extract(runtime: &Runtime, ty: &Type, function: &str) -> TokenStream {
    runtime.item_of(ty, &quote!(#runtime::node::Extract), function)
}
