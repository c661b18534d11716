//! Tables of the guides that are made from the code. With `PETALFLOW_BLESS=1`, the test writes them.

use std::fmt::Write as _;
use std::fs;

use petalflow_llm::{LlmClient, ProviderModel};

/// The table of providers in the code of `petalflow-llm`: its rows are not public.
const CATALOG: &str = include_str!("../../crates/petalflow-llm/src/provider/catalog.rs");

#[test]
fn the_page_of_providers_has_those_of_the_code() {
    let mut table =
        String::from("| provider | key | protocol | address |\n| --- | --- | --- | --- |\n");
    let rows = CATALOG.lines().filter_map(row).inspect(|row| {
        let model = ProviderModel::new(format!("{}::model", row.name));
        assert_eq!(model.expect("a provider").name(), row.name);
    });
    for Row {
        name,
        protocol,
        address,
        variable,
    } in rows
    {
        let key = variable.map_or_else(|| "none".into(), |name| format!("`{name}`"));
        let _ = writeln!(table, "| `{name}` | {key} | {protocol} | `{address}` |");
    }
    assert!(
        table.lines().count() > 30,
        "the rows of the code are not found:\n{table}"
    );
    compare("guide/providers.md", "providers", &table);
}

/// The clouds in the code of `petalflow-llm`, with their variables.
const CLOUDS: &str = include_str!("../../crates/petalflow-llm/src/provider/named_clouds.rs");

#[test]
fn the_page_of_providers_has_the_clouds_of_the_code_and_their_variables() {
    let page = include_str!("../guide/providers.md");
    let code = CLOUDS.lines().map(str::trim);
    let names = code.clone().filter_map(|line| {
        let name = line.strip_prefix("name: \"")?.strip_suffix("\",")?;
        Some(format!("`{name}::"))
    });
    let variables = code.filter_map(|line| {
        let value = line.strip_prefix("const ")?.split_once(": &str = \"")?.1;
        Some(format!("`{}`", value.strip_suffix("\";")?))
    });
    let all: Vec<String> = names.chain(variables).collect();
    assert_eq!(all.len(), 13, "{all:?}");
    for text in all {
        assert!(page.contains(&text), "{text} is not on the page");
    }
}

struct Row<'t> {
    name: &'t str,
    protocol: String,
    address: &'t str,
    variable: Option<&'t str>,
}

/// A line such as `"openai" Chat "https://api.openai.com/v1" Some("OPENAI_API_KEY"), OPENAI;`.
fn row(line: &str) -> Option<Row<'_>> {
    let mut parts = line.trim().strip_prefix('"')?.split('"');
    let (name, protocol, address) = (parts.next()?, parts.next()?, parts.next()?);
    let rest = parts.next()?.trim();
    let variable = (rest == "Some(").then(|| parts.next()).flatten();
    let protocol = protocol.trim().to_lowercase();
    (address.starts_with("http") && (variable.is_some() || rest.starts_with("None"))).then_some(
        Row {
            name,
            protocol,
            address,
            variable,
        },
    )
}

/// Compares a table between its marks in a document.
fn compare(document: &str, name: &str, table: &str) {
    let file = format!("{}/{document}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&file).expect("the document is readable");
    let begin = format!("<!-- table: {name} -->\n");
    let (before, rest) = text.split_once(&begin).expect("the document has the mark");
    let (written, after) = rest
        .split_once("<!-- end -->")
        .expect("the mark has an end");
    let table = format!("\n{table}\n");
    if written == table {
        return;
    }
    assert!(
        std::env::var_os("PETALFLOW_BLESS").is_some(),
        "the table `{name}` of docs/{document} is not that of the code: run the test with PETALFLOW_BLESS=1"
    );
    fs::write(&file, format!("{before}{begin}{table}<!-- end -->{after}"))
        .expect("the document is writable");
}
