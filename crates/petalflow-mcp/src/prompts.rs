//! Prompts of a server: messages that a user of the program chooses.

use std::fmt;

use rmcp::model::{GetPromptRequestParams, Role as McpRole};
use serde::Serialize;

use super::McpError;
use super::client::McpClient;
use super::result::part_of_block;
use petalflow_llm::{ChatMessage, Role};

/// A prompt that a server offers: see [`McpClient::prompts`].
///
/// ```
/// use petalflow_mcp::Prompt;
///
/// /// What a program has to ask for.
/// fn required(prompt: &Prompt) -> Vec<&str> {
///     let arguments = prompt.arguments.iter().filter(|argument| argument.required);
///     arguments.map(|argument| &*argument.name).collect()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Prompt {
    /// The name, for [`McpClient::prompt`].
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

impl Prompt {
    /// A prompt for [`McpServer::prompt`](crate::McpServer::prompt).
    pub fn new(name: impl Into<String>) -> Self {
        Prompt {
            name: name.into(),
            title: None,
            description: None,
            arguments: Vec::new(),
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what it is for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

/// An argument of a [`Prompt`].
///
/// ```
/// use petalflow_mcp::PromptArgument;
///
/// fn label(argument: &PromptArgument) -> String {
///     let mark = if argument.required { "*" } else { "" };
///     format!("{}{mark}", argument.name)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// Whether the prompt cannot be made without it.
    pub required: bool,
}

impl PromptArgument {
    /// An argument that the prompt needs.
    pub fn required(name: impl Into<String>) -> Self {
        Self::new(name, true)
    }

    /// An argument that can be left out.
    pub fn optional(name: impl Into<String>) -> Self {
        Self::new(name, false)
    }

    fn new(name: impl Into<String>, required: bool) -> Self {
        PromptArgument {
            name: name.into(),
            description: None,
            required,
        }
    }

    /// Sets what it means.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// What a server completes: see [`McpClient::complete`] and [`McpServer::completion`](crate::McpServer::completion).
///
/// ```
/// use petalflow_mcp::Completes;
///
/// let language = Completes::prompt("review", "language");
/// let path = Completes::resource("file:///{path}", "path");
/// assert_ne!(language, path);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completes {
    pub(super) of: Reference,
    pub(super) argument: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Prompt(String),
    Resource(String),
}

impl Completes {
    /// An argument of a prompt, by their names.
    pub fn prompt(prompt: impl Into<String>, argument: impl Into<String>) -> Self {
        Completes {
            of: Reference::Prompt(prompt.into()),
            argument: argument.into(),
        }
    }

    /// A variable of the addresses of resources, by their template.
    pub fn resource(uri_template: impl Into<String>, variable: impl Into<String>) -> Self {
        Completes {
            of: Reference::Resource(uri_template.into()),
            argument: variable.into(),
        }
    }
}

impl fmt::Display for Completes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let argument = &self.argument;
        match &self.of {
            Reference::Prompt(prompt) => write!(f, "argument `{argument}` of prompt `{prompt}`"),
            Reference::Resource(template) => write!(f, "variable `{argument}` of `{template}`"),
        }
    }
}

/// The methods for the prompts of a server, its instructions, and its completions.
impl McpClient {
    /// Returns the server's instructions for models, if it has some: text about its tools as a whole. Add it to the
    /// instructions of an agent that has the tools.
    ///
    /// ```
    /// use petalflow::tool::ToolSet;
    /// use petalflow_mcp::{self as mcp, McpClient};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let server = McpClient::over("sums", || async {
    ///     let (ours, theirs) = tokio::io::duplex(4096);
    ///     tokio::spawn(mcp::serve(ToolSet::new()).instructions("Greet first.").over(theirs));
    ///     Ok(ours)
    /// });
    /// assert_eq!(server.instructions().await?.as_deref(), Some("Greet first."));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not affect other callers that wait for the same connection.
    pub async fn instructions(&self) -> Result<Option<String>, McpError> {
        let connection = self.session().connection().await?;
        let info = connection.peer().peer_info();
        Ok(info.and_then(|info| info.instructions.clone()))
    }

    /// Returns the prompts that the server offers, of all pages.
    ///
    /// ```no_run
    /// use petalflow_mcp::McpClient;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let server = McpClient::stdio("npx", ["-y", "@modelcontextprotocol/server-everything"]);
    /// for prompt in server.prompts().await? {
    ///     println!("{}: {} arguments", prompt.name, prompt.arguments.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, or has no prompts.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn prompts(&self) -> Result<Vec<Prompt>, McpError> {
        let listed = self
            .session()
            .ask("prompts/list", async |service| {
                service.list_all_prompts().await
            })
            .await?;
        let prompts = listed.into_iter().map(|it| Prompt {
            name: it.name,
            title: it.title,
            description: it.description,
            arguments: it
                .arguments
                .into_iter()
                .flatten()
                .map(|argument| PromptArgument {
                    name: argument.name,
                    description: argument.description,
                    required: argument.required.unwrap_or(false),
                })
                .collect(),
        });
        Ok(prompts.collect())
    }

    /// Returns the messages of a prompt with these arguments.
    ///
    /// ```no_run
    /// use petalflow_mcp::McpClient;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let server = McpClient::stdio("npx", ["-y", "@modelcontextprotocol/server-everything"]);
    /// let messages = server.prompt("args-prompt", [("city", "Ghent")]).await?;
    /// assert!(!messages.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, has no such prompt, or refuses the arguments.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn prompt<N: Into<String>, V: Into<String>>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Vec<ChatMessage>, McpError> {
        let arguments = arguments.into_iter();
        let arguments: serde_json::Map<_, _> = arguments
            .map(|(name, value)| (name.into(), value.into().into()))
            .collect();
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let got = self
            .session()
            .ask(name, async |service| {
                service.get_prompt(params.clone()).await
            })
            .await?;
        let messages = got.messages.into_iter().map(|message| {
            let role = match message.role {
                McpRole::Assistant => Role::Assistant,
                McpRole::User => Role::User,
            };
            let part = part_of_block(&message.content);
            ChatMessage::new(role, part.into_iter().collect())
        });
        Ok(messages.collect())
    }

    /// Returns values that begin with `start`, for a program that lets a person choose: at most 100, the best first.
    ///
    /// ```no_run
    /// use petalflow_mcp::{Completes, McpClient};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let server = McpClient::stdio("npx", ["-y", "@modelcontextprotocol/server-everything"]);
    /// let departments = Completes::prompt("completable-prompt", "department");
    /// let offered = server.complete(&departments, "E").await?;
    /// assert!(offered.iter().all(|department| department.starts_with('E')));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, or does not complete.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn complete(&self, what: &Completes, start: &str) -> Result<Vec<String>, McpError> {
        let completed = self
            .session()
            .ask("completion/complete", async |service| match &what.of {
                Reference::Prompt(name) => {
                    service
                        .complete_prompt_argument(name, &what.argument, start, None)
                        .await
                }
                Reference::Resource(template) => {
                    service
                        .complete_resource_argument(template, &what.argument, start, None)
                        .await
                }
            })
            .await?;
        Ok(completed.values)
    }
}
