//! Commands of chromedriver that are not part of `WebDriver`.

use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A command with its parameters.
#[derive(Debug)]
pub(crate) struct Vendor {
    path: &'static str,
    parameters: Value,
}

impl Vendor {
    /// The lines of the console since the last call.
    pub(crate) fn console() -> Self {
        let parameters = json!({ "type": "browser" });
        Vendor {
            path: "se/log",
            parameters,
        }
    }

    /// A command of the protocol of Chromium's developer tools.
    pub(crate) fn devtools(command: &str, parameters: Value) -> Self {
        let parameters = json!({ "cmd": command, "params": parameters });
        Vendor {
            path: "goog/cdp/execute",
            parameters,
        }
    }
}

impl WebDriverCompatibleCommand for Vendor {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/{}",
            session.unwrap_or_default(),
            self.path
        ))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.parameters.to_string()))
    }
}
