//! A document of a public service.

use std::collections::BTreeSet;

use petalflow_openapi::OpenApi;
use petalflow_test_support::{Need, skip};
use serde_json::json;

use crate::service::{Service, call};

/// The npm package `@octokit/openapi` has GitHub's document, with more than a thousand operations.
#[tokio::test]
async fn f44_6_operations_of_github_are_tools() {
    let Some(path) = std::env::var_os("PETALFLOW_TEST_OPENAPI_GITHUB") else {
        return skip(
            Need::Optional,
            "PETALFLOW_TEST_OPENAPI_GITHUB does not name the document of GitHub",
        );
    };
    let service = Service::echo().await;
    let text = std::fs::read_to_string(path).unwrap();
    let api = OpenApi::from_json(&text).unwrap().server(&service.url());
    let all = api.all_operations();
    assert!(all.len() > 1_000, "{}", all.len());
    // It is YAML too, and long.
    let in_yaml = OpenApi::from_yaml(&text).unwrap().all_operations();
    assert_eq!(in_yaml, all);
    let names: BTreeSet<&str> = all.iter().map(|it| &*it.name).collect();
    assert_eq!(names.len(), all.len());

    let whole = api.clone().filter(|_| true).skip_unsupported();
    let (tools, problems) = (whole.tools().unwrap(), whole.problems());
    assert_eq!(tools.len() + problems.len(), all.len());
    assert!(problems.is_empty(), "{problems:?}");
    let asset = json!({ "owner": "a", "repo": "b", "release_id": 7, "name": "a.zip", "body": { "base64": "UEsDBA==" } });
    let upload = "repos_upload-release-asset";
    call(&tools, upload, asset).await.unwrap();
    assert_eq!(service.only().bytes, b"PK\x03\x04");
    let issues = api.filter(|operation| operation.has_tag("issues"));
    let tools = issues.skip_unsupported().tools().unwrap();
    let arguments = json!({ "owner": "a/b", "repo": "c", "state": "closed", "per_page": 3 });
    let echoed = call(&tools, "issues_list-for-repo", arguments)
        .await
        .unwrap();
    assert_eq!(
        echoed["target"],
        "/repos/a%2Fb/c/issues?state=closed&per_page=3"
    );
}
