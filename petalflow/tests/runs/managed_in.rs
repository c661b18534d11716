//! Managed values of a flow that runs inside a node.

use petalflow::Managed;
use petalflow::prelude::*;

struct Tone(&'static str);
struct Name(&'static str);

#[state]
#[derive(Debug)]
struct Talk {
    #[key(append)]
    texts: Vec<String>,
}

#[node(Talk)]
async fn speak(tone: Managed<Tone>, name: Managed<Name>) -> TalkTexts {
    TalkTexts(vec![format!("{} {}", tone.0, name.0)])
}

flow!(Speak(Talk) { speak });

#[node(Talk)]
async fn host(cx: Context) -> petalflow::Result<TalkTexts> {
    let own = Speak::new().manage(Tone("softly")).run_in(&cx, "own", ());
    let outer = Speak::new().run_in(&cx, "outer", ());
    let mut texts = own.await?.texts;
    texts.extend(outer.await?.texts);
    Ok(TalkTexts(texts))
}

flow!(Host(Talk) { host -> speak });

#[tokio::test]
async fn a_flow_inside_a_node_has_its_own_values_and_those_of_the_run() {
    let talk = Host::new().manage(Tone("loudly")).manage(Name("Ann"));
    let texts = talk.run(()).await.unwrap().texts;
    assert_eq!(texts, ["softly Ann", "loudly Ann", "loudly Ann"]);
}

/// A number for each run.
struct Number(u32);

#[node(Talk)]
async fn count(number: Managed<Number>) -> TalkTexts {
    TalkTexts(vec![number.0.to_string()])
}

flow!(Count(Talk) { count });

#[node(Talk)]
async fn counts(cx: Context) -> petalflow::Result<TalkTexts> {
    let alone = Count::new().manage(Number(7)).run_in(&cx, "alone", ());
    Ok(TalkTexts(alone.await?.texts))
}

flow!(Counts(Talk) { counts });

#[tokio::test]
async fn a_run_without_values_can_run_a_flow_with_some() {
    assert_eq!(Counts::run(()).await.unwrap().texts, ["7"]);
}
