//! Arrays over several members of one and two processes, compared with the same array in one piece.
use gpumem::*;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::ops::Range;
use std::slice::from_ref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn context() -> Context {
    Context::new().expect("libgpumem.so is found by GPUMEM_LIBRARY or by the loader")
}

fn refused<T>(result: Result<T>, status: Status, word: &str) {
    let error = result.err().expect("this should have been refused");
    assert!(error.status() == status && error.sentence().contains(word), "{}, expected {:?}: {}", error, status, word);
}

/// Slabs of the first axis, one per member.
fn slabs<T: Plain>(extents: &[usize], members: usize) -> Layout {
    (0..members).fold(Layout::new::<T>(extents), |layout, m| {
        let (mut lower, mut upper) = (vec![0; extents.len()], extents.to_vec());
        lower[0] = extents[0] * m / members;
        upper[0] = extents[0] * (m + 1) / members;
        layout.block(Block::new(&lower, &upper))
    })
}

/// Numbers whose sums are rounded.
fn terms(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 / (1 + i * 7919 % 1013) as f64 - 0.3).collect()
}

#[test]
fn exchanges_axes() -> Result<()> {
    let ctx = context();
    let dist = Dist::new(&vec![ctx.clone(); 3])?;
    let x: Vec<i32> = (0..120).collect();
    let (mut y, mut expected) = (vec![-1; 120], vec![-1; 120]);
    let plan =
        dist.plan_redistribute(&slabs::<i32>(&[6, 4, 5], 3), &slabs::<i32>(&[5, 6, 4], 3), Some(&[2, 0, 1]), None)?;
    let src = [View::from(&x[..40]), View::from(&x[40..80]), View::from(&x[80..])];
    let (first, rest) = y.split_at_mut(24);
    let (second, third) = rest.split_at_mut(48);
    plan.execute(&src, &mut [first.into(), second.into(), third.into()])?;
    ctx.permute(&[2, 0, 1], &x, Array::new(&[6, 4, 5]), &mut expected, None)?;
    assert_eq!(y, expected);
    assert!(plan.explain(Format::Text)?.contains("bytes") && plan.explain(Format::Json)?.starts_with('{'));
    Ok(())
}

#[test]
fn places_blocks_anywhere() -> Result<()> {
    let ctx = context();
    let dist = Dist::new(&vec![ctx; 3])?;
    let x: Vec<u64> = (0..24).collect(); // 4 x 6, of member 2
    let whole = Layout::new::<u64>(&[4, 6]).block(Block::new(&[0, 0], &[4, 6]).member(2));
    let parts = Layout::new::<u64>(&[4, 6])
        .block(Block::new(&[0, 0], &[2, 3]).member(1))
        .block(Block::new(&[2, 3], &[4, 6]).member(1).offset(6))
        .block(Block::new(&[0, 3], &[2, 6]).member(0).offset(1).strides(&[6, 2]))
        .block(Block::new(&[2, 0], &[4, 3]).member(0).offset(12).strides(&[6, 2]))
        .block(Block::new(&[0, 0], &[0, 6]).member(2));
    let (mut apart, mut packed) = (vec![99; 24], vec![99; 12]);
    let none: &[u64] = &[];
    let plan = dist.plan_redistribute(&whole, &parts, None, Some(1 << 20))?;
    plan.execute(
        &[none.into(), none.into(), View::from(&x)],
        &mut [ViewMut::from(&mut apart), ViewMut::from(&mut packed), ViewMut::from(&mut [])],
    )?;
    assert_eq!(packed, [0, 1, 2, 6, 7, 8, 15, 16, 17, 21, 22, 23]);
    assert_eq!(apart[..12], [99, 3, 99, 4, 99, 5, 99, 9, 99, 10, 99, 11]);
    assert_eq!(apart[12..], [12, 99, 13, 99, 14, 99, 18, 99, 19, 99, 20, 99]);
    Ok(())
}

