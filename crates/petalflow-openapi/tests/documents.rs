//! Documents: what is read, and what is wrong with those that cannot be.

use petalflow_openapi::{OpenApi, OpenApiError};
use serde_json::{Value, json};

use crate::service::document;

fn api(paths: Value) -> OpenApi {
    OpenApi::from_value(document(paths))
        .unwrap()
        .server("https://example.com")
}

#[test]
fn f44_6_other_documents_are_refused_with_the_reason() {
    for (text, expected) in [
        (
            "{",
            "the document is no JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            "{}",
            "the document is no OpenAPI document, since it has no field `openapi`, and 3.0, 3.1 and 3.2 of OpenAPI can be read: give the document of the service, not a page about it",
        ),
        (
            r#"{"swagger": "2.0"}"#,
            r#"the document is of version "2.0" of Swagger, and 3.0, 3.1 and 3.2 of OpenAPI can be read: convert it, for example with the program `swagger2openapi`"#,
        ),
        (
            r#"{"openapi": "4.0.0"}"#,
            "the document is of version `4.0.0` of OpenAPI, and 3.0, 3.1 and 3.2 of OpenAPI can be read: convert it to one of them",
        ),
        (
            r#"{"openapi": "3.10"}"#,
            "the document is of version `3.10` of OpenAPI, and 3.0, 3.1 and 3.2 of OpenAPI can be read: convert it to one of them",
        ),
    ] {
        assert_eq!(OpenApi::from_json(text).unwrap_err().to_string(), expected);
    }
    for text in [
        r#"{"openapi": "3.0.3"}"#,
        r#"{"openapi": "3.1.0", "paths": {}}"#,
    ] {
        let error = OpenApi::from_json(text).unwrap().tools().unwrap_err();
        assert!(matches!(error, OpenApiError::NoOperation));
    }
}

#[test]
fn f44_6_a_problem_names_the_operation_and_the_fix() {
    let parameter =
        |parameter: Value| json!({ "get": { "operationId": "op", "parameters": [parameter] } });
    for (path, item, problem) in [
        (
            "/a",
            parameter(json!({ "name": "x", "in": "body" })),
            "the parameter `x` is not as OpenAPI says: unknown variant `body`, expected one of `path`, `query`, `header`, `cookie`",
        ),
        (
            "/a",
            parameter(json!({ "in": "query" })),
            "the parameter `` is not as OpenAPI says: missing field `name`",
        ),
        (
            "/a",
            parameter(json!({ "$ref": "#/components/parameters/none" })),
            "it refers to `#/components/parameters/none`, which the document does not have: add it, or correct the reference",
        ),
        (
            "/a",
            parameter(json!({ "$ref": "other.yaml#/x" })),
            "it refers to `other.yaml#/x`, and the file `other.yaml` was not given: read the document with `from_file`, or give the text of the file with `file`",
        ),
        (
            "/a",
            parameter(json!({ "name": "x", "in": "query", "style": "matrix" })),
            "the parameter `x`: its style cannot be in the query: leave `style` out",
        ),
        (
            "/a",
            parameter(json!({ "name": "x", "in": "query", "content": { "text/xml": {} } })),
            "the parameter `x`: its `content` is `text/xml`, and only JSON can be sent",
        ),
        (
            "/a",
            parameter(json!({ "name": "x", "in": "query", "schema": 7 })),
            "the parameter `x`: `7` is no schema: write an object",
        ),
        (
            "/a/{id}",
            json!({ "get": { "operationId": "op" } }),
            "its path has `{id}`, and no parameter in the path has this name: add it to `parameters`",
        ),
        (
            "/a/{id",
            json!({ "get": { "operationId": "op" } }),
            "its path has `{` without `}`: close it",
        ),
        (
            "/a?b=1",
            json!({ "get": { "operationId": "op" } }),
            "its path has a query or a fragment: describe the query as parameters",
        ),
        (
            "/a",
            json!({ "post": { "operationId": "op", "requestBody": { "content": { "application/xml": {} } } } }),
            "its body is `application/xml`, and JSON, forms, texts and files can be sent: leave it out",
        ),
        (
            "/a",
            json!({ "post": { "operationId": "op", "requestBody": { "content": { "multipart/form-data": {
                "encoding": { "photo": { "headers": { "X-Size": { "required": true } } } } } } } } }),
            "its body: the part `photo` needs the header `X-Size`, and parts are sent without headers of their own: leave the operation out",
        ),
        (
            "/a",
            json!({ "post": { "operationId": "op", "requestBody": { "content": { "multipart/form-data": {
                "encoding": { "photo": { "contentType": "image/png\r\nX-Admin: 1" } } } } } } }),
            "its body: `image/png\\r\\nX-Admin: 1` is no media type: write one such as `image/png`",
        ),
        (
            "/a",
            json!({ "post": { "operationId": "op", "requestBody": {} } }),
            "its `requestBody` has no `content`: say in which form it is sent",
        ),
        (
            "/a",
            json!({ "trace": { "operationId": "op" } }),
            "requests of the method TRACE are not sent: leave it out",
        ),
    ] {
        let problems = api(json!({ path: item })).filter(|_| true).problems();
        assert_eq!(problems.len(), 1, "{path}");
        assert_eq!((&*problems[0].id, &*problems[0].problem), ("op", problem));
        assert!(problems[0].operation.ends_with(path));
    }
    let without_servers = OpenApi::from_value(document(json!({ "/a": { "get": {} } }))).unwrap();
    assert_eq!(
        without_servers.problems()[0].problem,
        "the document has no `servers`: give the address with `server`"
    );
    let error = without_servers
        .server("example.com/v1")
        .tools()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the address of the server cannot be used: it is no absolute URL: give the whole address with `server`, such as `https://example.com/v1`"
    );
}

