//! A service that an OpenAPI document describes.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use petalflow::tool::{Tool, ToolSet};
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::call::Call;
use super::credential::Credential;
use super::document::Document;
use super::operation::{self, Listed, Operation};
use super::options::{Header, Options};
use super::request::header;
use super::send::{self, Limits};
use super::tool::{OperationTool, Service};
use super::{OpenApiError, OperationError, address, security};

/// A service that a document of OpenAPI 3.0, 3.1 or 3.2 describes. Its operations become tools.
///
/// Without [`operations`](Self::operations) and [`filter`](Self::filter), these are all operations of the method GET that are
/// not deprecated. A person must confirm a call of an operation that can change something, unless
/// [`confirm`](Self::confirm) decides otherwise.
///
/// ```
/// use petalflow_openapi::{Credential, OpenApi};
///
/// let document = r#"{
///     "openapi": "3.1.0",
///     "servers": [{ "url": "https://books.example.com/v1" }],
///     "components": { "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "X-Key" } } },
///     "security": [{ "key": [] }],
///     "paths": { "/books/{id}": { "get": {
///         "operationId": "getBook",
///         "summary": "Finds a book.",
///         "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }]
///     } } }
/// }"#;
/// let tools = OpenApi::from_json(document)?.credential("key", Credential::token("secret")).tools()?;
/// let get_book = tools.get("getBook").unwrap().spec();
/// assert_eq!(get_book.description, "Finds a book.");
/// assert_eq!(get_book.parameters["properties"]["id"]["type"], "integer");
/// # Ok::<(), petalflow_openapi::OpenApiError>(())
/// ```
#[derive(Clone)]
pub struct OpenApi {
    document: Arc<Document>,
    options: Options,
    /// The first wrong option: it is the error of `tools`, so that options can be chained.
    wrong: Option<Arc<str>>,
}

impl fmt::Debug for OpenApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = &self.document.root()["info"]["title"];
        f.debug_struct("OpenApi")
            .field("title", title)
            .finish_non_exhaustive()
    }
}

impl OpenApi {
    /// Reads a document in JSON.
    ///
    /// # Errors
    ///
    /// If the text is no JSON, or no document of OpenAPI 3.
    pub fn from_json(text: &str) -> Result<Self, OpenApiError> {
        Ok(OpenApi::of(Document::from_json(text)?))
    }

    /// Reads a document in YAML.
    ///
    /// # Errors
    ///
    /// If the text is no YAML, or no document of OpenAPI 3.
    ///
    /// ```
    /// use petalflow_openapi::OpenApi;
    ///
    /// let document = "
    /// openapi: 3.1.0
    /// servers: [{ url: https://books.example.com }]
    /// paths:
    ///   /books:
    ///     get: { operationId: listBooks, responses: { 200: { description: The books. } } }
    /// ";
    /// assert!(OpenApi::from_yaml(document)?.tools()?.get("listBooks").is_some());
    /// # Ok::<(), petalflow_openapi::OpenApiError>(())
    /// ```
    #[cfg(feature = "yaml")]
    #[cfg_attr(docsrs, doc(cfg(feature = "yaml")))]
    pub fn from_yaml(text: &str) -> Result<Self, OpenApiError> {
        Ok(OpenApi::of(Document::from_yaml(text)?))
    }

    /// Takes a document as a value.
    ///
    /// # Errors
    ///
    /// If it is no document of OpenAPI 3.
    pub fn from_value(document: Value) -> Result<Self, OpenApiError> {
        Ok(OpenApi::of(Document::new(document)?))
    }