/// Boxes with ghost cells on all sides, of a 5 x 3 array whose element (i, j) is 10 i + j, counted from 1.
fn with_ghosts() -> (Layout, [Vec<i64>; 3]) {
    let rows = [0..2, 2..3, 3..5];
    let memory = rows.clone().map(|rows| {
        let mut block = vec![-1; (rows.len() + 2) * 5];
        for (i, row) in rows.enumerate() {
            for col in 0..3 {
                block[(i + 1) * 5 + col + 1] = 10 * (row + 1) as i64 + col as i64 + 1;
            }
        }
        block
    });
    let block = |rows: Range<usize>| Block::new(&[rows.start, 0], &[rows.end, 3]).ghosts(&[1, 1], &[1, 1]);
    let layout = rows.into_iter().fold(Layout::new::<i64>(&[5, 3]), |layout, rows| layout.block(block(rows)));
    (layout, memory)
}

#[test]
fn fills_halos() -> Result<()> {
    let ctx = context();
    let dist = Dist::new(&vec![ctx; 3])?;
    let (layout, [mut u, mut v, mut w]) = with_ghosts();
    let plan = dist.plan_halo(&layout, &[1, 1], &[1, 1], &[false, true], None)?;
    plan.execute(&mut [(&mut u).into(), (&mut v).into(), (&mut w).into()])?;
    assert_eq!(u, [-1, -1, -1, -1, -1, 13, 11, 12, 13, 11, 23, 21, 22, 23, 21, 33, 31, 32, 33, 31]);
    assert_eq!(v, [23, 21, 22, 23, 21, 33, 31, 32, 33, 31, 43, 41, 42, 43, 41]);
    assert_eq!(w, [33, 31, 32, 33, 31, 43, 41, 42, 43, 41, 53, 51, 52, 53, 51, -1, -1, -1, -1, -1]);
    let (_, [mut u, mut v, mut w]) = with_ghosts();
    let plan = dist.plan_halo(&layout, &[1, 1], &[1, 1], &[true, true], None)?;
    plan.execute(&mut [(&mut u).into(), (&mut v).into(), (&mut w).into()])?;
    assert_eq!((&u[..5], &w[15..]), (&[53, 51, 52, 53, 51][..], &[13, 11, 12, 13, 11][..])); // corners too
    Ok(())
}

#[test]
fn has_the_same_bits() -> Result<()> {
    let ctx = context();
    let dist = Dist::new(&vec![ctx.clone(); 2])?;
    let (rows, cols) = (70, 300);
    let (x, y) = (terms(rows * cols), terms(rows * cols + 1)[1..].to_vec());
    let by_rows = dist.plan_reduce(&slabs::<f64>(&[rows, cols], 2), None)?;
    let (x_slabs, y_slabs) = (x.split_at(35 * cols), y.split_at(35 * cols));
    let (x_slabs, y_slabs): ([View<f64>; 2], [View<f64>; 2]) =
        ([x_slabs.0.into(), x_slabs.1.into()], [y_slabs.0.into(), y_slabs.1.into()]);
    let columns = Layout::new::<f64>(&[rows, cols])
        .block(Block::new(&[0, 0], &[rows, 100]).ghosts(&[0, 0], &[0, 200]))
        .block(Block::new(&[0, 100], &[rows, cols]).ghosts(&[0, 100], &[0, 0]));
    let by_columns = dist.plan_reduce(&columns, None)?;
    for (plan, x_parts, y_parts) in [(by_rows, x_slabs, y_slabs), (by_columns, [(&x).into(); 2], [(&y).into(); 2])] {
        for op in [Op::Sum, Op::SumSquares, Op::MaxAbs, Op::SumCompensated, Op::Prod] {
            assert_eq!(plan.reduce(&x_parts, op)?.to_bits(), ctx.reduce(&x, op)?.to_bits(), "{:?}", op);
        }
        assert_eq!(plan.dot(&x_parts, &y_parts)?.to_bits(), ctx.dot(&x, &y)?.to_bits());
        let in_any_order = plan.dot_order_free(&x_parts, &y_parts)?;
        assert_eq!(in_any_order.to_bits(), ctx.dot_order_free(&x, &y)?.to_bits());
        assert_eq!(plan.nrm2(&x_parts)?.to_bits(), ctx.nrm2(&x)?.to_bits());
        assert_eq!(plan.min_max(&x_parts)?, ctx.min_max(&x)?);
        assert_eq!(plan.argreduce(&x_parts, Extreme::Max)?, ctx.argreduce(&x, Extreme::Max)?);
        refused(plan.reduce(&x_parts, Op::MinMax), Status::INVALID_ARGUMENT, "min_max()");
    }
    let counts = [u64::MAX, 1];
    let plan = dist.plan_reduce(&slabs::<u64>(&[2], 2), None)?;
    let parts = [View::from(&counts[..1]), View::from(&counts[1..])];
    assert_eq!(plan.argreduce(&parts, Extreme::Min)?, (1, 1));
    refused(plan.reduce(&parts, Op::Sum), Status::OVERFLOW, "");
    Ok(())
}

