//! Files of numpy: the header before the elements.
//!
//! Format versions 1 to 3, <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

mod literal;

use crate::failure::{Failure, Result};
use crate::number;
use crate::selection_pieces::Order;
use literal::Literal;
use std::io::Read;
use zarr::dtype::{ByteOrder, DataType, from_npy_value};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Greatest number of bytes of a header. Headers of real files have less than 10 KiB, even with structured types.
const MAX_HEADER: u32 = 1 << 20;
/// Alignment of the elements in a file, in bytes, as numpy writes it.
const ALIGNMENT: usize = 64;

/// Header of a file of numpy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) data_type: DataType,
    pub(crate) order: ByteOrder,
    /// Whether the elements are in Fortran order, in which the first dimension varies fastest.
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<u64>,
}

impl Header {
    /// Reads the header of the file `name`; afterwards `input` is at the first element.
    pub(crate) fn read(name: &str, input: &mut impl Read) -> Result<Self> {
        let broken = |message: &str| Failure::data("invalid-metadata", format!("{name}: {message}"));
        let mut magic = [0; MAGIC.len()];
        let mut found = 0;
        while let Some(rest) = magic.get_mut(found..).filter(|rest| !rest.is_empty()) {
            match input.read(rest) {
                Ok(0) => break,
                Ok(count) => found += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::input(name, &error)),
            }
        }
        let is_begun = found > 0 && MAGIC.starts_with(magic.get(..found).unwrap_or_default());
        if magic != *MAGIC && !is_begun {
            let hint = "--as csv and --as json read text; numpy.save writes files of this format";
            return Err(broken(if found == 0 {
                "found nothing, expected the header of a file of numpy"
            } else {
                "not a file of numpy"
            })
            .with_hint(hint));
        }
        let mut exact = |bytes: &mut [u8]| match input.read_exact(bytes) {
            Ok(()) if found == MAGIC.len() => Ok(()),
            Ok(()) => Err(broken("the file ends in its header")),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(broken("the file ends in its header"))
            }
            Err(error) => Err(Failure::input(name, &error)),
        };
        let mut version = [0; 2];
        exact(&mut version)?;
        let [major, _] = version;
        let len = match major {
            1 => {
                let mut len = [0; 2];
                exact(&mut len)?;
                u32::from(u16::from_le_bytes(len))
            }
            2 | 3 => {
                let mut len = [0; 4];
                exact(&mut len)?;
                u32::from_le_bytes(len)
            }
            other => return Err(broken(&format!("version {other} of the format, expected 1, 2 or 3"))),
        };
        if len > MAX_HEADER {
            return Err(broken(&format!("a header of {len} bytes, expected at most {MAX_HEADER}")));
        }
        let mut text = vec![0; usize::try_from(len).unwrap_or(0)];
        exact(&mut text)?;
        // Versions 1 and 2 are Latin-1, 3 is UTF-8.
        let text = match major {
            3 => String::from_utf8_lossy(&text).into_owned(),
            _ => text.iter().copied().map(char::from).collect(),
        };
        Self::parse(&text).map_err(|message| broken(&message))
    }

    /// Returns the order of the elements in the file.
    pub(crate) fn order_of_axes(&self) -> Order {
        if self.fortran { Order::Fortran } else { Order::C }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let header = Literal::parse(text)?;
        let member = |name: &str| header.get(name).ok_or_else(|| format!("no {name:?} in the header"));
        let descr = member("descr")?.to_value();
        if descr.as_str().is_some_and(|descr| descr.trim_start_matches('|').starts_with('O')) {
            let message =
                "elements are pickled objects of Python: save them as strings (numpy's astype(\"U\")), or as JSON";
            return Err(message.to_owned());
        }
        let (data_type, order) = from_npy_value(&descr).map_err(|error| error.to_string())?;
        let Literal::Bool(fortran) = *member("fortran_order")? else {
            return Err("\"fortran_order\" is neither True nor False".to_owned());
        };
        let Literal::List(items) = member("shape")? else { return Err("\"shape\" is not a tuple".to_owned()) };
        let length = |item: &Literal| match item {
            Literal::Number(number) => Ok(*number),
            _ => Err("\"shape\" contains another item than a number".to_owned()),
        };
        let shape: Vec<u64> = items.iter().map(length).collect::<Result<_, _>>()?;
        let size = zarr::grid::element_count(&shape).and_then(|count| count.checked_mul(data_type.item_size() as u64));
        if size.is_none() {
            return Err(format!("the size of {} overflows 64 bits", number::tuple(&shape)));
        }
        Ok(Self { data_type, order, fortran, shape })
    }
}

