//! The routes.

use std::future::ready;

use axum::Router;
use axum::extract::OriginalUri;
use axum::http::HeaderMap;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;

use crate::asset::{ASSETS, Asset};
use crate::response::{add_security_headers, not_found, redirect_to_page, serve};

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
///     .nest_service("/studio", petalflow_studio::router());
/// # let _ = app;
/// ```
pub fn router() -> Router {
    let routes = ASSETS.iter().fold(Router::new(), |router, asset| {
        let respond =
            move |uri: OriginalUri, headers: HeaderMap| ready(respond(asset, uri.path(), &headers));
        router.route(&asset.path(), get(respond))
    });
    // A redirect leads here from an address without a slash at the end.
    let page = ASSETS.iter().find(|asset| asset.is_page());
    let routes = page.into_iter().fold(routes, |router, page| {
        let respond = move |headers: HeaderMap| ready(serve(page, &headers));
        router.route("/index.html", get(respond))
    });
    routes
        .fallback(not_found)
        .layer(map_response(add_security_headers))
}

fn respond(asset: &'static Asset, path: &str, headers: &HeaderMap) -> Response {
    // The relative addresses in the page need an address that is one folder below the routes of the server.
    if asset.is_page() && !path.ends_with('/') {
        return redirect_to_page(path);
    }
    serve(asset, headers)
}
