//! Filters, and their form in metadata.

use std::fmt::Display;
use std::ops::RangeInclusive;
use zarr_codec::{Config, Error};
use zarr_json::{Map, Value};

/// Filter before compression. It does not change the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Subtracts from each byte the byte `dist` positions before.
    Delta {
        /// Distance in bytes, 1 to 256.
        dist: u32,
    },
    /// Converts relative addresses in machine code to absolute ones.
    Branch {
        /// Machine whose code is converted.
        branch: Branch,
        /// Address of the first byte.
        start: u32,
    },
}

/// Machine whose code a filter converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    /// Code of x86 processors.
    X86,
    /// Code of PowerPC processors, big-endian.
    PowerPc,
    /// Code of IA-64 processors.
    Ia64,
    /// Code of ARM processors.
    Arm,
    /// Thumb code of ARM processors.
    ArmThumb,
    /// Code of SPARC processors.
    Sparc,
}

impl Branch {
    /// Id, machine and alignment of addresses for each filter (xz specification, 5.3.2).
    const ALL: [(i64, Self, u32); 6] = [
        (4, Self::X86, 1),
        (5, Self::PowerPc, 4),
        (6, Self::Ia64, 16),
        (7, Self::Arm, 4),
        (8, Self::ArmThumb, 2),
        (9, Self::Sparc, 4),
    ];
}

/// Version of the format of compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LzmaVersion {
    /// LZMA1: one sequence of symbols.
    One,
    /// LZMA2: chunks with headers, which may be uncompressed.
    Two,
}

/// Options of compression, as in liblzma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dictionary {
    /// Version of the LZMA format.
    pub(crate) lzma: LzmaVersion,
    /// Maximum distance of repetitions in bytes.
    pub(crate) dict_size: u32,
    /// Number of bits of the previous byte that select a literal's probabilities.
    pub(crate) lc: u32,
    /// Number of bits of the position that select a literal's probabilities.
    pub(crate) lp: u32,
    /// Number of bits of the position that select all other probabilities.
    pub(crate) pb: u32,
    /// Whether symbols are chosen greedily instead of by an optimal parser.
    pub(crate) fast: bool,
    /// Length of a repetition at which the search for a longer one stops.
    pub(crate) nice_len: u32,
    /// Whether repetitions are searched by binary trees instead of hash chains.
    pub(crate) trees: bool,
    /// Number of positions that are examined; 0 for a number derived from the other options.
    pub(crate) depth: i32,
}

const LZMA1: i64 = 0x4000_0000_0000_0001;
const LZMA2: i64 = 0x21;
const DELTA: i64 = 3;
/// Bit that is added to a preset for more effort.
const EXTREME: u64 = 1 << 31;
/// Maximum number of filters in a chain (xz specification, 5.1).
const MAX_FILTERS: usize = 4;
/// Maximum size of a dictionary for compression in liblzma, in bytes.
const MAX_DICT_SIZE: u32 = 1536 << 20;

pub(crate) const PRESETS: &str = "a preset 0..9, plus 2^31 for more effort";

/// Returns a preset: 0 to 9, possibly with the bit for more effort; `None` for another value.
pub(crate) fn preset(value: &Value) -> Option<u32> {
    let preset = value.as_u64().filter(|preset| preset & !EXTREME <= 9)?;
    u32::try_from(preset).ok()
}

impl Dictionary {
    /// Returns the options that liblzma uses for a preset.
    pub(crate) fn from_preset(lzma: LzmaVersion, preset: u32) -> Self {
        let extreme = u64::from(preset) & EXTREME != 0;
        let level = preset & 15;
        let dict_log = match level {
            0 => 18,
            1 => 20,
            2 => 21,
            3 | 4 => 22,
            5 | 6 => 23,
            7 => 24,
            8 => 25,
            _ => 26,
        };
        let (fast, nice_len, depth) = match (extreme, level) {
            (true, 3 | 5) => (false, 192, 0),
            (true, _) => (false, 273, 512),
            (false, 0) => (true, 128, 4),
            (false, 1) => (true, 128, 8),
            (false, 2) => (true, 273, 24),
            (false, 3) => (true, 273, 48),
            (false, 4) => (false, 16, 0),
            (false, 5) => (false, 32, 0),
            (false, _) => (false, 64, 0),
        };
        Self { lzma, dict_size: 1 << dict_log, lc: 3, lp: 0, pb: 2, fast, nice_len, trees: !fast, depth }
    }
}

