//! Bodies that are forms of parts, and files.

use petalflow_openapi::OpenApi;
use serde_json::{Value, json};

use crate::service::{Part, Service, api, call};

fn post(content: Value) -> Value {
    json!({ "/books": { "post": { "operationId": "add", "requestBody": { "required": true, "content": content } } } })
}

fn multipart(media: Value) -> Value {
    post(json!({ "multipart/form-data": media }))
}

/// The parts of the request of a call.
async fn sent(media: Value, body: Value) -> Vec<Part> {
    let service = Service::echo().await;
    let tools = api(&service, multipart(media)).tools().unwrap();
    call(&tools, "add", json!({ "body": body })).await.unwrap();
    service.only().parts().await
}

/// The error of a call of which nothing is sent.
async fn refused(api: impl Fn(OpenApi) -> OpenApi, media: Value, body: Value) -> String {
    let service = Service::echo().await;
    let tools = api(crate::service::api(&service, multipart(media)));
    let result = call(&tools.tools().unwrap(), "add", json!({ "body": body })).await;
    assert!(service.seen().is_empty(), "nothing is sent");
    let error = result.unwrap_err().to_string();
    assert!(
        error.starts_with("the arguments of tool `add` do not fit: "),
        "{error}"
    );
    error
}

fn book() -> Value {
    json!({ "schema": { "type": "object", "required": ["title", "cover"], "properties": {
        "title": { "type": "string" },
        "pages": { "type": "integer" },
        "tags": { "type": "array", "items": { "type": "string" } },
        "author": { "type": "object" },
        "chapters": { "type": "array", "items": { "type": "object" } },
        "cover": { "type": "string", "format": "binary", "description": "The picture." },
        "extracts": { "type": "array", "items": { "type": "string", "format": "binary" } },
        "id": { "type": "string", "readOnly": true },
        "note": { "type": ["string", "null"] },
    }, "additionalProperties": false } })
}

