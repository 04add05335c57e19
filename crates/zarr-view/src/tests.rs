//! Tests of pictures, from the chunks of an array to the pixels in a terminal.

use crate::*;
use base64::Engine;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr_array::{Array, NewArray, Registry, Selection, Store};
use zarr_store::{Counted, MemoryStore};

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    Arc::new(registry)
}

/// Creates an array whose elements are their positions in C order.
fn numbered(shape: &[u64], chunk: &[u64]) -> Array {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(shape, "int32").chunks(chunk).codecs("bytes").unwrap();
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    let count: u64 = shape.iter().product();
    array.write(.., &(0..count as i32).collect::<Vec<_>>()).unwrap();
    array
}

fn slice(array: &Array, selection: &str, axes: Option<&[usize]>, most: &[u64], budget: &Budget) -> Slice {
    let selection: Selection = selection.parse().unwrap();
    Slice::read(array, &Cut::new(array.shape(), &selection, axes).unwrap(), most, budget).unwrap()
}

fn figure(slice: Slice, options: &ShadingOptions) -> Figure {
    let shading = Shading::new(&slice.values, slice.numbers, options).unwrap();
    let axes = vec![AxisLabels::default(); slice.samples.len()];
    let (title, has_scale_bar, is_in_pixels) = ("a".to_owned(), false, false);
    Figure { title, slice, axes, shading, colors: None, units: None, note: None, has_scale_bar, is_in_pixels }
}

#[test]
fn every_kth_element_is_read() {
    let array = numbered(&[3, 10, 12], &[2, 4, 5]);
    let plane = slice(&array, "1", None, &[5, 4], &Budget::default());
    // numpy: a[1, 0::2, 1::3]
    let expected: Vec<f64> =
        (0..5).flat_map(|row| (0..4).map(move |column| f64::from(120 + row * 24 + 1 + column * 3))).collect();
    assert_eq!((plane.rows(), plane.columns(), plane.is_cut), (5, 4, false));
    assert_eq!(plane.values, expected);
    // Rows and columns exchanged, in descending order.
    let plane = slice(&array, "2, ::-5, 3:5", Some(&[2, 1]), &[9, 9], &Budget::default());
    assert_eq!(plane.values, [351.0, 291.0, 352.0, 292.0]);
    assert_eq!(plane.upside_down().values, [352.0, 292.0, 351.0, 291.0]);
    let line = slice(&array, "0, :, 7", None, &[100], &Budget::default());
    assert_eq!(line.values, (0..10).map(|row| f64::from(row * 12 + 7)).collect::<Vec<_>>());
    let one = slice(&array, "0, 2, 7", None, &[], &Budget::default());
    assert_eq!((one.values, one.samples.len()), (vec![31.0], 0));
}

/// An array of 2^40 elements in 2^28 chunks, of which few are stored, is read in few requests.
#[test]
fn a_huge_array_is_read_in_few_requests() {
    let counted = Arc::new(Counted::new(Arc::new(MemoryStore::new()) as Arc<dyn Store>));
    let store: Arc<dyn Store> = counted.clone();
    let new = NewArray::new(&[1 << 20, 1 << 20], "uint8").chunks(&[64, 64]).codecs("bytes").unwrap();
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    array.write((0..64, 0..64), &vec![200_u8; 64 * 64]).unwrap();
    let room = Room::text(80, 24, Ink::TrueColor);
    let cut = Cut::new(array.shape(), &Selection::all(), None).unwrap();
    let most = room.most(&[1 << 20, 1 << 20]);
    assert_eq!(most, [36, 36]);
    let (before, begun) = (counted.counts().gets, Instant::now());
    let slice = Slice::read(&array, &cut, &most, &Budget::default()).unwrap();
    let text = figure(slice.clone(), &ShadingOptions::default()).text(80, 24, Ink::TrueColor);
    let took = begun.elapsed();
    let gets = counted.counts().gets - before;
    // A chunk for each sample, and a look whether the array is still there.
    assert_eq!((slice.rows(), slice.columns(), slice.is_cut), (36, 36, false));
    assert!(gets <= 36 * 36 + 2, "{gets}");
    assert!(text.lines().count() >= 18);
    // 200 ms on two busy cores, and with a margin for those that are busier.
    assert!(took < Duration::from_secs(2), "{took:?}");
    let small = Budget { parts: 16, bytes: 1 << 30, is_strict: false };
    let before = counted.counts().gets;
    let slice = Slice::read(&array, &cut, &most, &small).unwrap();
    assert!(slice.is_cut && slice.rows() * slice.columns() <= 16 && slice.rows() > 1, "{:?}", slice.samples);
    assert!(counted.counts().gets - before <= 18);
}

