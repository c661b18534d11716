//! Flows that macros write, and flows in odd places.

use petalflow::prelude::*;

use super::{Seen, SeenNames, named, seen};

named!(a b);

macro_rules! chain {
    ($flow:ident: $($node:ident)*) => {
        flow!($flow(Seen) { START -> $($node ->)* END });
    };
}

macro_rules! of_parts {
    ($flow:ident, $state:ty, $first:path, $second:path, $value:ty, $default:expr) => {
        flow! {
            $flow($state) {
                node value: $value = $default;
                $first -> $second -> value;
            }
        }
    };
}

/// A flow over nodes that the macro makes itself.
macro_rules! whole {
    ($flow:ident) => {
        #[node(Seen)]
        async fn inner() -> SeenNames {
            SeenNames(vec!["inner".into()])
        }

        flow!($flow(Seen) { inner -> a });
    };
}

macro_rules! pass_on {
    ($($tokens:tt)*) => {
        flow! { $($tokens)* }
    };
}

struct Say(&'static str);

#[node(Seen)]
impl Say {
    fn say(&self) -> SeenNames {
        SeenNames(vec![self.0.into()])
    }
}

#[tokio::test]
async fn macros_write_flows() {
    chain!(Chain: a b);
    assert_eq!(seen!(Chain), ["a", "b"]);
    of_parts!(OfParts, Seen, self::a, super::generated::b, Say, Say("c"));
    assert_eq!(seen!(OfParts), ["a", "b", "c"]);
    whole!(Whole);
    assert_eq!(seen!(Whole), ["inner", "a"]);
    pass_on!(Passed(Seen) { b -> a });
    assert_eq!(seen!(Passed), ["b", "a"]);
}

flow! {
    #[cfg(any())]
    Absent(Seen) { nothing -> here }
}

flow! {
    /// Attributes carry over.
    #[derive(PartialEq, Eq, Hash)]
    #[cfg(all())]
    Present(Seen) { a }
}

#[tokio::test]
async fn attributes_carry_over() {
    assert_eq!(Present, Present);
    assert_eq!(seen!(Present), ["a"]);
}

#[tokio::test]
async fn all_macros_work_in_a_function() {
    #[state]
    struct Local {
        #[key(append)]
        xs: Vec<u32>,
    }

    #[derive(Route)]
    enum Go {
        Left(u32),
        Right,
    }

    #[node(Local)]
    async fn choose(xs: &[u32]) -> Go {
        if xs.is_empty() {
            Go::Left(1)
        } else {
            Go::Right
        }
    }

    #[node(Local)]
    async fn take(#[item] n: &u32) -> LocalXs {
        LocalXs(vec![*n])
    }

    flow!(Run(Local) { choose -> match { Left => take, Right => END } });
    assert_eq!(Run::run(()).await.expect("the flow runs").xs, [1]);
}
