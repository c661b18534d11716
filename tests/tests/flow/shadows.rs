//! Items of the user with names that generated code would use: types of the language, and statics, constants and unit structs with
//! the names of local variables. A pattern that is such a name is not a variable.
#![allow(dead_code, non_camel_case_types, non_upper_case_globals)]

use core::primitive::str as Str;
use core::primitive::u32 as Number;

use petalflow::interrupt::Ask;
use petalflow::prelude::{Context, Each, Route, flow, node, state, tool, tools};

macro_rules! types {
    ($($name:ident)*) => { $(pub(super) struct $name;)* };
}

macro_rules! statics {
    ($($name:ident)*) => { $(static $name: () = ();)* };
}

/// Names of local variables and parameters of the runtime and of the macros.
macro_rules! variables {
    () => {
        statics!(all arguments bytes cache current cx deserializer deliver effects end f fold from index input item key keys);
        statics!(known make map middleware name node nodes ok one other out output overwrite overwritten owned0 point);
        statics!(provider question requirements route scope slots state step store stored supersteps this timeout token);
        statics!(to update updates value value0 values write written wrong);
    };
}

mod types {
    use std::string::String as Text;

    use super::*;

    types!(bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
    types!(String Option Result Vec Box Arc Some None Ok Err Clone Default Debug Send Sync Sized Future);
    variables!();

    fn longest(longest: &mut Text, new: Text) {
        if new.len() > longest.len() {
            *longest = new;
        }
    }

    #[state]
    #[derive(::core::clone::Clone)]
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
        pub(super) most: Number,
        #[key(default)]
        title: core::option::Option<Text>,
        #[key(untracked)]
        scratch: Number,
        #[key(first, turn)]
        pub(super) opening: Text,
    }

    #[derive(Route)]
    enum Go {
        Deep(Text),
        Done,
    }

    #[node(Essay, retry = 2, timeout = 3s)]
    async fn plan(topic: &Str, title: core::option::Option<&Str>) -> Each<Text> {
        Each(vec![topic.into(), title.unwrap_or("none").into()])
    }

    #[node(Essay)]
    async fn note(#[item] about: &Text, context: Context) -> (EssayNotes, EssayRounds) {
        drop(context);
        (EssayNotes(vec![about.clone()]), EssayRounds(1))
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
    async fn deepen(#[item] more: &Text, essay: &Essay) -> EssayNotes {
        EssayNotes(vec![format!("{more}{}", essay.rounds)])
    }

    #[derive(::core::clone::Clone)]
    pub(super) struct Writer(pub(super) Number);

    #[node(Essay, spawn)]
    impl Writer {
        async fn run(&self, rounds: &Number) -> EssayMost {
            EssayMost(self.0 + rounds)
        }
    }

    flow! {
        Inner(Essay) {
            last;
            node last: Writer = Writer(1);
        }
    }

    flow! {
        pub(super) Guarded(Essay) {
            last;
            node last: Writer = Writer(1);
            interrupt before last if |rounds: &Number, title: core::option::Option<&Str>| *rounds > 1_000 && title.is_some();
            interrupt after last if |#[key(EssayNotes)] notes: &[Text], #[key(EssayTitle)] title: core::option::Option<&Text>| notes.is_empty() && title.is_none();
        }
    }

    flow! {
        pub(super) Outer(Essay) {
            node writer: Writer;
            node inner: Inner {
                in: |topic: &Str| EssayInput { topic: topic.into(), rounds: 1 },
                out: |last: Essay| EssayOpening(last.topic)
            };
            plan -> each note -> judge -> match { Deep => deepen, Done => END };
            deepen -> writer -> inner;
            with judge { retry: 3, timeout: 4s };
        }
    }

    pub(super) fn launch() -> petalflow::Run<Outer> {
        let begin = EssayInput {
            topic: "a".into(),
            rounds: 0,
        };
        Outer::new().writer(Writer(7)).run(begin)
    }
}

#[tokio::test]
async fn the_macros_name_no_type_and_no_variable_of_the_user() {
    let essay = types::launch().await.expect("the flow runs");
    assert_eq!(essay.notes, ["a", "none", "more2"]);
    assert_eq!((essay.rounds, essay.most, &*essay.opening), (2, 9, "a"));
    assert_eq!(types::Outer::topology().nodes.len(), 6);
    assert_eq!(types::Guarded::topology().nodes.len(), 1);
}

/// The derives of serde and schemars name primitive types, so a tool and a question have no other items of these names beside them.
mod variables {
    use super::*;

    types!(Option Result Vec Box Arc);
    variables!();

    #[derive(serde::Serialize, Ask)]
    #[ask(answer = bool, key = id, expires = 3d, default = true)]
    pub(super) struct Approve {
        pub(super) id: Number,
    }

    /// Searches.
    #[tool(retry = 2, timeout = 3s, confirm = is_risky)]
    async fn search(
        query: std::string::String,
        #[serde(default)] limit: Number,
        context: Context,
    ) -> core::result::Result<std::string::String, std::io::Error> {
        drop(context);
        Ok(format!("{query}{limit}"))
    }

    fn is_risky(query: &std::string::String, _: &Number) -> bool {
        query.is_empty()
    }

    pub(super) fn tools() -> petalflow::tool::ToolSet {
        tools![search]
    }
}

#[test]
fn a_tool_and_a_question_name_no_variable_of_the_user() {
    assert_eq!(variables::tools().len(), 1);
    assert_eq!(variables::Approve { id: 7 }.key(), "7");
}
