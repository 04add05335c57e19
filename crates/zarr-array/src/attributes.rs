//! Methods that get and set attributes of arrays and groups as values of Rust types, and names of dimensions.

use crate::{Array, AsyncArray, AsyncGroup, Group, Result};
use serde::Serialize;
use std::sync::Arc;
use zarr_hierarchy::node;

impl Array {
    /// Replaces the attributes by the members of a Rust struct or map, with [`set_attributes`](Self::set_attributes).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the value is no struct or map, or has no form in JSON; the errors of
    /// [`set_attributes`](Self::set_attributes).
    pub fn set_attributes_from<T: Serialize + ?Sized>(&mut self, attributes: &T) -> Result<()> {
        let attributes = zarr_hierarchy::attributes_from(attributes).map_err(|error| self.core.locate(error))?;
        self.set_attributes(attributes)
    }

    /// Sets one attribute, or a value within an attribute, to a Rust value. `pointer` is a JSON pointer (`/encoding/scale`), or without `/`
    /// in front the name of an attribute. Other attributes stay.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the value has no form in JSON, or its parent is not there; as
    /// [`set_attributes`](Self::set_attributes).
    pub fn set_attribute<T: Serialize + ?Sized>(&mut self, pointer: &str, value: &T) -> Result<()> {
        let attributes = zarr_hierarchy::with_attribute(&self.core.found, pointer, value);
        self.set_attributes(attributes.map_err(|error| self.core.locate(error))?)
    }

    /// Sets the names of the dimensions, one name for each dimension. Other members of the documents stay.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, NewArray, Registry, Store};
    /// # let mut registry = Registry::default();
    /// # zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    /// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// # let new = NewArray::new(&[12, 18], "float32").codecs("bytes")?;
    /// # let mut array = Array::create(&store, "/", new, &Arc::new(registry))?;
    /// array.set_dimension_names(&["time", "lat"])?;
    /// assert_eq!(array.dimension_names(), Some(&[Some("time".to_owned()), Some("lat".to_owned())][..]));
    /// assert!(array.set_dimension_names(&["time"]).is_err());
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if there are not as many names as dimensions; the errors of [`set_attributes`](Self::set_attributes).
    pub fn set_dimension_names<N: AsRef<str>>(&mut self, names: &[N]) -> Result<()> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        self.core.check_writers(self.store().capabilities(), "a change of metadata")?;
        let found = zarr_hierarchy::set_dimension_names(&**self.store(), &self.core.found, &names)?;
        self.core = Arc::new(self.core.with_found(found)?);
        Ok(())
    }

    /// Removes one attribute, or a member within an attribute, and returns whether it existed. `pointer` is a JSON pointer or the name of
    /// an attribute.
    ///
    /// # Errors
    /// The errors of [`set_attributes`](Self::set_attributes).
    pub fn remove_attribute(&mut self, pointer: &str) -> Result<bool> {
        let mut attributes = node::attributes(&self.core.found).map_err(|error| self.core.locate(error))?.clone();
        let removed = attributes.remove_pointer(pointer).is_some();
        if removed {
            self.set_attributes(attributes)?;
        }
        Ok(removed)
    }
}

impl AsyncArray {
    /// Replaces the attributes by the members of a Rust struct or map, with [`set_attributes`](Self::set_attributes).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the value is no struct or map, or has no form in JSON; the errors of
    /// [`set_attributes`](Self::set_attributes).
    pub async fn set_attributes_from<T: Serialize + ?Sized + Sync>(&mut self, attributes: &T) -> Result<()> {
        let attributes = zarr_hierarchy::attributes_from(attributes).map_err(|error| self.core.locate(error))?;
        self.set_attributes(attributes).await
    }

    /// Sets one attribute, or a value within an attribute, to a Rust value. `pointer` is a JSON pointer (`/encoding/scale`), or without `/`
    /// in front the name of an attribute. Other attributes stay.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the value has no form in JSON, or its parent is not there; as
    /// [`set_attributes`](Self::set_attributes).
    pub async fn set_attribute<T: Serialize + ?Sized + Sync>(&mut self, pointer: &str, value: &T) -> Result<()> {
        let attributes = zarr_hierarchy::with_attribute(&self.core.found, pointer, value);
        self.set_attributes(attributes.map_err(|error| self.core.locate(error))?).await
    }

