//! The routes.

use std::future::ready;

use axum::Router;
use axum::extract::OriginalUri;
use axum::http::HeaderMap;
use axum::middleware::map_response;
use axum::routing::get;

use super::asset::{ASSETS, Asset};
use super::response::{add_security_headers, not_found, redirect_to_page, serve};

/// The routes of the page. Mount them beside the routes of the server with [`Router::nest_service`].
///
/// [`Router::nest`] has no route for `/studio/`. With it, the page is at `/studio/index.html`, and `/studio` redirects there.
///
/// ```
/// use axum::Router;
/// use axum::response::Redirect;
/// use axum::routing::get;
///
/// let app: Router = Router::new()
///     .route("/", get(async || Redirect::temporary("/studio/")))
///     .nest_service("/studio", petalflow_server::studio::router());
/// # let _ = app;
/// ```
pub fn router() -> Router {
    ASSETS
        .iter()
        .fold(Router::new(), add_routes)
        .fallback(not_found)
        .layer(map_response(add_security_headers))
}

fn add_routes(router: Router, asset: &'static Asset) -> Router {
    let etag = asset.etag();
    if !asset.is_page() {
        let respond = move |headers: HeaderMap| ready(serve(asset, &etag, &headers));
        return router.route(&format!("/{}", asset.name), get(respond));
    }
    let respond = move |uri: OriginalUri, headers: HeaderMap| {
        let is_below_the_studio = uri.path().ends_with('/') || uri.path().ends_with("/index.html");
        ready(if is_below_the_studio {
            serve(asset, &etag, &headers)
        } else {
            // The addresses in the page are relative to one that is one folder below the routes of the server.
            redirect_to_page(uri.path())
        })
    };
    let page = get(respond);
    router.route("/", page.clone()).route("/index.html", page)
}
