//! Boundary value problems: exact solutions, passes, work that grows linearly.

use super::*;

#[test]
fn a_bounded_control_agrees_with_the_reference() {
    let data = &reference()["bvp control"];
    let m = f64::sqrt(3.0 * (1.1f64 * 1.1 - 1.0));
    let exact = |t: f64| ((1.1 - t) / m).clamp(-1.0, 1.0);
    for (n, wanted) in data["err_u"].as_object().unwrap() {
        let run = shipped("bang-bang", &[&format!("time.step=\"T/{n}\"")]);
        let (t, u) = (run.column("time"), run.column("law.u.u"));
        let error = (1..t.len()).map(|k| (u[k] - exact(t[k])).abs()).fold(0.0, f64::max);
        near(error, wanted.as_f64().unwrap(), 1e-6);
        assert!((run.last("state.x") - 1.0).abs() < 1e-11 && run.last("state.v").abs() < 1e-11);
    }
    let run = shipped("bang-bang", &["time.step=\"T/12800\""]);
    near(run.last("state.p"), data["p1"].as_f64().unwrap(), 1e-3);
    assert!(run.course.levels.iter().all(|level| level[1] <= 6), "{:?}", run.course.levels);
}

#[test]
fn a_periodic_regime_is_found_in_one_or_two_passes_per_grid() {
    let text = "format = 1\nanalysis = \"first-order\"\ntime = { end = \"pi\", step = \"pi/100\" }\nscheme = { name = \"theta\" }\n\
        state = [{ name = \"x\", start = 0.0, rate = \"2*cos(2*t) - x\" }]\n\
        constraint = [{ name = \"floor\", above = \"x\" }]\nboundary = { equations = [\"x@start - x@end\"] }\n";
    let data = &reference()["bvp periodic"];
    let exact = data["x0_exact"].as_f64().unwrap();
    for (n, wanted) in data["err"].as_object().unwrap() {
        let run = run(text, &[&format!("time.step=\"pi/{n}\"")]);
        near((run.column("state.x")[0] - exact).abs(), wanted.as_f64().unwrap(), 1e-6);
    }
    let fine = run(text, &["time.step=\"pi/51200\""]);
    let passes: Vec<u64> = fine.course.levels.iter().map(|level| level[1]).collect();
    assert!(passes.len() == 10 && passes[1..].iter().all(|&passes| passes <= 3), "{passes:?}");
    assert!((fine.column("state.x")[0] - fine.last("state.x")).abs() < 1e-12);
}

#[test]
fn a_marched_run_from_the_found_start_is_the_same() {
    let periodic = shipped("periodic-rectifier", &[]);
    let start = format!("state.v.start={:?}", periodic.column("state.v")[0]);
    let text = carom::cases::find("periodic-rectifier").unwrap().text;
    let text = text.replace("[boundary]\nequations = [\"v@start - v@end\"]\n", "");
    let marched = run(&text, &[&start, "expect={}"]);
    for (a, b) in periodic.column("state.v").iter().zip(marched.column("state.v")) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    assert!((marched.last("state.v") - marched.column("state.v")[0]).abs() < 1e-9, "it is periodic");
    near(periodic.last("work_law"), marched.last("work_law"), 1e-8);
}

#[test]
fn conditions_that_do_not_fix_the_states_are_told() {
    let text = carom::cases::find("bang-bang").unwrap().text;
    let set = ["boundary.equations=[\"x@start\", \"x@start\", \"x@end - X\", \"v@end\"]", "expect={}"];
    let error = try_run(text, &set).err().expect("it must fail");
    assert_eq!(error.exit_code(), 4);
    assert!(error.to_string().contains("boundary equations"), "{error}");
}