#[test]
fn enqueues_between_what_the_streams_hold() -> Result<()> {
    const N: usize = 1 << 18;
    let contexts = [context(), context()];
    let dist = Dist::new(&contexts)?;
    let block = |m: usize| Block::new(&[m * N], &[(m + 1) * N]).ghosts(&[1], &[1]);
    let ring = Layout::new::<i32>(&[2 * N]).block(block(0)).block(block(1));
    let halo = dist.plan_halo(&ring, &[1], &[1], &[true], None)?;
    let (s, t) = (contexts[0].stream()?, contexts[1].stream()?);
    let x = s.give(contexts[0].device_from(&vec![0i32; N + 2])?);
    let y = t.give(contexts[1].device_from(&vec![0i32; N + 2])?);
    for turn in 0..5 {
        s.fill(x.lent().slice(1..=N), 10 * turn)?;
        t.fill(y.lent().slice(1..=N), 10 * turn + 1)?;
        halo.execute_async(&[&s, &t], &[x.lent(), y.lent()])?;
    }
    drop(halo); // enqueued work does not need it
    let (x, y) = (contexts[0].to_vec(&s.take(x)?)?, contexts[1].to_vec(&t.take(y)?)?);
    assert_eq!((x[0], x[1], x[N], x[N + 1]), (41, 40, 40, 41));
    assert_eq!((y[0], y[1], y[N], y[N + 1]), (40, 41, 41, 40));
    Ok(())
}

#[test]
fn enqueues_on_borrowed_memory() -> Result<()> {
    let ctx = context();
    let dist = Dist::new(&[ctx.clone(), ctx.clone()])?;
    let turn = dist.plan_redistribute(&slabs::<i32>(&[2, 3], 2), &slabs::<i32>(&[3, 2], 2), Some(&[1, 0]), None)?;
    let (x, z) = (ctx.device_from(&[1, 2, 3])?, ctx.device_from(&[4, 5, 6])?);
    let (mut y, mut w) = (ctx.device_from(&[0, 0])?, ctx.device_from(&[0; 4])?);
    let other = ctx.stream()?;
    ctx.scope(|s| {
        other.scope(|t| {
            let (from, to) = ([s.share(&x), t.share(&z)], [s.lend(&mut y), t.lend(&mut w)]);
            turn.execute_async(&[s, t], &from, &to).unwrap();
            let swapped = turn.execute_async(&[t, s], &from, &to);
            refused(swapped, Status::INVALID_ARGUMENT, "src was given to another stream or scope");
            refused(turn.execute_async(&[s], &from, &to), Status::INVALID_ARGUMENT, "one stream or scope of each");
            refused(turn.execute_async(&[s, t], &from, &to[..1]), Status::INVALID_ARGUMENT, "dst has memory of 1 ");
        })
    })??;
    assert_eq!((ctx.to_vec(&y)?, ctx.to_vec(&w)?), (vec![1, 4], vec![2, 5, 3, 6]));
    let foreign = context().stream()?;
    let (a, b) = (foreign.give(vec![0i32; 3]), foreign.give(vec![0i32; 4]));
    let (from, to) = ([a.lent().into(), a.lent().into()], [b.lent(), b.lent()]);
    refused(turn.execute_async(&[&foreign, &foreign], &from, &to), Status::INVALID_ARGUMENT, "each member's context");
    Ok(())
}

