//! Numbers and names of tags.

use std::fmt;

/// A tag of an entry, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag(pub(crate) u16);

macro_rules! tags {
    ($($name:ident = $number:literal $text:literal;)*) => {
        $(pub(crate) const $name: Tag = Tag($number);)*

        impl Tag {
            fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

tags! {
    NEW_SUBFILE_TYPE = 254 "NewSubfileType";
    IMAGE_WIDTH = 256 "ImageWidth";
    IMAGE_LENGTH = 257 "ImageLength";
    BITS_PER_SAMPLE = 258 "BitsPerSample";
    COMPRESSION = 259 "Compression";
    PHOTOMETRIC = 262 "PhotometricInterpretation";
    FILL_ORDER = 266 "FillOrder";
    IMAGE_DESCRIPTION = 270 "ImageDescription";
    MAKE = 271 "Make";
    MODEL = 272 "Model";
    STRIP_OFFSETS = 273 "StripOffsets";
    SAMPLES_PER_PIXEL = 277 "SamplesPerPixel";
    ROWS_PER_STRIP = 278 "RowsPerStrip";
    STRIP_BYTE_COUNTS = 279 "StripByteCounts";
    X_RESOLUTION = 282 "XResolution";
    Y_RESOLUTION = 283 "YResolution";
    PLANAR_CONFIGURATION = 284 "PlanarConfiguration";
    RESOLUTION_UNIT = 296 "ResolutionUnit";
    SOFTWARE = 305 "Software";
    DATE_TIME = 306 "DateTime";
    ARTIST = 315 "Artist";
    PREDICTOR = 317 "Predictor";
    COLOR_MAP = 320 "ColorMap";
    TILE_WIDTH = 322 "TileWidth";
    TILE_LENGTH = 323 "TileLength";
    TILE_OFFSETS = 324 "TileOffsets";
    TILE_BYTE_COUNTS = 325 "TileByteCounts";
    SUB_IFDS = 330 "SubIFDs";
    SAMPLE_FORMAT = 339 "SampleFormat";
    JPEG_TABLES = 347 "JPEGTables";
    YCBCR_SUBSAMPLING = 530 "YCbCrSubSampling";
    IMAGE_DEPTH = 32997 "ImageDepth";
    COPYRIGHT = 33432 "Copyright";
    MODEL_PIXEL_SCALE = 33550 "ModelPixelScaleTag";
    MODEL_TIEPOINT = 33922 "ModelTiepointTag";
    MODEL_TRANSFORMATION = 34264 "ModelTransformationTag";
    GEO_KEY_DIRECTORY = 34735 "GeoKeyDirectoryTag";
    GEO_DOUBLE_PARAMS = 34736 "GeoDoubleParamsTag";
    GEO_ASCII_PARAMS = 34737 "GeoAsciiParamsTag";
    GDAL_METADATA = 42112 "GDAL_METADATA";
    GDAL_NODATA = 42113 "GDAL_NODATA";
}

impl Tag {
    /// Whether something is read of the tag.
    pub(crate) fn is_known(self) -> bool {
        self.name().is_some()
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}