    /// Reads a document that is a file, and the files that it refers to, such as `$ref: "./schemas/pet.yaml#/Pet"`. They are read
    /// now, in JSON if the name ends in `.json`, and in YAML otherwise, which needs the feature `yaml`.
    ///
    /// Only files in the folder of the document, and in folders in it, are read, at most 64 MiB together. Nothing is fetched from a
    /// network. For other files, see [`file`](Self::file). A file that cannot be used is a [problem](Self::problems) of the
    /// operations that need it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no document of OpenAPI 3.
    ///
    /// ```
    /// use petalflow_openapi::OpenApi;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    ///
    /// let document = r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }],
    ///     "paths": { "/pets": { "$ref": "pets.json" } } }"#;
    /// std::fs::write(folder.join("api.json"), document)?;
    /// std::fs::write(folder.join("pets.json"), r#"{ "get": { "operationId": "listPets" } }"#)?;
    ///
    /// let tools = OpenApi::from_file(folder.join("api.json"))?.tools()?;
    /// assert!(tools.get("listPets").is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, OpenApiError> {
        Ok(OpenApi::of(Document::from_file(path.as_ref())?))
    }

    /// Gives the text of another file that the document refers to: by its path from the folder of the document, or by its address.
    /// It is used instead of a file of the folder.
    ///
    /// # Errors
    ///
    /// If the text is no JSON, for a name that ends in `.json`, or no YAML.
    ///
    /// ```
    /// use petalflow_openapi::OpenApi;
    ///
    /// let document = r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }],
    ///     "paths": { "/pets": { "$ref": "./paths/pets.json#/all" } } }"#;
    /// let pets = r#"{ "all": { "get": { "operationId": "listPets" } } }"#;
    /// let api = OpenApi::from_json(document)?.file("paths/pets.json", pets)?;
    /// assert!(api.tools()?.get("listPets").is_some());
    /// # Ok::<(), petalflow_openapi::OpenApiError>(())
    /// ```
    pub fn file(mut self, name: &str, text: &str) -> Result<Self, OpenApiError> {
        Arc::make_mut(&mut self.document).add_file(name, text)?;
        Ok(self)
    }

    fn of(document: Document) -> Self {
        OpenApi {
            document: Arc::new(document),
            options: Options::default(),
            wrong: None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// The address of the service, such as `https://example.com/v1`, instead of those in `servers`. All requests go there: give it
    /// for a document of somebody else, so that the document does not decide who gets the credentials.
    ///
    /// An address that cannot be used is the error of [`tools`](Self::tools).
    #[must_use]
    pub fn server(mut self, url: &str) -> Self {
        match address::read(url) {
            Ok(url) => self.options.server = Some(url),
            Err(problem) => self.wrong = self.wrong.or(Some(problem.into())),
        }
        self
    }

    /// A credential for a security scheme of the document, by its name in `components/securitySchemes`. It is sent with the
    /// operations that require it. It is not printed, and what the service answers is searched for it: `***` stands for it in
    /// results and errors.
    ///
    /// A name that the document does not have is the error of [`tools`](Self::tools).
    #[must_use]
    pub fn credential(self, scheme: impl Into<String>, credential: Credential) -> Self {
        self.with(|options| {
            options.credentials.insert(scheme.into(), credential);
        })
    }

    /// Sends requests without the credentials that the document requires, for example because a proxy adds them.
    #[must_use]
    pub fn without_credentials(self) -> Self {
        self.with(|options| options.without_credentials = true)
    }

    /// A header of each request, such as the version of the interface. A parameter of this name is no argument of the tools.
    ///
    /// A header that cannot be sent is the error of [`tools`](Self::tools).
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|options| options.headers.push(Header::new(name, value, false)))
    }

    /// A header of each request whose value is a secret, for a document that does not describe it as a security scheme. It is
    /// handled as a [credential](Self::credential) is.
    #[must_use]
    pub fn secret_header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|options| options.headers.push(Header::new(name, value, true)))
    }

    /// Makes tools of the operations with these ids, whatever their methods are.
    ///
    /// An id that the document does not have is the error of [`tools`](Self::tools).
    #[must_use]
    pub fn operations<I: Into<String>>(self, ids: impl IntoIterator<Item = I>) -> Self {
        self.with(|options| options.operations.extend(ids.into_iter().map(Into::into)))
    }

    /// Makes tools of the operations for which the function returns `true`, and of those that [`operations`](Self::operations)
    /// names.
    ///
    /// ```
    /// use petalflow_openapi::OpenApi;
    ///
    /// # let document = r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }],
    /// #     "paths": { "/books": { "get": { "tags": ["books"] }, "post": { "tags": ["books"] } }, "/users": { "get": {} } } }"#;
    /// let api = OpenApi::from_json(document)?.filter(|operation| operation.has_tag("books"));
    /// assert_eq!(api.tools()?.names().collect::<Vec<_>>(), ["get_books", "post_books"]);
    /// # Ok::<(), petalflow_openapi::OpenApiError>(())
    /// ```
    #[must_use]
    pub fn filter(self, wanted: impl Fn(&Operation) -> bool + Send + Sync + 'static) -> Self {
        self.with(|options| options.filter = Some(Arc::new(wanted)))
    }

    /// Leaves out operations that cannot be tools, such as those whose body is XML. [`problems`](Self::problems) lists them.
    /// Without it, they are the error of [`tools`](Self::tools). Operations that [`operations`](Self::operations) names are never
    /// left out.
    #[must_use]
    pub fn skip_unsupported(self) -> Self {
        self.with(|options| options.skip_unsupported = true)
    }

    /// Adds a prefix to the names of the tools, to distinguish those of several services.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.with(|options| options.prefix = prefix.into())
    }

    /// Requires confirmation. The function takes the operation and the arguments, and returns the question. Without it, a person
    /// must confirm the calls of the methods POST, PUT, PATCH and DELETE. With it, the function alone decides: `|_, _| None` requires
    /// no confirmation.
    #[must_use]
    pub fn confirm(
        self,
        ask: impl Fn(&Operation, &Value) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|options| options.confirm = Some(Arc::new(ask)))
    }

    /// Sends a key in this header, such as `Idempotency-Key`, with the requests that can change something. A call that is repeated
    /// after a crash has the same key, so a service that knows such keys does it once. These requests are repeated after a failure,
    /// as those of idempotent methods are.
    #[must_use]
    pub fn idempotency_header(self, name: impl Into<String>) -> Self {
        self.with(|options| options.idempotency_header = Some(name.into()))
    }

    /// The longest time of a request with its answer. 30 seconds by default.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.timeout = timeout)
    }

    /// The number of attempts, with increasing waits between them. 3 by default.
    ///
    /// A request that could not be sent is repeated. After a lost connection, a timeout, and the statuses 429, 502, 503 and 504, only
    /// requests of the methods GET, HEAD, OPTIONS, PUT and DELETE are, and those with an
    /// [idempotency key](Self::idempotency_header). A service can ask for a wait of up to 30 seconds with `Retry-After`.
    #[must_use]
    pub fn attempts(self, attempts: u32) -> Self {
        self.with(|options| options.attempts = attempts.max(1))
    }

    /// The longest body of a request, in bytes, with the files in it. 1 MiB by default. A longer one is not sent, and the error
    /// tells the model to send less.
    #[must_use]
    pub fn request_limit(self, bytes: usize) -> Self {
        self.with(|options| options.request_limit = bytes)
    }

    /// The longest answer, in bytes. 1 MiB by default. A longer one is an error that tells the model to ask for less.
    #[must_use]
    pub fn response_limit(self, bytes: usize) -> Self {
        self.with(|options| options.response_limit = bytes)
    }

    /// The longest schema of a tool, in bytes. 64 KiB by default: a model reads all of it. An operation with a longer one cannot be a
    /// tool.
    #[must_use]
    pub fn schema_limit(self, bytes: usize) -> Self {
        self.with(|options| options.schema_limit = bytes)
    }

    /// All operations of the document, also those that are not selected, in the order of their paths.
    pub fn all_operations(&self) -> Vec<Operation> {
        let all = operation::all(&self.document, &self.options.prefix);
        all.into_iter().map(|listed| listed.operation).collect()
    }

    /// The selected operations that cannot be tools, and why. Before them, the paths whose reference leads to nothing, unless
    /// [`operations`](Self::operations) alone selects.
    pub fn problems(&self) -> Vec<OperationError> {
        let selected = self.selected().into_iter();
        let calls = selected.map(|listed| Call::of(&self.document, &listed, &self.options));
        self.hidden()
            .into_iter()
            .chain(calls.filter_map(Result::err))
            .collect()
    }

    /// The tools of the selected operations. A set of tools is a [`ToolSource`](petalflow::tool::ToolSource): an agent takes it with
    /// `tools`, and a large one with `searchable_tools`.
    ///
    /// # Errors
    ///
    /// If an option does not fit the document, or if an operation cannot be a tool; all such operations are in the error.
    pub fn tools(&self) -> Result<ToolSet, OpenApiError> {
        if let Some(problem) = &self.wrong {
            return Err(OpenApiError::Server(problem.to_string()));
        }
        let options = &self.options;
        self.check_names()?;
        let mut calls = Vec::new();
        let mut problems = if options.skip_unsupported {
            Vec::new()
        } else {
            self.hidden()
        };
        for listed in self.selected() {
            let is_named = options.operations.contains(&listed.operation.id);
            match Call::of(&self.document, &listed, options) {
                Ok(call) => calls.push(call),
                Err(_) if options.skip_unsupported && !is_named => {}
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(OpenApiError::Operations(problems));
        }
        if calls.is_empty() {
            return Err(OpenApiError::NoOperation);
        }
        let service = Arc::new(self.service()?);
        let tools = calls.into_iter().map(|call| -> Arc<dyn Tool> {
            Arc::new(OperationTool {
                service: Arc::clone(&service),
                spec: Arc::new(call.spec.clone()),
                call,
            })
        });
        Ok(tools.collect())
    }

    fn selected(&self) -> Vec<Listed<'_>> {
        let mut all = operation::all(&self.document, &self.options.prefix);
        all.retain(|listed| self.options.selects(&listed.operation));
        all
    }

    /// The paths that may have selected operations, and whose reference leads to nothing.
    fn hidden(&self) -> Vec<OperationError> {
        if self.options.filter.is_none() && !self.options.operations.is_empty() {
            return Vec::new();
        }
        operation::hidden(&self.document)
    }

    /// Checks the names of operations and credentials that the program gave.
    fn check_names(&self) -> Result<(), OpenApiError> {
        let all = self.all_operations();
        for id in &self.options.operations {
            let with_id = all.iter().filter(|operation| operation.id == *id).count();
            if with_id != 1 {
                let hidden = operation::hidden(&self.document);
                if with_id == 0 && !hidden.is_empty() {
                    return Err(OpenApiError::Operations(hidden));
                }
                let known = all.iter().map(|operation| operation.id.clone()).collect();
                return Err(OpenApiError::UnknownOperation {
                    id: id.clone(),
                    known: listed_names(known, "it has no operations"),
                });
            }
        }
        for (scheme, credential) in &self.options.credentials {
            let wrong = |problem| OpenApiError::Credential {
                scheme: scheme.clone(),
                problem,
            };
            let schemes = security::schemes(&self.document);
            if !schemes.contains(&scheme.as_str()) {
                let known = schemes.into_iter().map(Into::into).collect();
                return Err(wrong(listed_names(
                    known,
                    "it has no security schemes: give a `secret_header`",
                )));
            }
            security::place(&self.document, scheme, credential).map_err(wrong)?;
        }
        Ok(())
    }

    fn service(&self) -> Result<Service, OpenApiError> {
        let options = &self.options;
        let mut headers = HeaderMap::new();
        for given in &options.headers {
            let read = header(&given.name, &given.value, given.is_secret);
            let (name, value) = read.ok_or_else(|| OpenApiError::Header(given.name.clone()))?;
            headers.insert(name, value);
        }
        if let Some(name) = &options.idempotency_header
            && header(name, "", false).is_none()
        {
            return Err(OpenApiError::Header(name.clone()));
        }
        Ok(Service {
            client: send::client().map_err(OpenApiError::Client)?,
            limits: Limits {
                timeout: options.timeout,
                attempts: options.attempts,
                request: options.request_limit,
                response: options.response_limit,
            },
            headers,
            confirm: options.confirm.clone(),
            idempotency_header: options.idempotency_header.clone(),
        })
    }
}

/// The most names that a text lists.
const MOST_NAMES: usize = 20;

fn listed_names(names: Vec<String>, none: &str) -> String {
    if names.is_empty() {
        return none.into();
    }
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = &names[..names.len().min(MOST_NAMES)];
    format!("it has `{}`{more}", shown.join("`, `"))
}