#[test]
fn f44_6_unsupported_operations_are_left_out_only_when_the_program_says_so() {
    let upload =
        json!({ "operationId": "upload", "requestBody": { "content": { "application/xml": {} } } });
    let api = api(json!({ "/files": { "get": { "operationId": "list" }, "post": upload } }));
    let all = api.clone().filter(|_| true);
    let OpenApiError::Operations(problems) = all.tools().unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(problems, all.problems());
    let skipping = all.skip_unsupported();
    assert_eq!(
        skipping.tools().unwrap().names().collect::<Vec<_>>(),
        ["list"]
    );
    assert_eq!(skipping.problems(), problems, "they are listed");
    // What a program names is never left out.
    let error = skipping.operations(["upload"]).tools().unwrap_err();
    assert!(matches!(error, OpenApiError::Operations(_)));
    let error = api.clone().operations(["uploads"]).tools().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the document has no operation with the id `uploads`: it has `list`, `upload`"
    );
    let error = api
        .filter(|operation| operation.has_tag("none"))
        .tools()
        .unwrap_err();
    assert!(matches!(error, OpenApiError::NoOperation));
}

#[test]
fn f44_6_names_are_valid_unique_and_stay() {
    let op = |id: &str| json!({ "get": { "operationId": id } });
    let paths = json!({
        "/a": op("books.list"), "/b": op("books_list"), "/c": op("books list"), "/d/{id}": { "get": { "parameters": [
            { "name": "id", "in": "path" }] } }, "/e": { "get": { "operationId": "old", "deprecated": true } },
        "/f": { "post": { "operationId": "write" } }, "/g": op(&"long".repeat(30)), "/h": op(&"long".repeat(31)),
    });
    let api = api(paths);
    let named = |api: &OpenApi| -> Vec<(String, String)> {
        let all = api.all_operations().into_iter();
        all.map(|it| (it.path, it.name)).collect()
    };
    let names = named(&api);
    let name = |path: &str| &*names.iter().find(|(it, _)| it == path).unwrap().1;
    assert_eq!(
        (name("/a"), name("/b"), name("/c")),
        ("books_list_2", "books_list", "books_list_3")
    );
    assert_eq!(name("/d/{id}"), "get_d_id");
    assert_eq!((name("/g").len(), name("/h").len()), (64, 64));
    assert_ne!(name("/g"), name("/h"));
    let tools = api.tools().unwrap();
    assert_eq!(tools.len(), 6, "neither what is deprecated nor what writes");
    // A choice changes no name.
    let one = api.clone().operations(["books.list"]);
    assert_eq!(
        one.tools().unwrap().names().collect::<Vec<_>>(),
        ["books_list_2"]
    );
    let prefixed = api.prefix("shop_");
    let (set, names) = (prefixed.tools().unwrap(), named(&prefixed));
    assert!(set.get("shop_books_list").is_some());
    assert!(
        names
            .iter()
            .all(|(_, name)| name.starts_with("shop_") && name.len() <= 64)
    );
}

#[test]
fn f44_6_yaml_is_the_same_document() {
    let yaml = "
openapi: 3.1.0
servers:
  - url: https://example.com/v1
components:
  schemas:
    Tree: &tree
      type: object
      properties:
        size: { type: integer, default: 3 }
        next: { $ref: '#/components/schemas/Tree' }
paths:
  /trees/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string } }
    put:
      operationId: putTree
      description: |
        Writes a tree.
      requestBody: { content: { application/json: { schema: *tree } } }
      responses:
        200: { description: yes }
        404: { description: no }
";
    let json = json!({
        "openapi": "3.1.0", "servers": [{ "url": "https://example.com/v1" }],
        "components": { "schemas": { "Tree": { "type": "object", "properties": {
            "size": { "type": "integer", "default": 3 }, "next": { "$ref": "#/components/schemas/Tree" } } } } },
        "paths": { "/trees/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
            "put": { "operationId": "putTree", "description": "Writes a tree.\n", "requestBody": { "content": {
                "application/json": { "schema": { "type": "object", "properties": {
                    "size": { "type": "integer", "default": 3 }, "next": { "$ref": "#/components/schemas/Tree" } } } } } } } } },
    });
    let spec = |api: OpenApi| {
        let tools = api.operations(["putTree"]).tools().unwrap();
        tools.get("putTree").unwrap().spec().clone()
    };
    let of_yaml = spec(OpenApi::from_yaml(yaml).unwrap());
    assert_eq!(of_yaml, spec(OpenApi::from_value(json).unwrap()));
    assert_eq!(of_yaml.description, "Writes a tree.");
    // A number that looks like a version.
    assert!(OpenApi::from_yaml("openapi: 3.1\npaths: {}").is_ok());
    let error = OpenApi::from_yaml("openapi: [").unwrap_err();
    assert!(
        matches!(error, OpenApiError::Syntax { format: "YAML", .. }),
        "{error}"
    );
}

#[test]
fn f44_6_a_small_text_is_not_a_large_document() {
    // Each list has the one before ten times.
    let lists = (1..10).map(|level| {
        format!(
            "l{level}: &l{level} [{}]\n",
            vec![format!("*l{}", level - 1); 10].join(", ")
        )
    });
    let text = format!("openapi: 3.1.0\nl0: &l0 [x]\n{}", lists.collect::<String>());
    let error = OpenApi::from_yaml(&text).unwrap_err();
    assert!(matches!(error, OpenApiError::Syntax { .. }), "{error}");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}
