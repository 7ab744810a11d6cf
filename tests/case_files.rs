//! Case files: what is accepted, what is refused, and how the refusal reads.

use carom::case::{Case, Failure, Format, parse};

#[test]
fn show() {
    for (text, set) in [
        (
            "format = 1\n[time]\nend = 1\nstpe = 1e-3\n[scheme]\nname = \"newmrk\"\n[[body]]\nname = \"a b\"\nelement = \"bar\"\nline = { from = [0.0], to = [0.0], elements = 3.0 }\nmaterial = { young = -1, density = nan }\nsection={}\n[[contact]]\nname = \"w\"\nnodes = \"bar.strt\"\nfriction = 0.1\n[expect]\n\"energi.final\" = {}\n",
            vec!["scheme.name=newmark", "body.x.mass=1", "time", "time.end=-3", "gravity=[1,2,3]"],
        ),
        ("format = \n[time\n a = 99999999999999999999999\n", vec![]),
        ("a = 99999999999999999999999\n", vec![]),
    ] {
        let set: Vec<String> = set.into_iter().map(String::from).collect();
        println!("{}\n", parse(text, "cases/x.toml", Format::Toml, &set).unwrap_err().render(false));
    }
    println!(
        "{}",
        parse("{\"format\": 2, \"time\": {\"end\": 1, \"end\": 2}}", "x.json", Format::Json, &[])
            .unwrap_err()
            .render(false)
    );
    println!(
        "{}",
        parse("{\"format\": 2, \"time\": {\"end\": \"a\"}}", "x.json", Format::Json, &[]).unwrap_err().render(false)
    );
}
