//! OAuth for clients over HTTP: signing in, and tokens that are renewed.

mod authorization;
mod authorized;
mod credentials;
mod http;
mod options;
mod words;

pub(super) use authorization::Authorization;
pub(super) use authorized::{Refused, authorized};
pub use credentials::{OAuthCredentials, OAuthStore};
pub use options::OAuth;
pub(super) use words::of_auth;
