//! Images with the arrays of their levels.

use crate::multiscales::{Multiscale, Multiscales};
use crate::{Error, ErrorKind, Result};
use zarr_array::{Array, Group, Options};

/// Image in a group: its metadata, and its levels as arrays.
#[derive(Clone, Debug)]
pub struct Image {
    group: Group,
    metadata: Multiscales,
    /// Metadata of this image, one of `metadata`.
    multiscale: Multiscale,
    /// Options of arrays; `None` for those with which the group opens them.
    arrays: Option<Options>,
}

impl Image {
    /// Opens the first image of a group; `None` if the group has no image. Reads nothing but the attributes of the group.
    ///
    /// # Errors
    /// The errors of [`Multiscales::read`], and those of reading the attributes.
    pub fn open(group: &Group) -> Result<Option<Self>> {
        let found = Multiscales::read(group.attributes()?).map_err(|error| locate(group, error))?;
        let first = found.as_ref().and_then(Multiscales::first).cloned();
        Ok(found.zip(first).map(|(metadata, multiscale)| Self {
            group: group.clone(),
            metadata,
            multiscale,
            arrays: None,
        }))
    }

    /// Sets the options with which the arrays of levels are opened; by default those with which the group opens arrays.
    #[must_use]
    pub fn arrays(self, arrays: Options) -> Self {
        Self { arrays: Some(arrays), ..self }
    }

    /// Returns the image called `name` in the same group.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the group has no image of that name.
    pub fn named(&self, name: &str) -> Result<Self> {
        let found = self.metadata.images.iter().find(|image| image.name.as_deref() == Some(name));
        let multiscale = found.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.metadata.images.iter().filter_map(|image| image.name.as_deref()).collect();
            let message = format!("found no image {name}, expected one of {}", names.join(", "));
            locate(&self.group, Error::new(ErrorKind::NotFound, message))
        })?;
        Ok(Self { multiscale, ..self.clone() })
    }

    /// Returns the group of the image.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Returns the options with which the arrays of levels are opened; `None` for those with which the group opens arrays.
    pub fn options(&self) -> Option<&Options> {
        self.arrays.as_ref()
    }

    /// Returns the metadata of all images of the group.
    pub fn metadata(&self) -> &Multiscales {
        &self.metadata
    }

    /// Returns the metadata of this image.
    pub fn multiscale(&self) -> &Multiscale {
        &self.multiscale
    }

    /// Returns the number of levels of the image.
    pub fn level_count(&self) -> usize {
        self.multiscale.levels.len()
    }

    /// Opens the array of level `number`; 0 is the finest level.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the level does not exist; [`ErrorKind::InvalidMetadata`] if the array has other dimensions than the
    /// image; the errors of [`Array::open`].
    pub fn level(&self, number: usize) -> Result<Array> {
        let image = &self.multiscale;
        let level = image.levels.get(number).ok_or_else(|| {
            Error::argument(format!("found level {number}, expected 0 to {}", image.levels.len().saturating_sub(1)))
        })?;
        let array = self.group.array(&level.path)?;
        let array = match &self.arrays {
            Some(options) => array.with(options.clone())?,
            None => array,
        };
        let (found, expected) = (array.shape().len(), image.axes.len());
        if found != expected {
            let message =
                format!("found {found} dimensions, expected {expected} as the image {} has", self.group.path());
            return Err(Error::new(ErrorKind::InvalidMetadata, message).at(|location| {
                location.store = Some(array.store().to_string());
                location.path = Some(array.path().to_string());
            }));
        }
        Ok(array)
    }

    /// Returns the number and the array of the coarsest level with at least the given number of elements along some axes; the finest level
    /// if no level has enough. `least` has pairs of an axis and its least length. Opens arrays from the coarsest level to the finer ones.
    ///
    /// # Errors
    /// The errors of [`level`](Self::level).
    pub fn level_of(&self, least: &[(usize, u64)]) -> Result<(usize, Array)> {
        for number in (1..self.level_count()).rev() {
            let array = self.level(number)?;
            let has = |&(axis, least): &(usize, u64)| array.shape().get(axis).is_none_or(|&len| len >= least);
            if least.iter().all(has) {
                return Ok((number, array));
            }
        }
        Ok((0, self.level(0)?))
    }
}

/// Adds the location of the group to an error.
fn locate(group: &Group, error: Error) -> Error {
    let (store, path) = (group.store().to_string(), group.path().to_string());
    error.at(|location| {
        location.store = Some(store);
        location.path = Some(path);
    })
}
