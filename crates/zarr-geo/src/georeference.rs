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
    /// it has one, and whether pixels are points. The transformation is that of the corners of pixels in both cases, as GDAL has it. Points
    /// get that of their centres.
    ///
    /// ```
    /// use zarr_geo::Georeference;
    ///
    /// let of_file = Georeference::of_affine([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0], Some(32633), false);
    /// assert_eq!(of_file.crs.unwrap().to_string(), "EPSG:32633");
    ///
    /// let of_points = Georeference::of_affine([10.0, 0.0, 0.0, 0.0, -10.0, 0.0], None, true);
    /// assert_eq!(of_points.transform.unwrap().at(0.0, 0.0), (5.0, -5.0));
    /// ```
    pub fn of_affine(transform: [f64; 6], epsg: Option<u32>, is_point: bool) -> Self {
        let corner = Transform(transform);
        let (transform, registration) = match is_point {
            true => (corner.shifted(0.5, 0.5), Registration::Node),
            false => (corner, Registration::Pixel),
        };
        Self { crs: epsg.map(Crs::epsg), transform: Some(transform), registration, ..Self::default() }
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

    /// Replaces the place by a transformation that begins at the corner of the first pixel, as those of GDAL do and those that follow from
    /// the centres of pixels.
    #[must_use]
    pub fn placed_by(self, transform: Transform) -> Self {
        let registration = Registration::Pixel;
        Self { transform: Some(transform), transform_type: None, bbox: None, registration, ..self }
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
    /// from the first, whose transformation is that of the georeference. How many times larger the pixels of a level are follows from the
    /// lengths by [`zarr_grid::level_factors`]; it is the ratio of the lengths where these do not become smaller.
    /// [`pyramid_by`](Self::pyramid_by) takes known factors.
    ///
    /// ```
    /// # use zarr_geo::{Georeference, Transform};
    /// let scene = Georeference::new().transform(Transform([10.0, 0.0, 0.0, 0.0, -10.0, 0.0]));
    /// let levels = scene.pyramid(&[("0", [25, 25]), ("1", [13, 13]), ("2", [7, 7])]).levels;
    /// assert_eq!(levels[2].transform.unwrap().pixel_size(), (40.0, 40.0));
    /// ```
    #[must_use]
    pub fn pyramid(self, levels: &[(&str, [u64; 2])]) -> Self {
        let of_axis = |axis: usize| {
            let lengths: Vec<u64> = levels.iter().map(|(_, shape)| shape[axis]).collect();
            let ratio = |len: &u64| match lengths.first() {
                Some(finest) if *len > 0 => *finest as f64 / *len as f64,
                _ => 1.0,
            };
            zarr_grid::level_factors(&lengths).unwrap_or_else(|| lengths.iter().map(ratio).collect())
        };
        let (down, across) = (of_axis(0), of_axis(1));
        let factors = down.into_iter().zip(across);
        let levels: Vec<_> =
            levels.iter().zip(factors).map(|(&(path, shape), (down, across))| (path, shape, [down, across])).collect();
        self.pyramid_by(&levels)
    }

    /// Sets the levels of a pyramid of arrays, each with its path, its number of rows and columns, and how many times larger its pixels are
    /// along y and x than those of the first. Each is computed from the first, whose transformation is that of the georeference.
    #[must_use]
    pub fn pyramid_by(self, levels: &[(&str, [u64; 2], [f64; 2])]) -> Self {
        let first = levels.first().map(|(path, ..)| *path);
        let of = |(number, &(path, [rows, columns], [down, across])): (usize, &(&str, [u64; 2], [f64; 2]))| {
            let level = match first.filter(|_| number > 0) {
                None => Level::new(path),
                Some(first) => Level::new(path).derived_from(first, down, across),
            };
            match self.transform {
                Some(transform) => level.at(transform.scaled(across, down), rows, columns),
                None => Level { shape: Some([rows, columns]), ..level },
            }
        };
        let levels = levels.iter().enumerate().map(of).collect();
        self.levels(levels)
    }

    /// Fills in what an array inherits from a group above it: what its own attributes do not say. `path` is the path of the array relative
    /// to the group. The place of a level of a pyramid is that of the level, and not that of the group.
    #[must_use]
    pub fn inheriting(self, group: &Self, path: &str) -> Self {
        let has_place = self.transform.is_some() || self.bbox.is_some() || self.transform_type.is_some();
        let (transform, transform_type, bbox, registration, shape) = match group.level(path) {
            _ if has_place => (self.transform, self.transform_type, self.bbox, self.registration, None),
            Some(level) => {
                let transform = level.transform.filter(|_| group.transform_type.is_none());
                let bbox = group.bbox.filter(|_| transform.is_none());
                (transform, group.transform_type.clone(), bbox, group.registration, level.shape)
            }
            None => (group.transform, group.transform_type.clone(), group.bbox, group.registration, group.shape),
        };
        Self {
            crs: self.crs.or_else(|| group.crs.clone()),
            dimensions: self.dimensions.or_else(|| group.dimensions.clone()),
            shape: self.shape.or(shape),
            transform,
            transform_type,
            bbox,
            registration,
            levels: self.levels,
            faults: self.faults,
        }
    }

    /// Returns the level of the pyramid that the node at a path relative to the group is, or lies in.
    pub fn level(&self, path: &str) -> Option<&Level> {
        let is_in = |level: &&Level| {
            path.strip_prefix(level.asset.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.levels.iter().find(is_in)
    }

    /// Georeference of a region of the array: its first row and column, the distances between its rows and its columns, and its number of
    /// rows and columns. A bounding box is left out, and so is a transformation of another kind than `affine`.
    ///
    /// ```
    /// # use zarr_geo::{Georeference, Transform};
    /// let scene = Georeference::new().transform(Transform([10.0, 0.0, 0.0, 0.0, -10.0, 0.0])).shape(8, 8);
    /// assert_eq!(scene.clone().region([2, 4], [1, 1], [3, 2]).extent(), Some([40.0, -50.0, 60.0, -20.0]));
    /// // Of two pixels the first: it stays in the middle of its coarser pixel.
    /// assert_eq!(scene.region([0, 0], [2, 2], [4, 4]).extent(), Some([-5.0, -75.0, 75.0, 5.0]));
    /// ```
    #[must_use]
    pub fn region(self, start: [u64; 2], step: [u64; 2], shape: [u64; 2]) -> Self {
        let [(row, down), (column, across)] = [(start[0], step[0]), (start[1], step[1])].map(|(start, step)| {
            let middle = match self.registration {
                Registration::Pixel => (1.0 - step as f64) / 2.0,
                Registration::Node => 0.0,
            };
            (start as f64 + middle, step as f64)
        });
        let transform = self.transform.map(|transform| transform.shifted(column, row).scaled(across, down));
        Self { transform, transform_type: None, bbox: None, shape: Some(shape), levels: Vec::new(), ..self }
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
