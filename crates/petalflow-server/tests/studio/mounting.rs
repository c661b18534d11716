//! The studio as a part of another router.

use axum::Router;
use axum::http::{Method, StatusCode};

use super::kit::{request, send};

fn as_service() -> Router {
    Router::new().nest_service("/studio", petalflow_server::studio::router())
}

fn nested() -> Router {
    Router::new().nest("/studio", petalflow_server::studio::router())
}

#[tokio::test]
async fn the_page_and_its_files_are_below_the_path() {
    for path in ["/studio/", "/studio/studio.css", "/studio/main.js"] {
        let answer = send(as_service(), request(Method::GET, path)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
    let missing = request(Method::GET, "/studio/missing.js");
    let answer = send(as_service(), missing).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(answer.text.starts_with("The studio has no such file."));
}

#[tokio::test]
async fn a_path_without_a_slash_at_the_end_redirects_to_the_page() {
    for app in [as_service(), nested()] {
        let answer = send(app.clone(), request(Method::GET, "/studio")).await;
        assert_eq!(answer.status, StatusCode::TEMPORARY_REDIRECT);
        assert_eq!(answer.header("location"), "./studio/index.html");
        assert_eq!(answer.header("x-frame-options"), "DENY");

        let page = request(Method::GET, "/studio/index.html");
        let answer = send(app, page).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    }
}

#[tokio::test]
async fn the_path_may_have_several_parts() {
    let app = Router::new().nest("/team", as_service());
    let answer = send(app.clone(), request(Method::GET, "/team/studio")).await;
    assert_eq!(answer.header("location"), "./studio/index.html");
    let answer = send(app, request(Method::GET, "/team/studio/")).await;
    assert_eq!(answer.status, StatusCode::OK);
}
