//! Damaged bytes: any answer will do, as long as it is one.

use crate::common::random::Random;
use carom::mesh::gmsh;

use super::{BAR, binary_bar, shipped, special};

#[test]
fn no_damage_to_the_bytes_makes_the_reader_panic() {
    let plate = std::fs::read(special("plate.msh")).unwrap();
    let portal = std::fs::read(shipped("portal.msh")).unwrap();
    let seeds = [
        (BAR.as_bytes().to_vec(), "bar"),
        (binary_bar(false), "bar"),
        (binary_bar(true), "bar"),
        (plate, "edge"),
        (portal, "girder"),
    ];
    for (seed, own) in &seeds {
        for length in 0..seed.len() {
            for group in [None, Some(*own)] {
                // A file without its last newline is whole; surfaces need a group.
                let whole = length == seed.len() - 1 && (group.is_some() || *own != "edge");
                assert_eq!(gmsh::parse(&seed[..length], "cut", group).is_ok(), whole);
            }
        }
    }
    let mut random = Random::new(1);
    let mut read = 0;
    for _ in 0..20_000 {
        let (seed, group) = &seeds[random.below(seeds.len())];
        let mut bytes = seed.clone();
        for _ in 0..=random.below(2) {
            damage(&mut bytes, &mut random);
        }
        for group in [None, Some(*group)] {
            let Ok(mesh) = gmsh::parse(&bytes, "damaged", group) else { continue };
            read += 1;
            assert!(mesh.lines.iter().flatten().all(|&node| node < mesh.nodes.len()));
            assert!(mesh.sets.values().flatten().all(|&node| node < mesh.nodes.len()));
            assert_eq!(mesh.nodes.len(), mesh.tags.len());
        }
    }
    // Some damage must leave the file readable, or only the first checks would have been tried.
    assert!(read > 1000, "{read}");
}

/// One change somewhere: a byte, a word of eight bytes, a cut, a copy, or a number that is out of bounds.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    const WORDS: [&str; 8] = ["0", "-1", "2147483648", "18446744073709551615", "nan", "1e400", "$EndNodes", "\""];
    let at = random.below(bytes.len().max(1)).min(bytes.len());
    let end = (at + 1 + random.below(8)).min(bytes.len());
    match random.below(6) {
        0 => bytes[at..end].fill(random.bits() as u8),
        1 => bytes[at..end].fill(random.pick(&[0, 0xFF, 0x7F])),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        4 => drop(bytes.splice(at..end, random.pick(&WORDS).bytes())),
        _ => bytes[at..end].iter_mut().for_each(|byte| *byte ^= 1 << random.below(8)),
    }
}
