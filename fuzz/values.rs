//! What must hold for any bytes of a value. The fuzz target `values` and a test of `petalflow-store` call it.

use std::collections::BTreeMap;

use petalflow_store::codec::{CodecError, decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value of each of these types is refused, or is the same after it was encoded and decoded again.
pub(crate) fn values(bytes: &[u8]) {
    value::<bool>(bytes);
    value::<i64>(bytes);
    value::<u128>(bytes);
    value::<f64>(bytes);
    value::<char>(bytes);
    value::<String>(bytes);
    value::<Option<(u8, ())>>(bytes);
    value::<Vec<()>>(bytes);
    value::<Vec<u64>>(bytes);
    value::<Vec<Vec<String>>>(bytes);
    value::<[Option<u16>; 3]>(bytes);
    value::<Result<u8, String>>(bytes);
    value::<std::time::Duration>(bytes);
    value::<std::net::IpAddr>(bytes);
    value::<BTreeMap<(u8, String), Vec<f32>>>(bytes);
    value::<BTreeMap<String, Value>>(bytes);
    value::<Value>(bytes);
}

fn value<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(value) = decode::<T>(bytes) else {
        return;
    };
    let mut written = Vec::new();
    match encode(&value, &mut written) {
        Ok(()) => {}
        // Decoding allows one level more than encoding.
        Err(CodecError::Depth) => return,
        Err(error) => panic!("{error}"),
    }
    // Compared as bytes: NaN does not equal itself.
    let mut again = Vec::new();
    let same = decode::<T>(&written).and_then(|value| encode(&value, &mut again));
    assert!(same.is_ok(), "{same:?}");
    assert_eq!(written, again);
}
