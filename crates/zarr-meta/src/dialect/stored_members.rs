//! Where documents of arrays have what the model has elsewhere, as JSON pointers.

/// Under which names the document of an array has what the model has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members {
    /// Pointers in the model, and those in the document.
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
    /// Whether those of `compressor` do.
    pub(crate) has_configured_compressor: bool,
    /// What is named for a codec of which it cannot be told where it is.
    pub(crate) otherwise: &'static str,
    /// What says the order of elements, a `transpose` in the model.
    pub(crate) order: &'static str,
    /// What says the byte order, `bytes` in the model.
    pub(crate) data_type: &'static str,
}

impl Members {
    /// Those of the model.
    pub(crate) const OF_MODEL: Self = Self { names: &[], codecs: Codecs::AsInModel };

    /// Those of the drafts of version 3.
    pub(crate) const OF_DRAFTS: Self =
        Self { names: &[("/chunk_key_encoding", "/chunk_grid/separator")], codecs: Codecs::List(CodecList::OF_DRAFTS) };
}

impl CodecList {
    /// That of the drafts of version 3.
    pub(crate) const OF_DRAFTS: Self = Self {
        list: "/codecs",
        has_configurations: true,
        has_configured_compressor: true,
        otherwise: "/codecs",
        order: "/chunk_memory_layout",
        data_type: "/data_type",
    };
}
