//! Templates, candidates, queries, proof and refutation, consolidation, ranking.
