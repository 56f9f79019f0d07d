//! Pairs of a few lines of C and what is told of their objects.
#![cfg(test)]
