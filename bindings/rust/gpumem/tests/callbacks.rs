//! Callbacks from any thread. A panic in one is a status.
use gpumem::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn the_log_tells_what_is_left() -> Result<()> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = told.clone();
    let ctx = Context::builder().log(move |level, text| log.lock().unwrap().push((level, text.to_string()))).build()?;
    std::mem::forget(ctx.pinned_buffer::<u8>(100)?); // keeps the context alive
    let mut p = std::ptr::null_mut();
    let api = sys::open().unwrap();
    unsafe {
        // As the last owner would.
        assert_eq!((api.gpumem_alloc_pinned)(ctx.as_raw(), 50, &mut p), sys::GPUMEM_OK);
        assert_eq!((api.gpumem_ctx_destroy)(ctx.as_raw()), sys::GPUMEM_OK);
    }
    std::mem::forget(ctx);
    let told = told.lock().unwrap();
    assert!(told.iter().any(|(_, text)| text.contains("50 bytes")), "{:?}", told);
    Ok(())
}

fn sum_with(pool: impl Fn(i64, &(dyn Fn(i64) + Sync)) + Send + Sync + 'static) -> (Context, Result<i64>) {
    let ctx = Context::builder().device(DeviceChoice::Host).host_threads(4).parallel_for(pool).build().unwrap();
    let sum = ctx.reduce(&vec![1i32; 1 << 22], Op::Sum);
    (ctx, sum)
}

#[test]
fn work_runs_in_the_programs_pool() {
    let counter = Arc::new(AtomicUsize::new(0));
    let seen = counter.clone();
    let (_, sum) = sum_with(move |count, task| {
        std::thread::scope(|scope| {
            for index in 0..count {
                let seen = &seen;
                scope.spawn(move || {
                    seen.fetch_add(1, Ordering::SeqCst);
                    task(index)
                });
            }
        })
    });
    assert_eq!(sum.unwrap(), 1 << 22);
    assert!(counter.load(Ordering::SeqCst) > 1);
}

#[test]
fn a_careless_pool_does_no_harm() {
    let (_, sum) = sum_with(|count, task| [0, 0, -1, count].iter().for_each(|&index| task(index)));
    assert_eq!(sum.unwrap(), 1 << 22);
}

#[test]
fn a_panic_is_a_status() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let (ctx, sum) = sum_with(|_, _| panic!("the pool is closed"));
    std::panic::set_hook(hook);
    let error = sum.unwrap_err();
    assert_eq!(error.status(), Status::PANICKED);
    assert!(error.sentence().contains("the pool is closed") && format!("{}", error).starts_with("PANICKED"));
    assert_eq!(ctx.reduce(&[1i32, 2], Op::Sum).unwrap(), 3); // small work needs no pool
}
