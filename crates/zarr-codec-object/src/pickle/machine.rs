//! Subset of the pickle machine of Python that numpy needs for an array of plain values.

use super::array::Array;
use super::item::{Container, Global, Item};
use super::reader::{self, Reader};
use crate::special::{self, Special};
use std::collections::HashMap;
use std::rc::Rc;
use zarr_json::Value;

/// Classes of dicts that have no state besides their items: the ordered dict of Python, and the reference to objects of hdmf-zarr before
/// 0.14, which is common in NWB files.
const DICTS: [(&str, &str); 2] = [("collections", "OrderedDict"), ("hdmf_zarr.utils", "ZarrReference")];

/// Maximum depth of nested tuples, of which the pickle of an array has only a few levels.
const MAX_DEPTH: u8 = 8;

/// Array that is being built: its shape, whether it was in Fortran order, and the index of the list of its elements.
type Made = (Vec<u64>, bool, usize);

/// Pickle machine: a stack, a memory, and the containers and the array that are being built.
pub(super) struct Machine<'b> {
    reader: Reader<'b>,
    stack: Vec<Item>,
    memo: HashMap<u32, Item>,
    containers: Vec<Container>,
    array: Option<Made>,
    /// Total number of bytes of the strings passed to conversions to bytes, repeated strings counted each time.
    made: usize,
    /// Number of bytes of the pickle, which limits `made`: the pickle contains every string that is converted to bytes, while the name of
    /// the encoding may be a shorter reference.
    size: usize,
}

impl<'b> Machine<'b> {
    /// Returns the array that `bytes` are the pickle of.
    pub(super) fn run(bytes: &'b [u8]) -> Result<Array, String> {
        let mut machine = Self {
            reader: Reader::new(bytes),
            made: 0,
            size: bytes.len(),
            stack: Vec::new(),
            memo: HashMap::new(),
            containers: Vec::new(),
            array: None,
        };
        loop {
            let at = machine.reader.at();
            let step = machine.reader.byte().and_then(|opcode| machine.step(opcode));
            match step.map_err(|found| format!("at byte {at}: {found}"))? {
                false => {}
                true if !machine.reader.is_empty() => return Err("bytes behind the pickle".to_owned()),
                true => {
                    return match (machine.stack.as_slice(), machine.array) {
                        ([Item::Array], Some((shape, is_fortran, list))) => {
                            Ok(Array { shape, is_fortran, list, containers: machine.containers })
                        }
                        _ => Err("the pickle of an object that is not an array".to_owned()),
                    };
                }
            }
        }
    }

