//! Peak bandwidths, profiles, and tuning, which a function of the program may stop.
use gpumem::*;
use std::fs;
use std::ops::ControlFlow;
use std::panic::{set_hook, take_hook};
use std::path::PathBuf;
use std::time::Duration;

const LINE: &str = "transpose bytes=4 rows=50 cols=60 src=pageable dst=pageable";

fn quick() -> TuneOptions<'static> {
    TuneOptions::new().budget(Duration::from_millis(10))
}

fn own_file(what: &str) -> PathBuf {
    std::env::temp_dir().join(format!("gpumem-rust-{}-{}", what, std::process::id()))
}

#[test]
fn the_ceiling_is_measured() -> Result<()> {
    let ctx = Context::new()?;
    let ceiling = ctx.ceiling()?;
    assert!(ceiling.read > 0 && ceiling.write > 0 && ceiling.copy > 0);
    let is_cuda = ctx.device()?.is_cuda;
    assert_eq!((ceiling.to_device.is_some(), ceiling.from_device.is_some()), (is_cuda, is_cuda));
    assert_eq!(ctx.ceiling()?, ceiling); // remembered
    Ok(())
}

#[test]
fn calls_are_recorded_between_begin_and_end() -> Result<()> {
    let ctx = Context::on(DeviceChoice::Host)?;
    assert_eq!(ctx.profile()?, []);
    ctx.profile_begin(10)?;
    let (x, mut y) = ([1.0f32; 100], [0.0f32; 100]);
    ctx.copy(&mut y, &x)?;
    ctx.axpby_in_place(2.0, &x, 1.0, &mut y)?;
    ctx.axpby_in_place(2.0, &x, 1.0, &mut y)?;
    ctx.profile_end()?;
    ctx.copy(&mut y, &x)?;
    let mut rows = ctx.profile()?;
    let memory = rows.pop().expect("a row for pageable memory");
    assert_eq!((memory.problem.as_str(), memory.variant, memory.median), ("pageable to pageable", None, None));
    assert_eq!((memory.calls, memory.timed, memory.bytes), (3, 3, 800 + 2 * 1200));
    rows.sort_by_key(|row| row.calls);
    assert_eq!(rows.iter().map(|row| row.calls).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(rows[1].bytes, 2 * 1200);
    assert!(rows[1].median.is_some() && rows[1].total >= rows[1].median.unwrap() && rows[1].bytes_per_s > 0.0);
    assert!(rows[1].flops_per_s.is_some() && rows[0].flops_per_s.is_none());
    assert!(rows[1].problem.starts_with("axpby dtype=f32 n=100") && rows[0].problem.starts_with("copy "));
    assert!(variants(Family::Axpby)?.contains(&rows[1].variant.as_deref().unwrap()));
    let path = own_file("profile");
    ctx.profile_write(&path, Format::Csv)?;
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1 + 3);
    fs::remove_file(&path).unwrap();
    ctx.profile_begin(1)?; // forgets the old records
    assert_eq!(ctx.profile()?, []);
    assert_eq!(ctx.profile_begin(usize::MAX).unwrap_err().status(), Status::INVALID_ARGUMENT);
    assert_eq!(ctx.profile_write("/nowhere/profile", Format::Text).unwrap_err().status(), Status::FILE_ERROR);
    assert_eq!(ctx.profile_write("a\0b", Format::Text).unwrap_err().status(), Status::INVALID_ARGUMENT);
    Ok(())
}

#[test]
fn what_is_tuned_is_kept_in_a_file() -> Result<()> {
    let ctx = Context::on(DeviceChoice::Host)?;
    let mut told = Vec::new();
    let options = quick().progress(|done| {
        told.push(done);
        ControlFlow::Continue(())
    });
    let info = ctx.tune(LINE, options)?;
    assert!(info.candidates > 0 && info.table_time > Duration::ZERO && info.winner_time > Duration::ZERO, "{:?}", info);
    assert!(variants(Family::Transpose)?.contains(&info.table.as_str()) && info.table != info.winner, "{:?}", info);
    assert!(info.ratio > 0.0 && info.spread >= 0.0 && !info.reason.is_empty(), "{:?}", info);
    assert!(told.windows(2).all(|pair| pair[0] < pair[1]) && told.last() == Some(&1.0), "{:?}", told);

    let path = own_file("tuning");
    fs::write(&path, format!("another device\t{}\thost_serial\t1\t1.5\n", LINE)).unwrap();
    ctx.tuning_save(&path)?;
    ctx.tuning_clear()?;
    assert_eq!(ctx.tuning_load(&path)?, TuningLines { taken: info.adopted.into(), skipped: 1 });
    fs::remove_file(&path).unwrap();
    assert_eq!(ctx.tuning_load(&path).unwrap_err().status(), Status::FILE_ERROR);
    assert_eq!(ctx.tune("no problem", quick()).unwrap_err().status(), Status::INVALID_ARGUMENT);
    assert_eq!(ctx.tune(LINE, quick().budget(Duration::ZERO)).unwrap_err().status(), Status::INVALID_ARGUMENT);
    Ok(())
}

#[test]
fn progress_stops_the_tuning_and_its_panic_is_a_status() -> Result<()> {
    let ctx = Context::on(DeviceChoice::Host)?;
    let mut asked = 0;
    let stop = |_| {
        asked += 1;
        ControlFlow::Break(())
    };
    let info = ctx.tune(LINE, quick().progress(stop))?;
    assert_eq!((asked, info.adopted, info.reason.as_str()), (1, false, "it was stopped"));

    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    let error = ctx.tune(LINE, quick().progress(|done| panic!("at {}", done > 0.0))).unwrap_err();
    set_hook(hook);
    assert_eq!((error.status(), error.sentence()), (Status::PANICKED, "a callback panicked: at true"));
    ctx.status()
}