#[test]
fn refuses_layouts() -> Result<()> {
    let dist = Dist::new(&[context(), context()])?;
    let wrong = |layout: Layout, word: &str| refused(dist.plan_reduce(&layout, None), Status::INVALID_ARGUMENT, word);
    let of = || Layout::new::<f64>(&[10, 10]);
    wrong(of().block(Block::new(&[0], &[10])), "block 0 does not have one value per axis");
    wrong(of().block(Block::new(&[0, 0], &[10, 10]).ghosts(&[1], &[1, 1])), "one value per axis");
    wrong(of().block(Block::new(&[0, 0], &[10, 10]).strides(&[1])), "one value per axis");
    wrong(of().block(Block::new(&[0, 0], &[10, 10]).strides(&[1, usize::MAX])), "more memory than is possible");
    wrong(of().block(Block::new(&[0, 0], &[10, 10]).ghosts(&[usize::MAX / 2, 0], &[0, 0])), "more memory");
    wrong(of().block(Block::new(&[0, 0], &[10, 10]).offset(usize::MAX / 2)), "more memory");
    wrong(of().block(Block::new(&[0, 0], &[10, 11])), "upper is 11");
    wrong(of().block(Block::new(&[0, 7], &[10, 3])), "upper is 3");
    wrong(of().block(Block::new(&[0, 0], &[10, 10]).member(2)), "member 2");
    wrong(of().block(Block::new(&[0, 0], &[6, 10])).block(Block::new(&[5, 0], &[10, 10])), "shares elements with");
    wrong(of(), "without holes");
    wrong(Layout::new::<[u8; 3]>(&[4]), "element_bytes");
    wrong(Layout::new::<u8>(&[]), "rank is 0");
    let whole = slabs::<f64>(&[10, 10], 2);
    refused(dist.plan_redistribute(&whole, &whole, Some(&[0]), None), Status::INVALID_ARGUMENT, "order has 1 axes");
    refused(dist.plan_redistribute(&whole, &whole, Some(&[0, 2]), None), Status::INVALID_ARGUMENT, "order[1] is 2");
    refused(dist.plan_reduce(&whole, Some(1)), Status::INVALID_ARGUMENT, "workspace_bytes");
    let halo = |low: &[usize], periodic| dist.plan_halo(&whole, low, &[0, 0], periodic, None);
    refused(halo(&[0], &[true, true]), Status::INVALID_ARGUMENT, "one value per axis");
    refused(halo(&[1, 0], &[false, true]), Status::INVALID_ARGUMENT, "block 1 has no room"); // the first needs none
    refused(halo(&[usize::MAX / 2, 0], &[true, true]), Status::INVALID_ARGUMENT, "block 0 needs more memory");
    refused(Dist::new(&[]), Status::INVALID_ARGUMENT, "members is 0");
    Ok(())
}