#[test]
fn bytes_of_chunks_are_bounded() {
    let array = numbered(&[64, 64], &[8, 8]);
    // Four chunks of 256 bytes; uncompressed ones are read in part, so that more fit.
    let plane = slice(&array, "", None, &[64, 64], &Budget { parts: 64, bytes: 1024, is_strict: false });
    assert!(plane.is_cut && plane.rows() * plane.columns() <= 4, "{:?}", plane.samples);
    // A single chunk is always read.
    let plane = slice(&array, "0:8, 0:8", None, &[8, 8], &Budget { parts: 1, bytes: 1, is_strict: false });
    assert_eq!((plane.rows(), plane.columns()), (8, 8));
    // Unless the budget is strict.
    let cut = Cut::new(array.shape(), &"0:8, 0:8".parse::<Selection>().unwrap(), None).unwrap();
    let strict = |bytes| Slice::read(&array, &cut, &[8, 8], &Budget { parts: 1, bytes, is_strict: true });
    assert_eq!(strict(256).unwrap().rows(), 8);
    let error = strict(255).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        error.to_string().contains("/a: found a read of 1 chunks of 256 B, expected at most 1 chunks and 255 B"),
        "{error}"
    );
    let plane = slice(&array, "", None, &[64, 64], &Budget::UNLIMITED);
    assert_eq!(plane.values.len(), 4096);
}

#[test]
fn what_is_no_number_is_refused() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[4, 4], "complex64").codecs("bytes").unwrap();
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    let read = |array: &Array, text: &str| {
        let cut = Cut::new(array.shape(), &text.parse().unwrap(), None).unwrap();
        Slice::read(array, &cut, &[9, 9], &Budget::default()).unwrap_err().to_string()
    };
    assert!(read(&array, "").ends_with("/a: found elements of complex64, expected numbers or bools"));
    assert!(read(&numbered(&[4, 4], &[4, 4]), "2:2").ends_with("the selection is empty"));
}

/// Parses the colours of the upper and lower pixels of half blocks from the escapes in a line.
fn half_blocks(line: &str) -> (Vec<Rgb>, Vec<Rgb>) {
    let (mut upper, mut lower) = (Vec::new(), Vec::new());
    let (mut over, mut under) = ([0; 3], [0; 3]);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some(escape) = rest.strip_prefix("\u{1b}[") {
            let (numbers, after) = escape.split_once('m').unwrap();
            let numbers: Vec<u8> = numbers.split(';').map(|number| number.parse().unwrap()).collect();
            match numbers.as_slice() {
                [38, 2, r, g, b] => over = [*r, *g, *b],
                [48, 2, r, g, b] => under = [*r, *g, *b],
                _ => {}
            }
            rest = after;
            continue;
        }
        if c == '▀' {
            upper.push(over);
            lower.push(under);
        }
        rest = &rest[c.len_utf8()..];
    }
    (upper, lower)
}

