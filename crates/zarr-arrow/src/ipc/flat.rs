//! FlatBuffers, as far as messages of Arrow need them: tables, strings, and vectors of tables and of structs.
//!
//! A table refers to what lies behind it, so a value is written from the front: first its table with places for references, then each value
//! that it refers to, and the distance to that in its place.

/// Value of a member of a table.
#[derive(Debug)]
pub(super) enum Value {
    /// Member that the table lacks.
    Absent,
    /// Bool, the number of a member of a union.
    Byte(u8),
    /// Member of an enumeration.
    Short(i16),
    Int(i32),
    Long(i64),
    Text(String),
    Table(Vec<Value>),
    Tables(Vec<Vec<Value>>),
    /// Structs of 64-bit numbers: their count, and the numbers of all of them. Smaller members are padded to 64 bits.
    Structs(usize, Vec<i64>),
}

impl Value {
    /// Number of bytes of the value in its table.
    fn size(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Byte(_) => 1,
            Self::Short(_) => 2,
            Self::Int(_) | Self::Text(_) | Self::Table(_) | Self::Tables(_) | Self::Structs(..) => 4,
            Self::Long(_) => 8,
        }
    }
}

/// Returns a buffer whose root is the table with these members. All lengths are those of metadata: they fit 32 bits, which the writer
/// checks for the whole.
pub(super) fn buffer(root: &[Value]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    let start = table(&mut bytes, root);
    refer(&mut bytes, 0, start);
    bytes
}

/// Writes the distance from the reference at `place` to `target`, which lies behind it.
fn refer(bytes: &mut [u8], place: usize, target: usize) {
    if let Some(reference) = bytes.get_mut(place..place + 4) {
        reference.copy_from_slice(&((target - place) as u32).to_le_bytes());
    }
}

/// Appends zeros, until `behind` more bytes would end at a multiple of `alignment`.
fn align(bytes: &mut Vec<u8>, alignment: usize, behind: usize) {
    bytes.resize((bytes.len() + behind).next_multiple_of(alignment) - behind, 0);
}

/// Appends a table, and returns where it begins.
fn table(bytes: &mut Vec<u8>, members: &[Value]) -> usize {
    // The distance to the list of places comes first. Large members follow at once, so that none needs padding.
    let (mut places, mut len) = (vec![0_u16; members.len()], 4_usize);
    for size in [8, 4, 2, 1] {
        for (place, _) in places.iter_mut().zip(members).filter(|(_, member)| member.size() == size) {
            len = len.next_multiple_of(size);
            *place = len as u16;
            len += size;
        }
    }
    let list = 4 + 2 * places.len();
    align(bytes, 8, list);
    bytes.extend_from_slice(&(list as u16).to_le_bytes());
    bytes.extend_from_slice(&(len as u16).to_le_bytes());
    bytes.extend(places.iter().flat_map(|place| place.to_le_bytes()));
    let start = bytes.len();
    bytes.extend_from_slice(&(list as i32).to_le_bytes());
    bytes.resize(start + len, 0);
    for (member, place) in members.iter().zip(&places) {
        let place = start + usize::from(*place);
        let mut put = |value: &[u8]| {
            if let Some(room) = bytes.get_mut(place..place + value.len()) {
                room.copy_from_slice(value);
            }
        };
        match member {
            Value::Byte(value) => put(&[*value]),
            Value::Short(value) => put(&value.to_le_bytes()),
            Value::Int(value) => put(&value.to_le_bytes()),
            Value::Long(value) => put(&value.to_le_bytes()),
            _ => (),
        }
    }
    for (member, place) in members.iter().zip(&places) {
        let target = match member {
            Value::Text(value) => text(bytes, value),
            Value::Table(members) => table(bytes, members),
            Value::Tables(all) => tables(bytes, all),
            Value::Structs(count, numbers) => structs(bytes, *count, numbers),
            _ => continue,
        };
        refer(bytes, start + usize::from(*place), target);
    }
    start
}

fn text(bytes: &mut Vec<u8>, text: &str) -> usize {
    align(bytes, 4, 0);
    let start = bytes.len();
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
    start
}

fn tables(bytes: &mut Vec<u8>, all: &[Vec<Value>]) -> usize {
    align(bytes, 4, 0);
    let start = bytes.len();
    bytes.extend_from_slice(&(all.len() as u32).to_le_bytes());
    bytes.resize(bytes.len() + 4 * all.len(), 0);
    for (number, members) in all.iter().enumerate() {
        let target = table(bytes, members);
        refer(bytes, start + 4 + 4 * number, target);
    }
    start
}

fn structs(bytes: &mut Vec<u8>, count: usize, numbers: &[i64]) -> usize {
    align(bytes, 8, 4);
    let start = bytes.len();
    bytes.extend_from_slice(&(count as u32).to_le_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    /// Place of a member of the table at `table`; `None` if the table lacks it.
    fn member(bytes: &[u8], table: usize, number: usize) -> Option<usize> {
        let list = table - int(bytes, table);
        let place = u16::from_le_bytes(bytes[list + 4 + 2 * number..][..2].try_into().unwrap());
        (place != 0).then(|| table + usize::from(place))
    }

    #[test]
    fn members_are_where_the_list_says_and_aligned() {
        let inner = vec![Value::Absent, Value::Text("names".to_owned()), Value::Int(-2)];
        let root = [
            Value::Byte(7),
            Value::Long(-1),
            Value::Short(300),
            Value::Tables(vec![inner, Vec::new()]),
            Value::Structs(1, vec![5, 6]),
        ];
        let bytes = buffer(&root);
        let table = int(&bytes, 0);
        let place = |number| member(&bytes, table, number).unwrap();
        assert_eq!(bytes[place(0)], 7);
        assert_eq!((place(1) % 8, &bytes[place(1)..place(1) + 8]), (0, &[255; 8][..]));
        assert_eq!(bytes[place(2)..place(2) + 2], 300_i16.to_le_bytes());
        let tables = place(3) + int(&bytes, place(3));
        assert_eq!(int(&bytes, tables), 2);
        let inner = tables + 4 + int(&bytes, tables + 4);
        assert_eq!(member(&bytes, inner, 0), None);
        let text = member(&bytes, inner, 1).unwrap();
        let text = text + int(&bytes, text);
        assert_eq!((int(&bytes, text), &bytes[text + 4..text + 10]), (5, &b"names\0"[..]));
        let structs = place(4) + int(&bytes, place(4));
        assert_eq!((int(&bytes, structs), (structs + 4) % 8, bytes[structs + 12]), (1, 0, 6));
    }
}
