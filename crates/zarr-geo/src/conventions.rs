//! Registration of conventions in the attribute `zarr_conventions`.

use zarr_json::{Map, Value};

/// Attribute that lists the conventions which the attributes of a node follow.
pub const ATTRIBUTE: &str = "zarr_conventions";

/// Convention of GeoZarr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Convention {
    /// `multiscales`: the levels of a pyramid.
    Multiscales,
    /// `proj`: the coordinate reference system.
    Proj,
    /// `spatial`: coordinates of indices.
    Spatial,
}

impl Convention {
    /// All conventions of GeoZarr.
    pub const ALL: &[Self] = &[Self::Multiscales, Self::Proj, Self::Spatial];

    /// Name of the convention: `multiscales`, `proj` or `spatial`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Multiscales => "multiscales",
            Self::Proj => "proj",
            Self::Spatial => "spatial",
        }
    }

    /// UUID of the convention, which stays the same in all versions.
    pub fn uuid(self) -> &'static str {
        match self {
            Self::Multiscales => "d35379db-88df-4056-af3a-620245f8e347",
            Self::Proj => "f17cb550-5864-4468-aeb7-f3180cfb622f",
            Self::Spatial => "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Multiscales => "Multiscale layout of zarr datasets",
            Self::Proj => "Coordinate reference system information for geospatial data",
            Self::Spatial => "Spatial coordinate information",
        }
    }

    /// Entry that registers version 0.1 of the convention.
    pub fn entry(self) -> Map {
        let name = self.name();
        let raw = "https://raw.githubusercontent.com/zarr-conventions";
        let members = [
            ("schema_url", format!("{raw}/{name}/refs/tags/v0.1/schema.json")),
            ("spec_url", format!("https://github.com/zarr-conventions/{name}/blob/v0.1/README.md")),
            ("uuid", self.uuid().to_owned()),
            ("name", name.to_owned()),
            ("description", self.description().to_owned()),
        ];
        members.into_iter().map(|(name, text)| (name.to_owned(), Value::from(text))).collect()
    }

    /// Whether an entry of `zarr_conventions` is that of the convention, by its UUID or else by the address of its schema or specification.
    pub fn is_entry(self, entry: &Value) -> bool {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        if let Some(uuid) = text("uuid") {
            return uuid.eq_ignore_ascii_case(self.uuid());
        }
        let name = self.name();
        let is_in = |url: &str| [format!("/{name}/"), format!("/geo-{name}/")].iter().any(|part| url.contains(part));
        text("schema_url").or_else(|| text("spec_url")).is_some_and(is_in)
    }

    /// Whether attributes register the convention.
    pub fn is_registered(self, attributes: &Map) -> bool {
        let list = attributes.get(ATTRIBUTE).and_then(Value::as_array).unwrap_or_default();
        list.iter().any(|entry| self.is_entry(entry))
    }

    /// Registers the convention in attributes, unless it is registered. Other entries stay.
    pub fn register(self, attributes: &mut Map) {
        if self.is_registered(attributes) {
            return;
        }
        let mut list = attributes.get(ATTRIBUTE).and_then(Value::as_array).unwrap_or_default().to_vec();
        list.push(Value::Object(self.entry()));
        attributes.insert(ATTRIBUTE, Value::Array(list));
    }
}
