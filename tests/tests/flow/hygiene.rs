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
            node other: Value;
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

/// Types named like those of the language, and statics, constants and unit structs named like local variables.
mod shadows {
    #![allow(dead_code, non_upper_case_globals)]

    use petalflow::interrupt::Ask;
    use petalflow::prelude::{Context, Each, Route, flow, node, state, tool, tools};
    use petalflow::tool::ToolSet;

    use core::primitive::u32 as Number;
    use std::string::String as Text;

    macro_rules! types {
        ($($name:ident)*) => { $(pub(super) struct $name<T = ()>(T);)* };
    }

    types!(bool char str u8 u16 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 String Option Result Vec Box Arc Some None Ok Err Self_);

    /// `u32` is not a generic type, so that it is not a number by accident.
    pub(super) struct u32;

    macro_rules! statics {
        ($($name:ident)*) => { $(static $name: () = ();)* };
    }

    statics!(state scope input step flow node point requirements effects value value0 owned0 update known written overwrite);
    statics!(overwritten keys key out bytes values item arguments cx one this ok wrong index route f other end);

    struct slots;
    struct map;
    struct deserializer;
    struct stored;
    const current: () = ();
    const fold: () = ();
    const all: () = ();
    const updates: () = ();
    const store: () = ();
    const flow1: () = ();

    pub(super) fn longest(a: &mut Text, b: Text) {
        if b.len() > a.len() {
            *a = b;
        }
    }

    #[state]
    pub(super) struct Essay {
        #[key(input)]
        topic: Text,
        #[key(input, sum, skip_zero)]
        pub(super) rounds: Number,
        #[key(append)]
        pub(super) notes: std::vec::Vec<Text>,
        #[key(reduce = longest, default = Text::from("-"))]
        longest_note: Text,
        #[key(max)]
        most: Number,
        title: std::option::Option<Text>,
        #[key(untracked)]
        scratch: Number,
        #[key(first, turn)]
        opening: Text,
    }

    #[derive(Route)]
    enum Go {
        Deep(Text),
        Done,
    }

    #[derive(serde::Serialize, Ask)]
    #[ask(answer = core::primitive::bool, key = id, expires = 3d, default = true)]
    struct Approve {
        id: Number,
    }

    /// Searches.
    #[tool(retry = 2, timeout = 3s, confirm = is_risky)]
    async fn search(query: Text, limit: Number, cx: Context) -> Text {
        drop(cx);
        format!("{query}{limit}")
    }

    fn is_risky(query: &Text, _: &Number) -> core::primitive::bool {
        query.is_empty()
    }

    pub(super) fn tools() -> ToolSet {
        tools![search]
    }

    #[node(Essay, retry = 2, timeout = 3s)]
    async fn plan(
        topic: &core::primitive::str,
        title: core::option::Option<&core::primitive::str>,
    ) -> Each<Text> {
        Each(vec![topic.into(), title.unwrap_or("none").into()])
    }

    #[node(Essay)]
    async fn note(#[item] item: &core::primitive::str, cx: Context) -> (EssayNotes, EssayRounds) {
        drop(cx);
        (EssayNotes(vec![item.into()]), EssayRounds(1))
    }

    #[node(Essay, blocking)]
    fn judge(#[key(EssayNotes)] notes: &[Text]) -> Go {
        if notes.len() > 2 {
            Go::Done
        } else {
            Go::Deep("more".into())
        }
    }

    #[node(Essay, spawn)]
    async fn deepen(#[item] more: &core::primitive::str, essay: &Essay) -> EssayNotes {
        EssayNotes(vec![format!("{more}{}", essay.rounds)])
    }

    struct Writer(Number);

    #[node(Essay, spawn)]
    impl Writer {
        async fn run(&self, rounds: &Number) -> EssayMost {
            EssayMost(self.0 + rounds)
        }
    }

    impl Clone for Writer {
        fn clone(&self) -> Self {
            Writer(self.0)
        }
    }

    flow! {
        pub(super) Inner(Essay) {
            START -> last;
            node last: Writer = Writer(1);
            interrupt before last if |rounds: &Number, title: core::option::Option<&core::primitive::str>| *rounds > 1_000 && title.is_some();
        }
    }

    flow! {
        pub(super) Outer(Essay) {
            node writer: Writer;
            node inner: Inner {
                in: |topic: &core::primitive::str| EssayInput { topic: topic.into(), rounds: 1 },
                out: |last: Essay| EssayOpening(last.topic)
            };
            plan -> each note -> judge -> match { Deep => deepen, Done => END };
            deepen -> writer -> inner;
            with judge { retry: 3, timeout: 4s };
        }
    }

    pub(super) fn launch() -> petalflow::Run<Outer> {
        let input = EssayInput {
            topic: "a".into(),
            rounds: 0,
        };
        Outer::new().writer(Writer(7)).run(input)
    }
}

#[tokio::test]
async fn types_and_statics_of_the_user_are_not_used() {
    let essay = shadows::launch().await.expect("the flow runs");
    assert_eq!(essay.notes, ["a", "none", "more2"]);
    assert_eq!(essay.rounds, 2);
    assert_eq!(shadows::tools().len(), 1);
    assert_eq!(shadows::Outer::topology().nodes.len(), 6);
}
