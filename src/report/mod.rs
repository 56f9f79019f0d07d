//! The serialisable result model and its renderers, one file a format.
