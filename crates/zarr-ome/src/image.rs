//! Images with their arrays.

use crate::multiscales::{Multiscale, Multiscales};
use crate::{Error, ErrorKind, Result};
use zarr_array::{Array, Group};

/// A group that is an image: its metadata, and its levels as arrays.
#[derive(Clone, Debug)]
pub struct Image {
    group: Group,
    metadata: Multiscales,
    /// The one of them that this is.
    multiscale: Multiscale,
}

impl Image {
    /// The first image of a group; `None` if it is none. Nothing is read but what the group has.
    ///
    /// # Errors
    /// As [`Multiscales::read`], and if the attributes cannot be read.
    pub fn open(group: &Group) -> Result<Option<Self>> {
        let found = Multiscales::read(group.attributes()?).map_err(|error| locate(group, error))?;
        let first = found.as_ref().and_then(Multiscales::first).cloned();
        Ok(found.zip(first).map(|(metadata, multiscale)| Self { group: group.clone(), metadata, multiscale }))
    }

    /// The image of a name in the same group.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none.
    pub fn named(&self, name: &str) -> Result<Self> {
        let found = self.metadata.images.iter().find(|image| image.name.as_deref() == Some(name));
        let multiscale = found.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.metadata.images.iter().filter_map(|image| image.name.as_deref()).collect();
            let message = format!("found no image {name}, expected one of {}", names.join(", "));
            locate(&self.group, Error::new(ErrorKind::NotFound, message))
        })?;
        Ok(Self { multiscale, ..self.clone() })
    }

    /// The group.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The metadata of all images of the group.
    pub fn metadata(&self) -> &Multiscales {
        &self.metadata
    }

    /// The metadata of this image.
    pub fn multiscale(&self) -> &Multiscale {
        &self.multiscale
    }

    /// How many levels there are.
    pub fn level_count(&self) -> usize {
        self.multiscale.levels.len()
    }

    /// The array of a level, from 0, the finest.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no such level; [`ErrorKind::InvalidMetadata`] if the array has other dimensions than the image;
    /// as [`Array::open`].
    pub fn level(&self, number: usize) -> Result<Array> {
        let image = &self.multiscale;
        let level = image.levels.get(number).ok_or_else(|| {
            Error::argument(format!("found level {number}, expected 0 to {}", image.levels.len().saturating_sub(1)))
        })?;
        let array = self.group.array(&level.path)?;
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

    /// The coarsest level that has at least the given number of elements along these axes (each with its least length), and its array; the
    /// finest level if none has. Opens the arrays from the coarsest on.
    ///
    /// # Errors
    /// As [`level`](Self::level).
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

/// An error with the group that it is about.
fn locate(group: &Group, error: Error) -> Error {
    let (store, path) = (group.store().to_string(), group.path().to_string());
    error.at(|location| {
        location.store = Some(store);
        location.path = Some(path);
    })
}
