//! Signatures of webhooks: HMAC with SHA-256 over the body, in the forms that services send.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::time::Duration;

use super::Refusal;

/// What signs and checks: the secret is not empty.
type Signer = Hmac<Sha256>;

/// Checks `X-Hub-Signature-256: sha256=HEX`, as GitHub sends it.
pub(super) fn github(header: &str, secret: &str, body: &[u8]) -> Result<(), Refusal> {
    let given = header.trim().strip_prefix("sha256=");
    let given = given.and_then(|given| hex::decode(given).ok());
    let given = given.ok_or(Refusal::Signature)?;
    is_one_of(&signed(secret.as_bytes(), &[body])?, &[given])
}

/// Checks `Stripe-Signature: t=SECONDS,v1=HEX,v1=HEX`, as Stripe sends it. While a secret is replaced, there are two.
pub(super) fn stripe(
    header: &str,
    secret: &str,
    body: &[u8],
    clock: &Clock,
) -> Result<(), Refusal> {
    let fields = header.split(',').filter_map(|field| field.split_once('='));
    let fields = fields.map(|(name, value)| (name.trim(), value.trim()));
    let time = fields.clone().find(|(name, _)| *name == "t");
    let (_, time) = time.ok_or(Refusal::Signature)?;
    let given = fields.filter(|(name, _)| *name == "v1");
    let given: Vec<_> = given
        .filter_map(|(_, value)| hex::decode(value).ok())
        .collect();
    let parts = [time.as_bytes(), b".", body];
    is_one_of(&signed(secret.as_bytes(), &parts)?, &given)?;
    clock.check(time)
}

/// The headers of a request that is signed as the specification Standard Webhooks says.
pub(super) struct StandardHeaders<'a> {
    pub(super) id: &'a str,
    pub(super) time: &'a str,
    pub(super) signature: &'a str,
}

/// Checks `webhook-signature: v1,BASE64 v1,BASE64`, as the specification Standard Webhooks says. The secret is
/// `whsec_BASE64`.
pub(super) fn standard(
    headers: &StandardHeaders<'_>,
    secret: &str,
    body: &[u8],
    clock: &Clock,
) -> Result<(), Refusal> {
    let secret = standard_secret(secret).ok_or(Refusal::Secret)?;
    let given = headers.signature.split_ascii_whitespace();
    let given = given.filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
    let given: Vec<_> = given.collect();
    let parts = [
        headers.id.as_bytes(),
        b".",
        headers.time.as_bytes(),
        b".",
        body,
    ];
    is_one_of(&signed(&secret, &parts)?, &given)?;
    clock.check(headers.time)
}

/// The bytes of a secret of the form `whsec_BASE64`.
pub(super) fn standard_secret(secret: &str) -> Option<Vec<u8>> {
    let base64 = secret.strip_prefix("whsec_").unwrap_or(secret);
    let bytes = STANDARD.decode(base64).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

/// The time at which a request is checked.
pub(super) struct Clock {
    pub(super) now_s: u64,
    /// How far the time of a signature may be from now.
    pub(super) tolerance: Duration,
}

impl Clock {
    /// Checks the time of a signature, in seconds since 1970. A sender whose clock is ahead has a time in the future.
    fn check(&self, time: &str) -> Result<(), Refusal> {
        let time: u64 = time.parse().map_err(|_| Refusal::Signature)?;
        let tolerance = self.tolerance;
        let distance = Duration::from_secs(self.now_s.abs_diff(time));
        (distance <= tolerance)
            .then_some(())
            .ok_or(Refusal::Expired { tolerance })
    }
}

fn signed(secret: &[u8], parts: &[&[u8]]) -> Result<Signer, Refusal> {
    let mut signer = Signer::new_from_slice(secret).map_err(|_| Refusal::Secret)?;
    for part in parts {
        signer.update(part);
    }
    Ok(signer)
}

/// Whether one of these signatures is right. The time of a comparison does not depend on how much of it is right.
fn is_one_of(signer: &Signer, given: &[Vec<u8>]) -> Result<(), Refusal> {
    let mut given = given.iter();
    let is_right = |given: &Vec<u8>| signer.clone().verify_slice(given).is_ok();
    given.any(is_right).then_some(()).ok_or(Refusal::Signature)
}
