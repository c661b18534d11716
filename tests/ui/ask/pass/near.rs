//! Correct questions that are similar to those in `fail`.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, name = "review-draft", key = id, expires = 3d, default = Review::Approve)]
struct ReviewDraft {
    id: u64,
    draft: String,
}

#[derive(Serialize, Ask)]
#[ask(answer = std::collections::BTreeMap<String, Vec<u8>>)]
#[ask(key = 0, expires = "1.5 w", default = Default::default(),)]
struct Numbered(u32);

#[derive(Serialize, Ask)]
#[ask(answer = (), crate = ::petalflow)]
enum Ping {
    Once,
    Twice { times: u8 },
}

// The trait and the derive macro share their name.
fn name<A: Ask>(_: &A) -> &'static str {
    A::NAME
}

#[test]
fn questions_have_names_keys_and_expiries() {
    let draft = ReviewDraft {
        id: 7,
        draft: "petals".into(),
    };
    assert_eq!((name(&draft), &*draft.key()), ("review-draft", "7"));
    let expiry = draft.expires().unwrap();
    assert_eq!(expiry.after.as_secs(), 3 * 24 * 3600);
    assert!(matches!(expiry.answer, Review::Approve));
    assert_eq!((name(&Numbered(3)), &*Numbered(3).key()), ("Numbered", "3"));
    assert!(Ping::Once.key().is_empty() && Ping::Twice { times: 2 }.expires().is_none());
    let _ = (&draft.draft, Review::Reject(String::new()));
}
