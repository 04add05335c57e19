//! Codecs and their configurations: each gives the other.

use zarr::codec::{CodecValue, Error};
use zarr::codecs::*;
use zarr::dtype::DataType;
use zarr_json::json;

/// Checks that the configuration of a codec gives an equal one.
fn comes_back<T: CodecValue + PartialEq>(codec: T) {
    let members = codec.to_config();
    let back = T::from_members(&members, &codec.inner_entries());
    assert_eq!(back.expect(T::ENTRY.name), codec, "{members:?}");
}

#[test]
fn codecs_come_back_from_their_configurations() -> Result<(), Error> {
    let bytes = Bytes::little_endian;
    for level in [-131_072, 0, 22] {
        comes_back(Zstd::level(level)?.checksum(level == 0));
    }
    comes_back(Gzip::level(0)?);
    comes_back(Zlib::new());
    comes_back(Bz2::level(9)?);
    comes_back(Lz4::acceleration(-5));
    comes_back(Lzma::preset(1 << 31 | 9)?.check(LzmaCheck::None)?);
    comes_back(Lzma::filters(LzmaFormat::Alone, [json!({"id": 0x4000_0000_0000_0001_i64, "lc": 2})])?);
    comes_back(Blosc::snappy().level(0)?.no_shuffle().type_size(3)?.block_size(1000)?);
    comes_back(Blosc::lz4());
    comes_back(Blosc::lz4hc().bitshuffle().type_size(1)?);
    comes_back(Shuffle::element_size(0)?);
    comes_back(Base64);
    for location in [ChecksumLocation::Start, ChecksumLocation::End] {
        comes_back(Crc32c::new().location(location));
        comes_back(Crc32::new().location(location));
        comes_back(Adler32::new().location(location));
    }
    comes_back(Fletcher32);
    comes_back(JenkinsLookup3::new().initval(u32::MAX).prefix(&[0, 255]));
    comes_back(Conditional::of((Gzip::level(1)?, Conditional::of(Crc32c::new())?))?.header_bits(24)?);
    comes_back(ArrayView::of(&DataType::Int16, bytes(), (Delta::new(), bytes()))?);
    comes_back(Transpose::new([2, 0, 1])?);
    comes_back(Bytes::big_endian());
    comes_back(Reshape::to([ReshapeAxis::Axes(vec![0, 2]), ReshapeAxis::Rest, ReshapeAxis::Length(7)])?);
    comes_back(ZarrsSqueeze);
    comes_back(Delta::new().astype(&DataType::Int16)?);
    comes_back(FixedScaleOffset::new(1, 0.5)?.astype(&DataType::UInt8)?);
    comes_back(ScaleOffset::new(-3, "NaN"));
    comes_back(Quantize::digits(-308)?.astype(&DataType::Float32)?);
    comes_back(Bitround::keep_bits(3));
    comes_back(AsType::new(&DataType::Float64)?);
    let rounding = zarr::dtype::float::Rounding::TowardsZero;
    comes_back(
        CastValue::to(&DataType::Int8).rounding(rounding).wrap().encode_as(1, 2).encode_as(3, 4).decode_as(2, 1),
    );
    comes_back(Packbits::new().padding(PackbitsPadding::FirstByte).bits(2..=63)?);
    comes_back(NumcodecsPackbits);
    for delta in [PcodecDelta::Auto, PcodecDelta::None, PcodecDelta::Consecutive(7), PcodecDelta::Lookback] {
        comes_back(Pcodec::level(12)?.classic().delta(delta)?.page_size(usize::MAX)?);
    }
    for mode in [
        ZfpMode::Rate(1.5),
        ZfpMode::Precision(3),
        ZfpMode::Accuracy(0.0),
        ZfpMode::Reversible,
        ZfpMode::Expert { min_bits: 1, max_bits: 1, max_prec: 64, min_exp: i32::MIN },
    ] {
        comes_back(Zfp::new(mode)?);
    }
    for codec in [Zfpy::rate(1.5)?, Zfpy::precision(0), Zfpy::accuracy(0.25)?, Zfpy::reversible()] {
        comes_back(codec);
    }
    comes_back(VlenUtf8);
    comes_back(VlenArray::of(&DataType::Float32)?);
    comes_back(ZarrsVlen::of(bytes(), (bytes(), Zstd::new())).index_of_64_bits().index_at_end());
    comes_back(Categorize::labels(["a", ""]).astype(&DataType::UInt16)?);
    comes_back(Optional::of(Packbits::new(), bytes()));
    comes_back(N5Default::of((Transpose::new([0])?, Bytes::big_endian())));
    comes_back(Sharding::of([1, 2], (bytes(), Zstd::level(1)?))?.index_at_start());
    comes_back(Json2::new().ensure_ascii(false).sort_keys(false).allow_nan(false).indent(64)?);
    comes_back(Json::new());
    comes_back(MsgPack2::new().raw(true).use_single_float(true));
    comes_back(MsgPack::new().raw(true));
    Ok(())
}
