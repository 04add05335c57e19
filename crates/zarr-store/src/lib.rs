//! Keys, byte ranges, stores and the jobs that run on them.