/// Parses a chain of filters, of which the last one compresses.
///
/// # Errors
/// [`Error::Metadata`] with a pointer to the faulty member.
pub(crate) fn chain(config: &Config<'_>, value: &Value) -> Result<(Vec<Filter>, Dictionary), Error> {
    let list = value.as_array().filter(|list| list.len() <= MAX_FILTERS);
    let list = list.ok_or_else(|| config.unexpected("filters", "an array of 1 to 4 filters", value))?;
    let mut filters = Vec::new();
    for (index, value) in list.iter().enumerate() {
        let name = format!("filters/{index}");
        let map = value.as_object().ok_or_else(|| config.unexpected(&name, "an object", value))?;
        let options = Options { config, name, map };
        let id = options.integer("id", 0..=i64::MAX)?;
        let id = id.ok_or_else(|| config.error(&format!("{}/id", options.name), "missing".to_owned()))?;
        let lzma = match id {
            LZMA1 => LzmaVersion::One,
            LZMA2 => LzmaVersion::Two,
            _ => {
                filters.push(options.filter(id)?);
                continue;
            }
        };
        if index + 1 < list.len() {
            let what = "no filter may come behind one that compresses".to_owned();
            return Err(config.error(&format!("filters/{}", index + 1), what));
        }
        return Ok((filters, options.dictionary(lzma)?));
    }
    Err(config.error("filters", "the last one must be LZMA1 or LZMA2".to_owned()))
}

/// Options of one filter in metadata.
struct Options<'a> {
    config: &'a Config<'a>,
    name: String,
    map: &'a Map,
}

impl Options<'_> {
    fn unexpected(&self, member: &str, expected: &str, found: &Value) -> Error {
        self.config.unexpected(&format!("{}/{member}", self.name), expected, found)
    }

    fn integer<T>(&self, member: &str, range: RangeInclusive<T>) -> Result<Option<T>, Error>
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        let Some(value) = self.map.get(member).filter(|value| !value.is_null()) else { return Ok(None) };
        match value.as_i64().and_then(|value| T::try_from(value).ok()).filter(|value| range.contains(value)) {
            Some(value) => Ok(Some(value)),
            None => {
                let expected = format!("an integer {}..{}", range.start(), range.end());
                Err(self.unexpected(member, &expected, value))
            }
        }
    }

    fn filter(&self, id: i64) -> Result<Filter, Error> {
        if id == DELTA {
            return Ok(Filter::Delta { dist: self.integer("dist", 1..=256)?.unwrap_or(1) });
        }
        let Some(&(_, branch, multiple)) = Branch::ALL.iter().find(|(known, ..)| *known == id) else {
            let expected = "the id of a filter: 3 to 9, 33 or 4611686018427387905";
            return Err(self.unexpected("id", expected, &Value::from(id)));
        };
        let start = self.integer("start_offset", 0..=u32::MAX)?.unwrap_or(0);
        if !start.is_multiple_of(multiple) {
            let expected = format!("a multiple of {multiple}");
            return Err(self.unexpected("start_offset", &expected, &Value::from(start)));
        }
        Ok(Filter::Branch { branch, start })
    }

    fn dictionary(&self, lzma: LzmaVersion) -> Result<Dictionary, Error> {
        let preset = match self.map.get("preset").filter(|value| !value.is_null()) {
            None => 6,
            Some(value) => preset(value).ok_or_else(|| self.unexpected("preset", PRESETS, value))?,
        };
        let base = Dictionary::from_preset(lzma, preset);
        let lc = self.integer("lc", 0..=4)?.unwrap_or(base.lc);
        let lp = self.integer("lp", 0..=4)?.unwrap_or(base.lp);
        if lc + lp > 4 {
            return Err(self.unexpected("lp", "lc and lp to be 4 at most together", &Value::from(lp)));
        }
        let mode = self.integer::<u8>("mode", 1..=2)?;
        // Hash chains of 3 and 4 bytes; binary trees of 2, 3 and 4.
        let trees = match self.integer::<u8>("mf", 0..=u8::MAX)? {
            None => base.trees,
            Some(0x03 | 0x04) => false,
            Some(0x12..=0x14) => true,
            Some(other) => return Err(self.unexpected("mf", "3, 4, 18, 19 or 20", &Value::from(other))),
        };
        let depth = self.integer("depth", 0..=u32::MAX)?;
        Ok(Dictionary {
            lzma,
            dict_size: self.integer("dict_size", 4096..=MAX_DICT_SIZE)?.unwrap_or(base.dict_size),
            lc,
            lp,
            pb: self.integer("pb", 0..=4)?.unwrap_or(base.pb),
            fast: mode.map_or(base.fast, |mode| mode == 1),
            nice_len: self.integer("nice_len", 2..=273)?.unwrap_or(base.nice_len),
            trees,
            depth: depth.map_or(base.depth, |depth| i32::try_from(depth).unwrap_or(i32::MAX)),
        })
    }
}
