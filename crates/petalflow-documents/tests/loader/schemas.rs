//! The schemas that `petalflow-document-model` has are those of the settings here.

use petalflow_documents::document::SETTINGS_SCHEMAS;
use petalflow_documents::settings_schemas;

/// With `PETALFLOW_BLESS=1` it writes the file.
#[test]
fn the_stored_schemas_of_settings_are_those_of_the_types() {
    let made = petalflow_test_support::sorted(settings_schemas().clone());
    let mut text = serde_json::to_string_pretty(&made).expect("schemas are JSON");
    text.push('\n');
    if std::env::var_os("PETALFLOW_BLESS").is_some() {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../petalflow-document-model/schemas/node-settings"
        );
        std::fs::write(format!("{folder}/v1.json"), text).expect("the folder exists");
    } else {
        assert!(
            SETTINGS_SCHEMAS == text,
            "petalflow-document-model/schemas/node-settings/v1.json is not that of the types: run the test with PETALFLOW_BLESS=1"
        );
    }
}
