//! Buffers, streams that own memory, scopes, events, and the state after a leak or a panic.
use gpumem::*;
use std::ops::Bound;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::NonNull;

fn context() -> Context {
    Context::new().expect("libgpumem.so is found by GPUMEM_LIBRARY or by the loader")
}

#[test]
fn the_device_says_why() -> Result<()> {
    let ctx = context();
    let info = ctx.device()?;
    assert!(!info.name.is_empty() && !info.reason.is_empty());
    assert_eq!(info.is_cuda, info.device >= 0);
    assert!(device_info(DeviceChoice::Host)?.device == -1 && device_count()? >= 0 && version()? >= (0, 1, 0));
    let missing = Context::on(DeviceChoice::Ordinal(4711)).err().expect("there are not so many");
    assert!(missing.status() != Status::OK && !missing.sentence().is_empty());
    assert_eq!(Context::builder().device(DeviceChoice::Host).host_threads(1).build()?.device()?.multiprocessors, 1);
    ctx.status()?;
    ctx.warmup()
}

#[test]
fn buffers_keep_their_context() -> Result<()> {
    let ctx = context();
    let (mut pinned, stream) = (ctx.pinned_from(&[1i32, 2, 3])?, ctx.stream()?);
    let event = ctx.event()?;
    drop(ctx);
    pinned[0] = 7;
    stream.record(&event)?;
    event.synchronize()?;
    assert_eq!(stream.context().reduce(&pinned, Op::Sum)?, 12);
    Ok(())
}

#[test]
fn buffers_are_freed() -> Result<()> {
    let ctx = context();
    let (d, p, m) = (ctx.device_buffer::<u8>(100)?, ctx.pinned_buffer::<u8>(10)?, ctx.managed_buffer::<u8>(1)?);
    d.label("d")?;
    let stats = ctx.memory_stats()?;
    assert_eq!((stats.device_bytes, stats.pinned_bytes, stats.managed_bytes), (100, 10, 1));
    drop((d, p, m));
    let stats = ctx.memory_stats()?;
    assert_eq!((stats.device_blocks, stats.pinned_blocks, stats.managed_blocks, stats.frees), (0, 0, 0, 3));
    let none = ctx.pinned_buffer::<u64>(0)?;
    assert!(none.is_empty() && none.iter().count() == 0);
    assert_eq!(ctx.device_buffer::<u64>(usize::MAX / 4).err().unwrap().status(), Status::INVALID_ARGUMENT);
    assert_eq!(ctx.device_buffer::<u8>(1 << 50).err().unwrap().status(), Status::OUT_OF_MEMORY);
    ctx.memory_trim(0)
}

fn panics<R>(body: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(body)).is_err()
}

/// Also in a release build, whose sums overflow silently.
#[test]
fn ranges_that_leave_usize_panic() -> Result<()> {
    const FROM: (Bound<usize>, Bound<usize>) = (Bound::Excluded(usize::MAX), Bound::Unbounded);
    let (ctx, mut x) = (context(), [1i32, 2, 3]);
    assert!(panics(|| View::from(&x).slice(..=usize::MAX)) && panics(|| View::from(&x).slice(FROM)));
    assert!(panics(|| View::from(&x).slice(..4)) && panics(|| View::from(&x).slice(usize::MAX..)));
    assert!(panics(|| ViewMut::from(&mut x).slice(..=usize::MAX)) && panics(|| ViewMut::from(&mut x).slice(FROM)));
    let stream = ctx.stream()?;
    let given = stream.give(x.to_vec());
    let lent = Lent::from(given.lent());
    assert!(panics(|| lent.slice(..=usize::MAX)) && panics(|| lent.slice(FROM)));
    assert!(panics(|| given.lent().slice(..=usize::MAX)) && panics(|| given.lent().slice(FROM)));
    // Elements without bytes can be that many.
    let most = unsafe { View::<[u8; 0]>::from_raw_parts(NonNull::dangling().as_ptr(), usize::MAX) };
    assert!(panics(|| most.slice(..=usize::MAX)) && panics(|| most.slice(FROM)));
    assert_eq!((most.slice(1..).len(), most.step_by(2).len()), (usize::MAX - 1, 1 << (usize::BITS - 1)));
    stream.take(given).map(drop)
}

