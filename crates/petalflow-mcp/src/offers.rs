//! What a server offers besides tools: resources, prompts, and completions of their arguments.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use super::{Completes, McpServer, Prompt, Resource, ResourceContent, ResourceTemplate};
use petalflow::BoxError;
use petalflow_llm::ChatMessage;

/// The methods for the resources of the server.
impl McpServer {
    /// Serves a resource: text or bytes that a person or a program chooses to give to a model. The function reads it.
    ///
    /// A missing scheme or name, and a URI that another resource has, are the error of [`stdio`](Self::stdio),
    /// [`over`](Self::over) and `http`. An error of the function is an error for the client.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_llm::Part;
    /// use petalflow_mcp::{self as mcp, McpClient, Resource};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let today = Resource::new("notes://today", "today").with_media_type("text/markdown");
    /// let serve = mcp::serve(ToolSet::new()).resource(today, async || Ok("*rain*"));
    /// let server = McpClient::over("notes", move || {
    ///     let serve = serve.clone();
    ///     async move {
    ///         let (ours, theirs) = tokio::io::duplex(4096);
    ///         tokio::spawn(serve.over(theirs));
    ///         Ok(ours)
    ///     }
    /// });
    /// assert_eq!(server.resources().await?[0].name, "today");
    /// assert_eq!(server.read_resource("notes://today").await?, [Part::text("*rain*")]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn resource<C, F>(
        mut self,
        resource: Resource,
        read: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        C: Into<ResourceContent>,
        F: Future<Output = Result<C, BoxError>> + Send + 'static,
    {
        Arc::make_mut(&mut self.resources).add(resource, read);
        self
    }

    /// Serves the resources whose URI has a form, such as `notes://{day}`. The function takes the values of the variables,
    /// and returns `None` if there is no such resource. `{name}` is a part without a slash; `{+name}` at the end can have
    /// slashes.
    ///
    /// The client chooses the values, which are decoded and can be anything: `..` and slashes too. Check a value before it
    /// becomes part of a path.
    ///
    /// Mistakes in the template are the error of [`stdio`](Self::stdio), [`over`](Self::over) and `http`.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_mcp::{self as mcp, ResourceTemplate};
    ///
    /// let notes = ResourceTemplate::new("notes://{day}", "notes").with_description("The notes of a day.");
    /// let serve = mcp::serve(ToolSet::new()).resource_template(notes, |values| async move {
    ///     Ok((values["day"] == "monday").then_some("rain"))
    /// });
    /// # let _ = serve;
    /// ```
    #[must_use]
    pub fn resource_template<C, F>(
        mut self,
        template: ResourceTemplate,
        read: impl Fn(BTreeMap<String, String>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        C: Into<ResourceContent>,
        F: Future<Output = Result<Option<C>, BoxError>> + Send + 'static,
    {
        Arc::make_mut(&mut self.resources).add_template(template, read);
        self
    }
}

/// The methods for the prompts of the server.
impl McpServer {
    /// Serves a prompt: messages that a user of the client chooses, often as a command. The function takes the arguments,
    /// of which the required ones are there.
    ///
    /// A name that is empty or that another prompt has is the error of [`stdio`](Self::stdio), [`over`](Self::over) and
    /// `http`. An error of the function is an error for the client.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_llm::ChatMessage;
    /// use petalflow_mcp::{self as mcp, McpClient, Prompt, PromptArgument};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let review = Prompt::new("review")
    ///     .with_description("Reviews code.")
    ///     .with_argument(PromptArgument::required("code"));
    /// let serve = mcp::serve(ToolSet::new()).prompt(review, |arguments| async move {
    ///     Ok(vec![ChatMessage::user(format!("Review this code: {}", arguments["code"]))])
    /// });
    /// let server = McpClient::over("reviews", move || {
    ///     let serve = serve.clone();
    ///     async move {
    ///         let (ours, theirs) = tokio::io::duplex(4096);
    ///         tokio::spawn(serve.over(theirs));
    ///         Ok(ours)
    ///     }
    /// });
    /// let messages = server.prompt("review", [("code", "1 + 1")]).await?;
    /// assert_eq!(messages[0].text(), "Review this code: 1 + 1");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn prompt<F>(
        mut self,
        prompt: Prompt,
        write: impl Fn(BTreeMap<String, String>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<ChatMessage>, BoxError>> + Send + 'static,
    {
        Arc::make_mut(&mut self.prompts).add(prompt, write);
        self
    }
}

/// The methods for the completions of the server.
impl McpServer {
    /// Completes an argument of a [prompt](Self::prompt), or a variable of a [template](Self::resource_template), while a
    /// person writes it. The function takes the start of the value and the other arguments, and returns the values that it
    /// can have. The client gets the first hundred, and how many there are.
    ///
    /// A completion of something that is not served is the error of [`stdio`](Self::stdio), [`over`](Self::over) and `http`.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_llm::ChatMessage;
    /// use petalflow_mcp::{self as mcp, Completes, McpClient, Prompt, PromptArgument};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let review = Prompt::new("review").with_argument(PromptArgument::optional("language"));
    /// let language = Completes::prompt("review", "language");
    /// let serve = mcp::serve(ToolSet::new())
    ///     .prompt(review, async |_| Ok(vec![ChatMessage::user("Review it.")]))
    ///     .completion(language.clone(), |start, _| async move {
    ///         let known = ["python", "rust"].into_iter();
    ///         Ok(known.filter(|name| name.starts_with(&start)).map(String::from).collect())
    ///     });
    /// let server = McpClient::over("reviews", move || {
    ///     let serve = serve.clone();
    ///     async move {
    ///         let (ours, theirs) = tokio::io::duplex(4096);
    ///         tokio::spawn(serve.over(theirs));
    ///         Ok(ours)
    ///     }
    /// });
    /// assert_eq!(server.complete(&language, "ru").await?, ["rust"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn completion<F>(
        mut self,
        what: Completes,
        offer: impl Fn(String, BTreeMap<String, String>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<String>, BoxError>> + Send + 'static,
    {
        Arc::make_mut(&mut self.completions).add(what, offer);
        self
    }
}
