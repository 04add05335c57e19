//! Hashes: 32 bytes of BLAKE3, printed as 64 hexadecimal digits.

use std::fmt;
use std::str::FromStr;
use zarr_hierarchy::Error;

/// BLAKE3 hash of 32 bytes, as a string 64 hexadecimal digits.
///
/// ```
/// use zarr_compare::Hash;
///
/// let text = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
/// let hash: Hash = text.parse()?;
/// assert_eq!(hash.to_string(), text);
/// assert!("af13".parse::<Hash>().is_err());
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Creates a hash from its bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Returns the hash of all input of a hasher.
pub(crate) fn finished(hasher: &blake3::Hasher) -> Hash {
    Hash(hasher.finalize().into())
}

/// Bytes that are printed as lower-case hexadecimal digits.
pub(crate) struct Hexadecimal<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hexadecimal(&self.0).fmt(f)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl FromStr for Hash {
    type Err = Error;

    /// Parses 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) for any other string.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = || Error::argument(format!("found {text:?}, expected a hash of 64 hexadecimal digits"));
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(refused());
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| refused())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| refused())?;
        }
        Ok(Self(bytes))
    }
}
