//! Functions and values as nodes.

use std::marker::PhantomData;
use std::time::Duration;

use petalflow::node::{Extract, Key, Node, Output, Scope};
use petalflow::policy::{Policy, Retry};
use petalflow::prelude::*;
use petalflow::state::KeySet;
use petalflow::{BoxError, State};

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
    subtitle: Option<String>,
    #[key(sum)]
    r#type: u32,
}

#[node(Essay)]
async fn write(topic: &str, notes: &[String]) -> EssayDraft {
    EssayDraft(format!("{topic}: {}", notes.join(" ")))
}

#[node(Essay)]
#[allow(clippy::unnecessary_wraps)]
fn title(
    draft: &str,
    subtitle: Option<&str>,
    r#type: &u32,
) -> Result<(EssaySubtitle, EssayType), std::fmt::Error> {
    let subtitle = subtitle.unwrap_or(draft).to_string();
    Ok((EssaySubtitle(Some(subtitle)), EssayType(*r#type)))
}

#[node(Essay)]
fn look(essay: &Essay) -> Option<EssayNotes> {
    (!essay.draft.is_empty()).then(|| EssayNotes(vec![essay.draft.clone()]))
}

#[node(Essay)]
fn nothing() {}

/// The number of the superstep.
struct Superstep(u64);

impl Extract for Superstep {
    fn extract(scope: &Scope) -> Result<Self, BoxError> {
        Ok(Superstep(scope.superstep()))
    }
}

#[node(Essay, name = "Polish", retry = 3, timeout = 30s, idle = "500ms")]
async fn polish(mut superstep: Superstep, #[key(EssayNotes)] old: &Vec<String>) -> EssayType {
    superstep.0 += old.len() as u64;
    EssayType(u32::try_from(superstep.0).unwrap())
}

#[node(Essay, retry = Retry::attempts(2).first(Duration::from_millis(1)))]
async fn retried() {}

#[node(Essay)]
async fn research(#[item] topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.into()])
}

/// Writes what it reads in capitals, for any keys.
struct Shout<K>(PhantomData<fn() -> K>);

#[node(K::State)]
impl<K: Key<Value = Vec<String>>> Shout<K> {
    async fn run(&self, #[key(K)] text: &[String]) -> K {
        K::new(text.iter().map(|text| text.to_uppercase()).collect())
    }
}

fn reads<S: State, N: Node<S>>() -> Vec<&'static str> {
    N::READS.iter().map(|key| S::KEYS[key].name).collect()
}

#[tokio::test]
async fn a_node_is_still_a_function() {
    assert_eq!(write("petals", &[]).await.0, "petals: ");
    assert_eq!(
        title("a", Some("b"), &1).unwrap().0,
        EssaySubtitle(Some("b".into()))
    );
    assert_eq!(
        Shout::<EssayNotes>(PhantomData).run(&["a".into()]).await.0,
        ["A"]
    );
}

#[test]
fn references_read_the_keys_of_their_names() {
    assert_eq!(reads::<Essay, write>(), ["topic", "notes"]);
    assert_eq!(reads::<Essay, title>(), ["draft", "subtitle", "type"]);
    assert_eq!(reads::<Essay, polish>(), ["notes"]);
    assert_eq!(reads::<Essay, Shout<EssayNotes>>(), ["notes"]);
    assert!(
        reads::<Essay, look>().is_empty(),
        "the whole state names no key"
    );
}

#[test]
fn the_return_type_determines_the_writes() {
    type Of<N> = <N as Node<Essay>>::Output;
    let keys = |set: KeySet| {
        set.iter()
            .map(|key| Essay::KEYS[key].name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(<Of<title> as Output<Essay>>::MUST_WRITE),
        ["subtitle", "type"]
    );
    assert_eq!(keys(<Of<look> as Output<Essay>>::MAY_WRITE), ["notes"]);
    assert_eq!(keys(<Of<look> as Output<Essay>>::MUST_WRITE), [""; 0]);
    assert_eq!(keys(<Of<nothing> as Output<Essay>>::MAY_WRITE), [""; 0]);
}

#[test]
fn options_are_the_policy_of_the_node() {
    assert_eq!(
        (<polish as Node<Essay>>::NAME, <write as Node<Essay>>::NAME),
        ("Polish", "write")
    );
    let policy = <polish as Node<Essay>>::POLICY;
    let attempts = |policy: Policy| {
        policy
            .retry
            .iter()
            .map(Retry::max_attempts)
            .collect::<Vec<_>>()
    };
    assert_eq!(attempts(policy), [3]);
    assert_eq!(
        (policy.timeout, policy.idle),
        (
            Some(Duration::from_secs(30)),
            Some(Duration::from_millis(500))
        )
    );
    assert_eq!(attempts(<retried as Node<Essay>>::POLICY), [2]);
    assert!(<write as Node<Essay>>::POLICY.is_none());
}

#[test]
fn an_item_is_owned_in_the_type_of_the_node() {
    fn takes<T, N: node::AcceptsItem<T> + Node<Essay, Item = T>>() -> bool {
        N::TAKES_ITEM
    }
    fn takes_any<N: Node<Essay>>() -> bool {
        N::TAKES_ITEM
    }
    assert!(takes::<String, research>());
    assert!(!takes_any::<write>());
}

#[test]
fn macros_may_make_nodes() {
    macro_rules! node {
        ($name:ident, $state:ty, $key:ident: $read:ty => $output:ty, $value:expr) => {
            #[node($state)]
            async fn $name($key: $read, notes: &[String]) -> $output {
                let _ = notes;
                $value
            }
        };
    }
    node!(one, Essay, draft: &str => (EssayDraft, EssayType), (EssayDraft(draft.into()), EssayType(0)));
    node!(whole, Essay, essay: &Essay => petalflow::Result<EssayDraft>, Ok(EssayDraft(essay.draft.clone())));
    assert_eq!(reads::<Essay, one>(), ["draft", "notes"]);
    assert_eq!(reads::<Essay, whole>(), ["notes"]);
    assert!(<one as Node<Essay>>::FUNCTION.is_some() && <whole as Node<Essay>>::FUNCTION.is_some());
}
