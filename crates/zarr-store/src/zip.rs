//! zip
