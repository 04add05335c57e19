//! Files that cannot be joined are refused by an error that names the file, the variable and the condition.

use super::*;
use zarr_hierarchy::ErrorKind;
use zarr_virtualize::join;

#[test]
fn each_rule_is_told() {
    let (files, registry) = (files(), registry());
    for (name, expected) in [
        (
            "bad_lat.nc",
            "bad_lat.nc: /lat: found other values than in a.nc, expected the same: the variable does not have the dimension time",
        ),
        (
            "bad_scale.nc",
            "bad_scale.nc: /packed: found the attribute scale_factor 0.25, expected 0.5 as in the first file",
        ),
        ("bad_chunk.nc", "bad_chunk.nc: /more/count: found"),
        ("bad_units.nc", "bad_units.nc: /t: found the attribute units \"degC\", expected \"K\" as in the first file"),
        ("bad_more.nc", "bad_more.nc: /q: found a variable that a.nc does not have"),
        ("old1.nc", "old1.nc: /more/count: found no such variable, expected one as in a.nc"),
    ] {
        let result = join(&inputs(&files, &["a.nc", name]), &registry, &along_time().values(0));
        if name == "bad_chunk.nc" {
            assert!(result.expect_err(name).to_string().starts_with("bad_chunk.nc: /"), "{name}");
            continue;
        }
        let error = result.expect_err(name);
        assert_eq!(error.kind(), ErrorKind::NotExpressible, "{name}");
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    // A variable that the first file has alone.
    let error = join(&inputs(&files, &["bad_more.nc", "a.nc"]), &registry, &along_time()).expect_err("refused");
    assert!(error.to_string().starts_with("a.nc: /q: found no such variable"), "{error}");
}

#[test]
fn times_that_cannot_be_counted_are_refused_when_they_are_read() {
    let (files, registry) = (files(), registry());
    let joined = join(&inputs(&files, &["old0.nc", "old1.nc"]), &registry, &along_time()).expect("joined");
    let store: Arc<dyn Store> = Arc::new(joined.store);
    assert_eq!(
        Array::open(&store, "/time", &registry).expect("times").read::<i32>(..).expect("times"),
        [0, 1, 2, 3, 4]
    );
    // Three hours are no whole number of days.
    let joined = join(&inputs(&files, &["old0.nc", "bad_time.nc"]), &registry, &along_time()).expect("joined");
    let store: Arc<dyn Store> = Arc::new(joined.store);
    let read = Array::open(&store, "/time", &registry).expect("times").read::<i32>(..);
    let error = read.expect_err("refused").with_causes();
    assert!(error.contains("bad_time.nc: /time: found times in \"hours since 2000-01-01\" that no numbers"), "{error}");
}

#[test]
fn arguments() {
    let (files, registry) = (files(), registry());
    let two = inputs(&files, &["a.nc", "b.nc"]);
    let refused = |inputs: &[Input], options: &JoinOptions| {
        let error = join(inputs, &registry, options).expect_err("refused");
        (error.kind(), error.to_string(), error.hint().unwrap_or_default().to_owned())
    };
    let (kind, text, _) = refused(&[], &along_time());
    assert_eq!((kind, &*text), (ErrorKind::Argument, "found no files, expected at least one"));
    let (_, text, hint) = refused(&two, &JoinOptions::default());
    assert_eq!(
        (&*text, &*hint),
        ("found 2 files and no dimension to join them along", "--concat DIM names the dimension")
    );
    let (_, text, hint) = refused(&two, &JoinOptions::default().concat(Some("tiem".to_owned())));
    assert_eq!(text, "a.nc: found no variable with the dimension \"tiem\", expected one of lat, lon, nv, time");
    assert!(hint.starts_with("is \"time\" meant?"), "{hint}");
    let (kind, text, _) = refused(&two, &along_time().variables(vec!["u".to_owned()]));
    assert_eq!(kind, ErrorKind::NotFound, "{text}");
}
