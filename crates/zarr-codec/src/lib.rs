//! Strided views, the codec traits, the decode protocol, pipelines and the codec table.
