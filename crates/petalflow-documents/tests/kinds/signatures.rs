//! Signed webhooks: the forms of GitHub, Stripe and Standard Webhooks.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit as _, Mac as _};
use petalflow_documents::kinds::{
    Refusal, TriggerAuth, WebhookRequest, WebhookTriggerConfig, WebhookTriggerNode,
};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::support::settings;

const BODY: &[u8] = br#"{ "paid": true }"#;

fn auth(config: Value) -> TriggerAuth {
    settings(config)
}

fn headers(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn now_s() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("it is after 1970").as_secs()
}

fn signature(secret: &[u8], signed: &[u8]) -> Vec<u8> {
    let mut signer = Hmac::<Sha256>::new_from_slice(secret).expect("every secret has a length");
    signer.update(signed);
    signer.finalize().into_bytes().to_vec()
}

fn stripe_header(secret: &str, time: u64) -> String {
    let signed = [format!("{time}.").as_bytes(), BODY].concat();
    format!(
        "t={time},v1={}",
        hex::encode(signature(secret.as_bytes(), &signed))
    )
}

#[test]
fn a_body_signed_by_github_is_accepted_and_others_are_not() {
    let github =
        auth(json!({ "type": "github_signature", "secret": "It's a Secret to Everybody" }));
    let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let with = |value: &str| headers(&[("X-Hub-Signature-256", value)]);
    assert_eq!(
        github.check_body(&with(right), b"Hello, World!"),
        Ok(()),
        "the example of GitHub's documentation"
    );
    assert_eq!(github.check(&with(right)), Ok(()));
    assert_eq!(github.check(&headers(&[])), Err(Refusal::Signature));
    let wrong = [
        "",
        "sha256=",
        "sha256=zz",
        "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e18",
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e",
        "sha1=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    ];
    for wrong in wrong {
        let checked = github.check_body(&with(wrong), b"Hello, World!");
        assert_eq!(checked, Err(Refusal::Signature), "{wrong}");
    }
    let changed = github.check_body(&with(right), b"Hello, World?");
    assert_eq!(changed, Err(Refusal::Signature));
}

#[test]
fn a_body_signed_by_stripe_is_accepted_within_the_tolerance() {
    let stripe = auth(json!({ "type": "stripe_signature", "secret": "whsec_test" }));
    let check = |header: &str| stripe.check_body(&headers(&[("stripe-signature", header)]), BODY);
    let now = now_s();
    assert_eq!(check(&stripe_header("whsec_test", now)), Ok(()));
    assert_eq!(check(&stripe_header("whsec_test", now - 290)), Ok(()));
    let tolerance = std::time::Duration::from_mins(5);
    for time in [now - 310, now + 310] {
        let expired = check(&stripe_header("whsec_test", time));
        assert_eq!(expired, Err(Refusal::Expired { tolerance }));
    }
    assert_eq!(
        check(&stripe_header("another", now)),
        Err(Refusal::Signature)
    );
    // While a secret is replaced, Stripe signs with both.
    let (old, new) = (stripe_header("old", now), stripe_header("whsec_test", now));
    let new = new.split_once(',').expect("it has two fields").1;
    assert_eq!(check(&format!("{old},{new},v0=00")), Ok(()));
    // The time is signed also.
    let moved = stripe_header("whsec_test", now - 1_000)
        .replace(&format!("t={}", now - 1_000), &format!("t={now}"));
    assert_eq!(check(&moved), Err(Refusal::Signature));
    for wrong in ["", "t=1", "v1=00", "t=x,v1=00", "t=,v1="] {
        assert_eq!(check(wrong), Err(Refusal::Signature), "{wrong}");
    }
    let patient =
        auth(json!({ "type": "stripe_signature", "secret": "whsec_test", "tolerance": "1h" }));
    let late = headers(&[(
        "stripe-signature",
        &stripe_header("whsec_test", now - 3_000),
    )]);
    assert_eq!(patient.check_body(&late, BODY), Ok(()));
}

#[test]
fn a_body_signed_as_standard_webhooks_say_is_accepted() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let secret = b"a secret of some bytes";
    let standard = auth(json!({
        "type": "standard_signature", "secret": format!("whsec_{}", STANDARD.encode(secret)),
    }));
    let now = now_s();
    let signed = |time: u64| {
        let content = [format!("msg_1.{time}.").as_bytes(), BODY].concat();
        format!("v1,{}", STANDARD.encode(signature(secret, &content)))
    };
    let check = |time: u64, signature: &str| {
        let given = headers(&[
            ("webhook-id", "msg_1"),
            ("webhook-timestamp", &time.to_string()),
            ("Webhook-Signature", signature),
        ]);
        standard
            .check(&given)
            .and_then(|()| standard.check_body(&given, BODY))
    };
    assert_eq!(check(now, &signed(now)), Ok(()));
    assert_eq!(
        check(now, &format!("v1a,xx v1,AAAA {}", signed(now))),
        Ok(())
    );
    assert_eq!(check(now + 1, &signed(now)), Err(Refusal::Signature));
    assert!(matches!(
        check(now - 301, &signed(now - 301)),
        Err(Refusal::Expired { .. })
    ));
    let incomplete = headers(&[("webhook-id", "msg_1"), ("webhook-signature", &signed(now))]);
    assert_eq!(standard.check(&incomplete), Err(Refusal::Signature));
}

