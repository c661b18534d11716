//! From the content of a prompt to a message.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::{ChatMessage, Part, Role};

use crate::error::unfit;

/// The message of a prompt. `images`: whether the model reads them.
pub(crate) fn message(blocks: Vec<ContentBlock>, images: bool) -> Result<ChatMessage, Error> {
    let parts: Result<Vec<Part>, Error> = blocks
        .into_iter()
        .map(|block| part(block, images))
        .collect();
    let parts = parts?;
    if parts.is_empty() {
        return Err(unfit("the prompt is empty: send a text"));
    }
    Ok(ChatMessage::new(Role::User, parts))
}

fn part(block: ContentBlock, images: bool) -> Result<Part, Error> {
    let no_images = || unfit("the model of this agent reads no images: send a text");
    Ok(match block {
        ContentBlock::Text(text) => Part::text(text.text),
        ContentBlock::Image(image) if images => media(image.mime_type, image.data),
        ContentBlock::Image(_) => return Err(no_images()),
        ContentBlock::ResourceLink(link) => Part::text(format!("[{}]({})", link.name, link.uri)),
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(file) => {
                Part::text(quoted(&file.uri, &file.text))
            }
            EmbeddedResourceResource::BlobResourceContents(file) => {
                let kind = file.mime_type.unwrap_or_default();
                if !kind.starts_with("image/") {
                    return Err(unfit(format_args!(
                        "`{}` is neither a text nor an image: send a link to it",
                        file.uri
                    )));
                }
                if !images {
                    return Err(no_images());
                }
                media(kind, file.blob)
            }
            _ => return Err(unknown()),
        },
        _ => return Err(unknown()),
    })
}

fn unknown() -> Error {
    unfit("the prompt has content that is not supported: send texts, images, files and links")
}

fn media(media_type: String, data: String) -> Part {
    Part::Media(Media {
        media_type,
        source: MediaSource::Base64(data),
        origin: None,
    })
}

/// The text of a file between fences that the text does not have.
fn quoted(uri: &str, text: &str) -> String {
    let longest = text.lines().map(|line| {
        let line = line.trim_start();
        line.len() - line.trim_start_matches('`').len()
    });
    let fence = "`".repeat(longest.max().unwrap_or(0).max(2) + 1);
    let text = text.trim_end_matches('\n');
    format!("{uri}\n{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{
        BlobResourceContents, EmbeddedResource, ImageContent, ResourceLink, TextResourceContents,
    };

    use super::*;

    fn resource(contents: EmbeddedResourceResource) -> ContentBlock {
        ContentBlock::Resource(EmbeddedResource::new(contents))
    }

    #[test]
    fn f44_files_and_links_are_texts() {
        let file = TextResourceContents::new("```\nlet x;\n```\n", "file:///a.md");
        let blocks = vec![
            "Look:".into(),
            ContentBlock::ResourceLink(ResourceLink::new("b.rs", "file:///b.rs")),
            resource(EmbeddedResourceResource::TextResourceContents(file)),
        ];
        let message = message(blocks, false).unwrap();
        let texts: Vec<String> = message
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.text.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts[..2], ["Look:", "[b.rs](file:///b.rs)"]);
        assert_eq!(texts[2], "file:///a.md\n````\n```\nlet x;\n```\n````");
    }

    #[test]
    fn f44_images_are_for_models_that_read_them() {
        let image = || ContentBlock::Image(ImageContent::new("AAAA", "image/png"));
        let blob = |kind: &str| {
            let blob = BlobResourceContents::new("AAAA", "file:///a").mime_type(kind.to_string());
            resource(EmbeddedResourceResource::BlobResourceContents(blob))
        };
        for block in [image(), blob("image/png")] {
            let message = message(vec![block.clone()], true).unwrap();
            assert_eq!(message.parts, [media("image/png".into(), "AAAA".into())]);
            let error = super::message(vec![block], false).unwrap_err();
            assert_eq!(
                error.message,
                "the model of this agent reads no images: send a text"
            );
        }
        let error = message(vec![blob("application/zip")], true).unwrap_err();
        assert_eq!(
            error.message,
            "`file:///a` is neither a text nor an image: send a link to it"
        );
        let error = message(Vec::new(), true).unwrap_err();
        assert_eq!(error.message, "the prompt is empty: send a text");
    }
}
