//! Which headers and query parameters have credentials, by their names. Credentials are not stored.

/// The names of credentials. `*` stands for any text. A name is compared in lower case, with `-` between its words.
const CREDENTIALS: [&str; 32] = [
    "*-auth",
    "*-key",
    "*-pwd",
    "*-sid",
    "*-sig",
    "*accesskey*",
    "*api-key*",
    "*apikey*",
    "*assertion*",
    "*authentication*",
    "*authorization*",
    "*cookie*",
    "*credential*",
    "*csrf*",
    "*hmac*",
    "*jwt*",
    "*passcode*",
    "*passphrase*",
    "*passwd*",
    "*password*",
    "*secret*",
    "*session*",
    "*signature*",
    "*token*",
    "*xsrf*",
    "auth",
    "auth-*",
    "key",
    "otp",
    "pass",
    "pwd",
    "sig",
];

/// Names that are none, though they look like one.
const OTHERS: [&str; 18] = [
    "*-tokens",
    "*continuation-token",
    "*cursor-token",
    "*idempotency-key",
    "*issue-key",
    "*next-token",
    "*object-key",
    "*order-key",
    "*page-token",
    "*partition-key",
    "*project-key",
    "*routing-key",
    "*sort-key",
    "*sync-token",
    "*token-count",
    "*token-type",
    "sec-websocket-key",
    "tokens",
];

/// The schemes of `Authorization`. A value that begins with one is a credential in any header.
const SCHEMES: [&str; 4] = ["basic ", "bearer ", "digest ", "negotiate "];

/// Decides which names have credentials: those of a list, and those that the user adds or takes away.
#[derive(Clone, Debug)]
pub(super) struct Credentials<'a> {
    /// Further names of credentials.
    pub(super) added: &'a [String],
    /// Names that are none.
    pub(super) removed: &'a [String],
}

impl Credentials<'_> {
    /// Those of the list alone.
    #[cfg(feature = "http")]
    pub(super) const USUAL: Credentials<'static> = Credentials {
        added: &[],
        removed: &[],
    };

    /// Whether a header or a query parameter with this name has a credential.
    pub(super) fn has(&self, name: &str) -> bool {
        let name = words(name);
        let is_one = |patterns: &[String]| patterns.iter().any(|it| fits(&words(it), &name));
        let is_known = |patterns: &[&str]| patterns.iter().any(|it| fits(it, &name));
        if is_one(self.added) {
            return true;
        }
        is_known(&CREDENTIALS) && !is_known(&OTHERS) && !is_one(self.removed)
    }

    /// The value of a header as it may be stored. `None` if it is a credential.
    pub(super) fn header(&self, name: &str, value: &str) -> Option<String> {
        let start = value.trim_start().to_ascii_lowercase();
        if self.has(name) || SCHEMES.iter().any(|scheme| start.starts_with(scheme)) {
            return None;
        }
        Some(self.without_query(value))
    }

    /// A header may have an address, such as `Referer` and those that proxies add: its query has no credentials then.
    fn without_query(&self, value: &str) -> String {
        let Some((address, rest)) = value.split_once('?') else {
            return value.to_string();
        };
        let (query, fragment) = match rest.split_once('#') {
            Some((query, fragment)) => (query, format!("#{fragment}")),
            None => (rest, String::new()),
        };
        let is_credential = |pair: &&str| {
            let name = pair.split_once('=').map(|(name, _)| decoded(name));
            name.is_some_and(|name| self.has(&name))
        };
        let kept: Vec<&str> = query.split('&').filter(|it| !is_credential(it)).collect();
        format!("{address}?{}{fragment}", kept.join("&"))
    }
}

/// The words of a name in lower case, with `-` between them: `apiKey`, `api_key` and `api[key]` are `api-key`.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut before = ' ';
    for c in name.chars() {
        let is_part = c.is_alphanumeric() || c == '*';
        let begins = is_part && (c.is_uppercase() && before.is_lowercase());
        if (begins || !is_part) && !words.is_empty() && !words.ends_with('-') {
            words.push('-');
        }
        if is_part {
            words.extend(c.to_lowercase());
        }
        before = c;
    }
    words.truncate(words.trim_end_matches('-').len());
    words
}

/// Whether a text is that of a pattern, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        // The earliest place leaves the most for the other parts.
        let Some(found) = text.find(part) else {
            return false;
        };
        text = &text[found + part.len()..];
    }
    text.ends_with(last)
}

/// A name of a query, without percent-encoding.
fn decoded(name: &str) -> String {
    let mut parts = name.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| hex::decode(digits).ok()) {
            Some(byte) => {
                bytes.extend(byte);
                bytes.extend(&part.as_bytes()[2..]);
            }
            None => bytes.extend([b"%", part.as_bytes()].concat()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Credentials<'static> = Credentials {
        added: &[],
        removed: &[],
    };

    #[test]
    fn names_of_credentials_are_known() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "Set-Cookie",
            "X-Api-Key",
            "x-functions-key",
            "Ocp-Apim-Subscription-Key",
            "X-Auth-Token",
            "X-Gitlab-Token",
            "X-Hub-Signature-256",
            "X-Shopify-Hmac-SHA256",
            "Cf-Access-Jwt-Assertion",
            "X-CSRFToken",
            "X-Forwarded-Access-Token",
            "token",
            "key",
            "api_key",
            "apiKey",
            "APIKEY",
            "access_token",
            "hub.verify_token",
            "auth[password]",
            "client_secret",
            "sig",
            "X-Amz-Signature",
            "X-Amz-Credential",
            "sessionId",
            "auth",
        ] {
            assert!(USUAL.has(name), "{name}");
        }
        for name in [
            "Content-Type",
            "X-Event",
            "X-GitHub-Delivery",
            "Idempotency-Key",
            "webhook-id",
            "author",
            "authenticated_user",
            "page_token",
            "nextPageToken",
            "max_tokens",
            "issueKey",
            "monkey",
            "design",
            "keyboard",
            "passenger",
            "",
        ] {
            assert!(!USUAL.has(name), "{name}");
        }
    }

    #[test]
    fn a_user_adds_names_and_takes_them_away() {
        let added = ["X_Shop-*".to_string(), "code".to_string()];
        let removed = ["*Visitor-Token".to_string()];
        let credentials = Credentials {
            added: &added,
            removed: &removed,
        };
        assert!(credentials.has("x-shop-pin") && credentials.has("Code"));
        assert!(!credentials.has("X-Visitor-Token") && credentials.has("token"));
        assert!(!credentials.has("x-shop"));
    }

    #[test]
    fn addresses_in_headers_lose_their_credentials_only() {
        let kept = |value: &str| USUAL.header("referer", value);
        for (value, expected) in [
            (
                "https://a.example/p?a=1&to%6ben=s&b=2#end",
                "https://a.example/p?a=1&b=2#end",
            ),
            ("/hook?api_key=s", "/hook?"),
            ("</p?page=2>; rel=\"next\"", "</p?page=2>; rel=\"next\""),
            ("what? token", "what? token"),
            ("100%", "100%"),
            ("?%=1&%zz=2", "?%=1&%zz=2"),
        ] {
            assert_eq!(kept(value).as_deref(), Some(expected), "{value}");
        }
        assert_eq!(USUAL.header("x-forwarded-user", "Bearer s"), None);
    }

    #[test]
    fn a_star_is_any_text() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("*a*", "bab", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