#[test]
fn half_blocks_are_the_pixels() {
    let figure = figure(
        slice(&numbered(&[6, 7], &[6, 7]), "", None, &[6, 7], &Budget::default()),
        &ShadingOptions { range: Some(Range::Full), ..ShadingOptions::default() },
    );
    let room = Room::text(40, 12, Ink::TrueColor);
    let plane = figure.plane(room).unwrap();
    let text = figure.text(40, 12, Ink::TrueColor);
    let blocks: Vec<_> = text.lines().map(half_blocks).filter(|(upper, _)| upper.len() == plane.width()).collect();
    assert_eq!((plane.width(), plane.height(), blocks.len()), (14, 12, 7), "{text}");
    // The last line is the colour bar.
    for (line, (upper, lower)) in blocks.iter().take(6).enumerate() {
        for x in 0..plane.width() {
            assert_eq!(Some(upper[x]), plane.get(x, 2 * line));
            assert_eq!(Some(lower[x]), plane.get(x, 2 * line + 1));
        }
    }
    assert_eq!(plane.get(13, 11), Some([253, 231, 37]));
}

#[test]
fn letters_stand_for_values() {
    let array = numbered(&[3, 10], &[3, 10]);
    let options = ShadingOptions { range: Some(Range::Bounds(0.0, 29.0)), ..ShadingOptions::default() };
    let text = figure(slice(&array, "", None, &[3, 10], &Budget::default()), &options).text(40, 12, Ink::Plain);
    let expected = "\
a
0-......::::::------==
  ====++++++******oooo
  ooOOOOOO######@@@@@@
   |   |   |   |   |
   0   2   4   6   8
  0 ..::--==++**ooOO##@@ 29
";
    assert_eq!(text, expected);
}

