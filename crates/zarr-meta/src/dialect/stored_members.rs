//! The locations in documents of arrays, as JSON pointers, of the members that the model has elsewhere.

/// The names that the document of an array has for the members of the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members {
    /// Pointers in the model, each with its pointer in the document.
    pub(crate) names: &'static [(&'static str, &'static str)],
    /// Where the codecs are.
    pub(crate) codecs: Codecs,
}

/// Where a document has the codecs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codecs {
    /// In `codecs`, as in the model.
    AsInModel,
    /// There is one.
    #[cfg(feature = "drafts")]
    One {
        /// Its name.
        name: &'static str,
        /// Its parameters.
        parameters: &'static str,
    },
    /// In a list, and `compressor` behind it if there is one.
    List(CodecList),
}

/// A list of codecs, from which some are missing that other members say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodecList {
    /// The list.
    pub(crate) list: &'static str,
    /// Whether parameters stand in a member `configuration`, and not beside the name.
    pub(crate) has_configurations: bool,
    /// Whether the parameters of `compressor` do.
    pub(crate) has_configured_compressor: bool,
    /// The location that is named for a codec whose own location is unknown.
    pub(crate) otherwise: &'static str,
    /// The member that says the order of elements, a `transpose` in the model.
    pub(crate) order: &'static str,
    /// The member that says the byte order, `bytes` in the model.
    pub(crate) data_type: &'static str,
}

impl Members {
    /// The members of the model.
    pub(crate) const OF_MODEL: Self = Self { names: &[], codecs: Codecs::AsInModel };
}
