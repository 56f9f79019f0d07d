//! Git notes, trailers and the cache.
