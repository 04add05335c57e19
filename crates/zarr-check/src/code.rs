//! Codes of findings, each with its severity, meaning and remedy.

use crate::Severity;
use std::fmt;

macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $meaning:literal $remedy:literal;)*) => {
        /// Code of a finding: its kind. The [name](Self::name) of a code stays the same in later versions.
        ///
        /// `docs/check.md` of the repository has a table of all codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Name of the code in kebab case, such as `invalid-json`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Severity of findings with this code.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)*
                }
            }

            /// Meaning of findings with this code, in a sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                }
            }

            /// Remedy: what to do about findings with this code, in a sentence.
            #[must_use]
            pub fn remedy(self) -> &'static str {
                match self {
                    $(Self::$variant => $remedy,)*
                }
            }
        }
    };
}

codes! {
    InvalidJson "invalid-json" Error
        "A document is no JSON." "Restore the document, or correct it at the place that is named.";
    InvalidDocument "invalid-document" Error
        "A document breaks the specification of its dialect." "Correct the member that is named, or restore the document.";
    UnknownMember "unknown-member" Error
        "A document has a member that must be understood and is not known." "Read it with the software that wrote it, or take the member out.";
    UnsupportedVersion "unsupported-version" Error
        "A document is of a version of the format that is not known." "Read it with newer software.";
    BrokenAttributes "broken-attributes" Error
        "The attributes of a node cannot be read; its data can." "Restore the document, or set the attributes anew.";
    UnsafeName "unsafe-name" Error
        "A name leads out of the hierarchy, or no key can have it." "Take the name out of the document that has it.";
    TooLarge "too-large" Error
        "A document is larger than a reader takes, or an array has more than 1,000 dimensions." "Move large attributes into an array.";
    UnknownExtension "unknown-extension" Warning
        "A codec, data type or other extension is not known here: the chunks of the array are not checked." "Check it with software that has the extension.";
    FallbackType "fallback-type" Warning
        "A data type is not known, and the document names another one to read it as." "Read it with software that knows the data type.";
    Deviation "deviation" Warning
        "A document deviates from its specification, and is read all the same." "Write the document anew: other software may refuse it.";
    HiddenNode "hidden-node" Warning
        "A node hides another one at the same path, of another dialect or kind." "Remove the documents of one of them.";
    ImplicitGroup "implicit-group" Warning
        "A group has no document of its own: it is known from the nodes below it." "Create the group.";
    NodeBelowArray "node-below-array" Warning
        "A document of a node lies below an array, which cannot have nodes." "Move the node elsewhere.";
    OddName "odd-name" Warning
        "The specification forbids or discourages the name of a node." "Rename the node.";
    UnlistedNode "unlisted-node" Warning
        "A node is missing in the list that NCZarr keeps of the nodes in a group, so that netCDF does not see it." "Add it to the list.";
    MissingNode "missing-node" Warning
        "The list that NCZarr keeps of the nodes in a group names a node that is not there, for which netCDF fails." "Restore the node, or take it out of the list.";
    BadConsolidated "bad-consolidated" Error
        "Consolidated metadata cannot be read." "Write it again; `--repair` does.";
    StaleConsolidated "stale-consolidated" Warning
        "Consolidated metadata differs from the nodes that it is a copy of." "Write it again; `--repair` does, unless it has documents that are nowhere else.";
    UnknownConsolidated "unknown-consolidated" Warning
        "Consolidated metadata is of a kind that no reader knows." "Write it again.";
    StrayKey "stray-key" Warning
        "A key belongs to no node." "Keep it, if other software put it there: copies and conversions take it along from below a group. Remove it otherwise.";
    OtherFile "other-file" Note
        "A key belongs to no node, and is a file that some software keeps beside nodes." "Nothing: copies and conversions take it along.";
    StrayDocument "stray-document" Warning
        "A document belongs to no node, such as attributes without an array or a group." "Restore the documents that are missing, or remove it.";
    OrphanChunk "orphan-chunk" Warning
        "A key has the form of a chunk, and there is no array." "Restore the document of the array, or remove the chunk.";
    ForeignChunk "foreign-chunk" Warning
        "A key below an array has the form of a chunk of another number of dimensions or another separator: no read finds it." "Correct the document or the key; remove the chunk if it is of an earlier array.";
    ChunkOutsideGrid "chunk-outside-grid" Warning
        "A chunk lies outside of the grid of its array, such as after a smaller shape." "Remove it; a larger shape would show it to software that does not look.";
    CaseClash "case-clash" Warning
        "Names differ in case only: file systems of macOS and Windows take them for one." "Rename one of them.";
    KeyIsPrefix "key-is-prefix" Warning
        "A key is also the beginning of others: no directory can hold both." "Rename one of them.";
    TemporaryFile "temporary-file" Warning
        "A temporary file or directory was left behind by a writer that was killed." "Remove it; `--repair` removes those of this library.";
    EmptyFolder "empty-folder" Note
        "A directory has nothing in it." "Remove it; `--repair` does.";
    UnfinishedConversion "unfinished-conversion" Warning
        "A conversion or copy was not finished." "Run the same command again with `--resume`, or with `--overwrite`.";
    UnfinishedReplacement "unfinished-replacement" Warning
        "A node that was to replace another one was not finished." "Run the same command again with `--overwrite` or `--resume`.";
    UnfinishedMigration "unfinished-migration" Warning
        "A migration was not finished or undone." "Run `zarr migrate` with `--finish` or `--undo`.";
    MissingChunks "missing-chunks" Note
        "Some chunks of an array are not stored: their elements have the fill value." "Nothing, if they were never written, or held nothing else.";
    ShardIndex "shard-index" Error
        "The index of a shard contradicts itself or the shard, or is cut off." "Restore the shard.";
    ShardOverlap "shard-overlap" Error
        "The index of a shard gives two inner chunks bytes that overlap." "Restore the shard, or write its region again.";
    ShardShared "shard-shared" Note
        "The index of a shard gives two inner chunks the same bytes, as some writers do for equal ones." "Nothing, if its writer does that.";
    ChecksumMismatch "checksum-mismatch" Error
        "The bytes of a chunk do not match their checksum." "Restore the chunk; `--drop-torn` erases it.";
    BrokenChunk "broken-chunk" Error
        "The bytes of a chunk break their format, or have another number than its elements." "Restore the chunk; `--drop-torn` erases it, if no part of it can be read.";
    MoreFaults "more-faults" Error
        "A shard has more faults than are listed." "Look at those that are listed.";
    ChunkOverLimit "chunk-over-limit" Warning
        "A chunk, or the index of a shard, is larger than the limit of memory for one, and was not checked." "Check it with a higher limit.";
    CannotList "cannot-list" Warning
        "The store cannot list, and an array has too many chunks to ask for each: none of them was checked." "Check it where the store can list.";
    ChangingChunk "changing-chunk" Note
        "A chunk was replaced again and again while it was checked." "Check it again when nobody writes.";
    Unreadable "unreadable" Error
        "The store failed to give a value." "Look at the disk or service, and check again.";
    DimensionSizes "dimension-sizes" Warning
        "Arrays of one group give a dimension of one name different sizes: xarray refuses to open the group." "Rename one of the dimensions, or append to the shorter array.";
    MissingCoordinate "missing-coordinate" Warning
        "The attribute `coordinates` names an array that is not there." "Correct the attribute, or restore the array.";
    BadUnits "bad-units" Warning
        "The attributes `units` and `calendar` of times cannot be read." "Correct them: `days since 2000-01-01`.";
    BadEncoding "bad-encoding" Warning
        "An attribute by which values are packed or marked as missing cannot be used: `scale_factor`, `add_offset`, `_FillValue`, `missing_value`, `valid_range`." "Correct the attribute: software fails to decode the values, or decodes others.";
    MissingVariable "missing-variable" Warning
        "An attribute of the CF conventions names an array that is not there: `bounds`, `grid_mapping`, `ancillary_variables`, `cell_measures`, `formula_terms` and others." "Correct the attribute, or restore the array.";
    BadBounds "bad-bounds" Warning
        "The bounds of a coordinate do not have its shape and one more dimension." "Write the bounds with the shape of the coordinate, and a last dimension for the corners of each cell.";
    BadFlags "bad-flags" Warning
        "`flag_values`, `flag_masks` and `flag_meanings` do not belong together." "Give each flag one value or mask of the data type of the array, and one word as meaning.";
    BadGridMapping "bad-grid-mapping" Warning
        "A grid mapping of the CF conventions does not say which it is." "Give it the attribute `grid_mapping_name`, or `crs_wkt`.";
    NoConvention "no-convention" Warning
        "Nothing in the store follows a convention that was to be checked." "Check another node, or write the attributes of the convention: `zarr convert --convention`.";
    LayoutAdvice "layout-advice" Note
        "The layout of an array is unusual or costly, or many nodes lack consolidated metadata. It is looked for with `--level advice`." "Look at the figure, and use the verb that is named.";
    ImageAdvice "image-advice" Note
        "Metadata of OME-Zarr lacks something that its specification recommends. It is looked for with `--convention ome`." "Add the member, if its value is known.";
    BadGeo "bad-geo" Error
        "An attribute of GeoZarr (`proj:`, `spatial:`, `multiscales`, `zarr_conventions`) breaks a rule of its convention." "Correct the member that is named.";
    GeoDimensions "geo-dimensions" Error
        "`spatial:dimensions` is missing in an array with other attributes of `spatial:`, or names no dimension of the array." "Name the dimensions of y and x, as the array does.";
    GeoContradiction "geo-contradiction" Warning
        "Attributes of GeoZarr contradict each other, the shape of the array, or its grid mapping." "Find out which is right, and correct the other one.";
    MissingAsset "missing-asset" Error
        "The `asset` of a level of a GeoZarr pyramid leads to no node." "Correct the path, or restore the node.";
    GeoAdvice "geo-advice" Note
        "Attributes of GeoZarr lack something that the convention recommends. It is looked for with `--convention geozarr`." "Add the attribute, if its value is known.";
    BadImage "bad-image" Error
        "The metadata of an OME-Zarr image cannot be read, or the positions of its elements." "Correct the member that is named.";
    UnknownImage "unknown-image" Warning
        "The metadata of OME-Zarr is of a version that is not known: it is not checked." "Check it with software that knows the version, or write it as 0.5.";
    ImageVersion "image-version" Warning
        "The version of OME-Zarr metadata does not go with the format of Zarr: 0.4 is that of v2, and later ones, in the attribute `ome`, are those of v3." "Convert the store that it was written in: `zarr convert` and `zarr migrate` write the version of the other format. Or write the metadata anew.";
    ImageDeviation "image-deviation" Error
        "The metadata of an OME-Zarr image breaks a rule of its specification, and is read all the same." "Correct the member that is named: other software may refuse it.";
    MissingLevel "missing-level" Error
        "The `path` of a level of an OME-Zarr image leads to no array." "Correct the path, or restore the array.";
    LevelRank "level-rank" Error
        "The array of a level of an OME-Zarr image has another number of dimensions than the image has axes." "Correct the axes, or the path.";
    LevelOrder "level-order" Error
        "A level of an OME-Zarr image is larger than the one before: they have to be listed from the finest to the coarsest." "List them in that order.";
    LevelScale "level-scale" Error
        "A level of an OME-Zarr image does not have exactly one transformation `scale`." "Give it one, with a number for each axis.";
    LevelNames "level-names" Warning
        "The array of a level of an OME-Zarr image names its dimensions otherwise than the image its axes." "Rename the dimensions, or the axes.";
    LevelType "level-type" Warning
        "A level of an OME-Zarr image has another data type than the first: software takes that of the first for all." "Write the level with the data type of the first.";
    BadPlate "bad-plate" Error
        "The metadata of an OME-Zarr plate or well break a rule of the specification." "Correct the member that is named.";
    WellOrder "well-order" Warning
        "The path of a well of an OME-Zarr plate names the column before the row." "Name the row first, and move the group.";
    MissingWell "missing-well" Warning
        "An OME-Zarr plate names a well that is not there." "Restore the well, or take it out of the list.";
    FieldCount "field-count" Warning
        "A well has more images than its OME-Zarr plate says." "Correct the count of the plate.";
    BadLabels "bad-labels" Error
        "The metadata of OME-Zarr labels, or a list of images, break a rule of the specification." "Correct the member that is named.";
    LabelType "label-type" Error
        "The elements of OME-Zarr labels are no integers." "Write them as integers.";
    MissingImage "missing-image" Warning
        "An OME-Zarr well, or a list of labels or of a series, names an image that is not there." "Restore the image, or take it out of the list.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