#[test]
fn refuses_memory() -> Result<()> {
    let dist = Dist::new(&[context(), context()])?;
    let layout = slabs::<f64>(&[4], 2);
    let (plan, sum) = (dist.plan_redistribute(&layout, &layout, None, None)?, dist.plan_reduce(&layout, None)?);
    let (x, mut y, mut z) = ([1.0f64; 4], [0.0f64; 2], [0.0f64; 2]);
    let parts = [View::from(&x[..2]), View::from(&x[2..])];
    refused(
        plan.execute(&parts[..1], &mut [(&mut y).into(), (&mut z).into()]),
        Status::INVALID_ARGUMENT,
        "src has memory of 1 ",
    );
    let short = plan.execute(&parts, &mut [(&mut y).into(), (&mut z[..1]).into()]);
    refused(short, Status::OUT_OF_RANGE, "dst[1] has 1 elements; its layout needs 2");
    let singles = [View::from(&[1.0f32; 2]), View::from(&[1.0f32; 2])];
    let other = "elements of f32; expected f64, the type of its layout";
    refused(sum.nrm2(&singles), Status::INVALID_ARGUMENT, other);
    let (mut s, mut t) = ([0.0f32; 2], [0.0f32; 2]);
    refused(plan.execute(&singles, &mut [(&mut s).into(), (&mut t).into()]), Status::INVALID_ARGUMENT, other);
    let integers = [View::from(&[1i64, 2]), View::from(&[3i64, 4])]; // of the same size
    refused(
        sum.reduce(&integers, Op::Sum),
        Status::INVALID_ARGUMENT,
        "x has elements of i64; expected f64, the type of its layout",
    );
    let halo = dist.plan_halo(&slabs::<f32>(&[4], 2), &[0], &[0], &[false], None)?;
    let (mut u, mut v) = ([1u32; 2], [1u32; 2]);
    let halved = halo.execute(&mut [(&mut u).into(), (&mut v).into()]);
    refused(halved, Status::INVALID_ARGUMENT, "x has elements of u32; expected f32, the type of its layout");
    let turned = dist.plan_redistribute(&layout, &slabs::<u64>(&[4], 2), None, None);
    refused(turned, Status::INVALID_ARGUMENT, "src has elements of f64, but dst of u64; expected the same");
    let sizes = dist.plan_reduce(&slabs::<u64>(&[4], 2), None)?;
    assert_eq!(sizes.reduce(&[View::from(&[1usize, 2]), View::from(&[3usize, 4])], Op::Sum)?, 10);
    refused(sum.reduce(&[parts[0].step_by(1), View::from(&x).step_by(2)], Op::Sum), Status::INVALID_ARGUMENT, "stride");
    refused(sum.dot(&parts, &parts[1..]), Status::INVALID_ARGUMENT, "y has memory of 1 ");
    Ok(())
}

#[test]
fn plans_outlive_what_they_were_made_of() -> Result<()> {
    let ctx = context();
    let dist = Dist::new(from_ref(&ctx))?;
    let plan = dist.plan_reduce(&slabs::<i32>(&[3], 1), None)?;
    drop((ctx, dist));
    assert_eq!(plan.reduce(&[View::from(&[1i32, 2, 3])], Op::Sum)?, 6);
    Ok(())
}

#[test]
fn says_what_sticks() -> Result<()> {
    let ctx = context();
    let dist = Dist::new(&[ctx.clone(), ctx.clone()])?;
    let plan = dist.plan_reduce(&slabs::<i32>(&[2], 2), None)?;
    let info = dist.info()?;
    assert_eq!((info.rank, info.size, info.first_member, info.members, info.all_members), (0, 1, 0, 2, 2));
    assert_eq!((info.status, info.staged_pairs), (Status::OK, 0));
    dist.abort()?;
    assert_eq!(dist.info()?.status, Status::PEER_LOST);
    refused(
        plan.reduce(&[View::from(&[1i32]), View::from(&[2i32])], Op::Sum),
        Status::PEER_LOST,
        "gpumem_dist_abort()",
    );
    drop((dist, plan));
    assert_eq!(Dist::new(&[ctx])?.info()?.status, Status::OK);
    Ok(())
}

/// A message between two processes.
type Sent = Arc<Mutex<HashMap<(i32, i32), VecDeque<Vec<u8>>>>>;

/// Messages between threads that act as processes. It is the `user` of each process's transport.
struct Wire {
    rank: i32,
    sent: Sent,
    waiting: RefCell<HashMap<i32, VecDeque<*mut Receive>>>, // in the order of their begin
    released: Arc<AtomicUsize>,
}

struct Receive {
    p: *mut u8,
    bytes: usize,
    from: i32,
    outcome: Option<i32>,
}