/// Returns the header of a file with elements in C order. The header has version 1 of the format if it is short enough. `descr` is a Python
/// literal.
pub(crate) fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", lengths.join(", "));
    let mut text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    let mut pad = |start: usize| {
        text.truncate(text.trim_end().len());
        let unpadded = MAGIC.len() + start + text.len() + 1;
        text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGNMENT) - unpadded));
        text.push('\n');
        (text.len(), text.clone())
    };
    // The version, and the length in 2 or in 4 bytes.
    let (len, padded) = pad(4);
    if let Ok(len) = u16::try_from(len) {
        return [&MAGIC[..], &[1, 0], &len.to_le_bytes(), padded.as_bytes()].concat();
    }
    let (len, padded) = pad(6);
    // Types come from metadata, which is far below 4 GiB.
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    [&MAGIC[..], &[2, 0], &len.to_le_bytes(), padded.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(version: u8, text: &str) -> Vec<u8> {
        let len = text.len() as u32;
        let len = if version == 1 { len.to_le_bytes()[..2].to_vec() } else { len.to_le_bytes().to_vec() };
        [&MAGIC[..], &[version, 0], &len, text.as_bytes()].concat()
    }

    fn read(bytes: &[u8]) -> Result<Header> {
        Header::read("x.npy", &mut &*bytes)
    }

    #[test]
    fn headers_of_all_versions() {
        let text = "{'descr': '>f4', 'fortran_order': True, 'shape': (3, 4), }   \n";
        for version in 1..=3 {
            let header = read(&file(version, text)).unwrap();
            assert_eq!(header.data_type, DataType::Float32);
            assert_eq!((header.order, header.fortran, header.shape), (ByteOrder::Big, true, vec![3, 4]));
        }
        let old = "{'descr': \"|u1\", 'shape': (7L,), 'fortran_order': False}";
        assert_eq!(read(&file(1, old)).unwrap().shape, [7]);
    }

    #[test]
    fn broken_headers_are_errors() {
        let good = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}");
        assert!(read(&good).is_ok());
        for len in 0..good.len() {
            assert!(read(&good[..len]).is_err(), "{len} bytes");
        }
        for text in [
            "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': ()}",
            "{'descr': [('a',)], 'fortran_order': False, 'shape': ()}",
            "{'descr': 3, 'fortran_order': False, 'shape': ()}",
            "{'descr': '|O', 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
            "{'fortran_order': False, 'shape': ()}",
        ] {
            assert_eq!(read(&file(1, text)).unwrap_err().exit as u8, 4, "{text}");
        }
        assert!(read(&file(4, "{}")).is_err());
        assert!(read(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").is_err());
    }

    #[test]
    fn structs_of_any_length_and_name() {
        let field = |name: String| zarr::dtype::Field::array(name, DataType::Int16, &[2]);
        for count in [1, 5000] {
            let fields = (0..count).map(|index| field(format!("größe '{index}\\ 東🦀"))).collect();
            let data_type = DataType::Struct(zarr::dtype::StructType::new(fields).unwrap());
            let bytes = header(&zarr::dtype::npy_literal(&data_type).unwrap(), &[3]);
            assert_eq!((bytes[6], bytes.len() % ALIGNMENT), (if count == 1 { 1 } else { 2 }, 0));
            assert_eq!(read(&bytes).unwrap().data_type, data_type);
        }
    }

    /// Checks that a mutated header is either refused, or read to a header that is written and read back unchanged.
    #[test]
    fn mutated_headers_are_read_as_written_or_not_at_all() {
        let count = std::env::var("ZARR_FUZZ").map_or(3000, |count| count.parse().unwrap());
        let members: [&[&str]; 3] = [
            &[
                "'<f4'",
                "u'>c16'",
                "'|S7'",
                "'<M8[25s]'",
                "[('a', '<i2'), ('b\\'\\x41', '>U3', (2, 3)), (('t', 'n'), [('x', '|b1')])]",
            ],
            &["False", "True"],
            &["()", "(7L,)", "(3, 4)", "(18446744073709551615, 0)"],
        ];
        let (mut taken, mut errors) = (0, 0);
        for number in 0..count {
            let mut random = zarr_tests::Random::new(number);
            let mut parts = members.map(|of| random.pick(of).unwrap().as_bytes().to_vec());
            let part = &mut parts[random.below(3)];
            *part = zarr_tests::fuzz::mutated_bytes(&mut random, part);
            let [descr, order, shape] = &parts;
            let names = [&b"{'descr': "[..], b", 'fortran_order': ", b", 'shape': ", b"}"];
            let text = [names[0], descr, names[1], order, names[2], shape, names[3]].concat();
            let len = u32::try_from(text.len()).unwrap().to_le_bytes();
            let bytes = [&MAGIC[..], &[3, 0], &len, &text].concat();
            let Ok(first) = read(&bytes) else {
                errors += 1;
                continue;
            };
            taken += 1;
            let Some(literal) = zarr::dtype::npy_literal(&first.data_type) else { continue };
            let again = read(&header(&literal, &first.shape)).unwrap();
            assert_eq!((again.data_type, again.shape), (first.data_type, first.shape), "{}", text.escape_ascii());
        }
        assert!(taken > count / 50 && errors > count / 50, "{taken} were taken, {errors} were errors");
    }

    proptest! {
        #[test]
        fn written_headers_are_read(shape in proptest::collection::vec(0_u64..1000, 0..6)) {
            let bytes = header("'<M8[25s]'", &shape);
            prop_assert_eq!(bytes.len() % ALIGNMENT, 0);
            let header = read(&bytes).unwrap();
            prop_assert_eq!(header.shape, shape);
            prop_assert_eq!((header.order, header.fortran), (ByteOrder::Little, false));
        }

        #[test]
        fn garbage_is_no_panic(text in "[{}()\\[\\]',:a-z0-9L ]{0,60}") {
            let _ = read(&file(1, &text));
        }
    }
}
