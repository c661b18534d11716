//! The studio: a web page on which people see and steer the flows, threads and runs of a petalflow server.
//!
//! ```
//! use axum::Router;
//!
//! // The routes of the server: `/flows`, `/threads` and what is below them.
//! let api = Router::new();
//! // The page is at `/studio/`.
//! let app: Router = api.nest_service("/studio", petalflow_server::studio::router());
//! # let _ = app;
//! ```
//!
//! The page requests `../flows` and `../threads`, relative to its own address. So the studio is mounted beside the routes of
//! the server, under any name.
//!
//! # Views
//!
//! | view | what it has |
//! | --- | --- |
//! | flows | each flow with its graph, and a form that starts a thread, made from the JSON Schema of the input |
//! | threads | a table with filters by flow, status, label and the start of the id |
//! | thread | the graph while a run moves through it, the supersteps with tasks and attempts, open questions and approvals, and buttons to resume, cancel, copy and delete |
//! | history | the checkpoints, the state of each, what changed, and buttons to fork and to edit keys |
//! | schedules | when each schedule begins threads, and buttons to pause it, to continue it, and to begin a thread now; shown if the server has schedules |
//! | compare | two checkpoints, or two threads, side by side |
//! | chat | the messages of an agent or of a conversation, and a field for the next one |
//!
//! # Token
//!
//! The page itself has no secrets and needs no token. A person opens it as `/studio/#token=...`. A browser does not send this
//! part of an address to the server. The page removes the token from the address, keeps it in the session storage of the tab,
//! and sends it with each request in the header `X-PetalFlow-Token`. Without a token, the page asks for it when the server
//! answers with 401.
//!
//! # Browsers
//!
//! The page needs a browser of 2024 or later: Chrome 123, Firefox 124, Safari 17.5. It is made for wide and narrow windows, from
//! 360 pixels, for light and dark themes, for the keyboard and for screen readers.
//!
//! # Security
//!
//! * All assets are in the program. The page loads nothing from other hosts.
//! * `Content-Security-Policy` allows only scripts and styles of the studio: no inline code, no `eval`, no frames.
//! * What the server sends is inserted as text, so HTML in a message or in a state is shown and not interpreted.

mod asset;
mod response;
mod router;

pub use router::router;
