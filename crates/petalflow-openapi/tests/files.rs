//! Documents of several files.

use std::fs;
use std::path::Path;

use petalflow_openapi::{OpenApi, OpenApiError};
use serde_json::{Value, json};

use crate::service::{Service, call};

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

const API: &str = "
openapi: 3.1.0
servers: [{ url: https://example.com }]
paths:
  /pets: { $ref: ./paths/pets.yaml }
components:
  schemas:
    Name: { type: string, minLength: 1 }
  securitySchemes:
    key: { $ref: './common.json#/security/key' }
";

const PETS: &str = "
get:
  operationId: listPets
  parameters: [{ $ref: '../common.json#/parameters/page' }]
post:
  operationId: addPet
  security: [{ key: [] }]
  requestBody: { $ref: '#/bodies/pet' }
bodies:
  pet: { required: true, content: { application/json: { schema: { $ref: '../schemas/pet.yaml#/Pet' } } } }
";

const PET: &str = "
Pet:
  type: object
  required: [name]
  properties:
    name: { $ref: '../api.yaml#/components/schemas/Name' }
    parents: { type: array, items: { $ref: '#/Pet' } }
    home: { $ref: ./home.yaml }
";

const HOME: &str = "
type: object
properties:
  pets: { type: array, items: { $ref: 'pet.yaml#/Pet' } }
";

const COMMON: &str = r#"{ "parameters": { "page": { "name": "page", "in": "query", "schema": { "type": "integer" } } },
    "security": { "key": { "type": "apiKey", "in": "header", "name": "X-Key" } } }"#;

const FILES: [(&str, &str); 5] = [
    ("api.yaml", API),
    ("paths/pets.yaml", PETS),
    ("schemas/pet.yaml", PET),
    ("schemas/home.yaml", HOME),
    ("common.json", COMMON),
];

#[tokio::test]
async fn f44_6_a_document_of_several_files_is_one_document() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &FILES);
    let service = Service::echo().await;
    let from_file = OpenApi::from_file(folder.path().join("api.yaml")).unwrap();
    let given = OpenApi::from_yaml(&API.replace("./paths", "paths")).unwrap();
    let given = FILES[1..].iter().fold(given, |api, (name, text)| {
        // A document without a name is not known to its files.
        let text = text.replace(
            "../api.yaml#/components/schemas/Name",
            "../common.json#/Name",
        );
        let text = text.replace(
            "\"security\": {",
            "\"Name\": { \"type\": \"string\", \"minLength\": 1 }, \"security\": {",
        );
        api.file(&format!("./{name}"), &text).unwrap()
    });
    for api in [from_file, given] {
        let api = api
            .server(&service.url())
            .credential("key", petalflow_openapi::Credential::token("secret-key"))
            .filter(|_| true);
        assert!(api.problems().is_empty(), "{:?}", api.problems());
        let tools = api.tools().unwrap();
        let listed = call(&tools, "listPets", json!({ "page": 2 }))
            .await
            .unwrap();
        assert_eq!(listed["target"], "/pets?page=2");
        let definitions = &tools.get("addPet").unwrap().spec().parameters["$defs"];
        let mut names: Vec<&str> = definitions
            .as_object()
            .unwrap()
            .keys()
            .map(|it| &**it)
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["Name", "Pet", "home"],
            "a cycle of files is a cycle of definitions"
        );
        let pet = json!({ "name": "Rex", "home": { "pets": [{ "name": "Mia", "parents": [{ "name": "Kit" }] }] } });
        call(&tools, "addPet", json!({ "body": pet }))
            .await
            .unwrap();
        let wrong = json!({ "body": { "name": "Rex", "home": { "pets": [{ "name": "" }] } } });
        call(&tools, "addPet", wrong).await.unwrap_err();
        let seen = service.seen();
        assert_eq!(seen.last().unwrap().header("x-key"), Some("secret-key"));
        assert_eq!(
            serde_json::from_str::<Value>(&seen.last().unwrap().body).unwrap(),
            pet
        );
    }
    assert_eq!(service.seen().len(), 4);
}

/// The problem of the only operation, whose schema has this reference.
fn problem(folder: &Path, reference: &str) -> String {
    let schema = json!({ "schema": { "$ref": reference } });
    let document = json!({ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }], "paths": {
        "/a": { "post": { "operationId": "op", "requestBody": { "content": { "application/json": schema } } } } } });
    fs::write(folder.join("api.json"), document.to_string()).unwrap();
    let api = OpenApi::from_file(folder.join("api.json")).unwrap();
    let problems = api.operations(["op"]).problems();
    assert_eq!(problems.len(), 1, "{reference}");
    problems[0].problem.clone()
}

