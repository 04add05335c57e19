//! Lines that precede elements on a terminal: name, shape and data type, and which elements were left out.

use super::narrow::Ends;
use super::selected_variable::SelectedVariable;
use crate::context::NodeLocation;
use crate::failure::Result;
use crate::{escape, number};
use std::fmt;
use zarr::{Array, Selection};

/// Header of one or two lines, printed before the elements.
pub(super) struct Header {
    name: String,
    axes: Vec<HeaderAxis>,
    data_type: String,
    is_decoded: bool,
    /// Number of all elements, if only some are printed.
    elided: Option<u64>,
}

/// Axis of the result.
struct HeaderAxis {
    name: Option<String>,
    len: u64,
    /// Length of the axis before it was cut to its first elements; `None` if it was not cut.
    of: Option<u64>,
}

impl Header {
    /// Returns the header for a selection of an array, or of a variable of a data set.
    pub(super) fn new(
        location: &NodeLocation,
        array: &Array,
        variable: Option<&(SelectedVariable<'_>, bool)>,
        selection: &Selection,
    ) -> Result<Self> {
        let axis = |(name, len)| HeaderAxis { name, len, of: None };
        let (axes, data_type, is_decoded) = match variable {
            Some((variable, is_decoded)) => {
                let sizes = variable.sizes()?.into_iter().map(|(name, len)| (Some(name), len));
                (sizes.map(axis).collect(), variable.data_type(*is_decoded)?, *is_decoded)
            }
            None => (stored_axes(array, selection)?.into_iter().map(axis).collect(), array.data_type().clone(), false),
        };
        Ok(Self { name: location.name(), axes, data_type: data_type.to_string(), is_decoded, elided: None })
    }

    /// Returns the shape of the result.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.len).collect()
    }

    /// Notes that only the first elements along some axes are printed; `ends` has an entry for each axis.
    pub(super) fn cut(&mut self, ends: &[Ends]) {
        for (axis, ends) in self.axes.iter_mut().zip(ends).filter(|(_, ends)| !ends.is_all()) {
            axis.of = Some(axis.len);
            axis.len = ends.shown();
        }
    }

    /// Notes that only the elements at the ends of some axes are printed; `ends` has an entry for each axis.
    pub(super) fn elide(&mut self, ends: &[Ends]) {
        let is_elided = ends.iter().any(|ends| !ends.is_all());
        self.elided = is_elided.then(|| zarr::grid::element_count(&self.shape()).unwrap_or(u64::MAX));
    }
}

/// Returns the names and lengths of the axes that a selection of an array has.
fn stored_axes(array: &Array, selection: &Selection) -> Result<Vec<(Option<String>, u64)>> {
    let resolved = selection.resolve_on(array.chunk_grid())?;
    let shape = resolved.result_shape();
    let selected = super::narrow::axes(selection, array.shape().len());
    let kept = |axis: &zarr::grid::AxisSelection| !matches!(axis, zarr::grid::AxisSelection::Index(_));
    let names = array.dimension_names().unwrap_or_default();
    let names = (0..selected.len()).map(|at| names.get(at).cloned().flatten());
    let names: Vec<Option<String>> =
        names.zip(&selected).filter(|(_, axis)| kept(axis)).map(|(name, _)| name).collect();
    Ok(shape.iter().enumerate().map(|(at, &len)| (names.get(at).cloned().flatten(), len)).collect())
}

impl fmt::Display for HeaderAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{} ", escape::line(name))?;
        }
        f.write_str(&number::grouped(self.len))?;
        self.of.map_or(Ok(()), |of| write!(f, " of {}", number::grouped(of)))
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.axes.iter().map(HeaderAxis::to_string).collect();
        let comma = if axes.len() == 1 && self.axes.iter().all(|axis| axis.name.is_none()) { "," } else { "" };
        write!(f, "{}  ({}{comma})  {}", escape::line(&self.name), axes.join(", "), escape::line(&self.data_type))?;
        writeln!(f, "{}", if self.is_decoded { "  decoded" } else { "" })?;
        match self.elided {
            Some(count) => writeln!(f, "{} elements, of which some follow; --all prints all\n", number::grouped(count)),
            None => writeln!(f),
        }
    }
}
