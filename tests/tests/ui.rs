//! Compile errors as users see them: `ui/<topic>/fail/*.rs` with their `.stderr`, and `ui/<topic>/pass/*.rs` near them.
//!
//! `TRYBUILD=overwrite cargo test -p petalflow-tests --test ui` writes the `.stderr` files anew; read the difference as a
//! reviewer of prose.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/*/pass/*.rs");
    cases.compile_fail("ui/*/fail/*.rs");
}
