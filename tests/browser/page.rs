//! A browser with the studio, and what a person does with it.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fantoccini::elements::{Element, ElementRef};
use fantoccini::{Client, ClientBuilder};
use futures_util::FutureExt as _;
use hyper_util::client::legacy::connect::HttpConnector;
use petalflow_server::ServerBuilder;
use petalflow_test_servers::{Chromedriver, found_or_skip};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::served::{Served, TOKEN};
use crate::vendor::Vendor;

/// How long a test waits for something on the page.
const PATIENCE: Duration = Duration::from_secs(30);
const INTERVAL: Duration = Duration::from_millis(40);
/// How `WebDriver` writes an element in JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What runs before each script: the elements that a person sees, in the open dialog if there is one.
const PRELUDE: &str = r#"
const scope = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
const words = (element) => (element?.innerText ?? "").replace(/\s+/g, " ").trim();
const seen = (selector) => [...scope.querySelectorAll(selector)].filter((one) => one.checkVisibility());
const named = (text) => seen("button, a, summary").find((one) => words(one) === text);
const labelled = (text) => {
  const label = seen("label").find((one) => words(one).startsWith(text));
  return label && (label.control ?? document.getElementById(label.htmlFor));
};
"#;

/// The studio in a browser.
pub(crate) struct Page {
    pub(crate) client: Client,
    pub(crate) served: Served,
    /// The folder of the browser's profile, which is removed at the end.
    profile: TempDir,
}

/// Runs a test with a server and a browser, in which the person has signed in. Fails if the console has an error at the end.
pub(crate) async fn with_page(builder: ServerBuilder, test: impl AsyncFnOnce(&Page)) {
    with_browser(builder, async |page| {
        page.sign_in().await;
        test(page).await;
    })
    .await;
}

/// The same, with an empty page.
pub(crate) async fn with_browser(builder: ServerBuilder, test: impl AsyncFnOnce(&Page)) {
    let Some(driver) = found_or_skip(Chromedriver::shared()) else {
        return;
    };
    let page = Page::start(driver, builder).await;
    // A browser that is not closed would outlive the tests.
    let outcome = AssertUnwindSafe(test(&page)).catch_unwind().await;
    let errors = page.console_errors().await;
    page.client.close().await.expect("the browser ends");
    page.served.stop().await;
    drop(page.profile);
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
    assert!(errors.is_empty(), "errors in the console: {errors:#?}");
}

impl Page {
    async fn start(driver: &Chromedriver, builder: ServerBuilder) -> Self {
        let served = Served::start(builder).await;
        let profile = TempDir::new_in(driver.folder()).expect("a folder");
        let capabilities = capabilities(driver, &profile);
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let builder = builder.capabilities(capabilities);
        let client = builder.connect(&driver.url).await;
        let client = client.expect("the browser starts");
        Page {
            client,
            served,
            profile,
        }
    }

    /// Opens the link with the token, as the server prints it.
    pub(crate) async fn sign_in(&self) {
        self.go(&format!("#token={TOKEN}")).await;
        self.wait_for("document.querySelector('main h1')").await;
    }

    /// Opens a view of the studio, such as `#/threads`.
    pub(crate) async fn go(&self, view: &str) {
        let address = format!("http://{}/studio/{view}", self.served.address);
        self.client.goto(&address).await.expect("the page opens");
    }

