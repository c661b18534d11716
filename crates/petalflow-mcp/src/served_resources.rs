//! The resources of our server.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult,
    Resource as McpResource, ResourceTemplate as McpResourceTemplate,
};

use super::pages::page;
use super::served::answered;
use super::uri_template::UriTemplate;
use super::{Resource, ResourceContent, ResourceTemplate};
use petalflow::BoxError;
use petalflow::middleware::BoxFuture;

type Reading = BoxFuture<'static, Result<Option<ResourceContent>, BoxError>>;

/// The resources that a server offers.
#[derive(Clone, Default)]
pub(super) struct ServedResources {
    listed: Vec<McpResource>,
    /// The functions of the listed resources, by their URIs.
    reads: HashMap<String, Arc<dyn Fn() -> Reading + Send + Sync>>,
    templates: Vec<McpResourceTemplate>,
    /// The functions of the templates, in their order.
    template_reads: Vec<TemplateRead>,
}

#[derive(Clone)]
struct TemplateRead {
    template: Result<UriTemplate, String>,
    read: Arc<dyn Fn(BTreeMap<String, String>) -> Reading + Send + Sync>,
}

impl ServedResources {
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.templates.is_empty()
    }

    pub(super) fn add<C, F>(
        &mut self,
        resource: Resource,
        read: impl Fn() -> F + Send + Sync + 'static,
    ) where
        C: Into<ResourceContent>,
        F: Future<Output = Result<C, BoxError>> + Send + 'static,
    {
        let mut listed = McpResource::new(resource.uri, resource.name);
        listed.title = resource.title;
        listed.description = resource.description;
        listed.mime_type = resource.media_type;
        listed.size = resource.size;
        let read = move || -> Reading {
            let read = read();
            Box::pin(async move { Ok(Some(read.await?.into())) })
        };
        self.reads.insert(listed.uri.clone(), Arc::new(read));
        self.listed.push(listed);
    }

    pub(super) fn add_template<C, F>(
        &mut self,
        template: ResourceTemplate,
        read: impl Fn(BTreeMap<String, String>) -> F + Send + Sync + 'static,
    ) where
        C: Into<ResourceContent>,
        F: Future<Output = Result<Option<C>, BoxError>> + Send + 'static,
    {
        let read = move |values| -> Reading {
            let read = read(values);
            Box::pin(async move { Ok(read.await?.map(Into::into)) })
        };
        self.template_reads.push(TemplateRead {
            template: UriTemplate::parse(&template.uri_template),
            read: Arc::new(read),
        });
        let mut listed = McpResourceTemplate::new(template.uri_template, template.name);
        listed.title = template.title;
        listed.description = template.description;
        listed.mime_type = template.media_type;
        self.templates.push(listed);
    }

    /// The first mistake in the names and addresses.
    pub(super) fn problem(&self) -> Option<String> {
        let mut uris = HashSet::new();
        for resource in &self.listed {
            let (uri, name) = (&resource.uri, &resource.name);
            if !has_scheme(uri) {
                return Some(format!(
                    "`{uri}` is not the URI of a resource; begin it with a scheme, such as `notes://`"
                ));
            }
            if name.trim().is_empty() {
                return Some(format!("resource `{uri}` has no name"));
            }
            if !uris.insert(uri) {
                return Some(format!("two resources have the URI `{uri}`"));
            }
        }
        for (template, read) in self.templates.iter().zip(&self.template_reads) {
            let (uri, name) = (&template.uri_template, &template.name);
            if !has_scheme(uri) {
                return Some(format!(
                    "`{uri}` is not a template of URIs; begin it with a scheme, such as `notes://`"
                ));
            }
            if let Err(problem) = &read.template {
                return Some(format!(
                    "the template of URIs `{uri}` is invalid: {problem}"
                ));
            }
            if name.trim().is_empty() {
                return Some(format!("resource template `{uri}` has no name"));
            }
            if !uris.insert(uri) {
                return Some(format!("two resource templates are `{uri}`"));
            }
        }
        None
    }

    /// Whether a template has a variable of this name.
    pub(super) fn has_variable(&self, uri_template: &str, variable: &str) -> bool {
        let mut templates = self.templates.iter().zip(&self.template_reads);
        let of_uri = templates.find(|(listed, _)| listed.uri_template == uri_template);
        of_uri.is_some_and(|(_, read)| {
            let template = read.template.as_ref();
            template.is_ok_and(|template| template.has_variable(variable))
        })
    }

    /// Whether a resource has this URI, as far as is known without reading it.
    pub(super) fn has(&self, uri: &str) -> bool {
        self.reads.contains_key(uri)
            || self.template_reads.iter().any(|it| {
                let template = it.template.as_ref();
                template.is_ok_and(|template| template.values(uri).is_some())
            })
    }

    /// Fails if no resource has this URI.
    pub(super) fn check(&self, uri: &str) -> Result<(), ErrorData> {
        if self.has(uri) {
            return Ok(());
        }
        Err(unknown(uri))
    }

    pub(super) fn list(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (items, next) = page(&self.listed, request)?;
        let mut result = ListResourcesResult::with_all_items(items);
        result.next_cursor = next;
        Ok(result)
    }

    pub(super) fn list_templates(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (items, next) = page(&self.templates, request)?;
        let mut result = ListResourceTemplatesResult::with_all_items(items);
        result.next_cursor = next;
        Ok(result)
    }

    /// Reads a resource: one of the list, or one of the first template that fits.
    pub(super) async fn read(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let (reading, media_type) = self.reading(uri).ok_or_else(|| unknown(uri))?;
        let what = format!("resource `{uri}` cannot be read");
        let content = answered(&what, reading).await?;
        let content = content.ok_or_else(|| unknown(uri))?;
        Ok(ReadResourceResult::new(vec![
            content.into_mcp(uri, media_type),
        ]))
    }

    /// The work of reading a resource, and its media type.
    fn reading(&self, uri: &str) -> Option<(Reading, Option<&str>)> {
        if let Some(read) = self.reads.get(uri) {
            let listed = self.listed.iter().find(|it| it.uri == uri)?;
            return Some((read(), listed.mime_type.as_deref()));
        }
        let mut templates = self.templates.iter().zip(&self.template_reads);
        templates.find_map(|(listed, it)| {
            let values = it.template.as_ref().ok()?.values(uri)?;
            Some(((it.read)(values), listed.mime_type.as_deref()))
        })
    }
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("there is no resource `{uri}`"), None)
}

/// Whether an address begins with a scheme.
fn has_scheme(uri: &str) -> bool {
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}