    /// Removes one attribute, or a member within an attribute, and returns whether it existed. `pointer` is a JSON pointer or the name of
    /// an attribute.
    ///
    /// # Errors
    /// The errors of [`set_attributes`](Self::set_attributes).
    pub async fn remove_attribute(&mut self, pointer: &str) -> Result<bool> {
        let mut attributes = node::attributes(&self.core.found).map_err(|error| self.core.locate(error))?.clone();
        let removed = attributes.remove_pointer(pointer).is_some();
        if removed {
            self.set_attributes(attributes).await?;
        }
        Ok(removed)
    }
}

impl Group {
    /// Replaces the attributes by the members of a Rust struct or map, with [`set_attributes`](Self::set_attributes).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the value is no struct or map, or has no form in JSON; the errors of
    /// [`set_attributes`](Self::set_attributes).
    pub fn set_attributes_from<T: Serialize + ?Sized>(&mut self, attributes: &T) -> Result<()> {
        let attributes =
            zarr_hierarchy::attributes_from(attributes).map_err(|error| self.with_hierarchy_hint(error))?;
        self.set_attributes(attributes)
    }

    /// Sets one attribute, or a value within an attribute, to a Rust value. `pointer` is a JSON pointer (`/encoding/scale`), or without `/`
    /// in front the name of an attribute. Other attributes stay.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the value has no form in JSON, or its parent is not there; as
    /// [`set_attributes`](Self::set_attributes).
    pub fn set_attribute<T: Serialize + ?Sized>(&mut self, pointer: &str, value: &T) -> Result<()> {
        let attributes = zarr_hierarchy::with_attribute(self.found(), pointer, value);
        self.set_attributes(attributes.map_err(|error| self.with_hierarchy_hint(error))?)
    }

    /// Removes one attribute, or a member within an attribute, and returns whether it existed. `pointer` is a JSON pointer or the name of
    /// an attribute.
    ///
    /// # Errors
    /// The errors of [`set_attributes`](Self::set_attributes).
    pub fn remove_attribute(&mut self, pointer: &str) -> Result<bool> {
        let mut attributes = node::attributes(self.found()).map_err(|error| self.with_hierarchy_hint(error))?.clone();
        let removed = attributes.remove_pointer(pointer).is_some();
        if removed {
            self.set_attributes(attributes)?;
        }
        Ok(removed)
    }
}

impl AsyncGroup {
    /// Replaces the attributes by the members of a Rust struct or map, with [`set_attributes`](Self::set_attributes).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the value is no struct or map, or has no form in JSON; the errors of
    /// [`set_attributes`](Self::set_attributes).
    pub async fn set_attributes_from<T: Serialize + ?Sized + Sync>(&mut self, attributes: &T) -> Result<()> {
        let attributes =
            zarr_hierarchy::attributes_from(attributes).map_err(|error| self.with_hierarchy_hint(error))?;
        self.set_attributes(attributes).await
    }

    /// Sets one attribute, or a value within an attribute, to a Rust value. `pointer` is a JSON pointer (`/encoding/scale`), or without `/`
    /// in front the name of an attribute. Other attributes stay.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the value has no form in JSON, or its parent is not there; as
    /// [`set_attributes`](Self::set_attributes).
    pub async fn set_attribute<T: Serialize + ?Sized + Sync>(&mut self, pointer: &str, value: &T) -> Result<()> {
        let attributes = zarr_hierarchy::with_attribute(self.found(), pointer, value);
        self.set_attributes(attributes.map_err(|error| self.with_hierarchy_hint(error))?).await
    }

    /// Removes one attribute, or a member within an attribute, and returns whether it existed. `pointer` is a JSON pointer or the name of
    /// an attribute.
    ///
    /// # Errors
    /// The errors of [`set_attributes`](Self::set_attributes).
    pub async fn remove_attribute(&mut self, pointer: &str) -> Result<bool> {
        let mut attributes = node::attributes(self.found()).map_err(|error| self.with_hierarchy_hint(error))?.clone();
        let removed = attributes.remove_pointer(pointer).is_some();
        if removed {
            self.set_attributes(attributes).await?;
        }
        Ok(removed)
    }
}
