//! ParaView files, read back to the bit: raw frames with a reader of our own, compressed ones with vtkio.

use crate::common::random::Random;
use std::fs;
use std::path::Path;

use carom::case::data::Encoding;
use carom::sinks::vtk::{Array, Frame, Series, encode};
use vtkio::model::{ByteOrder, DataSet, IOBuffer, Piece, VertexNumbers, Vtk};
use vtkio::xml::{Compressor, Data, DataArray, DataArrayFormat, EncodingInfo, ScalarType};

/// A name with everything that XML treats as its own.
const NASTY: &str = "a<b> & \"c\" 'd' &amp; σ";

/// 4096 scalars fill one compressed block of 32768 bytes exactly, 4097 spill into a second one.
const SIZES: [usize; 6] = [0, 1, 2, 11, 4096, 4097];

/// Everything in a file, with numbers as bits so that -0.0 and NaN count.
#[derive(Debug, PartialEq)]
struct Content {
    points: Vec<u64>,
    connectivity: Vec<u64>,
    offsets: Vec<u64>,
    types: Vec<u8>,
    point_data: Vec<(String, usize, Vec<u64>)>,
    cell_data: Vec<(String, usize, Vec<u64>)>,
    field_data: Vec<(String, usize, Vec<u64>)>,
}

/// Owner of what a frame borrows: a chain of `n` points, and every third point also a vertex cell.
struct Sample {
    points: Vec<[f64; 3]>,
    lines: Vec<[u32; 2]>,
    vertices: Vec<u32>,
    vector: Vec<f64>,
    scalar: Vec<f64>,
    axial: Vec<f64>,
}

impl Sample {
    fn new(n: usize) -> Sample {
        let lines: Vec<[u32; 2]> = (1..n as u32).map(|k| [k - 1, k]).collect();
        let vertices: Vec<u32> = (2..n as u32).step_by(3).collect();
        let points = numbers(1, 3 * n).chunks(3).map(|x| [x[0], x[1], x[2]]).collect();
        let axial = numbers(4, lines.len() + vertices.len());
        Sample { points, lines, vertices, vector: numbers(2, 3 * n), scalar: numbers(3, n), axial }
    }

    fn with_frame<T>(&self, use_frame: impl FnOnce(&Frame) -> T) -> T {
        use_frame(&Frame {
            points: &self.points,
            lines: &self.lines,
            quads: &[],
            vertices: &self.vertices,
            point_data: &[
                Array { name: "displacement", components: 3, values: &self.vector },
                Array { name: NASTY, components: 1, values: &self.scalar },
            ],
            cell_data: &[Array { name: "N", components: 1, values: &self.axial }],
            field_data: &[("TimeValue", 0.1 + 0.2), (NASTY, -0.0)],
        })
    }

    fn encode(&self, encoding: Encoding) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.with_frame(|frame| encode(frame, encoding, &mut bytes)).unwrap();
        bytes
    }

    fn content(&self) -> Content {
        let cells = self.lines.iter().map(|l| l.to_vec()).chain(self.vertices.iter().map(|&v| vec![v]));
        let cells: Vec<Vec<u32>> = cells.collect();
        let ends = cells.iter().scan(0, |end, cell| {
            *end += cell.len() as u64;
            Some(*end)
        });
        Content {
            points: bits(self.points.as_flattened()),
            connectivity: cells.iter().flatten().map(|&point| u64::from(point)).collect(),
            offsets: ends.collect(),
            // VTK_VERTEX is 1 and VTK_LINE is 3 (vtkCellType.h).
            types: cells.iter().map(|cell| if cell.len() == 2 { 3 } else { 1 }).collect(),
            point_data: vec![("displacement".into(), 3, bits(&self.vector)), (NASTY.into(), 1, bits(&self.scalar))],
            cell_data: vec![("N".into(), 1, bits(&self.axial))],
            field_data: vec![
                ("TimeValue".into(), 1, vec![0.30000000000000004_f64.to_bits()]),
                (NASTY.into(), 1, vec![1 << 63]),
            ],
        }
    }
}