unsafe extern "C" fn send(user: *mut c_void, p: *const c_void, bytes: i64, to: i32, request: *mut *mut c_void) -> i32 {
    let wire = &*(user as *const Wire);
    let message = std::slice::from_raw_parts(p as *const u8, bytes as usize).to_vec();
    wire.sent.lock().unwrap().entry((wire.rank, to)).or_default().push_back(message);
    *request = std::ptr::null_mut();
    0
}

unsafe extern "C" fn receive(user: *mut c_void, p: *mut c_void, bytes: i64, from: i32, to: *mut *mut c_void) -> i32 {
    let wire = &*(user as *const Wire);
    let request = Box::into_raw(Box::new(Receive { p: p.cast(), bytes: bytes as usize, from, outcome: None }));
    wire.waiting.borrow_mut().entry(from).or_default().push_back(request);
    *to = request.cast();
    0
}

unsafe extern "C" fn test(user: *mut c_void, request: *mut c_void, done: *mut i32) -> i32 {
    let wire = &*(user as *const Wire);
    *done = 1;
    if request.is_null() {
        return 0;
    }
    let request = request as *mut Receive;
    let (mut sent, mut waiting) = (wire.sent.lock().unwrap(), wire.waiting.borrow_mut());
    let messages = sent.entry(((*request).from, wire.rank)).or_default();
    let waiting = waiting.entry((*request).from).or_default();
    while (*request).outcome.is_none() && !messages.is_empty() {
        let (first, message) = (&mut *waiting.pop_front().unwrap(), messages.pop_front().unwrap());
        let fits = message.len() <= first.bytes;
        first.p.copy_from_nonoverlapping(message.as_ptr(), message.len().min(first.bytes));
        first.outcome = Some(if fits { 0 } else { 1 });
    }
    match (*request).outcome {
        Some(outcome) => {
            drop(Box::from_raw(request));
            outcome
        }
        None => {
            *done = 0;
            0
        }
    }
}

unsafe extern "C" fn release(user: *mut c_void) {
    let wire = Box::from_raw(user as *mut Wire);
    wire.released.fetch_add(1, Ordering::SeqCst);
}

fn transport(rank: i32, size: i32, sent: &Sent, released: &Arc<AtomicUsize>) -> Result<sys::gpumem_dist_transport> {
    let mut transport = Dist::transport()?;
    let (sent, released, waiting) = (sent.clone(), released.clone(), RefCell::default());
    transport.user = Box::into_raw(Box::new(Wire { rank, sent, waiting, released })).cast();
    (transport.rank, transport.size) = (rank, size);
    transport.isend = Some(send);
    transport.irecv = Some(receive);
    transport.test = Some(test);
    transport.release = Some(release);
    Ok(transport)
}

#[test]
fn spreads_over_processes() -> Result<()> {
    let (sent, released) = (Arc::default(), Arc::default());
    let x = terms(5000);
    let process = |rank: usize| -> Result<f64> {
        let ctx = context();
        let transport = transport(rank as i32, 2, &sent, &released)?;
        let dist = unsafe { Dist::with_transport(from_ref(&ctx), transport, Some(Duration::from_secs(20))) }?;
        let (mine, theirs) = (rank * 2500..(rank + 1) * 2500, (1 - rank) * 2500..(2 - rank) * 2500);
        let layout = |range: Range<usize>| Layout::new::<f64>(&[5000]).block(Block::new(&[range.start], &[range.end]));
        let swap = dist.plan_redistribute(&layout(mine.clone()), &layout(theirs.clone()), None, None)?;
        let mut y = vec![0.0; 2500];
        swap.execute(&[View::from(&x[mine.clone()])], &mut [ViewMut::from(&mut y)])?;
        assert_eq!(y, x[theirs]);
        let stream = ctx.stream()?;
        let (from, to) = (stream.give(y.clone()), stream.give(y));
        let enqueued = swap.execute_async(&[&stream], &[from.lent().into()], &[to.lent()]);
        if ctx.device()?.is_cuda {
            refused(enqueued, Status::UNSUPPORTED, "device");
        } else {
            enqueued?;
            stream.take(from)?;
            assert_eq!(stream.take(to)?, x[mine.clone()]);
        }
        assert_eq!((dist.info()?.rank, dist.info()?.first_member), (rank, rank));
        dist.plan_reduce(&layout(mine.clone()), None)?.reduce(&[View::from(&x[mine])], Op::Sum)
    };
    let sums = std::thread::scope(|s| {
        let other = s.spawn(|| process(1));
        (process(0), other.join().unwrap())
    });
    let sum = context().reduce(&x, Op::Sum)?.to_bits();
    assert_eq!((sums.0?.to_bits(), sums.1?.to_bits()), (sum, sum));
    assert_eq!(released.load(Ordering::SeqCst), 2);
    let alone = unsafe { Dist::with_transport(&[], transport(0, 1, &sent, &released)?, None) };
    refused(alone, Status::INVALID_ARGUMENT, "members is 0");
    assert_eq!(released.load(Ordering::SeqCst), 3);
    Ok(())
}

