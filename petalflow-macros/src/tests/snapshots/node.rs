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
    clippy::empty_structs_with_brackets,
    clippy::items_after_statements
)]
struct write {}
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
    type __Written = Essay;
    const __STATE: ::core::primitive::usize = ::petalflow::checks::is_state::<
        __Written,
    >();
    type __State = <__Written as ::petalflow::__private::Checked<__STATE>>::Type;
    #[automatically_derived]
    #[doc(hidden)]
    impl ::petalflow::node::Node<__Written> for write {
        type Output = EssayDraft;
        type Item = ();
        const NAME: &'static ::core::primitive::str = "write";
        const READS: ::petalflow::state::KeySet = ::petalflow::__private::keys_named::<
            __State,
        >(&["topic"]);
        const FUNCTION: ::core::option::Option<&'static Self> = ::core::option::Option::Some(
            &Self {},
        );
        #[allow(unused_variables)]
        fn run<'__a>(
            &'__a self,
            __state: &'__a __State,
            __scope: &'__a ::petalflow::node::Scope,
        ) -> impl ::core::future::Future<
            Output = Self::Output,
        > + ::core::marker::Send + '__a {
            let __value0: &str = &(*__state).topic;
            write(__value0)
        }
    }
};
