//! The cases that ship, built into the program for `carom new` and `carom list cases`.

/// A shipped case.
pub struct Shipped {
    /// File name without extension.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(Shipped { name: $name, text: include_str!(concat!("../cases/", $name, ".toml")) }),*]
    };
}

/// Every shipped case, in the order of the README.
pub const CASES: &[Shipped] = shipped![
    "impacting-bar",
    "impacting-bar-redistributed",
    "bar-adaptive",
    "drop-test-adaptive",
    "bouncing-bar",
    "free-bar",
    "bouncing-ball",
    "bouncing-ball-two-step",
    "bouncing-ball-adaptive",
    "impacting-oscillator",
    "two-ball-oscillator",
    "two-ball-oscillator-stiff",
    "bar-gmsh",
    "truss",
    "rotating-beam",
    "cantilever-roll-up",
    "cantilever-tip-load",
    "beam-on-stop",
    "portal-frame",
    "swing",
    "saint-venant",
    "two-bars",
    "newtons-cradle",
    "bar-on-moving-wall",
    "incline",
    "whisker",
    "shaker",
    "thrown-mass",
    "crossed-beams",
    "peg-board",
    "ski-jump",
    "shot-at-plate",
    "portal-frame-impact",
    "beam-on-floor",
    "crowd",
    "diode-bridge",
    "diode-bridge-filter",
    "rlc-diode",
    "buck-converter",
    "relay-oscillator",
    "filippov-spiral",
    "play-operator",
    "particle-in-rotating-square",
    "tractrix",
    "gene-switch",
    "periodic-rectifier",
    "bang-bang",
];

/// A mesh that a shipped case reads.
pub struct ShippedMesh {
    /// As the cases name it.
    pub path: &'static str,
    /// File name alone.
    pub name: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

macro_rules! meshes {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedMesh {
            path: concat!("../meshes/", $name),
            name: $name,
            bytes: include_bytes!(concat!("../meshes/", $name)),
        }),*]
    };
}

/// Meshes of the shipped cases, so that a case started from one of them finds its own.
pub const MESHES: &[ShippedMesh] = meshes!["bar.msh", "portal.msh", "truss.msh"];

/// The shipped case of that name.
pub fn find(name: &str) -> Option<&'static Shipped> {
    CASES.iter().find(|case| case.name == name)
}

impl Shipped {
    /// Whether it is a first-order system and no structure.
    pub fn is_first_order(&self) -> bool {
        self.text.lines().any(|line| line == "analysis = \"first-order\"")
    }

    /// The title in the case.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("title"));
        line.and_then(|line| line.split('"').nth(1)).unwrap_or("")
    }
}