    /// Executes `opcode`; returns true for the opcode that ends the pickle.
    fn step(&mut self, opcode: u8) -> Result<bool, String> {
        let item = match opcode {
            b'.' => return Ok(true),
            // The protocol, and the length of a frame.
            0x80 => return self.reader.byte().map(|_| false),
            0x95 => return self.reader.array::<8>().map(|_| false),
            b'(' => Item::Mark,
            b'N' => value(Value::Null),
            0x88 => value(Value::from(true)),
            0x89 => value(Value::from(false)),
            b'I' | b'L' => value(reader::spelled(self.reader.line()?)?),
            b'J' => value(Value::from(i32::from_le_bytes(self.reader.array()?))),
            b'K' => value(Value::from(self.reader.byte()?)),
            b'M' => value(Value::from(u16::from_le_bytes(self.reader.array()?))),
            0x8a => value(reader::long(self.reader.counted(1)?)?),
            0x8b => value(reader::long(self.reader.counted(4)?)?),
            b'F' => {
                let line = self.reader.line()?;
                value(special::float(line.parse().map_err(|_| format!("{line:?} as a float"))?))
            }
            b'G' => value(special::float(f64::from_be_bytes(self.reader.array()?))),
            b'V' => value(Value::from(self.reader.escaped_line()?)),
            0x8c => value(reader::utf8(self.reader.counted(1)?)?),
            b'X' => value(reader::utf8(self.reader.counted(4)?)?),
            0x8d => value(reader::utf8(self.reader.counted(8)?)?),
            b'C' => value(Special::Bytes(self.reader.counted(1)?.to_vec()).to_value()),
            b'B' => value(Special::Bytes(self.reader.counted(4)?.to_vec()).to_value()),
            0x8e => value(Special::Bytes(self.reader.counted(8)?.to_vec()).to_value()),
            b'c' => {
                let (module, name) = (self.reader.line()?, self.reader.line()?);
                Item::Global(global(module, name)?)
            }
            0x93 => {
                let (name, module) = (self.text()?, self.text()?);
                Item::Global(global(&module, &name)?)
            }
            b')' => Item::Tuple(Rc::default(), 1),
            b't' => {
                let items = self.marked()?;
                tuple(items)?
            }
            0x85..=0x87 => {
                let start = self.stack.len().checked_sub(usize::from(opcode - 0x84)).ok_or("an empty stack")?;
                tuple(self.stack.split_off(start))?
            }
            b']' => self.container(Container::List(Vec::new())),
            b'}' => self.container(Container::Dict(Vec::new())),
            b'l' | b'd' => {
                let items = self.marked()?;
                let empty = if opcode == b'l' { Container::List(Vec::new()) } else { Container::Dict(Vec::new()) };
                let container = self.container(empty);
                self.stack.push(container);
                return self.add(items).map(|()| false);
            }
            b'a' => {
                let items = vec![self.pop()?];
                return self.add(items).map(|()| false);
            }
            b's' => {
                let (value, name) = (self.pop()?, self.pop()?);
                return self.add(vec![name, value]).map(|()| false);
            }
            b'e' | b'u' => {
                let items = self.marked()?;
                return self.add(items).map(|()| false);
            }
            b'p' | b'q' | b'r' | 0x94 => {
                let index = match opcode {
                    b'q' => self.reader.byte()?.into(),
                    b'r' => self.reader.u32()?,
                    b'p' => self.memo_line()?,
                    _ => u32::try_from(self.memo.len()).unwrap_or(u32::MAX),
                };
                let top = self.stack.last().ok_or("an empty stack")?;
                self.memo.insert(index, top.clone());
                return Ok(false);
            }
            b'g' | b'h' | b'j' => {
                let index = match opcode {
                    b'h' => self.reader.byte()?.into(),
                    b'j' => self.reader.u32()?,
                    _ => self.memo_line()?,
                };
                self.memo.get(&index).cloned().ok_or_else(|| format!("memory {index}, where nothing is"))?
            }
            // A call of a class, and of its method that makes an object.
            b'R' | 0x81 => {
                let (arguments, callee) = (self.pop()?, self.pop()?);
                let is_dict = matches!(callee, Item::Global(Global::Dict));
                if is_dict && matches!(&arguments, Item::Tuple(items, _) if items.is_empty()) {
                    let dict = self.container(Container::Dict(Vec::new()));
                    self.stack.push(dict);
                    return Ok(false);
                }
                if opcode == 0x81 {
                    return Err("an object of a class, which plain values do not need".to_owned());
                }
                if let (Item::Global(Global::Encode), Item::Tuple(items, _)) = (&callee, &arguments) {
                    let len = |item: &Item| {
                        if let Item::Value(value) = item { value.as_str().map_or(0, str::len) } else { 0 }
                    };
                    self.made += items.iter().map(len).sum::<usize>();
                    if self.made > 2 * self.size {
                        return Err("more bytes than there are strings for them".to_owned());
                    }
                }
                call(&callee, &arguments)?
            }
            b'b' => {
                let state = self.pop()?;
                return self.build(&state).map(|()| false);
            }
            other => return Err(format!("opcode {other:#04x}, which plain values do not need")),
        };
        self.stack.push(item);
        Ok(false)
    }

    fn pop(&mut self) -> Result<Item, String> {
        self.stack.pop().ok_or_else(|| "an empty stack".to_owned())
    }

    /// Removes the last mark and the items above it from the stack, and returns the items.
    fn marked(&mut self) -> Result<Vec<Item>, String> {
        let mark = self.stack.iter().rposition(|item| matches!(item, Item::Mark)).ok_or("no mark")?;
        let items = self.stack.split_off(mark + 1);
        self.stack.pop();
        Ok(items)
    }

    fn text(&mut self) -> Result<String, String> {
        match self.pop()? {
            Item::Value(value) => {
                value.as_str().map(str::to_owned).ok_or_else(|| "a name that is not a string".to_owned())
            }
            _ => Err("a name that is not a string".to_owned()),
        }
    }

    fn memo_line(&mut self) -> Result<u32, String> {
        let line = self.reader.line()?;
        line.parse().map_err(|_| format!("{line:?} as a number of the memo"))
    }

