//! What cannot run, and what is said about it.

use super::*;

const SOUND: &str = r#"format = 1
analysis = "first-order"
[time]
end = 1.0
step = 0.1
[scheme]
name = "theta"
[[state]]
name = "x"
start = 1.0
rate = "-x + u"
[[law]]
name = "u"
dual = "x"
"#;

/// The message for a changed case, which must be refused with exit code 3 and the line.
fn refused(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from));
    let text = SOUND.replace(from, to);
    match parse(&text, "test.toml", Format::Toml, &[]) {
        Err(failure) => failure.render(false),
        Ok(_) => match try_run(&text, &[]) {
            Err(error) => {
                assert_eq!(error.exit_code(), 3, "{error}");
                error.to_string()
            }
            Ok(_) => panic!("must be refused: {to}"),
        },
    }
}

#[test]
fn bad_input_is_told_with_its_place() {
    run(SOUND, &[]);
    for (from, to, wanted) in [
        ("\"-x + u\"", "\"-x + u^2\"", "this must be linear in `u`"),
        ("\"-x + u\"", "\"-x + x*u*u\"", "test.toml:11:"),
        ("\"-x + u\"", "\"-x + v\"", "there is no constant or variable `v` here"),
        ("\"-x + u\"", "\"1/(x - 1)\"", "is infinite at x = 1.0"),
        ("\"-x + u\"", "\"u + sqrt(-x)\"", "is not a number at x = 1.0"),
        ("name = \"u\"", "name = \"x\"", "the name `x` is taken"),
        ("name = \"u\"", "name = \"sin\"", "a state or law cannot be called `sin`"),
        ("dual = \"x\"", "dual = \"x\"\nwithin = [1, -1]", "`law.u.within` must be a list of two numbers"),
        ("dual = \"x\"", "dual = \"x\"\nwithin = [inf, inf]", "`law.u.within` must be"),
        ("dual = \"x\"", "duel = \"x\"", "did you mean `dual`?"),
        ("[scheme]", "[output]\nvtk = { frames = 3 }\n[scheme]", "a first-order system has no shape in space"),
        ("[scheme]", "[[body]]\nname = \"b\"\n[scheme]", "unknown key `body`"),
        (
            "[scheme]",
            "[boundary]\nequations = [\"x@start\", \"x@end\"]\n[scheme]",
            "`boundary.equations` must have 1 entries",
        ),
        ("[scheme]", "[boundary]\nequations = [\"x@start^2\"]\n[scheme]", "this must be linear in"),
        ("[scheme]", "[boundary]\nequations = [\"x@finish\"]\n[scheme]", "x_finish"),
        ("[scheme]", "[jumps]\nat = [0.5, 0.2]\n[scheme]", "`jumps.at` must ascend"),
        ("[scheme]", "[jumps]\nat = [2.0]\n[scheme]", "jumps must lie before `time.end`"),
        ("[scheme]", "[[constraint]]\nname = \"c\"\n[scheme]", "exactly one of `above`, `ball`, `box`"),
        (
            "[scheme]",
            "[[constraint]]\nname = \"c\"\nball = { states = [\"z\"], centre = [0, 0], radius = 1 }\n[scheme]",
            "there is no state `z`",
        ),
        ("[scheme]", "[expect]\n\"state.y.final\" = { below = 1 }\n[scheme]", "did you mean `state.x`?"),
        ("[scheme]", "[storage]\nvalue = \"x*t\"\n[scheme]", "there is no constant or variable `t` here"),
        ("dual = \"x\"", "dual = \"t\"", "no multiplier acts on it"),
        ("name = \"theta\"", "name = \"theta\"\ntheta = 1.5", "`scheme.theta` must be a number in [0, 1]"),
        ("name = \"theta\"", "name = \"newmark\"", "`scheme.name` cannot be \"newmark\""),
    ] {
        let message = refused(from, to);
        assert!(message.contains(wanted), "{to}\n{message}");
        assert!(!message.contains("carom itself"), "{message}");
    }
}

#[test]
fn a_law_of_degree_two_is_refused_with_the_reason() {
    let text =
        SOUND.replace("rate = \"-x + u\"\n", "rate = \"y\"\n[[state]]\nname = \"y\"\nstart = 0.0\nrate = \"u - 1\"\n");
    for text in [text.clone(), text + "[boundary]\nequations = [\"x@start - 1\", \"x@end - 1\"]\n"] {
        let error = try_run(&text, &[]).err().expect("it must fail");
        assert_eq!(error.exit_code(), 3);
        assert!(error.to_string().contains("law `u` has relative degree 2"), "{error}");
    }
}

#[test]
fn a_law_with_the_wrong_sign_is_diagnosed() {
    let error = try_run(&SOUND.replace("dual = \"x\"", "dual = \"x - u - 2\""), &[]).err().expect("it must fail");
    assert_eq!(error.exit_code(), 4);
    let text = error.to_string();
    for part in ["step 1 (t = 0.1)", "law `u`", "W is not P: D or C·B has the wrong sign"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn constraints_that_cannot_be_met_together_are_named() {
    let sets =
        "[[constraint]]\nname = \"right\"\nabove = \"x - 3*t\"\n[[constraint]]\nname = \"left\"\nabove = \"2 - x\"\n";
    let text = SOUND.replace("[[law]]\nname = \"u\"\ndual = \"x\"\n", "").replace("-x + u", "0") + sets;
    let error = try_run(&text, &[]).err().expect("it must fail");
    assert_eq!(error.exit_code(), 4);
    let text = error.to_string();
    for part in ["step 7 (t = 0.7", "constraint `right`", "constraint `left`", "the constraints cannot be met together"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_loses_its_value_on_the_way_stops_the_run() {
    let error =
        try_run(&SOUND.replace("-x + u", "u + sqrt(0.55 - t)"), &["scheme.theta=1.0"]).err().expect("it must fail");
    assert_eq!(error.exit_code(), 5);
    assert!(error.to_string().contains("sqrt(0.55 - t)") && error.to_string().contains("step 6"), "{error}");
}