/// As for an iterator, a step past the end leaves the first element.
#[test]
fn steps_may_be_as_large_as_usize() -> Result<()> {
    let (ctx, x) = (context(), [5i32, 6, 7]);
    for step in [2, 3, 4, usize::MAX / 2, usize::MAX] {
        let every = View::from(&x).step_by(step);
        assert_eq!(every.len(), x.iter().step_by(step).count());
        assert_eq!(ctx.reduce(every, Op::Sum)?, x.iter().step_by(step).map(|&v| i64::from(v)).sum::<i64>());
        assert!(View::from(&x[..0]).step_by(step).is_empty());
    }
    assert!(panics(|| View::from(&x).step_by(0)));
    Ok(())
}

#[test]
fn managed_memory_is_a_slice_where_it_may_be() -> Result<()> {
    let ctx = context();
    let mut m = ctx.managed_buffer::<f64>(100)?;
    ctx.fill(&mut m, 2.0)?;
    if ctx.device()?.concurrent_managed {
        m.as_mut_slice()?[3] = 5.0;
        assert_eq!(m.as_slice()?.iter().sum::<f64>(), 203.0);
        ctx.prefetch(&m, DeviceChoice::Best)?;
        ctx.advise(&m, Advice::ReadMostly, DeviceChoice::Best)?;
        assert!(ctx.managed(&m)?.host_bytes >= 0);
        let stream = ctx.stream()?;
        let given = stream.give(m);
        stream.prefetch(&given, DeviceChoice::Host)?;
        assert_eq!(ctx.reduce(&stream.take(given)?, Op::Sum)?, 203.0);
    } else {
        assert_eq!(m.as_slice().unwrap_err().status(), Status::UNSUPPORTED);
    }
    Ok(())
}

#[test]
fn a_stream_owns_what_it_works_on() -> Result<()> {
    let ctx = context();
    let (stream, other) = (ctx.stream()?, ctx.stream()?);
    let x = stream.give(vec![1i64; 1 << 20]);
    let total = stream.give(ctx.pinned_from(&[0i64])?);
    stream.reduce(&x, Op::Sum, &total, None)?;
    let foreign = other.reduce(&x, Op::Sum, &total, None).unwrap_err();
    assert_eq!(foreign.status(), Status::INVALID_ARGUMENT);
    assert_eq!(stream.take(total)?[0], 1 << 20);
    assert!(stream.is_done()? && x.len() == 1 << 20 && !x.is_empty());
    stream.free(x)?;
    let scratch = stream.alloc::<f32>(1000, 4096)?;
    stream.fill(&scratch, 1.5)?;
    let sum = stream.give(ctx.pinned_from(&[0f64])?);
    stream.reduce(&scratch, Op::Sum, &sum, None)?;
    stream.free(scratch)?; // after the sum
    assert_eq!(stream.take(sum)?[0], 1500.0);
    let lent = stream.give(ctx.device_from(&[1u8; 10])?);
    stream.fill(lent.lent().slice(2..4), 0)?;
    stream.free(lent)?;
    assert_eq!(ctx.memory_stats()?.device_blocks, 0);
    let mine = stream.give(vec![0u8; 3]);
    assert!(other.take(mine).is_err());
    Ok(())
}

#[test]
fn a_leaked_stream_leaks_its_memory() -> Result<()> {
    let ctx = context();
    let stream = ctx.stream()?;
    let total = stream.give(ctx.pinned_from(&[0f64])?);
    let x = stream.give(vec![1.0f64; 1 << 22]);
    stream.reduce(&x, Op::Sum, &total, None)?;
    std::mem::forget(stream); // nothing is freed during the work
    ctx.synchronize()?;
    assert_eq!(ctx.memory_stats()?.pinned_blocks, 1);
    std::mem::forget(ctx); // its stream is alive, so the context can't end
    Ok(())
}

