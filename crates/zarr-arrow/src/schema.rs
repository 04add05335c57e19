//! Names and types of columns.

/// Column of a table: its name and its type, as a format string of the C data interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub(crate) name: String,
    pub(crate) format: String,
    pub(crate) is_nullable: bool,
    pub(crate) children: Vec<Field>,
    pub(crate) dictionary: Option<Box<Field>>,
}

impl Field {
    pub(crate) fn new(name: &str, format: impl Into<String>, is_nullable: bool) -> Self {
        Self { name: name.to_owned(), format: format.into(), is_nullable, children: Vec::new(), dictionary: None }
    }

    /// Checks the names of the column and of its fields.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for a name with a NUL, which the C data interface cannot have.
    pub(crate) fn check(&self) -> crate::Result<()> {
        if self.name.contains('\0') {
            return Err(crate::Error::argument(format!("found the name {:?}, expected one without NULs", self.name)));
        }
        self.children.iter().chain(self.dictionary.as_deref()).try_for_each(Self::check)
    }

    /// Name of the column, or of the field of a struct.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// [Format string](https://arrow.apache.org/docs/format/CDataInterface.html#data-type-description-format-strings) of the type: `f` for
    /// float32, `tsn:` for timestamps in nanoseconds; of dictionary encoded columns that of the indices.
    pub fn format(&self) -> &str {
        &self.format
    }

    /// Whether elements may be null.
    pub fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// Fields of structs, elements of lists, and the ends and values of runs.
    pub fn children(&self) -> &[Self] {
        &self.children
    }

    /// Type of the values of a dictionary encoded column; `None` for other columns.
    pub fn dictionary(&self) -> Option<&Self> {
        self.dictionary.as_deref()
    }
}

/// Columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    pub(crate) fields: Vec<Field>,
}

impl Schema {
    /// Columns: labels of the dimensions, other coordinates, variables.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
}
