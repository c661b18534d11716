//! Mistakes in the settings.

use petalflow::checkpoint::InMemoryStore;
use petalflow_documents::Services;
use petalflow_documents::builder::EnvelopeBuilder;
use petalflow_documents::document::ReadGraph;
use petalflow_documents::kinds::{NoopNode, TriggerAuth, WebhookTriggerConfig, WebhookTriggerNode};
use petalflow_server::{Server, SetupError};
use serde_json::json;

use crate::kit::{Work, builder, graph, work};

fn trigger() -> WebhookTriggerNode {
    WebhookTriggerNode::new(WebhookTriggerConfig::default()).expect("the default is right")
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let plain = EnvelopeBuilder::new("plain").add_node("a", NoopNode);
    let plain = plain.build().expect("it is a graph");
    let hook = EnvelopeBuilder::new("hook").add_node("in", trigger());
    let hook = hook.build().expect("it is a graph");
    let errors = Server::builder(&InMemoryStore::new())
        .document(graph(json!({}), &[work()]), &Services::new())
        .webhooks("plain", &plain)
        .webhooks("hook", &hook)
        .webhooks("hook", &hook)
        .webhooks("a/b", &hook)
        .webhooks("..", &hook)
        .build()
        .expect_err("they are wrong");
    let texts: Vec<String> = errors.errors().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "graph `orders` cannot be loaded:\n  node `work`: there is no function for it: add one with `Services::function`",
            "graph `plain` has no webhook trigger: add a node of type `webhook_trigger`, and begin the graph with it",
            "there are two triggers `in` of graph `hook`: rename one",
            "`a/b` cannot be part of an address: use at most 128 ASCII letters, digits, `-`, `_`, `.` and `~`",
            "`..` cannot be part of an address: use at most 128 ASCII letters, digits, `-`, `_`, `.` and `~`",
        ]
    );
    assert!(
        errors
            .to_string()
            .starts_with("the server cannot be built:\n  graph `orders`")
    );
    // What `main` prints.
    assert_eq!(format!("{errors:?}"), errors.to_string());
}

#[test]
fn p181_a_token_that_is_not_set_is_found_at_the_start() {
    let token = "env:PETALFLOW_NO_SUCH_VARIABLE";
    let auth = json!({ "auth": { "type": "header_token", "token": token } });
    let threads = TriggerAuth::HeaderToken {
        header: "x".into(),
        token: token.into(),
    };
    let errors = builder(&InMemoryStore::new(), auth, &Work::new().counting())
        .threads(threads)
        .build()
        .expect_err("it is not set");
    let no_token = |what: &str| SetupError::NoToken {
        what: what.into(),
        variable: "PETALFLOW_NO_SUCH_VARIABLE".into(),
    };
    let expected = [
        no_token("trigger `incoming` of graph `orders`"),
        no_token("the address of threads"),
    ];
    assert_eq!(errors.errors(), expected);
}

#[test]
fn an_empty_token_is_refused() {
    for token in ["", "  "] {
        let threads = TriggerAuth::HeaderToken {
            header: "x".into(),
            token: token.into(),
        };
        let errors = builder(&InMemoryStore::new(), json!({}), &Work::new().counting())
            .threads(threads)
            .build()
            .expect_err("everyone would pass");
        let what = "the address of threads".into();
        assert_eq!(errors.errors(), [SetupError::EmptyToken { what }]);
    }
}

#[test]
fn tokens_are_not_printed() {
    let builder = builder(
        &InMemoryStore::new(),
        crate::kit::with_token(),
        &Work::new().counting(),
    );
    let threads = TriggerAuth::HeaderToken {
        header: "x".into(),
        token: "s3cret".into(),
    };
    let builder = builder.threads(threads);
    let settings = format!("{builder:?}");
    let server = format!("{:?}", builder.build().expect("it is right"));
    for printed in [settings, server] {
        let shows = printed.contains("secret") || printed.contains("s3cret");
        assert!(!shows, "{printed}");
    }
}

/// The settings of a read graph are used as they are: a wrong method in them is found, which the definition does not have.
#[test]
fn settings_that_were_read_are_not_read_again_for_each_trigger() {
    let noop = json!({ "id": "work", "type": "noop" });
    let mut read = ReadGraph::from(graph(json!({}), &[noop]));
    let right = Server::builder(&InMemoryStore::new()).document(read.clone(), &Services::new());
    assert!(right.build().is_ok());
    read.settings[0].insert("methods".into(), json!(["NO SUCH METHOD"]));
    let wrong = Server::builder(&InMemoryStore::new()).document(read, &Services::new());
    assert!(wrong.build().is_err());
}

#[test]
fn secrets_are_checked_at_the_start_and_threads_cannot_be_signed() {
    let secret = "env:PETALFLOW_NO_SUCH_VARIABLE";
    let auth = json!({ "auth": { "type": "stripe_signature", "secret": secret } });
    let threads: TriggerAuth =
        serde_json::from_value(json!({ "type": "github_signature", "secret": "s" }))
            .expect("it is a setting");
    let errors = builder(&InMemoryStore::new(), auth, &Work::new().counting())
        .threads(threads)
        .build()
        .expect_err("there is no secret");
    assert_eq!(
        errors.to_string(),
        "the server cannot be built:\n  trigger `incoming` of graph `orders` has no token or secret: set the environment \
         variable `PETALFLOW_NO_SUCH_VARIABLE`\n  the addresses of threads cannot ask for a signature: give `.threads(..)` \
         a token, `TriggerAuth::HeaderToken`"
    );
}
