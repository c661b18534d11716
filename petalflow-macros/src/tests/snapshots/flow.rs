/// Writes until the critic accepts the draft.
#[cfg(not(doc))]
/**
State: [`Essay`]

```mermaid
graph TD
    START([START])
    END([END])
    write[write]
    critique{critique}
    START --> write
    write --> critique
    critique -.->|Publish| END
    critique -.->|Revise| write
```*/
#[derive(
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::fmt::Debug,
    ::core::default::Default
)]
pub struct WriteEssay;
#[cfg(not(doc))]
#[allow(long_running_const_eval)]
#[allow(
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    private_interfaces,
    unnameable_types,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::restriction
)]
const _: () = {
    use petalflow::{__private::flow as __petalflow, checks as __checks};
    #[allow(unused_imports)]
    use petalflow::flow::{END, START};
    type __Written = Essay;
    const __STATE: ::core::primitive::usize = __checks::is_state::<__Written>();
    type __OfNodes = <__Written as __petalflow::Proven<__STATE>>::Type;
    #[allow(unused_parens, deprecated)]
    const __ARE_NODES: ::core::primitive::usize = {
        __checks::is_node::<__OfNodes, (write)>();
        __checks::is_node::<__OfNodes, (critique)>();
        0
    };
    type __State = <__OfNodes as __petalflow::Proven<__ARE_NODES>>::Type;
    enum __Nodes {}
    #[allow(unused_parens)]
    impl __petalflow::Upto4<WriteEssay, __State> for __Nodes {
        type Below = ();
        type Rest = ();
        type A0 = __petalflow::FunctionArm<(write)>;
        type A1 = __petalflow::FunctionArm<(critique)>;
        type A2 = __petalflow::NoArm;
        type A3 = __petalflow::NoArm;
    }
    const __NAMES: &[&::core::primitive::str; 2] = &["write", "critique"];
    const __SPECS: &[__petalflow::Spec; 2] = &__petalflow::concat_specs(
        &[<__Nodes as __petalflow::Upto4<WriteEssay, __State>>::SPECS],
        __NAMES,
        &[],
    );
    ///0: write, 1: critique
    const __EDGES: &[__petalflow::EdgeRow] = &[
        __petalflow::EdgeRow::plain(__petalflow::START, 0),
        __petalflow::EdgeRow::plain(0, 1),
        __petalflow::EdgeRow::route(1, 0, "Revise"),
        __petalflow::EdgeRow::route(1, __petalflow::END, "Publish"),
    ];
    const __GRAPH: __petalflow::GraphTable = __petalflow::GraphTable {
        flow: "WriteEssay",
        node_flags: &[
            __petalflow::NodeFlags {
                node: 1,
                deferred: true,
                subflow: false,
            },
        ],
        edges: __EDGES,
        joins: &[],
        specs: __SPECS,
        policies: &[],
        interrupt_points: &[],
        ids: &[],
    };
    /// The keys and routes of the nodes.
    const __NODES: &[__petalflow::NodeFacts<'static>; 2] = &__petalflow::facts(__SPECS);
    const __KEYS: &[__petalflow::KeyFacts<'static>] = __petalflow::keys::<__State>();
    const _: () = __petalflow::distinct_names(__SPECS, __NAMES, __GRAPH.ids);
    /// The analysis of the graph.
    const __TABLES: __petalflow::Tables<'static> = __petalflow::Tables {
        exact: true,
        together: __petalflow::PairsRef {
            offsets: &[0, 0, 0],
            ranges: &[],
        },
        frontiers: ::core::option::Option::Some(__petalflow::FrontiersRef {
            offsets: &[0, 0, 1, 2, 2],
            nodes: &[0, 1],
            transitions: &[
                __petalflow::Transition::new(0, 1, 0, 0),
                __petalflow::Transition::new(1, 2, 0, 0),
                __petalflow::Transition::new(2, 1, 0, 0),
                __petalflow::Transition::new(2, 3, 0, 0),
            ],
            lost: &[],
        }),
        paths: __petalflow::PathsRef {
            nodes: 2,
            joins: 0,
            forward: &[
                __petalflow::PathEdge::new(
                    1,
                    0,
                    __petalflow::kind::ROUTE | __petalflow::kind::BACK,
                    0,
                ),
                __petalflow::PathEdge::new(2, 0, __petalflow::kind::PLAIN, 0),
                __petalflow::PathEdge::new(
                    0,
                    1,
                    __petalflow::kind::PLAIN | __petalflow::kind::LATE,
                    0,
                ),
                __petalflow::PathEdge::new(1, 3, __petalflow::kind::ROUTE, 1),
            ],
            backward: &[
                __petalflow::PathEdge::new(
                    1,
                    0,
                    __petalflow::kind::ROUTE | __petalflow::kind::BACK,
                    0,
                ),
                __petalflow::PathEdge::new(1, 3, __petalflow::kind::ROUTE, 1),
                __petalflow::PathEdge::new(
                    0,
                    1,
                    __petalflow::kind::PLAIN | __petalflow::kind::LATE,
                    0,
                ),
                __petalflow::PathEdge::new(2, 0, __petalflow::kind::PLAIN, 0),
            ],
        },
        any: ::core::option::Option::Some(__petalflow::AnyRef {
            together: __petalflow::PairsRef {
                offsets: &[0, 0, 0],
                ranges: &[],
            },
            stuck_at: &[],
        }),
        delivered: ::core::option::Option::None,
        endless: &[],
    };
    /// The facts and the verdicts that the checks below read.
    const __CHECKED: &__petalflow::Checked = &__petalflow::Checked {
        keys: __KEYS,
        specs: __SPECS,
        nodes: __NODES,
        verdicts: &__petalflow::verdicts::<
            2,
            { __TABLES.scratch() },
        >(&__TABLES, __KEYS, __NODES),
        edges: __EDGES,
        joins: __GRAPH.joins,
        items: &__petalflow::items::<6>(__SPECS, __EDGES),
    };
    const _: () = __petalflow::node(__CHECKED, 0, 0, true);
    const _: () = __petalflow::routed(__CHECKED, 1, 1);
    const _: () = __petalflow::route(__CHECKED, 1, &["Revise", "Publish"], &[2, 3]);
    const _: () = __petalflow::arm(__CHECKED, 1, "Revise", 2);
    const _: () = __petalflow::arm(__CHECKED, 1, "Publish", 3);
    const _: () = __petalflow::edge(__CHECKED, 2);
    #[allow(deprecated)]
    const _: () = {
        #[allow(unused_imports)]
        use __petalflow::{
            DeliversNothing as _, DeliversSomething as _, DeliversUnknown as _,
        };
        #[allow(dead_code, unused, clippy::all, clippy::pedantic)]
        fn __items() {
            <_ as __petalflow::AcceptsItem<
                _,
            >>::fits(
                (&&&__petalflow::probe::<
                    __State,
                    __petalflow::FromNode<critique>,
                    write,
                    __petalflow::kinds::Route<18195357587831266473u64>,
                >())
                    .sent(),
            );
        }
    };
    #[automatically_derived]
    impl petalflow::Flow for WriteEssay {
        type State = __State;
        fn name(&self) -> &::core::primitive::str {
            __GRAPH.flow
        }
        fn plan(&self) -> ::std::sync::Arc<__petalflow::ExecutionPlan> {
            static __PLAN: ::std::sync::OnceLock<
                ::std::sync::Arc<__petalflow::ExecutionPlan>,
            > = ::std::sync::OnceLock::new();
            __GRAPH.plan(&__PLAN)
        }
        fn require(&self, __requirements: &mut petalflow::node::Requirements<'_>) {
            __GRAPH.require(__requirements);
        }
        fn step<'a>(
            &'a self,
            __node: ::core::primitive::u32,
            __task: &'a mut petalflow::__private::flow::Step<'_, __State>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<(), petalflow::BoxError>,
        > + ::core::marker::Send + 'a {
            __petalflow::upto4::<__Nodes, WriteEssay, __State>(self, __node, __task)
        }
    }
    #[allow(dead_code, private_bounds, unreachable_pub)]
    impl WriteEssay {
        /// Runs the flow from this input with the default settings. [`new`](Self::new) has other settings.
        #[allow(clippy::self_named_constructors)]
        pub fn run(
            __input: impl __petalflow::InputOf<__State>,
        ) -> __petalflow::Run<Self> {
            Self::new().run(__input)
        }
    }
    #[automatically_derived]
    impl __petalflow::Subflow for WriteEssay {
        fn fresh() -> Self {
            ::core::default::Default::default()
        }
    }
    #[allow(dead_code)]
    impl WriteEssay {
        /// A launch of the flow, for limits, managed values and middleware.
        pub fn new() -> petalflow::Launch<Self> {
            static __FLOW: ::std::sync::OnceLock<::std::sync::Arc<WriteEssay>> = ::std::sync::OnceLock::new();
            __petalflow::launch(&__FLOW, Self)
        }
    }
    #[allow(dead_code)]
    impl WriteEssay {
        /// The graph as data: its nodes, their roles, and its edges.
        #[must_use]
        pub fn topology() -> petalflow::graph::Topology {
            __petalflow::topology(&__GRAPH.graph())
        }
        /// The graph as a [Mermaid](https://mermaid.js.org) diagram.
        #[must_use]
        pub fn mermaid() -> ::std::string::String {
            __petalflow::mermaid(&__GRAPH.graph())
        }
        /// The graph in the DOT language of Graphviz.
        #[must_use]
        pub fn dot() -> ::std::string::String {
            __petalflow::dot(&__GRAPH.graph())
        }
    }
};
#[cfg(doc)]
petalflow::__private::flow_documented! {
    [petalflow] #[doc = r" Writes until the critic accepts the draft."] pub
    WriteEssay(Essay) { START -> write -> critique -> match { Revise => write, Publish =>
    END }; defer critique; }
}