fn decoded(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

/// Draws a picture of a whole plane, with its axes.
fn picture() -> Picture {
    let figure = figure(
        slice(&numbered(&[20, 30], &[20, 30]), "", None, &[20, 30], &Budget::default()),
        &ShadingOptions::default(),
    );
    figure.picture(Room::pixels(90, 60)).unwrap()
}

#[test]
fn png_files_have_the_pixels() {
    let picture = picture();
    let (width, height, pixels) = decoded(&png(&picture).unwrap());
    assert_eq!((width as usize, height as usize), (picture.width(), picture.height()));
    assert_eq!(pixels, picture.bytes());
    // The plane stands somewhere within, three pixels for each element.
    let is_plane = |x, y| picture.get(x, y) == Some([68, 1, 84]) && picture.get(x + 2, y + 2) == Some([68, 1, 84]);
    let corner = (0..picture.height()).find_map(|y| (0..picture.width()).find(|&x| is_plane(x, y)).map(|x| (x, y)));
    let (x, y) = corner.unwrap();
    assert_eq!(picture.get(x + 89, y + 59), Some([253, 231, 37]));
    assert_eq!(picture.get(x + 90, y + 59), Some([24; 3]));
}

#[test]
fn animations_have_all_frames() {
    // The last one is smaller.
    let sizes = [(5, 4), (5, 4), (3, 4)];
    let frame = |(number, (width, height))| Picture::new(width, height, [number * 50_u8; 3]).unwrap();
    let frames: Vec<Picture> = (0_u8..3).zip(sizes).map(frame).collect();
    let mut file = Vec::new();
    let mut written = Animation::new(&mut file, (5, 4), 3, 8).unwrap();
    frames.iter().for_each(|frame| written.write(frame).unwrap());
    let larger = Picture::new(6, 1, [0; 3]).unwrap();
    assert!(written.write(&larger).unwrap_err().to_string().contains("found a frame of 6 x 1 pixels, expected 5 x 4"));
    written.finish().unwrap();
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
    assert_eq!(reader.info().animation_control.unwrap().num_frames, 3);
    for (frame, (width, _)) in frames.iter().zip(sizes) {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let rows: Vec<&[[u8; 3]]> = pixels.as_chunks().0.chunks(5).collect();
        for (y, row) in rows.iter().enumerate() {
            assert_eq!(&row[..width], &frame.pixels()[y * width..][..width]);
            assert_eq!(&row[width..], &vec![[255; 3]; 5 - width]);
        }
    }
    assert!(Animation::new(Vec::new(), (5, 4), 0, 8).is_err());
    let mut missing = Animation::new(Vec::new(), (5, 4), 2, 8).unwrap();
    missing.write(&frames[0]).unwrap();
    assert!(missing.finish().is_err());
}

#[test]
fn kitty_and_iterm_get_the_png() {
    let picture = picture();
    let decode = |text: &str| base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let sent = Protocol::Kitty.encode(&picture, 80).unwrap();
    let mut data = String::new();
    let parts: Vec<&str> = sent.trim_end().split_terminator("\u{1b}\\").collect();
    for (number, part) in parts.iter().enumerate() {
        let (keys, part) = part.strip_prefix("\u{1b}_G").unwrap().split_once(';').unwrap();
        let is_last = number + 1 == parts.len();
        assert!(keys.ends_with(if is_last { "m=0" } else { "m=1" }), "{keys}");
        assert!(part.len() <= 4096 && (is_last || part.len() % 4 == 0));
        data.push_str(part);
    }
    assert!(parts[0].contains("a=T,f=100"));
    assert_eq!(decoded(&decode(&data)).2, picture.bytes());
    let sent = Protocol::Iterm.encode(&picture, 80).unwrap();
    let (keys, data) = sent.strip_prefix("\u{1b}]1337;File=").unwrap().split_once(':').unwrap();
    let file = decode(data.strip_suffix("\u{7}\n").unwrap());
    assert!(keys.contains(&format!("size={};", file.len())) && keys.starts_with("inline=1;"), "{keys}");
    assert_eq!(decoded(&file).2, picture.bytes());
    assert!(Protocol::Half.encode(&picture, 80).is_err());
}

/// Decodes a sixel picture to its width, height and pixels in percent.
fn sixel(text: &str) -> (usize, usize, Vec<[u32; 3]>) {
    let body = text.strip_prefix("\u{1b}P0;1;0q\"1;1;").unwrap().strip_suffix("\u{1b}\\\n").unwrap();
    let mut rest = body.as_bytes();
    let number = |rest: &mut &[u8]| {
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, after) = rest.split_at(len);
        *rest = after;
        std::str::from_utf8(digits).unwrap().parse::<usize>().unwrap()
    };
    let width = number(&mut rest);
    rest = &rest[1..];
    let height = number(&mut rest);
    let mut palette = vec![[0; 3]; 256];
    let mut pixels = vec![[u32::MAX; 3]; width * height];
    let (mut color, mut x, mut top, mut count) = (0, 0, 0, 1);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'#' => {
                color = number(&mut rest);
                if rest.first() == Some(&b';') {
                    let mut numbers = [0; 4];
                    for place in &mut numbers {
                        rest = &rest[1..];
                        *place = number(&mut rest) as u32;
                    }
                    palette[color] = [numbers[1], numbers[2], numbers[3]];
                }
            }
            b'!' => count = number(&mut rest),
            b'$' => x = 0,
            b'-' => (x, top) = (0, top + 6),
            sixel => {
                for column in x..x + count {
                    (0..6).filter(|bit| (sixel - b'?') >> bit & 1 == 1).for_each(|bit| {
                        pixels[(top + bit) * width + column] = palette[color];
                    });
                }
                (x, count) = (x + count, 1);
            }
        }
    }
    (width, height, pixels)
}

