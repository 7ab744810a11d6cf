//! Figures as PNG, drawn from their SVG with fonts that are part of the program: no font of the system is needed, and
//! every machine draws the same pixels.

use super::Plot;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::{Arc, LazyLock};

/// Pixels per unit of the SVG; sharp on screens and in print.
const SCALE: f32 = 2.0;

/// DejaVu Sans with Latin, Greek and a few signs.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for font in [&include_bytes!("font/DejaVuSans.ttf")[..], include_bytes!("font/DejaVuSans-Bold.ttf")] {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

impl Plot {
    /// The figure as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let options = Options { fontdb: FONTS.clone(), font_family: "DejaVu Sans".into(), ..Options::default() };
        let tree = Tree::from_str(&self.svg(), &options).expect("our own SVG is well-formed");
        let size = tree.size().to_int_size().scale_by(SCALE).expect("a figure has a size");
        let mut pixels = Pixmap::new(size.width(), size.height()).expect("a figure has pixels");
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().expect("writing to memory cannot fail")
    }
}