#[tokio::test]
async fn f44_6_a_form_of_parts_has_texts_json_and_files() {
    let body = json!({
        "title": "a&b \u{e9}\r\n--x", "pages": 7, "tags": ["one", "two"], "author": { "name": "Ann" }, "note": null,
        "chapters": [{ "n": 1 }, { "n": 2 }],
        "cover": { "name": "cover \u{e9}.png", "base64": "iVBO\nRw0KGgo", "media_type": "image/png" },
        "extracts": [{ "name": "a.csv", "text": "1,2\r\n", "media_type": "text/csv" }, { "name": "b.txt", "text": "\u{e9}" }],
    });
    let parts = sent(book(), body).await;
    let json = |name: &str, text: &str| Part {
        content_type: Some("application/json".into()),
        ..Part::text(name, text)
    };
    let mut expected = vec![
        Part::text("title", "a&b \u{e9}\r\n--x"),
        Part::text("pages", "7"),
        Part::text("tags", "one"),
        Part::text("tags", "two"),
        json("author", r#"{"name":"Ann"}"#),
        json("chapters", r#"{"n":1}"#),
        json("chapters", r#"{"n":2}"#),
        Part::file(
            "cover",
            "cover \u{e9}.png",
            "image/png",
            b"\x89PNG\r\n\x1a\n",
        ),
        Part::file("extracts", "a.csv", "text/csv", b"1,2\r\n"),
        Part::file(
            "extracts",
            "b.txt",
            "text/plain; charset=utf-8",
            "\u{e9}".as_bytes(),
        ),
    ];
    // Without `preserve_order`, JSON is sorted.
    let mut parts = parts;
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    expected.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(parts, expected);
}

#[tokio::test]
async fn f44_6_a_model_reads_how_a_file_is_given() {
    let service = Service::echo().await;
    let tools = api(&service, multipart(book())).tools().unwrap();
    let parameters = &tools.get("add").unwrap().spec().parameters;
    let properties = &parameters["properties"]["body"]["properties"];
    assert_eq!(
        properties["cover"],
        json!({ "$ref": "#/$defs/file", "description": "The picture." })
    );
    assert_eq!(
        properties["extracts"],
        json!({ "type": "array", "items": { "$ref": "#/$defs/file" } })
    );
    assert_eq!(properties.get("id"), None, "the service sets it");
    let file = &parameters["$defs"]["file"];
    assert_eq!(file["required"], json!(["name"]));
    for field in ["name", "text", "base64", "media_type"] {
        assert_eq!(file["properties"][field]["type"], "string");
    }
    assert_eq!(parameters["$defs"].as_object().unwrap().len(), 1);
}

/// The ways in which documents say that a field is a file.
#[tokio::test]
async fn f44_6_files_are_found_in_each_spelling() {
    let file = json!({ "type": "string", "format": "binary" });
    let of = |property: Value| json!({ "schema": { "type": "object", "properties": { "f": property } } });
    let encoded = |property: Value, kind: &str| json!({ "schema": { "properties": { "f": property } }, "encoding": { "f": { "contentType": kind } } });
    let given = json!({ "f": { "name": "f", "base64": "AAE=" } });
    let any = "application/octet-stream";
    for (media, kind) in [
        (of(file.clone()), any),
        (
            of(json!({ "type": "string", "contentMediaType": "application/octet-stream" })),
            any,
        ),
        (of(json!({ "contentMediaType": "image/png" })), "image/png"),
        (
            of(json!({ "anyOf": [file, { "type": "array", "items": file }] })),
            any,
        ),
        (
            of(json!({ "type": ["string", "null"], "format": "binary" })),
            any,
        ),
        (
            of(json!({ "type": "string", "format": "binary", "nullable": true })),
            any,
        ),
        (
            of(json!({ "allOf": [file], "description": "A file." })),
            any,
        ),
        (
            encoded(json!({ "type": "string" }), "application/pdf"),
            "application/pdf",
        ),
        (encoded(json!({}), "application/octet-stream"), any),
        (
            json!({ "schema": { "allOf": [{ "properties": { "f": file } }, { "properties": { "g": {} } }] } }),
            any,
        ),
    ] {
        let parts = sent(media.clone(), given.clone()).await;
        assert_eq!(parts, [Part::file("f", "f", kind, &[0, 1])], "{media}");
    }
    // The two alternatives of a field can be given, and a text is sent where it may be one.
    let both = of(
        json!({ "anyOf": [file, { "type": "array", "items": file }, { "type": "string", "format": "uri" }] }),
    );
    let list = json!({ "f": [{ "name": "a", "text": "1" }, { "name": "b", "text": "2" }] });
    assert_eq!(sent(both.clone(), list).await.len(), 2);
    let link = sent(both, json!({ "f": "https://example.com/a" })).await;
    assert_eq!(link, [Part::text("f", "https://example.com/a")]);
    // Bytes that the document wants as Base64 are a text.
    for bytes in [
        json!({ "type": "string", "format": "byte" }),
        json!({ "type": "string", "contentEncoding": "base64", "contentMediaType": "image/png" }),
    ] {
        let parts = sent(of(bytes), json!({ "f": "AAE=" })).await;
        assert_eq!(parts, [Part::text("f", "AAE=")]);
    }
}

#[tokio::test]
async fn f44_6_files_are_found_behind_references() {
    let service = Service::echo().await;
    let mut document = crate::service::document(multipart(
        json!({ "schema": { "$ref": "#/components/schemas/Upload" } }),
    ));
    document["components"]["schemas"] = json!({
        "Upload": { "type": "object", "allOf": [{ "$ref": "#/components/schemas/Base" }], "properties": {
            "file": { "$ref": "#/components/schemas/File" }, "more": { "$ref": "#/components/schemas/Files" },
            "tree": { "$ref": "#/components/schemas/Tree" },
        } },
        "Base": { "type": "object", "required": ["title"], "properties": { "title": { "type": "string" } } },
        "File": { "type": "string", "format": "binary" },
        "Files": { "type": "array", "items": { "$ref": "#/components/schemas/File" } },
        "Tree": { "type": "object", "properties": { "next": { "$ref": "#/components/schemas/Tree" } } },
    });
    let api = OpenApi::from_value(document).unwrap();
    let api = api.server(&service.url()).filter(|_| true);
    let tools = api.tools().unwrap();
    let body = json!({ "title": "t", "file": { "name": "a", "text": "1" }, "more": [{ "name": "b", "text": "2" }],
        "tree": { "next": { "next": {} } } });
    call(&tools, "add", json!({ "body": body })).await.unwrap();
    let mut parts = service.only().parts().await;
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    let text = "text/plain; charset=utf-8";
    assert_eq!(
        parts[..2],
        [
            Part::file("file", "a", text, b"1"),
            Part::file("more", "b", text, b"2")
        ]
    );
    assert_eq!(parts[3].content, br#"{"next":{"next":{}}}"#);
    let error = call(&tools, "add", json!({ "body": { "file": "text" } }))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("title"), "{error}");
}

#[test]
fn f44_6_schemas_of_forms_without_an_end_are_refused() {
    let double = |number: usize| {
        let next = json!({ "$ref": format!("#/components/schemas/s{}", number + 1) });
        (format!("s{number}"), json!({ "anyOf": [next, next] }))
    };
    let mut schemas: serde_json::Map<String, Value> = (0..30).map(double).collect();
    schemas.insert(
        "s30".into(),
        json!({ "type": "string", "format": "binary" }),
    );
    let own = json!({ "$ref": "#/components/schemas/own" });
    let file = json!({ "type": "string", "format": "binary" });
    schemas.insert("own".into(), json!({ "anyOf": [own, own, file] }));
    schemas.insert(
        "form".into(),
        json!({ "allOf": [{ "$ref": "#/components/schemas/form" }] }),
    );
    for schema in [
        json!({ "properties": { "f": { "$ref": "#/components/schemas/s0" } } }),
        json!({ "properties": { "f": own } }),
        json!({ "$ref": "#/components/schemas/s0" }),
        json!({ "$ref": "#/components/schemas/form" }),
    ] {
        let mut document = crate::service::document(multipart(json!({ "schema": schema })));
        document["components"]["schemas"] = schemas.clone().into();
        let api = OpenApi::from_value(document).unwrap();
        let problems = api
            .server("https://example.com")
            .filter(|_| true)
            .problems();
        assert_eq!(
            problems[0].problem,
            "its body: the schema of its form leads to itself, or is too large: leave it out"
        );
    }
}

#[tokio::test]
async fn f44_6_the_encoding_of_a_field_is_that_of_the_document() {
    let media = json!({
        "schema": { "type": "object", "properties": {
            "profile": { "type": "string", "format": "binary" }, "config": { "type": "string" },
            "link": { "type": "object" }, "code": { "type": "string" },
        } },
        "encoding": {
            "profile": { "contentType": "image/png, image/jpeg", "headers": { "X-Optional": {} } },
            "config": { "contentType": "application/json" },
            "link": { "style": "deepObject", "explode": true },
            "code": { "contentType": "text/x-rust" },
        },
    });
    let body = json!({ "profile": { "name": "p.jpg", "base64": "/9g=", "media_type": "image/jpeg" }, "config": "a \"b\"",
        "link": { "url": "https://example.com/?a=1", "to": { "x[y]": [1, 2] } }, "code": "fn" });
    let mut parts = sent(media.clone(), body).await;
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    let kind = |name: &str, kind: &str, text: &str| Part {
        content_type: Some(kind.into()),
        ..Part::text(name, text)
    };
    assert_eq!(
        parts,
        [
            kind("code", "text/x-rust", "fn"),
            kind("config", "application/json", r#""a \"b\"""#),
            Part::text("link[to][x[y]]", "1"),
            Part::text("link[to][x[y]]", "2"),
            Part::text("link[url]", "https://example.com/?a=1"),
            Part::file("profile", "p.jpg", "image/jpeg", &[0xff, 0xd8]),
        ]
    );
    let file =
        |kind: Value| json!({ "profile": { "name": "p", "base64": "", "media_type": kind } });
    let same = |api| api;
    let error = refused(same, media.clone(), file(json!("text/html"))).await;
    assert!(
        error.contains("`media_type` of `body.profile` must be one of `image/png`, `image/jpeg`;"),
        "{error}"
    );
    let body = json!({ "profile": { "name": "p", "base64": "" } });
    let error = refused(same, media, body).await;
    assert!(
        error.contains("must be one of"),
        "a choice is not guessed: {error}"
    );
}

/// What a model writes stays in its place.
#[tokio::test]
async fn f44_6_no_value_leaves_its_part() {
    let media = json!({ "schema": { "type": "object", "properties": {
        "f": { "type": "string", "format": "binary" }, "t": { "type": "string" } } } });
    let text = "v\r\n--petalflow-0\r\nContent-Disposition: form-data; name=\"admin\"\r\n\r\n1\r\n--petalflow-0--";
    let body =
        json!({ "f": { "name": "a\"; name=\"admin", "text": text }, "t": text, "a[b]=c": "v" });
    let mut parts = sent(media.clone(), body.clone()).await;
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(
        parts,
        [
            Part::text("a[b]=c", "v"),
            Part::file(
                "f",
                "a%22; name=%22admin",
                "text/plain; charset=utf-8",
                text.as_bytes()
            ),
            Part::text("t", text),
        ]
    );
    // The boundary of the request as a content.
    let service = Service::echo().await;
    let tools = api(&service, multipart(media.clone())).tools().unwrap();
    call(&tools, "add", json!({ "body": body })).await.unwrap();
    let content_type = service.only().header("content-type").unwrap().to_owned();
    let (_, boundary) = content_type.split_once("boundary=").unwrap();
    let body = json!({ "t": format!("\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"admin\"\r\n\r\n1\r\n--{boundary}--") });
    let parts = sent(media.clone(), body.clone()).await;
    assert_eq!(parts, [Part::text("t", body["t"].as_str().unwrap())]);

    let same = |api| api;
    for name in [
        "n\"; filename=\"x",
        "n; filename=x",
        "n\r\nX-Admin: 1\r\n\r\nbody",
        "n\0",
    ] {
        for body in [json!({ name: "v" }), json!({ "o": { name: "v" } })] {
            let mut media = media.clone();
            media["encoding"] = json!({ "o": { "style": "deepObject" } });
            let error = refused(same, media, body).await;
            assert!(
                error.contains(
                    "the name of a field cannot have quotes, semicolons or control characters;"
                ),
                "{error}"
            );
            assert!(!error.chars().any(char::is_control), "{error}");
        }
    }
    for name in ["a\r\nX-Admin: 1", "../../etc/passwd", "a\\b", "a\0b"] {
        let error = refused(
            same,
            media.clone(),
            json!({ "f": { "name": name, "text": "" } }),
        )
        .await;
        assert!(
            error.contains(
                "`name` of `body.f` is no name of a file: leave out folders and control characters"
            ),
            "{error}"
        );
    }
    for kind in [
        "text/plain\r\nX-Admin: 1",
        "a",
        "image/*",
        "text/plain; a=\n",
    ] {
        let file = json!({ "f": { "name": "a", "text": "", "media_type": kind } });
        let error = refused(same, media.clone(), file).await;
        assert!(
            error.contains("`media_type` of `body.f` is no media type"),
            "{error}"
        );
    }
    for content in [json!({}), json!({ "text": "", "base64": "" })] {
        let mut file = content;
        file["name"] = "a".into();
        let error = refused(same, media.clone(), json!({ "f": file })).await;
        assert!(
            error.contains(
                "`body.f` is a file: give its content either as `text` or, in Base64, as `base64`"
            ),
            "{error}"
        );
    }
    let file = json!({ "f": { "name": "a", "base64": "no base64!" } });
    let error = refused(same, media.clone(), file).await;
    assert!(
        error.contains("`base64` of `body.f` is no Base64: "),
        "{error}"
    );
    let error = refused(same, media, json!({ "f": "text" })).await;
    assert!(error.contains('f'), "{error}");
    // A form without a schema is an object too.
    refused(same, json!({}), json!("text")).await;
    let parts = sent(json!({}), json!({ "a": 1 })).await;
    assert_eq!(parts, [Part::text("a", "1")]);
}

#[tokio::test]
async fn f44_6_a_long_body_is_not_sent() {
    let media =
        json!({ "schema": { "properties": { "f": { "type": "string", "format": "binary" } } } });
    let file = |bytes: usize| json!({ "f": { "name": "a", "text": "x".repeat(bytes) } });
    let error = refused(|api| api, media.clone(), file(1 << 20)).await;
    assert!(
        error.contains("bytes, and at most 1048576 are sent: send less"),
        "{error}"
    );
    let error = refused(|api| api.request_limit(1000), media.clone(), file(1000)).await;
    assert!(error.contains("at most 1000 are sent"), "{error}");
    let parts = sent(media, file(1_000_000)).await;
    assert_eq!(parts[0].content.len(), 1_000_000);
}

#[tokio::test]
async fn f44_6_a_file_is_a_whole_body() {
    let png = json!({ "base64": "iVBORw0KGgo=" });
    for (kind, body, content_type) in [
        ("application/octet-stream", &png, "application/octet-stream"),
        (
            "application/octet-stream",
            &json!({ "base64": "iVBORw0KGgo=", "media_type": "image/png" }),
            "image/png",
        ),
        ("image/png", &png, "image/png"),
        (
            "image/*",
            &json!({ "base64": "iVBORw0KGgo=", "media_type": "image/png" }),
            "image/png",
        ),
    ] {
        let service = Service::echo().await;
        let tools = api(
            &service,
            post(json!({ kind: { "schema": { "type": "string", "format": "binary" } } })),
        );
        let tools = tools.tools().unwrap();
        call(&tools, "add", json!({ "body": body })).await.unwrap();
        let seen = service.only();
        assert_eq!(seen.header("content-type"), Some(content_type));
        assert_eq!(seen.bytes, b"\x89PNG\r\n\x1a\n");
        let wrong = json!({ "body": { "base64": "", "media_type": "image/svg\n" } });
        call(&tools, "add", wrong).await.unwrap_err();
        assert_eq!(service.seen().len(), 1);
    }
}

/// A repeated request has the same bytes, so a service with idempotency keys sees the same request.
#[tokio::test]
async fn f44_6_the_same_call_has_the_same_bytes() {
    let service = Service::echo().await;
    let tools = api(&service, multipart(book())).tools().unwrap();
    let body = json!({ "body": { "title": "a", "cover": { "name": "c", "base64": "AAE=" } } });
    for _ in 0..2 {
        call(&tools, "add", body.clone()).await.unwrap();
    }
    let seen = service.seen();
    assert_eq!(seen[0].bytes, seen[1].bytes);
    assert_eq!(
        seen[0].header("content-type"),
        seen[1].header("content-type")
    );
}
