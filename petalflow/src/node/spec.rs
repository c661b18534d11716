//! The properties of a node, from its types.

/// The [`NodeSpec`](crate::plan::NodeSpec) of a node with the output type `$output`. A macro and no function: each call costs
/// time in constant evaluation, once per node.
macro_rules! node_spec {
    ($state:ty, $output:ty, name: $name:expr, reads: $reads:expr, all: $all:expr, takes: $takes:expr, policy: $policy:expr, item: $item:expr, broken: $broken:expr) => {
        $crate::plan::NodeSpec {
            facts: ::petalflow_graph::NodeFacts {
                name: $name,
                reads: $reads,
                may_write: <$output as $crate::node::Output<$state>>::MAY_WRITE,
                must_write: <$output as $crate::node::Output<$state>>::MUST_WRITE,
                routes: <<$output as $crate::node::Output<$state>>::Routing as $crate::node::Routing>::NAMES,
                many: <<$output as $crate::node::Output<$state>>::Routing as $crate::node::Routing>::MANY,
                has_route: <<$output as $crate::node::Output<$state>>::Routing as $crate::node::Routing>::ROUTES,
                takes_item: $takes,
            },
            payloads: <<$output as $crate::node::Output<$state>>::Routing as $crate::node::Routing>::PAYLOADS,
            sends: <<$output as $crate::node::Output<$state>>::Routing as $crate::node::Routing>::SENDS,
            named: <<$output as $crate::node::Output<$state>>::Routing as $crate::node::Routing>::NAMED,
            policy: $policy,
            item: $item,
            reads_all: $all,
            broken: $broken,
        }
    };
}
pub(crate) use node_spec;
