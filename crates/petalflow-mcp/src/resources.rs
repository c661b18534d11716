//! Resources of a server: what a program reads and gives to a model.

use rmcp::model::ReadResourceRequestParams;
use serde::Serialize;

use super::McpError;
use super::client::McpClient;
use super::result::part_of;
use petalflow_llm::Part;

/// A resource that a server lists: see [`McpClient::resources`].
///
/// ```
/// use petalflow_mcp::Resource;
///
/// /// What a program shows of a resource.
/// fn shown(resource: &Resource) -> &str {
///     resource.title.as_deref().unwrap_or(&resource.name)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Resource {
    /// The address, which [`McpClient::read_resource`] takes.
    pub uri: String,
    /// The name.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it contains.
    pub description: Option<String>,
    /// The media type, such as `text/markdown`.
    pub media_type: Option<String>,
    /// The size in bytes.
    pub size: Option<u64>,
}

impl Resource {
    /// A resource for [`McpServer::resource`](crate::McpServer::resource). The URI begins with a scheme.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Resource {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            media_type: None,
            size: None,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what it contains.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type, such as `text/markdown`.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn with_size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }
}

/// Resources that have one form of address: see [`McpClient::resource_templates`].
///
/// ```
/// use petalflow_mcp::ResourceTemplate;
///
/// fn is_of_files(template: &ResourceTemplate) -> bool {
///     template.uri_template.starts_with("file:///")
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The address with variables, such as `file:///{path}` (RFC 6570).
    pub uri_template: String,
    /// The name.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What they contain.
    pub description: Option<String>,
    /// The media type, if all have the same.
    pub media_type: Option<String>,
}

impl ResourceTemplate {
    /// A template for [`McpServer::resource_template`](crate::McpServer::resource_template).
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceTemplate {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            media_type: None,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what the resources contain.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type, if all have the same.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }
}

/// The methods for the resources of a server.
impl McpClient {
    /// Returns the resources that the server lists, of all pages.
    ///
    /// ```no_run
    /// use petalflow_mcp::McpClient;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let server = McpClient::stdio("npx", ["-y", "@modelcontextprotocol/server-everything"]);
    /// for resource in server.resources().await? {
    ///     let parts = server.read_resource(&resource.uri).await?;
    ///     println!("{}: {} parts", resource.name, parts.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, or has no resources.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn resources(&self) -> Result<Vec<Resource>, McpError> {
        let listed = self
            .session()
            .ask("resources/list", async |service| {
                service.list_all_resources().await
            })
            .await?;
        let resources = listed.into_iter().map(|it| Resource {
            uri: it.uri,
            name: it.name,
            title: it.title,
            description: it.description,
            media_type: it.mime_type,
            size: it.size,
        });
        Ok(resources.collect())
    }

    /// Returns the forms of addresses of resources that the server does not list one by one.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, or has no resources.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn resource_templates(&self) -> Result<Vec<ResourceTemplate>, McpError> {
        let listed = self
            .session()
            .ask("resources/templates/list", async |service| {
                service.list_all_resource_templates().await
            })
            .await?;
        let templates = listed.into_iter().map(|it| ResourceTemplate {
            uri_template: it.uri_template,
            name: it.name,
            title: it.title,
            description: it.description,
            media_type: it.mime_type,
        });
        Ok(templates.collect())
    }

    /// Reads a resource: texts, and data as media. A resource can have several parts, such as the files of a folder. They can
    /// be the parts of a message.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, or has no such resource.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<Part>, McpError> {
        let read = self
            .session()
            .ask(uri, async |service| {
                service
                    .read_resource(ReadResourceRequestParams::new(uri))
                    .await
            })
            .await?;
        Ok(read.contents.iter().filter_map(part_of).collect())
    }
}
