//! Terms to Z3, the decision portfolio, the query cache.
