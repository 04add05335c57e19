//! Storage to read from and to write to, and what it costs.

use std::fmt;
use std::str::FromStr;
use zarr_array::{Error, Result};
use zarr_json::{Map, Value};
use zarr_store::AccessProfile;

/// Storage that data is read from: how long a request takes, and how many bytes come per second.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Storage {
    /// Name for people, such as `s3`.
    pub name: String,
    /// Seconds from a request to the first byte of its reply.
    pub latency: f64,
    /// Bytes per second of all requests together.
    pub bandwidth: f64,
    /// Number of requests at the same time.
    pub concurrency: usize,
    /// Profile by which requests are planned: how ranges are merged and divided.
    pub access: AccessProfile,
}

/// Smallest latency in seconds at which requests are planned as for a store behind a network.
const REMOTE: f64 = 1e-3;

impl Storage {
    /// Files of this machine: 0.1 ms for a request, 1 GB/s.
    pub fn local() -> Self {
        Self::new("local", 1e-4, 1e9)
    }

    /// Object storage in the same region: 50 ms for a request, 200 MB/s.
    pub fn s3() -> Self {
        Self::new("s3", 0.05, 200e6)
    }

    /// Storage with a latency in seconds and a bandwidth in bytes per second. Below 1 ms requests are planned as for files, else as for a
    /// store behind a network.
    pub fn new(name: &str, latency: f64, bandwidth: f64) -> Self {
        let access = if latency < REMOTE { AccessProfile::LOCAL } else { AccessProfile::REMOTE };
        let concurrency = if latency < REMOTE { threads() } else { access.concurrency };
        Self { name: name.to_owned(), latency, bandwidth: bandwidth.max(1.0), concurrency, access }
    }
}

/// Number of threads that decode at the same time.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (latency, bandwidth) = (self.latency * 1e3, self.bandwidth / 1e6);
        write!(
            f,
            "{}: {:.3} ms a request, {:.0} MB/s, {} requests at once",
            self.name, latency, bandwidth, self.concurrency
        )
    }
}

/// Parses `local`, `s3`, or a latency and a bandwidth, `50ms,100MB/s`.
impl FromStr for Storage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        match text {
            "local" => return Ok(Self::local()),
            "s3" => return Ok(Self::s3()),
            _ => {}
        }
        let parsed = text.split_once(',').and_then(|(latency, bandwidth)| {
            let latency = number(latency, &[("ms", 1e-3), ("us", 1e-6), ("s", 1.0)])?;
            let bandwidth = bandwidth.trim().strip_suffix("/s")?;
            let units =
                [("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)];
            Some((latency, number(bandwidth, &units)?))
        });
        let expected = || Error::argument(format!("found {text:?}, expected local, s3, or as 50ms,100MB/s"));
        let (latency, bandwidth) = parsed.filter(|&(_, bandwidth)| bandwidth > 0.0).ok_or_else(expected)?;
        Ok(Self::new(text, latency, bandwidth))
    }
}

/// Parses a number with one of the units, each given with its factor.
fn number(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let (number, factor) = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * factor)
}

/// Prices of a storage service.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prices {
    /// Service and place that the prices are of, for people.
    pub of: String,
    /// Date of the list of prices.
    pub date: String,
    /// Address of the list of prices.
    pub source: String,
    /// Currency, such as `USD`.
    pub currency: String,
    /// Price of 10^9 bytes stored for a month.
    pub storage_gb_month: f64,
    /// Price of 1000 reads.
    pub get_1000: f64,
    /// Price of 1000 writes.
    pub put_1000: f64,
    /// Price of 10^9 bytes that leave the service; 0 for readers in the same region.
    pub transfer_gb: f64,
}

impl Prices {
    /// List prices of S3 Standard in the region us-east-1 below 50 TB a month, for readers in that region.
    pub fn s3() -> Self {
        Self {
            of: "S3 Standard, us-east-1, readers in the region".to_owned(),
            date: "2026-09-28".to_owned(),
            source:
                "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonS3/20260928230416/us-east-1/index.json"
                    .to_owned(),
            currency: "USD".to_owned(),
            storage_gb_month: 0.023,
            get_1000: 0.0004,
            put_1000: 0.005,
            transfer_gb: 0.0,
        }
    }