    fn container(&mut self, container: Container) -> Item {
        self.containers.push(container);
        Item::Container(self.containers.len() - 1)
    }

    /// Adds `items` to the list or dict on top of the stack: elements, or names and values in turn.
    fn add(&mut self, items: Vec<Item>) -> Result<(), String> {
        let Some(Item::Container(index)) = self.stack.last() else { return Err("nothing to add to".to_owned()) };
        let container = self.containers.get_mut(*index).ok_or("an unknown container")?;
        container.add(items)
    }

    /// Applies `state` to the item on top of the stack.
    fn build(&mut self, state: &Item) -> Result<(), String> {
        match (self.stack.last(), state) {
            // Alignment and the like, of no consequence.
            (Some(Item::Dtype), Item::Tuple(..)) => Ok(()),
            (Some(Item::Array), Item::Tuple(state, _)) => {
                let (shape, fortran, list) = match state.as_slice() {
                    [_, Item::Tuple(shape, _), Item::Dtype, Item::Value(fortran), Item::Container(list)] => {
                        (shape, fortran, list)
                    }
                    _ => return Err("an array that is not of objects".to_owned()),
                };
                let length = |item: &Item| if let Item::Value(value) = item { value.as_u64() } else { None };
                let shape = shape.iter().map(length).collect::<Option<_>>().ok_or("an invalid shape")?;
                let is_fortran = fortran.as_bool().or_else(|| fortran.as_u64().map(|flag| flag != 0));
                let is_fortran = is_fortran.ok_or("an invalid order")?;
                self.array = Some((shape, is_fortran, *list));
                Ok(())
            }
            _ => Err("the state of an object that is not an array".to_owned()),
        }
    }
}

fn value(value: Value) -> Item {
    Item::Value(Rc::new(value))
}

fn tuple(items: Vec<Item>) -> Result<Item, String> {
    let depth = |item: &Item| if let Item::Tuple(_, depth) = item { *depth } else { 0 };
    match items.iter().map(depth).max().unwrap_or(0) {
        MAX_DEPTH.. => Err("tuples that nest too deep".to_owned()),
        depth => Ok(Item::Tuple(Rc::new(items), depth + 1)),
    }
}

fn global(module: &str, name: &str) -> Result<Global, String> {
    match (module, name) {
        ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Ok(Global::Reconstruct),
        ("numpy", "ndarray") => Ok(Global::Ndarray),
        ("numpy", "dtype") => Ok(Global::Dtype),
        ("_codecs", "encode") => Ok(Global::Encode),
        ("builtins" | "__builtin__", "bytes") => Ok(Global::Bytes),
        name if DICTS.contains(&name) => Ok(Global::Dict),
        _ => Err(format!("the name {module}.{name}, which plain values do not need")),
    }
}

/// Returns the result of one of the few calls that numpy and Python make.
fn call(callee: &Item, arguments: &Item) -> Result<Item, String> {
    let (Item::Global(callee), Item::Tuple(arguments, _)) = (callee, arguments) else {
        return Err("a call of an object that is not a name".to_owned());
    };
    let text = |item: &Item| if let Item::Value(value) = item { value.as_str().map(str::to_owned) } else { None };
    match (callee, arguments.as_slice()) {
        (Global::Reconstruct, [Item::Global(Global::Ndarray), ..]) => Ok(Item::Array),
        (Global::Dtype, [dtype, ..])
            if text(dtype).is_some_and(|dtype| matches!(&*dtype, "O" | "O4" | "O8" | "|O")) =>
        {
            Ok(Item::Dtype)
        }
        (Global::Dtype, _) => Err("a data type other than that of objects".to_owned()),
        // So bytes are pickled by protocols from before they were a type.
        (Global::Encode, [chars, encoding]) if matches!(text(encoding).as_deref(), Some("latin1" | "latin-1")) => {
            let chars = text(chars).ok_or("bytes that are not text")?;
            let bytes = chars.chars().map(|c| u8::try_from(u32::from(c)).map_err(|_| "a string that is not Latin-1"));
            Ok(value(Special::Bytes(bytes.collect::<Result<_, _>>()?).to_value()))
        }
        (Global::Bytes, []) => Ok(value(Special::Bytes(Vec::new()).to_value())),
        _ => Err("a call with other arguments than plain values need".to_owned()),
    }
}
