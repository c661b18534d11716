//! Routes.

use petalflow::node::{Effects, Output, RouteChoice, RouteIdx, Routing};
use petalflow::prelude::*;

#[state]
struct Essay {
    draft: String,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Topic(String);

// Behind an alias it is still a list.
type Topics = Vec<Topic>;

#[derive(Route)]
enum Plan {
    Write,
    One(Topic),
    Each(Topics),
    r#Box,
}

fn effects(output: impl Output<Essay>) -> Effects<Essay> {
    let mut effects = Effects::default();
    output.apply(&mut effects).unwrap();
    effects
}

#[test]
fn variants_are_routes_by_name() {
    assert_eq!(Plan::NAMES, ["Write", "One", "Each", "Box"]);
    assert_eq!(Plan::PAYLOADS, [false, true, true, false]);
    assert_eq!((Plan::Write.index(), Plan::Box.index()), (0, 3));
}

#[test]
fn a_payload_is_delivered_and_a_list_as_a_list() {
    assert_eq!(
        effects(Plan::Write).chosen(),
        RouteChoice::One(RouteIdx::new(0))
    );
    assert!(effects(Plan::Write).deliveries().is_empty());
    let one = effects(Plan::One(Topic("petals".into())));
    assert_eq!(one.deliveries()[0].0, Some(RouteIdx::new(1)));
    assert_eq!(
        one.deliveries()[0].1.get::<Topic>(None),
        Some(&Topic("petals".into()))
    );
    let each = effects(Plan::Each(vec![Topic::default(), Topic("b".into())]));
    assert_eq!(each.deliveries()[0].1.len(), 2);
    assert_eq!(
        each.deliveries()[0].1.get::<Topic>(Some(1)),
        Some(&Topic("b".into()))
    );
    assert_eq!(
        each.deliveries()[0].1.get::<Topics>(None).map(Vec::len),
        Some(2)
    );
}
