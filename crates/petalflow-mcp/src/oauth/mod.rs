//! OAuth for clients over HTTP: signing in, and tokens that are renewed.

mod authorization;
mod authorized;
mod credentials;
mod http;
mod options;
mod sign_in;
mod words;

pub(super) use authorization::Authorization;
pub(super) use authorized::{Refused, authorized};
pub use credentials::{OAuthCredentials, OAuthStore};
pub use options::OAuth;
pub use sign_in::SignIn;
pub(super) use words::of_auth;