    /// Evaluates an expression in the page.
    pub(crate) async fn eval(&self, expression: &str) -> Value {
        let script = format!("{PRELUDE} return ({expression});");
        let value = self.client.execute(&script, Vec::new()).await;
        value.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Waits until an expression is true, and returns its value.
    pub(crate) async fn wait_for(&self, expression: &str) -> Value {
        let begin = Instant::now();
        loop {
            let value = self.eval(expression).await;
            let is_true = !matches!(&value, Value::Null | Value::Bool(false))
                && value != json!("")
                && value != json!(0);
            if is_true {
                return value;
            }
            if begin.elapsed() > PATIENCE {
                let address = self.eval("location.href").await;
                let text = self.eval("document.body.innerText").await;
                let text = text.as_str().unwrap_or_default();
                panic!("never true: {expression}\n{address}\n{text}");
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Waits until the page, or an open dialog, has this text.
    pub(crate) async fn wait_for_text(&self, text: &str) {
        let text = json!(text);
        self.wait_for(&format!("words(scope.body ?? scope).includes({text})"))
            .await;
    }

    /// The element that an expression returns, as soon as there is one.
    pub(crate) async fn element(&self, expression: &str) -> Element {
        let value = self.wait_for(expression).await;
        let id = value[ELEMENT].as_str();
        let id = id.unwrap_or_else(|| panic!("no element: {expression}: {value}"));
        Element::from_element_id(self.client.clone(), ElementRef::from(id.to_owned()))
    }

    /// Presses the button, or follows the link, with this text.
    pub(crate) async fn press(&self, text: &str) {
        self.press_element(&format!("named({})", json!(text))).await;
    }

    /// Presses what an expression returns.
    pub(crate) async fn press_element(&self, expression: &str) {
        let begin = Instant::now();
        loop {
            let element = self.element(expression).await;
            match element.click().await {
                Ok(()) => return,
                // The page has drawn it again, or something else is still in front of it.
                Err(error) if begin.elapsed() < PATIENCE => {
                    let _ = error;
                    tokio::time::sleep(INTERVAL).await;
                }
                Err(error) => panic!("{expression} cannot be pressed: {error}"),
            }
        }
    }

    /// Types a text into the field with this label.
    pub(crate) async fn fill(&self, label: &str, text: &str) {
        let field = self.element(&format!("labelled({})", json!(label))).await;
        field.clear().await.expect("it is a field");
        field.send_keys(text).await.expect("it takes text");
    }

    /// Chooses in the list with this label.
    pub(crate) async fn choose(&self, label: &str, option: &str) {
        let field = self.element(&format!("labelled({})", json!(label))).await;
        let chosen = field.select_by_label(option).await;
        chosen.unwrap_or_else(|error| panic!("{label}: {option}: {error}"));
    }

    /// Waits until the drawing marks a node so: `running`, `waiting`, `finished`, `failed` or `next`.
    pub(crate) async fn wait_for_mark(&self, node: &str, mark: &str) {
        let selector = json!(format!("[data-node='{node}'][data-mark='{mark}']"));
        self.wait_for(&format!("document.querySelector({selector})"))
            .await;
    }

    /// Waits until the head of the thread has this status.
    pub(crate) async fn wait_for_status(&self, status: &str) {
        let selector = json!(format!(".facts .badge[data-status={status}]"));
        self.wait_for(&format!("document.querySelector({selector})"))
            .await;
    }

    /// Waits until the page shows this thread.
    pub(crate) async fn wait_for_thread(&self, thread: &str) {
        let address = json!(format!("#/thread/{thread}"));
        self.wait_for(&format!("location.hash === {address}")).await;
    }

    /// The thread that the address names.
    pub(crate) async fn thread(&self) -> String {
        let thread = self
            .wait_for("decodeURIComponent((location.hash.match(/^#\\/thread\\/([^/?]+)/) ?? ['', ''])[1])")
            .await;
        thread.as_str().expect("a text").to_owned()
    }

    /// The folder in which the browser saves files.
    pub(crate) fn downloads(&self) -> PathBuf {
        downloads(&self.profile)
    }

    /// Sets the size of the window, also to that of a telephone.
    pub(crate) async fn resize(&self, width: u32, height: u32, scale: f32) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": false,
        });
        let command = Vendor::devtools("Emulation.setDeviceMetricsOverride", metrics);
        self.client.issue_cmd(command).await.expect("it is resized");
    }

    /// The errors in the console since the last call.
    pub(crate) async fn console_errors(&self) -> Vec<String> {
        let lines = self.client.issue_cmd(Vendor::console()).await;
        let lines = lines.expect("the console can be read");
        let lines = lines.as_array().expect("lines").iter();
        let errors = lines.filter(|line| line["level"] == "SEVERE");
        errors.map(|line| line["message"].to_string()).collect()
    }
}

fn downloads(profile: &TempDir) -> PathBuf {
    profile.path().join("downloads")
}

fn capabilities(driver: &Chromedriver, profile: &TempDir) -> serde_json::Map<String, Value> {
    let folder = format!("--user-data-dir={}", profile.path().display());
    let mut arguments = vec![folder];
    for argument in [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--lang=en-US",
        "--window-size=1280,900",
    ] {
        arguments.push(argument.into());
    }
    let preferences = json!({ "download.default_directory": downloads(profile) });
    let mut options = json!({ "args": arguments, "prefs": preferences });
    if let Some(chromium) = &driver.chromium {
        options["binary"] = json!(chromium);
    }
    let capabilities = json!({
        "browserName": "chrome",
        "goog:chromeOptions": options,
        "goog:loggingPrefs": { "browser": "ALL" },
    });
    match capabilities {
        Value::Object(capabilities) => capabilities,
        _ => unreachable!("it is an object"),
    }
}