#[test]
fn f44_6_a_wrong_reference_names_the_file_and_the_fix() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("service");
    write(
        &folder,
        &[
            ("pet.json", "{ \"Pet\": {} }"),
            ("wrong.json", "{"),
            ("dir/pet.json", "{}"),
            ("up.json", r#"{ "$ref": "dir/../../secret.json" }"#),
        ],
    );
    write(outer.path(), &[("secret.json", "{}")]);
    let outside = "it is outside of the folder of the document: move it into the folder, or give its text with `file`";
    let start = |reference: &str, file: &str| {
        format!("its body: it refers to `{reference}`, and the file `{file}` cannot be used: ")
    };
    for (reference, expected) in [
        (
            "./pet.json#/Cat",
            "its body: it refers to `pet.json#/Cat`, which the file `pet.json` does not have: add it, or correct the reference".to_owned(),
        ),
        ("../secret.json", start("../secret.json", "../secret.json") + outside),
        ("dir/../../secret.json#/a", start("../secret.json#/a", "../secret.json") + outside),
        ("%2e%2e/secret.json", start("../secret.json", "../secret.json") + outside),
        ("/etc/hostname", start("/etc/hostname", "/etc/hostname") + outside),
        ("//example.com/a.json", start("//example.com/a.json", "//example.com/a.json") + outside),
        (
            "https://example.com/a.json#/b",
            "its body: it refers to `https://example.com/a.json#/b`, and addresses are not fetched: give the text of `https://example.com/a.json` with `file`".to_owned(),
        ),
        (
            "file:///etc/hostname",
            "its body: it refers to `file:///etc/hostname`, and addresses are not fetched: give the text of `file:///etc/hostname` with `file`".to_owned(),
        ),
    ] {
        assert_eq!(problem(&folder, reference), expected);
    }
    let missing = problem(&folder, "schemas/none.json#/a");
    assert!(
        missing.starts_with(&start("schemas/none.json#/a", "schemas/none.json")),
        "{missing}"
    );
    assert!(
        missing.ends_with(": add the file, or correct the reference"),
        "{missing}"
    );
    assert!(
        problem(&folder, "dir").ends_with("it is no file: add the file, or correct the reference")
    );
    let syntax = problem(&folder, "wrong.json#/a");
    assert!(
        syntax.contains("`wrong.json` cannot be used: it is no JSON: EOF while parsing"),
        "{syntax}"
    );
    // A file of the folder leaves it.
    fs::remove_file(folder.join("api.json")).unwrap();
    write(
        &folder,
        &[(
            "api.json",
            r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }], "paths": {
        "/a": { "get": { "operationId": "op", "parameters": [{ "$ref": "up.json" }] } } } }"#,
        )],
    );
    let api = OpenApi::from_file(folder.join("api.json")).unwrap();
    assert!(api.problems()[0].problem.ends_with(outside));
    // The program can give what is outside.
    let parameter = r#"{ "name": "page", "in": "query" }"#;
    let api = api.file("../secret.json", parameter).unwrap();
    assert_eq!(api.tools().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn f44_6_a_link_does_not_leave_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("service");
    write(&folder, &[("inside.json", r#"{ "type": "string" }"#)]);
    write(outer.path(), &[("secret.json", r#"{ "const": "secret" }"#)]);
    std::os::unix::fs::symlink(outer.path().join("secret.json"), folder.join("link.json")).unwrap();
    std::os::unix::fs::symlink(outer.path(), folder.join("up")).unwrap();
    for reference in ["link.json", "up/secret.json"] {
        let problem = problem(&folder, reference);
        assert!(
            problem.contains("it is outside of the folder of the document"),
            "{problem}"
        );
        assert!(!problem.contains("const"), "{problem}");
    }
    // A link within the folder is followed.
    fs::remove_file(folder.join("link.json")).unwrap();
    std::os::unix::fs::symlink(folder.join("inside.json"), folder.join("link.json")).unwrap();
    let document = r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }], "paths": { "/a": { "get": {
        "operationId": "op", "parameters": [{ "name": "q", "in": "query", "schema": { "$ref": "link.json" } }] } } } }"#;
    fs::write(folder.join("api.json"), document).unwrap();
    let tools = OpenApi::from_file(folder.join("api.json"))
        .unwrap()
        .tools()
        .unwrap();
    let definitions = &tools.get("op").unwrap().spec().parameters["$defs"];
    assert_eq!(definitions["link"], json!({ "type": "string" }));
}

#[test]
fn f44_6_references_that_lead_to_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("a.json", r#"{ "$ref": "b.json" }"#),
            ("b.json", r#"{ "$ref": "a.json" }"#),
            (
                "api.json",
                r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }], "paths": {
            "/a": { "get": { "operationId": "a", "parameters": [{ "$ref": "a.json" }] } },
            "/b": { "$ref": "b.json" }, "/c": { "get": { "operationId": "c" } }, "/d": { "$ref": "none.json#/d" } } }"#,
            ),
        ],
    );
    let api = OpenApi::from_file(folder.path().join("api.json")).unwrap();
    let own = "a reference in it leads to itself: let it lead to a value";
    let problems = api.problems();
    let mut texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.sort();
    assert_eq!(texts[0], format!("`/b`: {own}"));
    assert!(texts[1].starts_with(
        "`/d`: it refers to `none.json#/d`, and the file `none.json` cannot be used: "
    ));
    assert_eq!(texts[2], format!("`GET /a` (`a`): {own}"));
    assert_eq!(texts.len(), 3);
    assert!(matches!(api.tools().unwrap_err(), OpenApiError::Operations(all) if all == problems));
    // What the program named does not need the others.
    assert_eq!(api.clone().operations(["c"]).tools().unwrap().len(), 1);
    assert_eq!(api.clone().skip_unsupported().tools().unwrap().len(), 1);
    // A name that may be in a path that is not known.
    let error = api.operations(["d"]).tools().unwrap_err().to_string();
    assert!(
        error.contains("`/d`: it refers to `none.json#/d`"),
        "{error}"
    );
}

