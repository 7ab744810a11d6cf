//! Gmsh files: the shipped meshes against another reader, the rules of reading, every error
//! message, and damaged bytes.

mod damage;
mod errors;
mod reading;
mod shipped;

use std::path::{Path, PathBuf};

/// Three lines from x = 0 to 3 along curve 1; node 1 and 2 are the ends, as Gmsh has it.
const BAR: &str = r#"$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
3
0 1 "foot"
1 2 "bar"
2 7 "plate"
$EndPhysicalNames
$Entities
2 1 0 0
1 0 0 0 1 1
2 3 0 0 0
1 0 0 0 3 0 0 1 2 2 1 -2
$EndEntities
$Nodes
3 4 1 4
0 1 0 1
1
0 0 0
0 2 0 1
2
3 0 0
1 1 0 2
3
4
1 0 0
2 0 0
$EndNodes
$Elements
2 4 1 4
0 1 15 1
1 1
1 1 1 3
2 1 3
3 3 4
4 4 2
$EndElements
"#;

/// A mesh that the cases use.
fn shipped(name: &str) -> PathBuf {
    Path::new("meshes").join(name)
}

/// A file that only tests use.
fn special(name: &str) -> PathBuf {
    Path::new("tests/data").join(name)
}

/// [`BAR`] in binary, built by the format's description: Gmsh writes only the byte order of its machine.
fn binary_bar(big: bool) -> Vec<u8> {
    let mut bytes = b"$MeshFormat\n4.1 1 8\n".to_vec();
    // A number with its kind in front, i(nt), s(ize) or d(ouble); other words are lines, with _ for a space.
    let mut put = |text: &str| {
        for word in text.split_whitespace() {
            let (kind, digits) = word.split_at(1);
            match (kind, big) {
                ("i", false) => bytes.extend(digits.parse::<i32>().unwrap().to_le_bytes()),
                ("i", true) => bytes.extend(digits.parse::<i32>().unwrap().to_be_bytes()),
                ("s", false) => bytes.extend(digits.parse::<u64>().unwrap().to_le_bytes()),
                ("s", true) => bytes.extend(digits.parse::<u64>().unwrap().to_be_bytes()),
                ("d", false) => bytes.extend(digits.parse::<f64>().unwrap().to_le_bytes()),
                ("d", true) => bytes.extend(digits.parse::<f64>().unwrap().to_be_bytes()),
                _ => bytes.extend(format!("{}\n", word.replace('_', " ")).bytes()),
            }
        }
    };
    put("i1 $EndMeshFormat $PhysicalNames 3 0_1_\"foot\" 1_2_\"bar\" 2_7_\"plate\" $EndPhysicalNames");
    put("$Entities s2 s1 s0 s0 i1 d0 d0 d0 s1 i1 i2 d3 d0 d0 s0");
    put("i1 d0 d0 d0 d3 d0 d0 s1 i2 s2 i1 i-2 $EndEntities");
    put("$Nodes s3 s4 s1 s4 i0 i1 i0 s1 s1 d0 d0 d0 i0 i2 i0 s1 s2 d3 d0 d0");
    put("i1 i1 i0 s2 s3 s4 d1 d0 d0 d2 d0 d0 $EndNodes");
    put("$Elements s2 s4 s1 s4 i0 i1 i15 s1 s1 s1 i1 i1 i1 s3 s2 s1 s3 s3 s3 s4 s4 s4 s2");
    bytes.extend(b"\n$EndElements\n");
    bytes
}
