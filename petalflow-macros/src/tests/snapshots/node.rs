async fn write(topic: &str) -> EssayDraft {
    EssayDraft(format!("about {topic}"))
}
///
///The node `write`, as flows name it.
#[allow(
    non_camel_case_types,
    dead_code,
    missing_copy_implementations,
    missing_debug_implementations,
    unreachable_pub,
    clippy::empty_structs_with_brackets
)]
struct write {}
#[allow(clippy::all, clippy::pedantic, clippy::nursery)]
const _: () = {
    type __PetalflowState = Essay;
    #[automatically_derived]
    #[doc(hidden)]
    impl ::petalflow::node::Node<__PetalflowState> for write {
        type Output = <EssayDraft as ::petalflow::__private::Itself>::Type;
        type Item = ();
        const NAME: &'static ::core::primitive::str = "write";
        const READS: ::petalflow::state::KeySet = {
            #[allow(unused_imports)]
            use ::petalflow::__private::NoNames as _;
            ::petalflow::state::KeyMeta::hashed(
                ::petalflow::__private::Names::<__PetalflowState>::KEYS,
                &[5912253781582851172u64],
            )
        };
        const READS_ALL: ::core::primitive::bool = false;
        const UNKNOWN_KEYS: ::core::primitive::bool = {
            #[allow(unused_imports)]
            use ::petalflow::__private::NoNames as _;
            ::petalflow::state::KeyMeta::lack(
                ::petalflow::__private::Names::<__PetalflowState>::KEYS,
                &[5912253781582851172u64],
            )
        };
        #[allow(unused_variables)]
        fn run<'__a>(
            &'__a self,
            __petalflow_state: &'__a __PetalflowState,
            __petalflow_scope: &'__a ::petalflow::node::Scope,
        ) -> impl ::core::future::Future<
            Output = Self::Output,
        > + ::core::marker::Send + '__a {
            let __petalflow_value0: &str = &(*__petalflow_state).topic;
            write(__petalflow_value0)
        }
    }
    #[automatically_derived]
    #[doc(hidden)]
    impl ::petalflow::__private::Function for write {
        const ITSELF: Self = Self {};
        const REF: &'static Self = &Self::ITSELF;
    }
};
