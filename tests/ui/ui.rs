//! Compile errors as users see them: `<topic>/fail/*.rs` with their `.stderr`, and `<topic>/pass/*.rs` near them.
//!
//! `TRYBUILD=overwrite cargo test -p petalflow-ui-tests` writes the `.stderr` files anew; read the difference as a
//! reviewer of prose.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("*/pass/*.rs");
    cases.compile_fail("*/fail/*.rs");
}
