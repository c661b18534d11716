//! Which credentials an operation is sent with.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use petalflow::BoxError;
use serde::Deserialize;
use serde_json::Value;

use super::credential::{Credential, Kind};
use super::document::{Document, read};
use super::secrets::Secrets;

/// A security scheme of a document.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Scheme {
    #[serde(rename = "apiKey")]
    ApiKey {
        name: String,
        #[serde(rename = "in")]
        location: KeyLocation,
    },
    #[serde(rename = "http")]
    Http { scheme: String },
    #[serde(rename = "oauth2", alias = "openIdConnect")]
    Token {},
    #[serde(rename = "mutualTLS")]
    Certificate {},
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeyLocation {
    Query,
    Header,
    Cookie,
}

/// A credential and where it is sent.
#[derive(Clone)]
pub(super) struct Placed {
    scheme: String,
    credential: Credential,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Header(String),
    Query(String),
    Cookie(String),
    Bearer,
    Basic,
}

/// A credential as a part of a request.
pub(super) enum Part {
    Header { name: String, value: String },
    Query { name: String, value: String },
    Cookie { name: String, value: String },
}

/// The credentials by the names of their security schemes.
pub(super) type Credentials = BTreeMap<String, Credential>;

/// The names of the security schemes of the document.
pub(super) fn schemes(document: &Document) -> Vec<&str> {
    let schemes = document.root().pointer("/components/securitySchemes");
    let schemes = schemes.and_then(Value::as_object).into_iter().flatten();
    schemes.map(|(name, _)| name.as_str()).collect()
}

/// Where the credential is sent, or why it does not fit the scheme.
pub(super) fn place(
    document: &Document,
    scheme: &str,
    credential: &Credential,
) -> Result<Placed, String> {
    let schemes = document.root().pointer("/components/securitySchemes");
    let value = schemes.and_then(|schemes| schemes.get(scheme));
    let value = value.ok_or(
        "the document does not describe this scheme in `components/securitySchemes`: add it",
    )?;
    let described: Scheme = read(document.resolve(value)?, "the security scheme")?;
    let is_basic = matches!(credential.0, Kind::Basic { .. });
    let place = match described {
        Scheme::ApiKey { name, location } => match location {
            KeyLocation::Query => Place::Query(name),
            KeyLocation::Header => Place::Header(name),
            KeyLocation::Cookie => Place::Cookie(name),
        },
        Scheme::Http { scheme } if scheme.eq_ignore_ascii_case("bearer") => Place::Bearer,
        Scheme::Http { scheme } if scheme.eq_ignore_ascii_case("basic") => Place::Basic,
        Scheme::Http { scheme } => {
            return Err(format!(
                "the scheme `{scheme}` of HTTP is not supported: `bearer` and `basic` are"
            ));
        }
        Scheme::Token {} => Place::Bearer,
        Scheme::Certificate {} => {
            return Err("certificates of clients (`mutualTLS`) are not supported".into());
        }
    };
    match (&place, is_basic) {
        (Place::Basic, false) => {
            Err("it needs a user and a password: give `Credential::basic`".into())
        }
        (Place::Basic, true) | (_, false) => Ok(Placed {
            scheme: scheme.into(),
            credential: credential.clone(),
            place,
        }),
        (_, true) => Err("it needs a token: give `Credential::token`".into()),
    }
}

/// The credentials for an operation: those of the first requirement for which all are there. None if the operation needs none.
pub(super) fn required(
    document: &Document,
    operation: &Value,
    credentials: &Credentials,
) -> Result<Vec<Placed>, String> {
    let root = document.root().get("security");
    let Some(Value::Array(requirements)) = operation.get("security").or(root) else {
        return Ok(Vec::new());
    };
    let names = |requirement: &Value| -> Vec<String> {
        let names = requirement.as_object().into_iter().flatten();
        names.map(|(name, _)| name.clone()).collect()
    };
    let mut is_optional = requirements.is_empty();
    for requirement in requirements {
        let names = names(requirement);
        is_optional |= names.is_empty();
        if !names.is_empty() && names.iter().all(|name| credentials.contains_key(name)) {
            let placed = names
                .iter()
                .map(|name| place(document, name, &credentials[name]));
            return placed.collect();
        }
    }
    if is_optional {
        return Ok(Vec::new());
    }
    let ways: Vec<String> = requirements
        .iter()
        .map(|it| format!("`{}`", names(it).join("` and `")))
        .collect();
    Err(format!(
        "it needs a credential for {}: give one with `credential`",
        ways.join(", or ")
    ))
}

impl Placed {
    /// The header that it sets, if it sets one.
    pub(super) fn header(&self) -> Option<&str> {
        match &self.place {
            Place::Header(name) => Some(name),
            Place::Bearer | Place::Basic => Some("authorization"),
            Place::Query(_) | Place::Cookie(_) => None,
        }
    }

    /// Whether it is the parameter of this name in the query or in the cookies.
    pub(super) fn is_parameter(&self, location: &str, name: &str) -> bool {
        match &self.place {
            Place::Query(own) => location == "query" && own == name,
            Place::Cookie(own) => location == "cookie" && own == name,
            _ => false,
        }
    }

    /// The part of a request. Its secrets are added to `secrets`.
    pub(super) async fn part(&self, secrets: &mut Secrets) -> Result<Part, BoxError> {
        let token = match &self.credential.0 {
            Kind::Token(token) => token.to_string(),
            Kind::Fetched(fetch) => fetch()
                .await
                .map_err(|error| format!("there is no token for `{}`: {error}", self.scheme))?,
            Kind::Basic { user, password } => {
                secrets.add(password);
                STANDARD.encode(format!("{user}:{password}"))
            }
        };
        // Tokens in files end with a line break.
        let token = token.trim();
        secrets.add(token);
        let value = token.to_owned();
        Ok(match &self.place {
            Place::Header(name) => Part::Header {
                name: name.clone(),
                value,
            },
            Place::Query(name) => Part::Query {
                name: name.clone(),
                value,
            },
            Place::Cookie(name) => Part::Cookie {
                name: name.clone(),
                value,
            },
            Place::Bearer => Part::Header {
                name: "authorization".into(),
                value: format!("Bearer {value}"),
            },
            Place::Basic => Part::Header {
                name: "authorization".into(),
                value: format!("Basic {value}"),
            },
        })
    }
}