/// Found by the crate before the library is called. The other process learns of it at once, as of the library's refusals:
/// they go on after plans and reductions that send no elements, and else the connection is lost.
fn make_mistakes(sent: &Sent, rank: usize, last: usize) -> Result<()> {
    let ctx = context();
    let transport = transport(rank as i32, 2, sent, &Arc::default())?;
    let dist = unsafe { Dist::with_transport(from_ref(&ctx), transport, Some(Duration::from_secs(20))) }?;
    let layout = |lower, upper| Layout::new::<f64>(&[10]).block(Block::new(&[lower], &[upper]));
    let (mine, whole) = (layout(5 * rank, 5 * rank + 5), layout(0, 10));
    let sums = dist.plan_reduce(&mine, None)?;
    let gather = dist.plan_redistribute(&mine, &whole, None, None)?;
    for culprit in 0..2 {
        let mistaken = rank == culprit;
        let x = vec![1.0; if mistaken { 4 } else { 5 }];
        let refused = |result: Result<()>| match mistaken {
            true => assert!(result.is_err()),
            false => refused(result, Status::INVALID_ARGUMENT, "process"),
        };
        refused(sums.reduce(&[View::from(&x)], Op::Max).map(drop));
        refused(sums.min_max(&[View::from(&x)]).map(drop));
        refused(sums.argreduce(&[View::from(&x)], Extreme::Max).map(drop));
        let low: &[usize] = if mistaken { &[0, 0] } else { &[0] };
        refused(dist.plan_halo(&mine, low, &[0], &[false], None).map(drop));
        let order: &[usize] = if mistaken { &[0, 1] } else { &[0] };
        refused(dist.plan_redistribute(&mine, &whole, Some(order), None).map(drop));
    }
    let (x, mut y) = (vec![1.0; 5 - rank], [0.0; 10]);
    assert_eq!(sums.reduce::<f64>(&[View::from(&y[..5])], Op::Max)?, 0.0);
    let found = match last {
        0 => sums.reduce(&[View::from(&x)], Op::Sum).map(drop),
        1 => sums.dot(&[View::from(&x)], &[View::from(&x)]).map(drop),
        2 => sums.nrm2(&[View::from(&x)]).map(drop),
        _ => gather.execute(&[View::from(&x)], &mut [ViewMut::from(&mut y)]),
    };
    let status = found.expect_err("this should have been refused").status();
    assert!(rank == 1 || [Status::INVALID_ARGUMENT, Status::PEER_LOST].contains(&status), "{}: {:?}", last, status);
    Ok(())
}

#[test]
fn tells_the_other_process_of_mistakes() -> Result<()> {
    let start = Instant::now();
    for last in 0..4 {
        let sent: Sent = Arc::default();
        let results = std::thread::scope(|s| {
            let other = s.spawn(|| make_mistakes(&sent, 1, last));
            (make_mistakes(&sent, 0, last), other.join().unwrap())
        });
        results.0.and(results.1)?;
    }
    assert!(start.elapsed() < Duration::from_secs(15));
    Ok(())
}
