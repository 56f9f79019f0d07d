//! What lies in a cache that machines share, and the addresses of one: anybody may have written the first.

use git_invdiff::remote::{Location, Seal, Secret};

/// Nothing is opened that was not sealed; what is opened without a key is in the bytes, as a whole and at their end. An
/// address that is read is shown without control characters, and what is shown is an address of the same place.
pub fn envelopes(bytes: &[u8]) {
    let key = Secret::new("the key of the fuzz targets");
    for (schema, engine) in [("invdiff/1", "0.1.0"), ("", "")] {
        let ours = Seal::new(schema, engine, Some(&key));
        let nobody = Seal::new(schema, engine, None);
        assert!(ours.open("v1-00", bytes).is_err(), "a MAC without the key");
        if let Ok(value) = nobody.open("v1-00", bytes) {
            assert_eq!(nobody.open("v1-00", &nobody.seal("v1-00", value)), Ok(value));
            assert!(bytes.ends_with(value));
        }
        let sealed = ours.seal("v1-00", bytes);
        assert_eq!(ours.open("v1-00", &sealed), Ok(bytes));
        assert!(ours.open("v1-01", &sealed).is_err());
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(location) = Location::parse(text) {
        super::assert_plain(&location.shown(), false);
    }
}
