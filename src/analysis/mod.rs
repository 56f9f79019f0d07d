//! From a range of revisions to a report: calls the rooms below in order, one function at a time.
