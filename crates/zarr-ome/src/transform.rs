//! Transformations from indices of a level to positions.

use crate::version::Version;
use zarr_json::pointer::{At, ValueError};

/// Factor and offset for each axis: an index is at position `scale * index + translation`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transform {
    pub(crate) scale: Vec<f64>,
    pub(crate) translation: Vec<f64>,
}

impl Transform {
    pub(crate) fn identity(rank: usize) -> Self {
        Self { scale: vec![1.0; rank], translation: vec![0.0; rank] }
    }

    /// Appends the transformations of a level. Transformations in a wrong order are applied nevertheless, and added to `found`.
    pub(crate) fn with(
        self,
        level: &At<'_>,
        version: Version,
        found: &mut Vec<ValueError>,
    ) -> Result<Self, ValueError> {
        let list = level.member("coordinateTransformations")?;
        if version != Version::V06 {
            found.extend(faults(&list)?);
            return self.then_all(&list);
        }
        let only = only(&list)?;
        let kind = only.member("type")?;
        match kind.text()? {
            "sequence" => self.then_all(&only.member("transformations")?),
            "identity" | "scale" => self.then(&only),
            _ => Err(kind.invalid("identity, scale or sequence")),
        }
    }

    /// Appends all transformations of a list, in order.
    pub(crate) fn then_all(self, list: &At<'_>) -> Result<Self, ValueError> {
        list.items()?.iter().try_fold(self, |transform, item| transform.then(item))
    }

    /// Appends a transformation: a scale, a translation, or the identity.
    fn then(mut self, transformation: &At<'_>) -> Result<Self, ValueError> {
        let kind = transformation.member("type")?;
        match kind.text()? {
            "identity" => {}
            "scale" => {
                let factors = self.numbers(transformation, "scale")?;
                for ((factor, scale), translation) in factors.iter().zip(&mut self.scale).zip(&mut self.translation) {
                    *scale *= factor;
                    *translation *= factor;
                }
            }
            "translation" => {
                let offsets = self.numbers(transformation, "translation")?;
                offsets.iter().zip(&mut self.translation).for_each(|(offset, translation)| *translation += offset);
            }
            _ => return Err(kind.invalid("identity, scale or translation")),
        }
        Ok(self)
    }

    /// Returns the numbers of the member `name`, one for each axis. Scales must be positive.
    fn numbers(&self, transformation: &At<'_>, name: &str) -> Result<Vec<f64>, ValueError> {
        if let (None, Some(path)) = (transformation.get(name), transformation.get("path")) {
            return Err(
                path.invalid(format!("numbers in a member {name}; numbers that are stored as an array are not read"))
            );
        }
        let list = transformation.member(name)?;
        let items = list.items()?;
        if items.len() != self.scale.len() {
            return Err(list.invalid(format!("{} numbers, one for each axis", self.scale.len())));
        }
        let number = |item: &At<'_>| {
            let number = item.value().as_f64().filter(|number| number.is_finite());
            let number = number.ok_or_else(|| item.invalid("a number"))?;
            if name == "scale" && number <= 0.0 { Err(item.invalid("a positive number")) } else { Ok(number) }
        };
        items.iter().map(number).collect()
    }
}

/// Returns the only item of a list.
pub(crate) fn only<'v>(list: &At<'v>) -> Result<At<'v>, ValueError> {
    let mut items = list.items()?;
    match (items.len(), items.pop()) {
        (1, Some(item)) => Ok(item),
        _ => Err(list.invalid("one transformation")),
    }
}

/// Returns the transformations of a list, up to version 0.5, whose kind or order the specification does not permit, although they can be
/// applied.
pub(crate) fn faults(list: &At<'_>) -> Result<Vec<ValueError>, ValueError> {
    let mut is_moved = false;
    let mut faults = Vec::new();
    for item in list.items()? {
        match item.get("type").and_then(|kind| kind.value().as_str()) {
            Some("identity") => faults.push(item.invalid("a scale or a translation")),
            Some("translation") if is_moved => faults.push(item.invalid("one translation")),
            Some("translation") => is_moved = true,
            Some("scale") if is_moved => faults.push(item.invalid("scales before the translation")),
            _ => {}
        }
    }
    Ok(faults)
}

/// Returns the faults of a list of transformations for all levels: those of [`faults`], and one if the list has not exactly one scale.
pub(crate) fn faults_of_all(list: &At<'_>) -> Result<Vec<ValueError>, ValueError> {
    let mut faults = faults(list)?;
    let is_scale = |item: &&At<'_>| item.get("type").is_some_and(|kind| kind.value().as_str() == Some("scale"));
    if list.items()?.iter().filter(is_scale).count() != 1 {
        faults.push(list.invalid("exactly one transformation scale"));
    }
    Ok(faults)
}