/// Numbers of all magnitudes, the awkward ones first, and none that compress away.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let awkward = [-0.0, 5e-324, f64::MAX, f64::NEG_INFINITY, f64::NAN, 0.1];
    let mut random = Random::new(seed);
    let noise = std::iter::repeat_with(move || f64::from_bits(random.bits()));
    awkward.into_iter().chain(noise).take(count).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Every `<DataArray>` of `xml`: the element it stands in, its name, its components, and its text from the tag on.
fn arrays(xml: &str) -> Vec<(String, String, usize, &str)> {
    let mut parent = String::new();
    let mut found = Vec::new();
    for piece in xml.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').unwrap();
        match tag.split_whitespace().next().unwrap() {
            "DataArray" => {
                let components = attribute(tag, "NumberOfComponents").parse().unwrap();
                found.push((parent.clone(), attribute(tag, "Name"), components, piece));
            }
            name if name.starts_with('/') => {}
            name => parent = name.to_string(),
        }
    }
    found
}

fn attribute(tag: &str, name: &str) -> String {
    let start = tag.find(&format!(" {name}=\"")).unwrap_or_else(|| panic!("{name} in {tag}")) + name.len() + 3;
    let value = &tag[start..start + tag[start..].find('"').unwrap()];
    value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn read_raw(bytes: &[u8]) -> Content {
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let start = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
    let (xml, data) = (std::str::from_utf8(&bytes[..start]).unwrap(), &bytes[start + mark.len()..]);
    let mut content = Content {
        points: vec![],
        connectivity: vec![],
        offsets: vec![],
        types: vec![],
        point_data: vec![],
        cell_data: vec![],
        field_data: vec![],
    };
    let mut end = 0;
    for (parent, name, components, tag) in arrays(xml) {
        let offset: usize = attribute(tag, "offset").parse().unwrap();
        assert_eq!(offset, end, "blocks follow each other");
        let size = u64::from_le_bytes(data[offset..offset + 8].try_into().unwrap()) as usize;
        end = offset + 8 + size;
        let block = &data[offset + 8..end];
        let words = || block.chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        let expected_type = match (parent.as_str(), name.as_str()) {
            ("Cells", "types") => "UInt8",
            ("Cells", _) => "Int64",
            _ => "Float64",
        };
        assert_eq!(attribute(tag, "type"), expected_type);
        match (parent.as_str(), name.as_str()) {
            ("Points", _) => content.points = words(),
            ("Cells", "connectivity") => content.connectivity = words(),
            ("Cells", "offsets") => content.offsets = words(),
            ("Cells", "types") => content.types = block.to_vec(),
            ("PointData", _) => content.point_data.push((name, components, words())),
            ("CellData", _) => content.cell_data.push((name, components, words())),
            ("FieldData", _) => content.field_data.push((name, components, words())),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(&data[end..], b"\n  </AppendedData>\n</VTKFile>\n");
    content
}

fn read_lz4(bytes: &[u8]) -> Content {
    let file = Vtk::parse_xml(bytes).unwrap();
    let DataSet::UnstructuredGrid { pieces, .. } = file.data else { panic!("not an unstructured grid") };
    let [Piece::Inline(piece)] = <[_; 1]>::try_from(pieces).unwrap() else { panic!("not inline") };
    let VertexNumbers::XML { connectivity, offsets } = piece.cells.cell_verts else { panic!("not XML cells") };
    let named = |attributes: Vec<vtkio::model::Attribute>| {
        let arrays = attributes.into_iter().map(|attribute| match attribute {
            vtkio::model::Attribute::DataArray(array) => {
                let components = array.num_comp();
                (array.name, components, floats(array.data))
            }
            other => panic!("{other:?}"),
        });
        arrays.collect()
    };
    Content {
        points: floats(piece.points),
        connectivity,
        offsets,
        types: piece.cells.types.into_iter().map(|kind| kind as u8).collect(),
        point_data: named(piece.data.point),
        cell_data: named(piece.data.cell),
        field_data: lz4_field_data(std::str::from_utf8(bytes).unwrap()),
    }
}

/// vtkio skips field data when it reads a file, but decodes a single array.
fn lz4_field_data(xml: &str) -> Vec<(String, usize, Vec<u64>)> {
    let info = EncodingInfo {
        byte_order: ByteOrder::LittleEndian,
        header_type: ScalarType::UInt64,
        compressor: Compressor::LZ4,
        compression_level: 0,
    };
    let fields = arrays(xml).into_iter().filter(|(parent, ..)| parent == "FieldData");
    let decoded = fields.map(|(_, name, components, tag)| {
        let text = tag.split_once('>').unwrap().1.trim().to_string();
        let array = DataArray {
            scalar_type: ScalarType::Float64,
            format: DataArrayFormat::Binary,
            data: vec![Data::Data(text)],
            ..Default::default()
        };
        (name, components, floats(array.into_io_buffer(1, None, info).unwrap()))
    });
    decoded.collect()
}

fn floats(buffer: IOBuffer) -> Vec<u64> {
    let IOBuffer::F64(values) = buffer else { panic!("not Float64: {buffer:?}") };
    bits(&values)
}

#[test]
fn raw_frames_read_back_to_the_bit() {
    for n in SIZES {
        let sample = Sample::new(n);
        assert_eq!(read_raw(&sample.encode(Encoding::Raw)), sample.content(), "{n} points");
    }
}

#[test]
fn lz4_frames_read_back_to_the_bit() {
    for n in SIZES {
        let sample = Sample::new(n);
        assert_eq!(read_lz4(&sample.encode(Encoding::Lz4)), sample.content(), "{n} points");
    }
}

#[test]
fn lz4_is_smaller_where_numbers_repeat() {
    let mut sample = Sample::new(4097);
    sample.points = vec![[1.0, 2.0, 3.0]; 4097];
    sample.vector = vec![0.5; 3 * 4097];
    sample.scalar = vec![0.0; 4097];
    sample.axial = vec![7.0; sample.axial.len()];
    let (raw, lz4) = (sample.encode(Encoding::Raw).len(), sample.encode(Encoding::Lz4).len());
    assert!(4 * lz4 < raw, "{lz4} bytes against {raw}");
}

#[test]
fn a_reused_buffer_holds_the_same_bytes_and_does_not_grow() {
    let (large, small) = (Sample::new(4097), Sample::new(11));
    for encoding in [Encoding::Raw, Encoding::Lz4] {
        let mut bytes = large.encode(encoding);
        let (first, capacity) = (bytes.clone(), bytes.capacity());
        small.with_frame(|frame| encode(frame, encoding, &mut bytes)).unwrap();
        assert_eq!(bytes, small.encode(encoding));
        large.with_frame(|frame| encode(frame, encoding, &mut bytes)).unwrap();
        assert!(bytes == first, "{encoding:?}: the bytes of one frame differ");
        assert_eq!(bytes.capacity(), capacity);
    }
}

#[test]
fn a_frame_that_contradicts_itself_is_refused() {
    let good = Frame {
        points: &[[0.0; 3]; 2],
        lines: &[[0, 1]],
        quads: &[],
        vertices: &[],
        point_data: &[],
        cell_data: &[],
        field_data: &[],
    };
    let message = |frame: &Frame| encode(frame, Encoding::Raw, &mut Vec::new()).unwrap_err().to_string();
    let short = [Array { name: "N", components: 3, values: &[1.0, 2.0] }];
    assert_eq!(
        message(&Frame { point_data: &short, ..good }),
        "VTK array `N`: 2 values do not make 3 components for each of 2 points"
    );
    assert_eq!(
        message(&Frame { cell_data: &short, ..good }),
        "VTK array `N`: 2 values do not make 3 components for each of 1 cells"
    );
    let outside = "VTK frame: a cell uses point 2, but there are 2 points";
    assert_eq!(message(&Frame { lines: &[[0, 2]], ..good }), outside);
    assert_eq!(message(&Frame { vertices: &[2], ..good }), outside);
    assert_eq!(
        message(&Frame { field_data: &[("a\nb", 1.0)], ..good }),
        "VTK array \"a\\nb\": control characters are not allowed in a name"
    );
    let empty = [Array { name: "N", components: 0, values: &[] }];
    assert_eq!(
        message(&Frame { cell_data: &empty, ..good }),
        "VTK array `N`: 0 values do not make 0 components for each of 1 cells"
    );
}

/// The `(timestep, file)` pairs of a list; every file must be there.
fn listed(directory: &Path) -> Vec<(f64, String)> {
    listed_in(&directory.join("series.pvd"))
}

/// The pairs of any list.
fn listed_in(list: &Path) -> Vec<(f64, String)> {
    let directory = list.parent().unwrap();
    let text = fs::read_to_string(list).unwrap();
    assert!(text.ends_with("  </Collection>\n</VTKFile>\n"));
    let entries = text.lines().filter(|line| line.contains("<DataSet "));
    let entries = entries.map(|line| (attribute(line, "timestep").parse().unwrap(), attribute(line, "file")));
    entries.inspect(|(_, file)| assert!(directory.join(file).is_file(), "{file} is listed but missing")).collect()
}

#[test]
fn the_list_names_every_frame_with_its_exact_time() {
    let times = [0.0, 0.1 + 0.2, 1.0 / 3.0, 1e-7, 1.5e300];
    for encoding in [Encoding::Raw, Encoding::Lz4] {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("out/run");
        let mut series = Series::create(&out, encoding).unwrap();
        assert_eq!(listed(&out), []);
        for (k, &time) in times.iter().enumerate() {
            let sample = Sample::new(k + 1);
            sample.with_frame(|frame| series.push(time, frame)).unwrap();
            assert_eq!(series.place().unwrap().0, k + 1);
            let expected: Vec<_> =
                times[..=k].iter().zip(0..).map(|(&t, k)| (t, format!("frames/00000{k}.vtu"))).collect();
            assert_eq!(listed(&out), expected);
            assert_eq!(fs::read(out.join(&expected[k].1)).unwrap(), sample.encode(encoding));
        }
        // No temporary file stays behind.
        assert_eq!(fs::read_dir(out.join("frames")).unwrap().count(), times.len());
        assert_eq!(fs::read_dir(&out).unwrap().count(), 2);
    }
}

#[test]
fn the_list_is_what_paraview_expects() {
    let directory = tempfile::tempdir().unwrap();
    let mut series = Series::create(directory.path(), Encoding::Raw).unwrap();
    Sample::new(2).with_frame(|frame| series.push(0.25, frame)).unwrap();
    series.place().unwrap();
    let expected = r#"<?xml version="1.0"?>
<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">
  <Collection>
    <DataSet timestep="0.25" part="0" file="frames/000000.vtu"/>
  </Collection>
</VTKFile>
"#;
    assert_eq!(fs::read_to_string(directory.path().join("series.pvd")).unwrap(), expected);
}

#[test]
fn a_failed_frame_is_not_listed() {
    let directory = tempfile::tempdir().unwrap();
    let mut series = Series::create(directory.path(), Encoding::Raw).unwrap();
    let sample = Sample::new(2);
    sample.with_frame(|frame| series.push(0.0, frame)).unwrap();
    let obstacle = directory.path().join("frames/000001.vtu");
    fs::create_dir(&obstacle).unwrap();
    // Frames are written by another thread: the error comes with one of the next calls, at the latest here.
    let _ = sample.with_frame(|frame| series.push(1.0, frame));
    let error = series.place().unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot write {}: ", obstacle.display())), "{error}");
    assert_eq!(listed(directory.path()), [(0.0, "frames/000000.vtu".to_string())]);
    // From then on it stays failed, and says so.
    fs::remove_dir(&obstacle).unwrap();
    assert_eq!(sample.with_frame(|frame| series.push(1.0, frame)).unwrap_err().exit_code(), 6);
    assert_eq!(series.place().unwrap_err().exit_code(), 6);

    // Another one goes on where it stood.
    let list = fs::read_to_string(directory.path().join("series.pvd")).unwrap();
    let mut series = Series::create(directory.path(), Encoding::Raw).unwrap();
    series.go_on((1, list)).unwrap();
    sample.with_frame(|frame| series.push(1.0, frame)).unwrap();
    series.place().unwrap();
    assert_eq!(listed(directory.path()).len(), 2);
}

#[test]
fn many_frames_come_out_in_order_with_the_bytes_of_the_encoder() {
    let directory = tempfile::tempdir().unwrap();
    let mut series = Series::create(directory.path(), Encoding::Raw).unwrap();
    // More than wait for the disk at a time, of sizes that go up and down, without asking in between.
    let sizes: Vec<usize> = (0..40).map(|k| 1 + (7 * k) % 13).collect();
    for (k, &n) in sizes.iter().enumerate() {
        Sample::new(n).with_frame(|frame| series.push(k as f64, frame)).unwrap();
    }
    drop(series);
    let found = listed(directory.path());
    assert_eq!(found.len(), sizes.len());
    for ((time, file), (k, &n)) in found.iter().zip(sizes.iter().enumerate()) {
        assert_eq!(*time, k as f64);
        assert_eq!(fs::read(directory.path().join(file)).unwrap(), Sample::new(n).encode(Encoding::Raw));
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Series::create(&file, Encoding::Raw).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot create {}: ", file.join("frames").display())), "{error}");
}

/// Obstacles as a run writes them: an arc where it is, in one frame, and a table that moves, in every frame of the structure.
#[test]
fn obstacles_are_drawn_where_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let run = |name: &str| {
        let out = directory.path().join(name);
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("cases/{name}.toml"));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_carom"));
        command.arg("run").arg(case).args(["-q", "--set", "output.vtk={ frames = 4, encoding = \"raw\" }", "-o"]);
        assert!(command.arg(&out).status().unwrap().success());
        let frames = listed_in(&out.join("obstacles.pvd"));
        let contents: Vec<Content> =
            frames.iter().map(|(_, file)| read_raw(&fs::read(out.join(file)).unwrap())).collect();
        (out, frames, contents)
    };
    let float = |bits: &[u64]| bits.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<f64>>();

    let (_, frames, contents) = run("ski-jump");
    assert_eq!(frames, [(0.0, "frames/obstacles-000000.vtu".to_string())]);
    let points = float(&contents[0].points);
    let contact = float(&contents[0].cell_data[0].2);
    let of_arc = contact.iter().filter(|&&number| number == 0.0).count();
    assert!(of_arc > 40 && contact.len() == of_arc + 1, "{of_arc} pieces of the arc, and the floor");
    for point in points.chunks(3).take(of_arc + 1) {
        assert!((point[0].hypot(point[1]) - 1.05).abs() < 1e-12 && point[2] == 0.0, "{point:?}");
    }
    let lip = &points[3 * of_arc..3 * of_arc + 2];
    assert!((lip[0] - 1.05 / 2f64.sqrt()).abs() < 1e-12 && (lip[1] + lip[0]).abs() < 1e-12, "{lip:?}");

    let (out, frames, contents) = run("shaker");
    let times = |list: &[(f64, String)]| list.iter().map(|(time, _)| *time).collect::<Vec<f64>>();
    assert_eq!(times(&frames), times(&listed(&out)));
    assert_eq!(frames.len(), 5);
    for ((time, _), content) in frames.iter().zip(&contents) {
        let (name, components, shift) = &content.point_data[0];
        assert_eq!((name.as_str(), *components), ("displacement", 3));
        let height = 0.016 * (10.0 * std::f64::consts::PI * time).sin();
        let shift = float(shift);
        assert!(shift.chunks(3).all(|d| d[0].abs() < 1e-16 && (d[1] - height).abs() < 1e-15), "{time}: {shift:?}");
    }
}
