//! JSON pointers into documents of arrays for members that the model has elsewhere.

/// Places of the model's members in the document of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members {
    /// Pairs of a JSON pointer in the model and the JSON pointer in the document.
    pub(crate) names: &'static [(&'static str, &'static str)],
    /// Place of the codecs in the document.
    pub(crate) codecs: Codecs,
}

/// Place of the codecs in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codecs {
    /// Member `codecs`, as in the model.
    AsInModel,
    /// Single codec, with its name and its parameters in two members.
    #[cfg(feature = "drafts")]
    One {
        /// JSON pointer to the name of the codec.
        name: &'static str,
        /// JSON pointer to the parameters of the codec.
        parameters: &'static str,
    },
    /// List of codecs, followed by `compressor` if the document has one.
    List(CodecList),
}

/// List of codecs that lacks the codecs which other members express.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodecList {
    /// JSON pointer to the list.
    pub(crate) list: &'static str,
    /// Whether parameters are in a member `configuration`, and not beside the name of the codec.
    pub(crate) has_configurations: bool,
    /// Whether the parameters of `compressor` are in a member `configuration`.
    pub(crate) has_configured_compressor: bool,
    /// JSON pointer to use for a codec whose own place is unknown.
    pub(crate) otherwise: &'static str,
    /// JSON pointer to the member for the order of elements, which is the codec `transpose` in the model.
    pub(crate) order: &'static str,
    /// JSON pointer to the member for the byte order, which is the codec `bytes` in the model.
    pub(crate) data_type: &'static str,
}

impl Members {
    /// Places in a document that has all members as in the model.
    pub(crate) const OF_MODEL: Self = Self { names: &[], codecs: Codecs::AsInModel };
}
