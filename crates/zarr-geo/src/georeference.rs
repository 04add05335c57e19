//! Georeference of a node: the model of its GeoZarr attributes.

use crate::{Crs, Level, Transform, ValueError};

/// Meaning of the coordinates of a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registration {
    /// Coordinates are those of the edges of pixels, which are areas.
    #[default]
    Pixel,
    /// Coordinates are those of the centres of pixels, which are points.
    Node,
}

impl Registration {
    /// Name of the registration: `pixel` or `node`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pixel => "pixel",
            Self::Node => "node",
        }
    }
}

/// Georeference of an array or a group: what its attributes say by the conventions of GeoZarr.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Georeference {
    /// Coordinate reference system; `None` if the attributes have none.
    pub crs: Option<Crs>,
    /// Names of the dimensions of y and x; `None` if the attributes do not name them.
    pub dimensions: Option<[String; 2]>,
    /// Transformation from indices to coordinates; `None` if the attributes have none, or one of another kind.
    pub transform: Option<Transform>,
    /// Kind of the transformation, if it is another than `affine`.
    pub transform_type: Option<String>,
    /// Bounding box `[xmin, ymin, xmax, ymax]`; `None` if the attributes have none.
    pub bbox: Option<[f64; 4]>,
    /// Number of rows and columns; `None` if the attributes do not say.
    pub shape: Option<[u64; 2]>,
    /// Meaning of the coordinates.
    pub registration: Registration,
    /// Levels of the pyramid, from the finest; empty if there is none.
    pub levels: Vec<Level>,
    /// Places in the attributes that break a rule of a convention. Empty for a georeference that was not read.
    pub faults: Vec<ValueError>,
}

impl Georeference {
    /// Georeference that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Georeference of an image file, such as a GeoTIFF: its affine transformation in the order `[a, b, c, d, e, f]`, the code of EPSG if
    /// it has one, and whether pixels are points.
    ///
    /// ```
    /// use zarr_geo::Georeference;
    ///
    /// let of_file = Georeference::of_affine([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0], Some(32633), false);
    /// assert_eq!(of_file.crs.unwrap().to_string(), "EPSG:32633");
    /// ```
    pub fn of_affine(transform: [f64; 6], epsg: Option<u32>, is_point: bool) -> Self {
        let registration = if is_point { Registration::Node } else { Registration::Pixel };
        Self { crs: epsg.map(Crs::epsg), transform: Some(Transform(transform)), registration, ..Self::default() }
    }

    /// Sets the coordinate reference system.
    #[must_use]
    pub fn crs(self, crs: impl Into<Option<Crs>>) -> Self {
        Self { crs: crs.into(), ..self }
    }

    /// Sets the names of the dimensions of y and x.
    #[must_use]
    pub fn dimensions(self, y: impl Into<String>, x: impl Into<String>) -> Self {
        Self { dimensions: Some([y.into(), x.into()]), ..self }
    }

    /// Sets the transformation.
    #[must_use]
    pub fn transform(self, transform: impl Into<Option<Transform>>) -> Self {
        Self { transform: transform.into(), ..self }
    }

    /// Sets the bounding box `[xmin, ymin, xmax, ymax]`.
    #[must_use]
    pub fn bbox(self, bbox: [f64; 4]) -> Self {
        Self { bbox: Some(bbox), ..self }
    }

    /// Sets the number of rows and columns.
    #[must_use]
    pub fn shape(self, rows: u64, columns: u64) -> Self {
        Self { shape: Some([rows, columns]), ..self }
    }

    /// Sets the meaning of the coordinates.
    #[must_use]
    pub fn registration(self, registration: Registration) -> Self {
        Self { registration, ..self }
    }

    /// Sets the levels of the pyramid.
    #[must_use]
    pub fn levels(self, levels: Vec<Level>) -> Self {
        Self { levels, ..self }
    }

    /// Sets the levels of a pyramid of arrays, each with its path and its number of rows and columns, from the finest. Each is computed
    /// from the first, whose transformation is that of the georeference.
    #[must_use]
    pub fn pyramid(self, levels: &[(&str, [u64; 2])]) -> Self {
        let Some(&(first, [rows, columns])) = levels.first() else { return self };
        let of = |&(path, [r, c]): &(&str, [u64; 2])| {
            // The last pixel of a coarser level may reach beyond the edge.
            let factor = |fine: u64, coarse: u64| (fine as f64 / coarse.max(1) as f64).round().max(1.0);
            let (down, across) = (factor(rows, r), factor(columns, c));
            let level =
                if path == first { Level::new(path) } else { Level::new(path).derived_from(first, down, across) };
            match self.transform {
                Some(transform) => level.at(transform.scaled(across, down), r, c),
                None => Level { shape: Some([r, c]), ..level },
            }
        };
        let levels = levels.iter().map(of).collect();
        self.levels(levels)
    }

    /// Fills in what an array inherits from the group that it is directly in: what its own attributes do not say.
    #[must_use]
    pub fn inheriting(self, group: &Self) -> Self {
        let has_place = self.transform.is_some() || self.bbox.is_some() || self.transform_type.is_some();
        let own = |it: &Self| (it.transform, it.transform_type.clone(), it.bbox, it.registration);
        let (transform, transform_type, bbox, registration) = if has_place { own(&self) } else { own(group) };
        Self {
            crs: self.crs.or_else(|| group.crs.clone()),
            dimensions: self.dimensions.or_else(|| group.dimensions.clone()),
            shape: self.shape.or(group.shape.filter(|_| !has_place)),
            transform,
            transform_type,
            bbox,
            registration,
            ..self
        }
    }

    /// Returns the bounding box `[xmin, ymin, xmax, ymax]`: that of the transformation and the shape if both are known, or else the one in
    /// the attributes.
    pub fn extent(&self) -> Option<[f64; 4]> {
        self.computed_extent().or(self.bbox)
    }

    /// Returns the bounding box that follows from the transformation and the shape; `None` if one of them is not known.
    pub fn computed_extent(&self) -> Option<[f64; 4]> {
        let (transform, [rows, columns]) = (self.transform?, self.shape?);
        let len = |count: u64| match self.registration {
            Registration::Pixel => count as f64,
            Registration::Node => count.saturating_sub(1) as f64,
        };
        Some(transform.extent(len(columns), len(rows)))
    }

    /// Returns the bounding box in the attributes and the one that follows from the transformation and the shape, if they differ by more
    /// than a hundredth of a pixel.
    pub fn contradiction(&self) -> Option<([f64; 4], [f64; 4])> {
        let (stated, computed) = (self.bbox?, self.computed_extent()?);
        let (width, height) = self.transform?.pixel_size();
        let size = width.min(height);
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= size * 0.01 + a.abs() * 1e-9;
        (!stated.iter().zip(&computed).all(is_near)).then_some((stated, computed))
    }
}