#[test]
fn sixels_are_the_pixels() {
    let close = |picture: &Picture, tolerance: u32| {
        let (width, height, pixels) = sixel(&Protocol::Sixel.encode(picture, 80).unwrap());
        assert_eq!((width, height), (picture.width(), picture.height()));
        for (found, pixel) in pixels.iter().zip(picture.pixels()) {
            let percent = pixel.map(|channel| (u32::from(channel) * 100 + 127) / 255);
            let is_close = found.iter().zip(percent).all(|(found, percent)| found.abs_diff(percent) <= tolerance);
            assert!(is_close, "{found:?} {percent:?}");
        }
    };
    let mut few = Picture::new(50, 32, [255; 3]).unwrap();
    for (x, y) in (0..50).flat_map(|x| (0..32).map(move |y| (x, y))) {
        few.set(x, y, ColorMap::MAGMA.at(((x * y) % 40) as f64 / 40.0).unwrap());
    }
    close(&few, 0);
    // More than 256 colours lose bits.
    let mut many = Picture::new(64, 64, [0; 3]).unwrap();
    for (x, y) in (0..64_u8).flat_map(|x| (0..64_u8).map(move |y| (x, y))) {
        many.set(x.into(), y.into(), [x * 4, y * 4, 128]);
    }
    close(&many, 8);
    // With all levels of each channel, greys stay greys, black and white among them.
    let mut all = Picture::new(512, 64, [0; 3]).unwrap();
    for (x, y) in (0..512).flat_map(|x| (0..64).map(move |y| (x, y))) {
        let level = |number: usize| (number * 255 / 31) as u8;
        all.set(x, y, [level(x % 32), level(y % 32), level(x / 16)]);
    }
    close(&all, 25);
    let (_, _, pixels) = sixel(&Protocol::Sixel.encode(&all, 80).unwrap());
    assert_eq!((pixels[0], pixels[511 + 512 * 31]), ([0; 3], [100; 3]));
}

#[test]
fn lines_are_charts() {
    let array = numbered(&[200], &[200]);
    let line = || {
        figure(
            slice(&array, "", None, &[200], &Budget::default()),
            &ShadingOptions { range: Some(Range::Full), ..ShadingOptions::default() },
        )
    };
    let text = line().text(60, 20, Ink::Plain);
    let braille: Vec<&str> =
        text.lines().filter(|line| line.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c))).collect();
    assert!(braille.len() >= 8, "{text}");
    // From the lower left to the upper right.
    let first = |line: &str| line.chars().position(|c| ('\u{2801}'..='\u{28ff}').contains(&c)).unwrap();
    assert!(first(braille[0]) > first(braille[braille.len() - 1]) + 20, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    let picture = line().picture(Room::pixels(300, 200)).unwrap();
    let blue = picture.pixels().iter().filter(|pixel| **pixel == [0x1f, 0x77, 0xb4]).count();
    assert!((300..1500).contains(&blue), "{blue}");
    // Missing values leave gaps, and nothing but them is a chart as well.
    let mut figure = line();
    figure.slice.values.fill(f64::NAN);
    assert!(figure.text(60, 20, Ink::Plain).lines().count() > 4);
    assert_eq!(figure.picture(Room::pixels(300, 200)).unwrap().width(), figure.size(Room::pixels(300, 200)).0);
}

/// Falling positions are labelled from left to right, as rising ones are.
#[test]
fn marks_stand_from_left_to_right() {
    let mut figure = figure(
        slice(&numbered(&[3, 40], &[3, 40]), "", None, &[3, 40], &Budget::default()),
        &ShadingOptions::default(),
    );
    let falling: Vec<f64> = (0..40).map(|number| f64::from(60 - number * 3)).collect();
    figure.axes[1].positions = Positions::Numbers(falling);
    let text = figure.text(60, 12, Ink::Plain);
    assert!(text.contains("|") && text.contains("60     40    20      0     -20   -40"), "{text}");
}

#[test]
fn single_elements_are_text() {
    let array = numbered(&[5], &[5]);
    let mut figure = figure(slice(&array, "3", None, &[], &Budget::default()), &ShadingOptions::default());
    figure.units = Some("K".to_owned());
    assert_eq!(figure.text(80, 24, Ink::Plain), "a\n3 K\n");
}

#[test]
fn rooms_of_any_size_have_pictures() {
    let array = numbered(&[7, 9], &[7, 9]);
    let plane = figure(slice(&array, "", None, &[7, 9], &Budget::default()), &ShadingOptions::default());
    for (width, height) in [(0, 0), (1, 1), (3, 1000), (1000, 1), (17, 5)] {
        let room = Room::pixels(width, height);
        let picture = plane.picture(room).unwrap();
        assert_eq!((picture.width(), picture.height()), plane.size(room));
        for ink in [Ink::TrueColor, Ink::Colors256, Ink::Plain] {
            plane.text(width, height, ink);
        }
    }
}