/// The example of the Standard Webhooks specification's libraries: the same id, time, secret and body give this signature.
#[test]
fn the_signature_of_standard_webhooks_is_that_of_its_libraries() {
    let standard = auth(json!({
        "type": "standard_signature",
        "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "tolerance": "1000000h",
    }));
    let given = headers(&[
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
        ("webhook-timestamp", "1614265330"),
        (
            "webhook-signature",
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
    ]);
    assert_eq!(
        standard.check_body(&given, br#"{"test": 2432232314}"#),
        Ok(())
    );
}

#[test]
fn wrong_settings_of_signatures_are_found_when_the_node_is_made() {
    let problem = |auth: Value| {
        let config: WebhookTriggerConfig = settings(json!({ "auth": auth }));
        let error = WebhookTriggerNode::new(config).expect_err("it is wrong");
        error.to_string()
    };
    assert_eq!(
        problem(json!({ "type": "github_signature", "secret": " " })),
        "`auth.secret`: it is empty"
    );
    assert_eq!(
        problem(json!({ "type": "stripe_signature", "secret": "env:" })),
        "`auth.secret`: it is empty"
    );
    assert_eq!(
        problem(json!({ "type": "standard_signature", "secret": "whsec_not base64" })),
        "`auth.secret`: the secret is not of the form `whsec_BASE64`"
    );
}

#[test]
fn a_trigger_checks_the_signature_and_does_not_store_it() {
    let config: WebhookTriggerConfig =
        settings(json!({ "auth": { "type": "github_signature", "secret": "s3cret" } }));
    let node = WebhookTriggerNode::new(config).expect("it is right");
    assert!(!format!("{node:?}").contains("s3cret"));
    let signed = format!("sha256={}", hex::encode(signature(b"s3cret", BODY)));
    let mut request = WebhookRequest {
        method: "POST".into(),
        body: BODY.to_vec(),
        headers: headers(&[
            ("content-type", "application/json"),
            ("x-hub-signature-256", &signed),
        ]),
        ..WebhookRequest::default()
    };
    assert_eq!(node.authorize(&request), Ok(()));
    let envelope = node.admit(&request).expect("it is signed");
    let stored = envelope
        .get_var("__webhook_request")
        .expect("it has the request");
    let stored = stored.to_string();
    assert!(!stored.contains(&signed), "{stored}");
    request.body.push(b' ');
    let refused = node.admit(&request).expect_err("the body was changed");
    assert_eq!((refused.status(), refused), (401, Refusal::Signature));
}
