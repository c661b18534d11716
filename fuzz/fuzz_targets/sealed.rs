//! A protected payload, from any bytes: what no one has sealed does not open.
#![no_main]

use petalflow_encryption::{Encryption, Protection as _, SecretKey, Signing};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let key = SecretKey::from_bytes([7; 32]).with_id("k").unwrap();
    let signing = Signing::new(key.clone());
    let encryption = Encryption::new(key);
    // Also behind good headers, which are unlikely to appear by chance.
    for header in [
        &b""[..],
        b"\xc1PFS",
        b"\xc1PFS\x01\x01\x01k",
        b"\xc1PFS\x01\x02\x01k",
    ] {
        let bytes = [header, bytes].concat();
        assert!(signing.open(b"here", bytes.clone()).is_err());
        assert!(encryption.open(b"here", bytes).is_err());
    }
});
