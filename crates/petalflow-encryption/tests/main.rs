//! The promises of both protections.

mod export;
mod store;

use petalflow::checkpoint::StoreError;
use petalflow_encryption::{Encryption, KeyError, Protection, SecretKey, Signing};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A key whose secret is this byte, 32 times.
fn key(byte: u8) -> SecretKey {
    SecretKey::from_bytes([byte; 32])
}

/// One of each, with the same secret.
fn protections(byte: u8) -> [Box<dyn Protection>; 2] {
    [
        Box::new(Signing::new(key(byte))),
        Box::new(Encryption::new(key(byte))),
    ]
}

/// Why bytes are refused.
fn refusal(protection: &dyn Protection, context: &[u8], bytes: &[u8]) -> String {
    match protection.open(context, bytes.to_vec()) {
        Err(StoreError::Protection(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sealing_adds_as_many_bytes_as_documented() {
    for (protection, more) in protections(1).iter().zip([55, 63]) {
        let sealed = protection.seal(b"here", b"a payload".to_vec()).unwrap();
        assert_eq!(sealed.len(), b"a payload".len() + more);
    }
}

#[test]
fn a_payload_changed_by_any_one_bit_is_refused() {
    for protection in protections(1) {
        let sealed = protection.seal(b"here", b"a payload".to_vec()).unwrap();
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[at] ^= 1 << bit;
                refusal(&*protection, b"here", &changed);
            }
        }
    }
}

#[test]
fn a_payload_that_was_cut_or_lengthened_is_refused() {
    for protection in protections(1) {
        let sealed = protection.seal(b"here", b"a payload".to_vec()).unwrap();
        for end in 0..sealed.len() {
            refusal(&*protection, b"here", &sealed[..end]);
            refusal(&*protection, b"here", &sealed[end + 1..]);
        }
        refusal(&*protection, b"here", &[&sealed[..], &[0]].concat());
    }
}

#[test]
fn each_refusal_says_what_is_wrong() {
    let [signing, encryption] = protections(1);
    let sealed = signing.seal(b"here", b"a payload".to_vec()).unwrap();
    let changed = |at: usize, byte: u8| {
        let mut changed = sealed.clone();
        changed[at] = byte;
        changed
    };
    let id = key(1).id().to_string();
    let unfit = format!(
        "its seal does not fit: it was changed, or belongs to another place, or was sealed with another key that has the id `{id}`"
    );
    let cases: [(&[u8], &str); 9] = [
        (
            b"",
            "it is not sealed, and this program reads only what was signed",
        ),
        (
            b"\x01plain",
            "it is not sealed, and this program reads only what was signed",
        ),
        (&sealed[..4], "it is sealed, but its end is missing"),
        (
            &sealed[..7 + id.len() + 31],
            "it is sealed, but its end is missing",
        ),
        (
            &changed(4, 9),
            "it is sealed in form 9, and this program knows form 1: it was changed, or made by a newer petalflow",
        ),
        (
            &changed(5, 7),
            "it is sealed by an algorithm of number 7, and this program reads only what was signed",
        ),
        (&changed(7, b' '), "its key has an id that no key can have"),
        (&changed(6, 0), "its key has an id that no key can have"),
        (&changed(7 + id.len(), b'A'), &unfit),
    ];
    for (bytes, problem) in cases {
        assert_eq!(refusal(&*signing, b"here", bytes), problem);
    }
    assert_eq!(refusal(&*signing, b"there", &sealed), unfit);
    assert_eq!(
        refusal(&*encryption, b"here", &sealed),
        "it is signed, and this program reads only what was encrypted"
    );
}

#[test]
fn a_payload_does_not_choose_how_it_is_checked() {
    let [signing, encryption] = protections(1);
    let signed = signing.seal(b"here", b"a payload".to_vec()).unwrap();
    let encrypted = encryption.seal(b"here", b"a payload".to_vec()).unwrap();
    refusal(&*encryption, b"here", &signed);
    refusal(&*signing, b"here", &encrypted);
    // Also not when it claims to be what is expected. The secret is the same, the derived keys are not.
    let claimed = |mut bytes: Vec<u8>, code: u8| {
        bytes[5] = code;
        bytes
    };
    refusal(&*encryption, b"here", &claimed(signed, 2));
    refusal(&*signing, b"here", &claimed(encrypted, 1));
}

#[test]
fn keys_are_changed_without_losing_what_was_sealed() {
    let seal = |protection: &dyn Protection| protection.seal(b"here", b"old".to_vec()).unwrap();
    let old: [Box<dyn Protection>; 2] = protections(1);
    let without: [Box<dyn Protection>; 2] = protections(2);
    let with: [Box<dyn Protection>; 2] = [
        Box::new(Signing::new(key(2)).also_accept(key(1)).unwrap()),
        Box::new(Encryption::new(key(2)).also_accept(key(1)).unwrap()),
    ];
    for ((old, without), with) in old.iter().zip(&without).zip(&with) {
        let sealed = seal(&**old);
        assert_eq!(with.open(b"here", sealed.clone()).unwrap(), b"old");
        assert_eq!(
            refusal(&**without, b"here", &sealed),
            format!(
                "it is sealed with the key `{}`, and this program has only `{}`: add the key with `also_accept`",
                key(1).id(),
                key(2).id()
            )
        );
        // The newest key seals, so a reader with only that key reads what is written now.
        let sealed = seal(&**with);
        assert_eq!(without.open(b"here", sealed.clone()).unwrap(), b"old");
        refusal(&**old, b"here", &sealed);
    }
}

#[test]
fn a_ring_holds_an_id_once() {
    let named = |byte| key(byte).with_id("essays").unwrap();
    // The same key twice is one key.
    Signing::new(key(1)).also_accept(key(1)).unwrap();
    Encryption::new(named(1)).also_accept(named(1)).unwrap();
    let other = key(2);
    let errors = [
        Signing::new(named(1)).also_accept(named(2)).unwrap_err(),
        Encryption::new(named(1)).also_accept(named(2)).unwrap_err(),
        Signing::new(other)
            .also_accept(named(1))
            .and_then(|ring| ring.also_accept(named(2)))
            .unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(&error, KeyError::SameId { id } if id == "essays"));
    }
}

#[test]
fn another_key_of_the_same_id_does_not_open() {
    let named = |byte| key(byte).with_id("essays").unwrap();
    let sealed = Signing::new(named(1)).seal(b"", vec![]).unwrap();
    let problem = refusal(&Signing::new(named(2)), b"", &sealed);
    assert!(
        problem.ends_with("another key that has the id `essays`"),
        "{problem}"
    );
}

#[test]
fn debug_shows_only_ids() {
    let named = key(1).with_id("essays").unwrap();
    let signing = Signing::new(named.clone()).also_accept(key(7)).unwrap();
    assert_eq!(
        format!("{signing:?}"),
        r#"Signing(["essays", "73a2c628fd9d70fa"])"#
    );
    assert_eq!(
        format!("{:?}", Encryption::new(named)),
        r#"Encryption(["essays"])"#
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_payload_opens_only_in_its_own_context(
        payload in vec(any::<u8>(), 0..300),
        context in vec(any::<u8>(), 0..100),
        elsewhere in vec(any::<u8>(), 0..100),
        moved in any::<Index>(),
    ) {
        for (protection, tag) in protections(1).iter().zip([32, 16]) {
            let sealed = protection.seal(&context, payload.clone()).unwrap();
            prop_assert_eq!(protection.open(&context, sealed.clone()).unwrap(), payload.clone());
            if elsewhere != context {
                refusal(&**protection, &elsewhere, &sealed);
            }
            // Nor where bytes have moved between the context and the payload: the border between them is sealed, too.
            let border = moved.index(context.len() + 1);
            if border < context.len() {
                let (here, rest) = context.split_at(border);
                let start = sealed.len() - payload.len() - tag;
                let longer = [&sealed[..start], rest, &sealed[start..]].concat();
                refusal(&**protection, here, &longer);
            }
        }
    }

    #[test]
    fn damaged_payloads_are_refused(
        flips in vec((any::<Index>(), 1u8..), 0..6),
        cut in any::<Index>(),
        more in vec(any::<u8>(), 0..6),
    ) {
        for protection in protections(8) {
            let mut bytes = protection.seal(b"here", b"a payload".to_vec()).unwrap();
            for (at, mask) in &flips {
                let at = at.index(bytes.len());
                bytes[at] ^= mask;
            }
            bytes.splice(cut.index(bytes.len() + 1).., more.iter().copied());
            if let Ok(payload) = protection.open(b"here", bytes) {
                prop_assert_eq!(payload, b"a payload");
            }
        }
    }

    #[test]
    fn random_bytes_are_refused(bytes in vec(any::<u8>(), 0..300), mark in any::<bool>(), code in 0u8..4) {
        let id = key(1).id().to_string();
        let header = [&b"\xc1PFS\x01"[..], &[code, 16], id.as_bytes()].concat();
        let bytes = if mark { [header, bytes].concat() } else { bytes };
        for protection in protections(1) {
            refusal(&*protection, b"here", &bytes);
        }
    }
}
