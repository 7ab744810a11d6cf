//! Bodies on a line that touch at the start, in several orders: what is below what is decided by both programs on their
//! own.

use super::compare::{Outcome, compare};
use super::generator::Model;

const BALL: &str = "name = \"ball\"\nelement = \"mass\"\nmass = 0.7\nat = [0.3]\nvelocity = [1.0]\n";
/// Ends at 0.1·3, which is not 0.3.
const LEFT: &str = "name = \"left\"\nelement = \"bar\"\nline = { from = [-0.5], to = [0.30000000000000004], elements = 4 }\n\
                    material = { young = 2.0, density = 1.0 }\nsection = { area = 1.0 }\nvelocity = [0.5]\n";
const RIGHT: &str = "name = \"right\"\nelement = \"bar\"\nline = { from = [0.3], to = [1.0], elements = 3 }\n\
                     material = { young = 3.0, density = 1.0 }\nsection = { area = 1.0 }\n";
const SLOW: &str = "name = \"slow\"\nelement = \"mass\"\nmass = 1.1\nat = [0.2]\ndisplacement = [0.1]\n";
/// Driven: what its body says of the velocity does not count.
const DRIVEN: &str = "name = \"driven\"\nelement = \"mass\"\nmass = 1.0\nat = [0.3]\nvelocity = [9.0]\n";

fn equal(bodies: &[&str], between: [&str; 2], rest: &str) {
    for scheme in ["{ name = \"moreau-jean\" }", "{ name = \"newmark\", gamma = 0.6, beta = 0.31 }"] {
        for turned in [false, true] {
            let mut order = bodies.to_vec();
            let [mut a, mut b] = between;
            if turned {
                order.reverse();
                (a, b) = (b, a);
            }
            let bodies: String = order.iter().map(|body| format!("[[body]]\n{body}\n")).collect();
            let case = format!(
                "format = 1\n[time]\nend = 0.6\nstep = 0.02\nmin_step = 0.02\n[guards]\npenetration = false\n\
                 [solver]\ncontact = {{ tolerance = 1e-13, sweeps = 100000 }}\n[scheme]\n{}\n\
                 {bodies}[[contact]]\nname = \"touch\"\nbetween = [\"{a}\", \"{b}\"]\n{rest}",
                scheme.trim_matches(['{', '}']).trim().replace(", ", "\n"),
            );
            let outcome =
                compare(&Model { case: case.clone(), files: Default::default(), features: Default::default() });
            assert!(matches!(outcome, Outcome::Equal(..)), "{outcome:?}\n{case}");
        }
    }
}

#[test]
fn bodies_that_touch_at_the_start_give_the_columns_of_the_dense_code() {
    equal(&[RIGHT, BALL], ["ball", "right"], "");
    equal(&[RIGHT, BALL], ["ball", "right.start"], "");
    equal(&[LEFT, RIGHT], ["right", "left"], "");
    equal(&[LEFT, RIGHT], ["right.start", "left.end"], "");
    equal(&[SLOW, BALL], ["slow", "ball"], "restitution = 0.8\n");
    let row = |names: &str| format!("[[set]]\nname = \"row\"\nnodes = [{names}]\n");
    equal(&[RIGHT, SLOW, LEFT, BALL], ["row", "row"], &row("\"left\", \"right\", \"ball\", \"slow\""));
    equal(&[RIGHT, SLOW, LEFT, BALL], ["row", "row"], &row("\"left.end\", \"right.start\", \"ball\", \"slow\""));
    equal(&[RIGHT, SLOW, LEFT, BALL], ["row", "ball"], &row("\"left.end\", \"right.start\", \"ball\", \"slow\""));
    let push = "[[support]]\nname = \"push\"\nnodes = \"driven\"\n\
                motion = { x = { kind = \"ramp\", from = 0.0, to = 0.1, start = 0.0, end = 1.0 } }\n";
    equal(&[DRIVEN, BALL], ["driven", "ball"], push);
    let hold = "[[support]]\nname = \"hold\"\nnodes = \"driven\"\nfix = [\"x\"]\n";
    equal(&[DRIVEN, BALL], ["driven", "ball"], hold);
}