#[test]
fn a_scope_waits_when_it_panics() -> Result<()> {
    let ctx = context();
    let x = vec![3u32; 1 << 22];
    let mut total = ctx.pinned_from(&[0u64])?;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        ctx.scope(|s| {
            s.reduce(s.share(&x), Op::Sum, s.lend(&mut total), None).unwrap();
            panic!("on purpose");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(total[0], 3 << 22);
    let (mut a, mut b) = (vec![0u8; 8], vec![0u8; 8]);
    ctx.scope(|s| {
        let a = s.lend(&mut a);
        let inner = ctx.scope(|t| t.copy(t.lend(&mut b), a).map_err(|error| error.status()));
        assert_eq!(inner.unwrap().unwrap_err(), Status::INVALID_ARGUMENT); // lent to another scope
    })
}

#[test]
fn events_order_streams() -> Result<()> {
    let ctx = context();
    let (a, b) = (ctx.stream()?, ctx.stream()?);
    let (start, end) = (ctx.event()?, ctx.event()?);
    a.record(&start)?;
    let x = a.alloc::<u8>(1 << 20, 256)?;
    a.fill(&x, 1)?;
    a.record(&end)?;
    b.wait(&end)?;
    end.synchronize()?;
    assert!(end.elapsed_since(&start)?.expect("both are passed").as_secs_f64() < 60.0);
    assert_eq!(end.elapsed_since(&ctx.event()?).unwrap_err().status(), Status::INVALID_ARGUMENT);
    b.synchronize()?;
    assert!(ctx.device()?.is_cuda || unsafe { ctx.wrap_stream(4096 as *mut _) }.is_err());
    assert_eq!(ctx.stream()?.native().is_ok(), ctx.device()?.is_cuda);
    unsafe { ctx.wrap_stream(std::ptr::null_mut()) }?.synchronize()
}

#[test]
fn registers_and_asks_about_memory() -> Result<()> {
    let ctx = context();
    let mut mine = ctx.register(vec![1i32; 10000])?;
    mine[0] = 5;
    let info = ctx.pointer(&mine[10])?;
    assert_eq!((info.kind, info.offset_bytes), (MemoryKind::Pinned, 40));
    assert_eq!(ctx.reduce(&mine, Op::Sum)?, 10004);
    ctx.fill(&mut mine, 2)?;
    let (stream, mut copy) = (ctx.stream()?, ctx.register(vec![0i32; 10000])?);
    ctx.scope(|s| s.copy(s.lend(&mut copy), s.share(&mine)))??;
    let given = stream.give(copy);
    stream.fill(given.lent().slice(..1), 5)?;
    mine = stream.take(given)?;
    assert_eq!((mine[0], mine[9999]), (5, 2));
    assert_eq!(mine.into_vec()?[0], 5);
    drop(ctx.register(vec![0u8; 5000])?);
    assert_eq!(ctx.memory_stats()?.registered_ranges, 0);
    let path = std::env::temp_dir().join(format!("gpumem-rust-trace-{}", std::process::id()));
    ctx.memory_trace(path.to_str())?;
    ctx.memory_trace(None)?;
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("gpumem-trace 1"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(ctx.memory_trace(Some("a\0b")).unwrap_err().status(), Status::INVALID_ARGUMENT);
    assert_eq!(ctx.memory_check().unwrap_err().status(), Status::UNSUPPORTED);
    Context::builder().debug_memory(true).strict_host(true).build()?.memory_check()
}

#[test]
fn explains() -> Result<()> {
    let ctx = Context::on(DeviceChoice::Host)?;
    assert!(variants(Family::Reduce)?.contains(&"host_serial"));
    ctx.force(Family::Reduce, Some("host_serial"))?;
    ctx.reduce(&[1u8], Op::Sum)?;
    let line = last_problem()?;
    assert!(line.starts_with("reduce dtype=u8") && ctx.explain(&line, Format::Text)?.contains("host_serial"));
    assert!(ctx.explain(&line, Format::Json)?.starts_with('{'));
    assert_eq!(ctx.force(Family::Reduce, Some("fastest")).unwrap_err().status(), Status::NOT_FOUND);
    ctx.force(Family::Reduce, None)?;
    assert_eq!(format!("{:?}", Status::NOT_FOUND), "NOT_FOUND");
    Context::process_wide(DeviceChoice::Host)?.synchronize()
}
