//! Names that generated code must not trip over.
#![allow(non_camel_case_types, non_snake_case)]

/// No prelude, and types named like those in it.
mod no_prelude {
    #![no_implicit_prelude]

    use types::*;

    mod types {
        pub(super) struct Option;
        pub(super) struct Result;
        pub(super) struct Vec;
        pub(super) struct String;
        pub(super) struct Box;
        pub(super) struct Arc;
        pub(super) trait Send {}
        pub(super) trait Into {}
        pub(super) trait Default {}
        pub(super) trait Clone {}
        pub(super) fn drop(_: Option, _: Result, _: Vec, _: String, _: Box, _: Arc) {}
        pub(super) trait All: Send + Into + Default + Clone {}
    }

    #[::petalflow::state]
    pub(super) struct State {
        #[key(append)]
        pub(super) xs: ::std::vec::Vec<u32>,
    }

    #[derive(::petalflow::Route)]
    enum Go {
        Left(u32),
        Right,
    }

    #[::petalflow::node(State)]
    async fn choose() -> Go {
        if ::std::option_env!("NEVER").is_some() {
            Go::Right
        } else {
            Go::Left(4)
        }
    }

    #[::petalflow::node(State)]
    async fn take(#[item] n: &u32) -> StateXs {
        StateXs(::std::vec![*n])
    }

    #[::petalflow::node(State)]
    async fn plan() -> ::petalflow::Each<u32> {
        ::petalflow::Each(::std::vec![1, 2])
    }

    struct Value(u32);

    #[::petalflow::node(State)]
    impl Value {
        fn value(&self) -> StateXs {
            StateXs(::std::vec![self.0])
        }
    }

    ::petalflow::flow!(pub(super) Inner(State) { choose -> match { Left => take, Right => END }; with choose { retry: 3, timeout: 4s } });
    ::petalflow::flow! {
        pub(super) Outer(State) {
            node value: Value = Value(7);
            // A value without a default has a message of its own, whose attribute rustc does not find without a prelude.
            node other: Value = Value(0);
            node sub: Inner { in: || (), out: |state: State| StateXs(state.xs) };
            plan -> each take -> value -> other -> sub;
            catch plan -> value;
        }
    }

    pub(super) fn launch() -> ::petalflow::Run<Outer> {
        let _all = drop;
        let _none: ::core::option::Option<&dyn types::All> = ::core::option::Option::None;
        Outer::new().other(Value(8)).run(())
    }
}

#[tokio::test]
async fn without_a_prelude() {
    let state = no_prelude::launch().await.expect("the flow runs");
    assert_eq!(state.xs, [1, 2, 7, 8, 4]);
    assert_eq!(
        no_prelude::Inner::run(()).await.expect("the flow runs").xs,
        [4]
    );
}

/// States, nodes and flows named like what generated code uses, and like keywords.
mod namesakes {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct Option {
        #[key(append)]
        pub(super) r#type: Vec<u32>,
    }

    macro_rules! nodes {
        ($($node:ident)*) => {$(
            #[node(Option)]
            async fn $node(r#type: &[u32]) -> OptionType {
                OptionType(vec![u32::try_from(r#type.len()).unwrap_or_default()])
            }
        )*};
    }

    nodes!(Some Ok r#match r#loop step call state scope flow effects node each with defer catch);

    flow! {
        pub(super) Result(Option) {
            Some -> Ok -> r#match -> r#loop -> step -> call -> state -> scope -> flow -> effects -> node -> each -> with -> defer -> catch;
            with with { retry: 2 };
            defer defer;
            catch catch -> r#else;
            node r#else = node;
        }
    }
}

#[tokio::test]
async fn names_of_others() {
    let option = namesakes::Result::run(()).await.expect("the flow runs");
    assert_eq!(option.r#type, (0..15).collect::<Vec<_>>());
}

/// A node that is named like its module, beside a flow that reaches it by path.
mod paths {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct S {
        #[key(append)]
        pub(super) xs: Vec<u32>,
    }

    pub(super) mod write {
        use petalflow::prelude::*;

        #[node(super::S)]
        pub(super) async fn write() -> super::SXs {
            super::SXs(vec![1])
        }

        pub(super) mod inner {
            use petalflow::prelude::*;

            #[node(crate::flow::hygiene::paths::S)]
            pub(in super::super) async fn last() -> super::super::SXs {
                super::super::SXs(vec![2])
            }
        }
    }

    flow!(pub(super) F(self::S) { self::write::write -> write::inner::last -> again; node again = write::write; });
}

#[tokio::test]
async fn nodes_by_path() {
    assert_eq!(
        paths::F::run(()).await.expect("the flow runs").xs,
        [1, 2, 1]
    );
}

/// The crate under another name.
mod renamed {
    extern crate petalflow as petals;

    use petals::{flow, node, state};

    #[allow(dead_code)]
    mod petalflow {}

    #[state(crate = petals)]
    pub(super) struct S {
        #[key(append)]
        pub(super) xs: Vec<u32>,
    }

    #[node(S, crate = petals)]
    async fn plan() -> petals::Each<u32> {
        petals::Each(vec![1, 2])
    }

    #[node(S, crate = petals)]
    async fn take(#[item] n: &u32) -> SXs {
        SXs(vec![*n])
    }

    flow!(pub(super) F(S) { plan -> each take; with plan { retry: 2 } });
}

#[tokio::test]
async fn under_another_name() {
    assert_eq!(renamed::F::run(()).await.expect("the flow runs").xs, [1, 2]);
}
