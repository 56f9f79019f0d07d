//! `.invdiff.yaml`, `git config invdiff.*` and flags, joined into one `Settings`.