/// References of a file that was given by its address are addresses too.
#[test]
fn f44_6_a_program_gives_files_by_their_addresses() {
    let document = r#"{ "openapi": "3.1.0", "servers": [{ "url": "https://pets.example.com" }],
        "paths": { "/pets": { "$ref": "https://example.com/api/common.json#/list" } } }"#;
    let common = r#"{ "list": { "get": { "operationId": "listPets", "parameters": [{ "$ref": "../page.json" }] } } }"#;
    let api = OpenApi::from_json(document).unwrap();
    let api = api
        .file("https://example.com/api/common.json", common)
        .unwrap();
    assert_eq!(
        api.problems()[0].problem,
        "it refers to `https://example.com/page.json`, and addresses are not fetched: give the text of `https://example.com/page.json` with `file`"
    );
    let page = r#"{ "name": "page", "in": "query" }"#;
    let api = api.file("https://example.com/page.json", page).unwrap();
    let tools = api.tools().unwrap();
    let parameters = &tools.get("listPets").unwrap().spec().parameters;
    assert!(parameters["properties"]["page"].is_object(), "{parameters}");
}

#[test]
fn f44_6_files_that_cannot_be_read_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(
        folder.path(),
        &[
            ("wrong.json", "["),
            ("page.yaml", "title: A page"),
            ("huge.json", ""),
        ],
    );
    let error = OpenApi::from_file(path("none.json")).unwrap_err();
    assert!(
        matches!(&error, OpenApiError::File { file, .. } if file.ends_with("none.json")),
        "{error}"
    );
    let error = OpenApi::from_file(path("wrong.json"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("wrong.json` of the document cannot be used: it is no JSON"),
        "{error}"
    );
    let error = OpenApi::from_file(path("page.yaml")).unwrap_err();
    assert!(matches!(error, OpenApiError::Version { .. }), "{error}");
    // Without its contents on the disk.
    let huge = fs::File::options()
        .write(true)
        .open(path("huge.json"))
        .unwrap();
    huge.set_len(1 << 27).unwrap();
    let error = OpenApi::from_file(path("huge.json"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the files of the document have more than 67108864 bytes"),
        "{error}"
    );
    let api = OpenApi::from_json(r#"{ "openapi": "3.1.0" }"#).unwrap();
    let error = api.file("a.json", "[").unwrap_err().to_string();
    assert!(
        error.starts_with("the file `a.json` of the document cannot be used: it is no JSON: "),
        "{error}"
    );
}
