//! The code of a flow: tables, one slot per node, and calls into the runtime. It cannot fail.

mod api;
mod builder;
mod cx;
mod declaration;
mod docs;
mod interrupt_points;
mod items;
mod nodes;
mod policy;
mod reads;
mod reports;
mod signatures;
mod step;
mod subflow;
mod tables;
mod tokens;

use proc_macro2::TokenStream;

use crate::attributes;
use crate::site::quote;

pub(crate) use self::builder::{Generics, builder_doc, required_values};
pub(crate) use self::cx::Cx;
pub(crate) use self::declaration::module;
pub(crate) use self::docs::{code as docs, diagram, drawing};
pub(crate) use self::signatures::signatures;

pub(crate) fn flow(cx: &Cx<'_>) -> TokenStream {
    let Cx { krate, .. } = cx;
    let checked_state = nodes::checked_state(cx);
    let own_name = declaration::check(cx);
    let state = nodes::state(cx);
    let whole = cx;
    let cx = &Cx {
        state: &state,
        ..*cx
    };
    let cfgs = cx.cfgs();
    let lints = cx.lints();
    let inherent = api::inherent(cx);
    let values = nodes::value_types(cx);
    let subflows = subflow::code(cx);
    let dispatch = step::Dispatch::of(cx);
    let specs = step::specs(cx, &dispatch.nodes);
    let flow = api::flow(cx, &dispatch);
    let nodes = &dispatch.code;
    let tables = tables::code(cx);
    let guards = interrupt_points::code(cx);
    let (reports, items) = if cx.lost {
        Default::default()
    } else {
        (reports::code(cx), items::code(cx))
    };
    let generated = attributes::generated();
    let code = quote! {
        #cfgs
        #lints
        #[allow(long_running_const_eval)]
        #generated
        const _: () = {
            use #krate::{__private::flow as __petalflow, checks as __checks};
            // For `start` and `end`, rustc suggests these names.
            #[allow(unused_imports)]
            use #krate::flow::{END, START};
            #values
            #own_name
            #checked_state
            #subflows
            #nodes
            #specs
            #tables
            #reports
            #items
            #guards
            #flow
            #inherent
        };
    };
    let declaration = declaration::code(whole);
    quote! {
        #declaration
        #code
    }
}