    /// Reads prices from a JSON object with the members `of`, `date`, `source`, `currency`, `storage_gb_month`, `get_1000`, `put_1000` and
    /// `transfer_gb`. The last four are numbers, and all but `source` and `transfer_gb` are needed.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Argument`] for any other value.
    pub fn from_json(value: &Value) -> Result<Self> {
        const NAMES: [&str; 8] =
            ["of", "date", "source", "currency", "storage_gb_month", "get_1000", "put_1000", "transfer_gb"];
        let wrong = |what: String| Error::argument(format!("prices: {what}"));
        let map = value.as_object().ok_or_else(|| wrong(format!("found {}, expected an object", value.excerpt())))?;
        if let Some(name) = map.keys().find(|name| !NAMES.contains(name)) {
            return Err(wrong(format!("found the member {name:?}, expected only {}", NAMES.join(", "))));
        }
        let text = |name: &str| match map.get(name) {
            Some(value) => {
                let found = || wrong(format!("{name}: found {}, expected a string", value.excerpt()));
                value.as_str().map(str::to_owned).ok_or_else(found)
            }
            None if name == "source" => Ok(String::new()),
            None => Err(wrong(format!("found no {name}, expected a string"))),
        };
        let number = |name: &str| match map.get(name) {
            Some(value) => {
                let found = || wrong(format!("{name}: found {}, expected a number from 0", value.excerpt()));
                value.as_f64().filter(|price| price.is_finite() && *price >= 0.0).ok_or_else(found)
            }
            None if name == "transfer_gb" => Ok(0.0),
            None => Err(wrong(format!("found no {name}, expected a number"))),
        };
        Ok(Self {
            of: text("of")?,
            date: text("date")?,
            source: text("source")?,
            currency: text("currency")?,
            storage_gb_month: number("storage_gb_month")?,
            get_1000: number("get_1000")?,
            put_1000: number("put_1000")?,
            transfer_gb: number("transfer_gb")?,
        })
    }

    /// Returns the prices as JSON, which [`from_json`](Self::from_json) reads.
    pub fn to_json(&self) -> Map {
        let members = [
            ("of", Value::from(self.of.as_str())),
            ("date", Value::from(self.date.as_str())),
            ("source", Value::from(self.source.as_str())),
            ("currency", Value::from(self.currency.as_str())),
            ("storage_gb_month", Value::from(self.storage_gb_month)),
            ("get_1000", Value::from(self.get_1000)),
            ("put_1000", Value::from(self.put_1000)),
            ("transfer_gb", Value::from(self.transfer_gb)),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Price of a month of `bytes` stored bytes.
    pub fn month(&self, bytes: f64) -> f64 {
        bytes / 1e9 * self.storage_gb_month
    }

    /// Price of reads of `bytes` bytes by `requests` requests.
    pub fn reads(&self, requests: f64, bytes: f64) -> f64 {
        requests / 1e3 * self.get_1000 + bytes / 1e9 * self.transfer_gb
    }

    /// Price of `requests` writes.
    pub fn writes(&self, requests: f64) -> f64 {
        requests / 1e3 * self.put_1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storages_are_parsed() {
        let storage: Storage = " 50ms, 100MB/s".parse().unwrap();
        assert_eq!((storage.latency, storage.bandwidth), (0.05, 100e6));
        assert_eq!((storage.access, storage.concurrency), (AccessProfile::REMOTE, 512));
        assert_eq!("100us,2GB/s".parse::<Storage>().unwrap().access, AccessProfile::LOCAL);
        assert_eq!("s3".parse::<Storage>().unwrap(), Storage::s3());
        for text in
            ["", "s4", "50ms", "50,100MB/s", "50ms,100MB", "50ms,0MB/s", "-1ms,1MB/s", "NaNms,1MB/s", "1ms,infMB/s"]
        {
            assert!(text.parse::<Storage>().is_err(), "{text}");
        }
    }

    #[test]
    fn prices_are_read_back() {
        let prices = Prices::s3();
        assert_eq!(Prices::from_json(&prices.to_json().into()).unwrap(), prices);
        assert_eq!(prices.month(1e12), 23.0);
        for text in ["[]", "{}", r#"{"of": 1}"#, r#"{"price": 1}"#] {
            assert!(Prices::from_json(&Value::from_json(text).unwrap()).is_err(), "{text}");
        }
        let mut negative = prices.to_json();
        negative.insert("get_1000", -1.0);
        assert!(Prices::from_json(&negative.into()).unwrap_err().to_string().contains("get_1000"));
    }
}
