//! Every operation, blocking and on a stream, on the default device.
use gpumem::*;

fn context() -> Context {
    Context::new().expect("libgpumem.so is found by GPUMEM_LIBRARY or by the loader")
}

fn status<T: std::fmt::Debug>(result: Result<T>) -> Status {
    result.unwrap_err().status()
}

#[test]
fn reduces() -> Result<()> {
    let ctx = context();
    let x: Vec<i32> = (-10..100).collect();
    assert_eq!(ctx.reduce(&x, Op::Sum)?, x.iter().map(|&v| v as i64).sum::<i64>());
    assert_eq!(ctx.reduce(View::from(&x).step_by(7), Op::Sum)?, x.iter().step_by(7).map(|&v| v as i64).sum::<i64>());
    assert_eq!(ctx.min_max(&x)?, (-10, 99));
    assert_eq!(ctx.argreduce(&x[20..], Extreme::Max)?, (99, 89));
    assert_eq!(ctx.argreduce(&x[20..], Extreme::MaxAbs)?, (99, 89));
    assert_eq!(ctx.reduce(&[3u8, 4], Op::SumSquares)?, 25u64);
    assert_eq!(ctx.reduce(&[3i8, -4], Op::Prod)?, -12);
    let gaps = [f32::NAN, 3.0, f32::NAN, -1.0];
    assert_eq!((ctx.reduce(&gaps, Op::SumValid)?, ctx.reduce(&gaps, Op::CountValid)?), (2.0, 2.0));
    assert_eq!(ctx.argreduce(&gaps, Extreme::MinValid)?, (-1.0, 3));
    assert_eq!(ctx.reduce(&[F16(0x3c00), F16(0x4000)], Op::Sum)?, 3.0);
    assert_eq!(ctx.reduce(&[Bf16(0x3f80); 5], Op::Sum)?, 5.0);
    assert_eq!(ctx.reduce(&[1.0f64, 1e16, -1e16], Op::SumCompensated)?, 1.0);
    assert_eq!(ctx.reduce(&Vec::<f32>::new(), Op::Sum)?, 0.0);
    assert_eq!(ctx.dot_order_free(&[1.0f32, 2.0], &[3.0, 4.0])?, 11.0);
    assert_eq!((ctx.dot(&[1.0f32, 2.0], &[3.0, 4.0])?, ctx.nrm2(&[3.0f64, 4.0])?), (11.0, 5.0));
    assert_eq!(status(ctx.reduce(&[0i8; 0], Op::Min)), Status::EMPTY);
    assert_eq!(status(ctx.reduce(&[i64::MAX, 1], Op::Sum)), Status::OVERFLOW);
    assert_eq!(status(ctx.reduce(&x, Op::MinMax)), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.dot(&[1.0], &[1.0, 2.0])), Status::INVALID_ARGUMENT);
    Ok(())
}

#[test]
fn reduces_views() -> Result<()> {
    let ctx = context();
    let x: Vec<f32> = (0..20).map(|v| v as f32).collect();
    let inside = View::from(&x).slice(6..);
    let layout = Array::new(&[2, 3]).strides(&[5, 1]);
    assert_eq!(ctx.reduce_view(inside, layout, Op::Sum)?, (6 + 7 + 8 + 11 + 12 + 13) as f64);
    assert_eq!(ctx.argreduce_view(inside, layout, Extreme::Max)?, (13.0, 5));
    assert_eq!(ctx.dot_view(inside, layout, &[2.0f32; 6], Array::new(&[2, 3]))?, 2.0 * 57.0);
    assert_eq!(ctx.nrm2_view(&[3.0f64, 0.0, 4.0], Array::new(&[2]).strides(&[2]))?, 5.0);
    assert_eq!(status(ctx.reduce_view(inside, Array::new(&[3, 5]), Op::Sum)), Status::OUT_OF_RANGE);
    assert_eq!(status(ctx.reduce_view(inside, layout, Op::MinMax)), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.dot_view(inside, layout, &x, Array::new(&[6]))), Status::INVALID_ARGUMENT);
    Ok(())
}

#[test]
fn reduces_lines_and_segments() -> Result<()> {
    let ctx = context();
    let x = [1i64, 2, 3, 4, i64::MAX, 6];
    let mut rows = [7i64; 2];
    let missing = ctx.reduce_axis(&x, Matrix::new(2, 3), Axis::Rows, Op::Sum, &mut rows)?;
    assert_eq!((missing, rows), (Several::Missing(Status::OVERFLOW), [6, 0]));
    assert_eq!(status(missing.all()), Status::OVERFLOW);
    let mut cols = [0i64; 2];
    ctx.reduce_axis(&x, Matrix::new(2, 2).ld(3), Axis::Cols, Op::Max, &mut cols)?.all()?;
    assert_eq!(cols, [4, i64::MAX]);
    let mut places = [9i64; 2];
    ctx.argreduce_axis(&x, Matrix::new(2, 3), Axis::Rows, Extreme::Max, &mut cols, &mut places)?.all()?;
    assert_eq!((cols, places), ([3, i64::MAX], [2, 1]));
    let few = ctx.argreduce_axis(&x, Matrix::new(2, 3), Axis::Cols, Extreme::Max, &mut cols, &mut places);
    assert_eq!(status(few), Status::OUT_OF_RANGE);
    let mut ends = [0i64; 8];
    let two = Matrix::new(1, 2).batches(4, 1);
    ctx.reduce_axis(&x, two, Axis::Rows, Op::MinMax, &mut ends)?.all()?;
    assert_eq!(ends, [1, 2, 2, 3, 3, 4, 4, i64::MAX]);
    let grid = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let (mut exact, mut rounded) = ([0.0f64; 2], [0.0f32; 4]);
    ctx.reduce_axes(&grid, Array::new(&[2, 2, 2]), &[0, 2], Op::Sum, &mut exact)?.all()?;
    assert_eq!(exact, [14.0, 22.0]);
    ctx.reduce_axes(&grid, Array::new(&[2, 2, 2]), &[1], Op::Sum, &mut rounded)?.all()?;
    assert_eq!(rounded, [4.0, 6.0, 12.0, 14.0]);
    ctx.reduce_axes(&grid, Array::new(&[2, 2]).strides(&[4, 1]), &[0], Op::MinMax, &mut rounded)?.all()?;
    assert_eq!(rounded, [1.0, 5.0, 2.0, 6.0]);
    let axes = Array::new(&[4, 2]);
    assert_eq!(status(ctx.reduce_axes(&grid, axes, &[1], Op::Sum, &mut exact)), Status::OUT_OF_RANGE);
    assert_eq!(status(ctx.reduce_axes(&grid, axes, &[2], Op::Sum, &mut exact)), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.reduce_axes(&grid, axes, &[0], Op::Sum, &mut [0i64; 2])), Status::INVALID_ARGUMENT);
    let mut sums = [0.0; 3];
    let mut scanned = [0i64; 3];
    ctx.scan(Op::Sum, true, &[3i32, 1, 4], &mut scanned)?;
    assert_eq!(scanned, [0, 3, 4]);
    let mut totals = [0i64; 6];
    let (wide, tall) = (Array::new(&[2, 3]), Array::new(&[2, 3]).strides(&[1, 2]));
    ctx.scan_axis(Op::Sum, false, &[1i32, 2, 3, 4, 5, 6], wide, 0, &mut totals, wide)?;
    assert_eq!(totals, [1, 2, 3, 5, 7, 9]);
    ctx.scan_axis(Op::Sum, false, &[1i32, 2, 3, 4, 5, 6], wide, 1, &mut totals, tall)?;
    assert_eq!(totals, [1, 4, 3, 9, 6, 15]);
    let other = Array::new(&[3, 2]);
    assert_eq!(
        status(ctx.scan_axis(Op::Sum, false, &[1i32; 6], wide, 1, &mut totals, other)),
        Status::INVALID_ARGUMENT
    );
    assert_eq!(status(ctx.scan_axis(Op::Sum, false, &[1i32; 6], wide, 2, &mut totals, wide)), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.scan_axis(Op::Sum, false, &[1i32; 5], wide, 0, &mut totals, wide)), Status::OUT_OF_RANGE);
    ctx.scan_segments(Op::Sum, false, &[3i32, 1, 4], &[0, 2, 3], &mut scanned)?;
    assert_eq!(scanned, [3, 4, 4]);
    assert_eq!(status(ctx.scan_segments(Op::Sum, false, &[3i32], &[], &mut scanned[..1])), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.scan_segments(Op::Sum, false, &[3i32], &[0, 1], &mut scanned)), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.scan_segments(Op::Sum, false, &[3i32], &[0, 9], &mut scanned[..1])), Status::OUT_OF_RANGE);
    ctx.reduce_segments(&[1.0f32, 2.0, 3.0], &[0, 2, 2, 3], Op::Sum, &mut sums)?.all()?;
    assert_eq!(sums, [3.0, 0.0, 3.0]);
    let none = ctx.reduce_segments(&[1.0f32, 2.0, 3.0], &[0, 2, 2, 3], Op::Min, &mut sums)?;
    assert_eq!((none, sums), (Several::Missing(Status::EMPTY), [1.0, 0.0, 3.0]));
    assert_eq!(ctx.reduce_segments(&[1.0f32], &[0, 9], Op::Sum, &mut sums)?, Several::Missing(Status::OUT_OF_RANGE));
    ctx.reduce_by_index(&[1.0f32, 2.0, 4.0], &[2i32, 0, 2], Op::Sum, &mut sums)?.all()?;
    assert_eq!(sums, [2.0, 0.0, 5.0]);
    let none = ctx.reduce_by_index(&[1.0f32, 2.0, 4.0], &[2u64, 0, 2], Op::Max, &mut sums)?;
    assert_eq!((none, sums), (Several::Missing(Status::EMPTY), [2.0, 0.0, 4.0]));
    assert_eq!(status(ctx.reduce_by_index(&[1.0f32], &[3i64], Op::Sum, &mut sums)), Status::OUT_OF_RANGE);
    let mut rows_of_bins = [9.0; 6];
    let pairs = [1.0f32, 2.0, 4.0, 8.0];
    ctx.reduce_rows_by_index(&pairs, Matrix::new(2, 2), &[2i32, 0], Op::Sum, &mut rows_of_bins)?.all()?;
    assert_eq!(rows_of_bins, [4.0, 8.0, 0.0, 0.0, 1.0, 2.0]);
    let wrong = ctx.reduce_rows_by_index(&pairs, Matrix::new(2, 2), &[2i32], Op::Sum, &mut rows_of_bins);
    assert_eq!(status(wrong), Status::INVALID_ARGUMENT);
    let mut counts = [9i64; 3];
    ctx.count_by_index(&[2i32, 0, 2], &mut counts)?;
    assert_eq!(counts, [1, 0, 2]);
    assert_eq!(status(ctx.reduce_axis(&x, Matrix::new(2, 4), Axis::Rows, Op::Sum, &mut rows)), Status::OUT_OF_RANGE);
    assert_eq!(status(ctx.reduce_axis(&x, Matrix::new(3, 2), Axis::Rows, Op::Sum, &mut rows)), Status::OUT_OF_RANGE);
    let endless = Matrix::new(usize::MAX, 2);
    assert_eq!(status(ctx.reduce_axis(&x, endless, Axis::Rows, Op::Sum, &mut rows)), Status::OUT_OF_RANGE);
    Ok(())
}

#[test]
fn moves() -> Result<()> {
    let ctx = context();
    let x: Vec<u16> = (0..24).collect();
    let d = ctx.device_from(&x)?;
    assert_eq!(ctx.to_vec(&d)?, x);
    assert_eq!(ctx.to_vec(d.view().slice(3..5))?, [3, 4]);
    let mut y = vec![0u16; 12];
    ctx.copy_matrix(&mut y, Matrix::new(3, 2).ld(4), &x, Matrix::new(3, 2).ld(8))?;
    assert_eq!(y, [0, 1, 0, 0, 8, 9, 0, 0, 16, 17, 0, 0]);
    let (to, of) = (Matrix::new(2, 2).batches(2, 4), Matrix::new(2, 2).ld(4).batches(2, 12));
    ctx.copy_matrix(&mut y[..8], to, &d, of)?;
    assert_eq!(y[..8], [0, 1, 4, 5, 12, 13, 16, 17]);
    ctx.fill(&mut y, 5)?;
    ctx.fill_matrix(&mut y, Matrix::new(2, 2).ld(6), 9)?;
    assert_eq!(y, [9, 9, 5, 5, 5, 5, 9, 9, 5, 5, 5, 5]);
    let mut triples = [[0u16; 3]; 2];
    assert_eq!(status(ctx.fill(&mut triples, [1, 2, 3])), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.copy(&mut y, &x)), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.copy_matrix(&mut y, Matrix::new(4, 4), &x, Matrix::new(4, 4))), Status::OUT_OF_RANGE);
    Ok(())
}

#[test]
fn rearranges() -> Result<()> {
    let ctx = context();
    let x: Vec<i32> = (0..12).collect();
    let mut y = vec![0; 12];
    ctx.transpose(&x, Matrix::new(3, 4), &mut y, Matrix::new(4, 3))?;
    assert_eq!(y, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
    ctx.transpose(&x, Matrix::new(2, 3).batches(2, 6), &mut y, Matrix::new(3, 2).batches(2, 6))?;
    assert_eq!(y, [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]);
    let mut d = ctx.device_from(&x)?;
    ctx.transpose_in_place(&mut d, Matrix::new(3, 4))?;
    assert_eq!(ctx.to_vec(&d)?[..3], [0, 4, 8]);
    ctx.permute(&[2, 0, 1], &x, Array::new(&[2, 3, 2]), &mut y, None)?;
    assert_eq!(y, [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]);
    let mut wide = vec![-1; 16];
    ctx.permute(&[1, 0], &x, Array::new(&[2, 2]).strides(&[6, 1]), &mut wide, Some(&[8, 2]))?;
    assert_eq!((wide[0], wide[2], wide[8], wide[10], wide[1]), (0, 6, 1, 7, -1));
    assert_eq!(status(ctx.permute(&[0, 2], &x, Array::new(&[2, 2]), &mut y, None)), Status::INVALID_ARGUMENT);
    let mut packed = vec![-1; 4];
    let square = Array::new(&[2, 1]);
    ctx.copy_boxes(&x, &[(1, square.strides(&[4, 1])), (10, square)], &mut packed, &[(0, square), (2, square)])?;
    assert_eq!(packed, [1, 5, 10, 11]);
    let outside = ctx.copy_boxes(&x, &[(11, square)], &mut packed, &[(0, square)]).unwrap_err();
    assert!(outside.status() == Status::OUT_OF_RANGE && outside.sentence().contains("from[0]"), "{}", outside);
    let unequal = ctx.copy_boxes(&x, &[(0, square)], &mut packed, &[(0, Array::new(&[1, 2]))]);
    assert_eq!(status(unequal), Status::INVALID_ARGUMENT);
    let mut rows = vec![0; 6];
    ctx.gather(&x, Matrix::new(4, 3), &[3u32, 0], &mut rows, Matrix::new(2, 3))?;
    assert_eq!(rows, [9, 10, 11, 0, 1, 2]);
    let bad = ctx.gather(&x, Matrix::new(4, 3), &[0i64, -1], &mut rows, Matrix::new(2, 3)).unwrap_err();
    assert!(bad.status() == Status::OUT_OF_RANGE && bad.sentence().contains("index[1] is -1"), "{}", bad);
    ctx.scatter(&rows, Matrix::new(2, 3), &[1i32, 2], &mut y, Matrix::new(4, 3))?;
    assert_eq!(y[3..9], rows);
    Ok(())
}

#[test]
fn selects_rows() -> Result<()> {
    let ctx = context();
    let (x, mask) = ([1i32, 2, 3, 4, 5, 6], [255u8, 0, 1]);
    let mut rows = [0; 4];
    assert_eq!(ctx.select(&x, Matrix::new(3, 2), &mask, &mut rows, Matrix::new(2, 2))?, 2);
    assert_eq!(rows, [1, 2, 5, 6]);
    let mut places = [7u32; 3];
    assert_eq!(ctx.select_places(&mask, &mut places)?, 2);
    assert_eq!(places, [0, 2, 7]);
    assert_eq!(ctx.select_places(&mask, &mut [0i64; 0])?, 2);
    let few = ctx.select(&x, Matrix::new(3, 2), &mask, &mut rows, Matrix::new(1, 2)).unwrap_err();
    assert!(few.status() == Status::OUT_OF_RANGE && few.sentence().contains("dst_rows is 1"), "{}", few);
    let bad = ctx.select(&x, Matrix::new(2, 2), &mask, &mut rows, Matrix::new(2, 2));
    assert_eq!(status(bad.map(|_| ())), Status::INVALID_ARGUMENT);
    Ok(())
}

#[test]
fn takes_the_sizes_of_the_machine() -> Result<()> {
    let ctx = context();
    let order: Vec<usize> = vec![2, 0, 1];
    let mut sorted = [0isize; 3];
    ctx.scatter(&[30isize, -10, 20], Matrix::new(3, 1), &order, &mut sorted, Matrix::new(3, 1))?;
    assert_eq!(sorted, [-10, 20, 30]);
    assert_eq!((ctx.reduce(&sorted, Op::Min)?, ctx.reduce(&[usize::MAX], Op::Max)?), (-10, u64::MAX));
    assert_eq!((isize::DTYPE, usize::DTYPE), (Dtype::I64, Dtype::U64));
    Ok(())
}

#[test]
fn computes() -> Result<()> {
    let ctx = context();
    let (x, mut y, mut z) = ([1.0f32, 2.0], [10.0f32, 20.0], [0.0f32; 2]);
    ctx.axpby(2.0, &x, 1.0, &y, &mut z)?;
    assert_eq!(z, [12.0, 24.0]);
    ctx.axpby_in_place(-1.0, &x, 1.0, &mut y)?;
    assert_eq!(y, [9.0, 18.0]);
    let mut d = [0.0f64; 2];
    ctx.scale(3.0, &[1.0, f64::INFINITY], &mut d)?;
    assert_eq!(d, [3.0, f64::INFINITY]);
    assert_eq!(status(ctx.axpby(1.0, &x, 1.0, &y[..1], &mut z)), Status::INVALID_ARGUMENT);
    let mut bytes = [0i8; 4];
    ctx.convert(&[2.5f32, -3.0, 300.0, f32::NAN], &mut bytes)?;
    assert_eq!(bytes, [2, -3, 127, 0]);
    assert_eq!(status(ctx.convert(&x, &mut bytes)), Status::INVALID_ARGUMENT);
    let (keys, mut sorted, mut order) = ([3.0f64, -1.0, 2.0, -1.0], [0.0; 4], [0u32; 4]);
    ctx.sort_with_order(&keys, &mut sorted, &mut order, false)?;
    assert_eq!((sorted, order), ([-1.0, -1.0, 2.0, 3.0], [1, 3, 2, 0]));
    ctx.argsort(&keys, &mut order, true)?;
    assert_eq!(order, [0, 2, 1, 3]);
    ctx.sort_in_place(&mut sorted, true)?;
    assert_eq!(sorted, [3.0, 2.0, -1.0, -1.0]);
    ctx.sort(&keys, &mut sorted, false)?;
    assert_eq!(sorted, [-1.0, -1.0, 2.0, 3.0]);
    assert_eq!(status(ctx.argsort(&keys, &mut order[..3], false)), Status::INVALID_ARGUMENT);
    ctx.sort_segments(&keys, &[0i64, 2, 4], &mut sorted, false)?;
    assert_eq!(sorted, [-1.0, 3.0, -1.0, 2.0]);
    ctx.argsort_segments(&keys, &[0i64, 2, 4], &mut order, true)?;
    assert_eq!(order, [0, 1, 2, 3]);
    assert_eq!(status(ctx.sort_segments(&keys, &[0i64, 5], &mut sorted, false)), Status::OUT_OF_RANGE);
    let image: Vec<u8> = (0..16).collect();
    let mut small = [0u8; 4];
    ctx.resize(Filter::Nearest, &image, Image::new(4, 4, 1), &mut small, Image::new(2, 2, 1))?;
    assert_eq!(small, [5, 7, 13, 15]);
    let part = View::from(&image).slice(5..);
    ctx.resize(Filter::Bilinear, part, Image::new(2, 2, 1).pitch(4), &mut small, Image::new(2, 2, 1))?;
    assert_eq!(small, [5, 6, 9, 10]);
    let mut batch = [0u8; 9];
    let images = [(View::from(&image), Image::new(4, 4, 1)), (part, Image::new(2, 2, 1).pitch(4))];
    ctx.resize_batch(Filter::Nearest, &images, &mut batch, Image::new(2, 2, 1), 5)?;
    assert_eq!(batch, [5, 7, 13, 15, 0, 5, 6, 9, 10]);
    let refused = ctx.resize_batch(Filter::Nearest, &images, &mut batch, Image::new(2, 2, 1), 6);
    assert_eq!(status(refused), Status::OUT_OF_RANGE);
    Ok(())
}

#[test]
fn computes_over_views() -> Result<()> {
    let ctx = context();
    let u: Vec<f64> = (0..20).map(|v| (v * v) as f64).collect(); // 4 x 5
    let mut v = vec![-1.0; 20];
    let at = |first: usize| View::from(&u).slice(first..);
    let (extents, strides) = ([2, 3], [5, 1]);
    let terms: [(f64, View<f64>, &[usize]); 3] =
        [(0.5, at(6), &strides), (0.25, at(1), &strides), (-2.0, at(7), &strides)];
    ctx.lincomb(&extents, &terms, &mut v[6..], &strides)?;
    let stencil = |i: usize| 0.5 * u[i] + 0.25 * u[i - 5] - 2.0 * u[i + 1];
    assert_eq!(v[..8], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, stencil(6), stencil(7)]);
    assert_eq!((v[9], v[11], v[13], v[14]), (-1.0, stencil(11), stencil(13), -1.0));
    let (x, mut z) = ([1.0f32, 2.0, 3.0, 4.0], [0.0f32; 4]);
    ctx.multiply(&[2, 2], &x, &[2, 1], &x, &[0, 2], &mut z, &[1, 2])?;
    assert_eq!(z, [1.0, 3.0, 6.0, 12.0]);
    ctx.lincomb(&[4], &[(3.0, View::from(&x), &[1])], &mut z, &[1])?;
    assert_eq!(z, [3.0, 6.0, 9.0, 12.0]);
    let numbers = [6.0f64, 4.0];
    let (above, below) = (View::from(&numbers[..1]), View::from(&numbers[1..]));
    ctx.lincomb_at(&[4], &[((4.0, Some(above), Some(below)), View::from(&x), &[1])], &mut z, &[1])?;
    assert_eq!(z, [6.0, 12.0, 18.0, 24.0]);
    let (mut sums, of_x) = ([0.0; 2], Some((View::from(&x), &[1][..])));
    ctx.lincomb_dot(
        &[4],
        &[((4.0, Some(above), Some(below)), View::from(&x), &[1])],
        &mut z,
        &[1],
        &[of_x, None],
        &mut sums,
    )?;
    assert_eq!((z, sums), ([6.0, 12.0, 18.0, 24.0], [180.0, 1080.0]));
    assert_eq!(
        status(ctx.lincomb_dot(
            &[4],
            &[((1.0, None, None), View::from(&x), &[1])],
            &mut z,
            &[1],
            &[None],
            &mut sums[..0]
        )),
        Status::OUT_OF_RANGE
    );
    let both = Some(View::from(&numbers));
    assert_eq!(
        status(ctx.lincomb_at(&[4], &[((1.0, both, None), View::from(&x), &[1])], &mut z, &[1])),
        Status::INVALID_ARGUMENT
    );
    assert_eq!(status(ctx.lincomb(&[4, 3], &terms, &mut v, &strides)), Status::OUT_OF_RANGE);
    assert_eq!(status(ctx.lincomb(&extents, &terms, &mut v[13..], &strides)), Status::OUT_OF_RANGE);
    assert_eq!(status(ctx.lincomb(&extents, &terms, &mut v, &[1])), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.lincomb(&extents, &terms[..0], &mut v, &strides)), Status::INVALID_ARGUMENT);
    assert_eq!(status(ctx.multiply(&[5], &x, &[0], &x, &[1], &mut z, &[1])), Status::OUT_OF_RANGE);
    assert_eq!(status(ctx.multiply(&[1 << 62, 2], &x, &[8, 0], &x, &[0, 0], &mut z, &[0, 1])), Status::OUT_OF_RANGE);
    Ok(())
}

/// The same in a scope. Results are in pinned memory, which every device accepts.
#[test]
fn enqueues_all_of_them() -> Result<()> {
    let ctx = context();
    let x = ctx.device_from(&(0..12).map(|v| v as f32).collect::<Vec<_>>())?;
    let offsets = ctx.device_from(&[0i64, 4, 12])?;
    let one = ctx.device_from(&[1f32])?;
    let index = ctx.device_from(&[2u32, 0])?;
    let (mut y, mut rows) = (ctx.device_buffer::<f32>(12)?, ctx.device_buffer::<f32>(6)?);
    let mut numbers = ctx.pinned_from(&[0f64; 16])?;
    let mut place = ctx.pinned_from(&[0i64])?;
    let mut word = ctx.pinned_from(&[-1i32; 4])?;
    let stream = ctx.stream()?;
    stream.scope(|s| -> Result<()> {
        let (x, y, rows, n) = (s.share(&x), s.lend(&mut y), s.lend(&mut rows), s.lend(&mut numbers));
        let (word, offsets, index) = (s.lend(&mut word), s.share(&offsets), s.share(&index));
        s.reduce(x, Op::Sum, n.slice(0..1), Some(word))?;
        s.argreduce(x, Extreme::Max, n.slice(1..2), s.lend(&mut place))?;
        s.dot_order_free(x, x, n.slice(2..3))?;
        s.dot(x, x, n.slice(2..3))?;
        s.nrm2(x.slice(3..5), n.slice(3..4))?;
        s.reduce_axis(x, Matrix::new(3, 4), Axis::Rows, Op::Sum, n.slice(4..7), Some(word.slice(1..)))?;
        s.reduce_segments(x, offsets, Op::Max, n.slice(7..9), None)?;
        s.transpose(x, Matrix::new(3, 4), y, Matrix::new(4, 3))?;
        s.transpose_in_place(y, Matrix::new(4, 3))?;
        s.axpby_in_place(1.0, x, 1.0, y)?; // 2 x
        s.reduce(y, Op::Sum, n.slice(9..10), None)?;
        s.permute(&[1, 0], x, Array::new(&[3, 4]), y, None)?;
        s.axpby(2.0, x, 0.0, y, y)?;
        s.lincomb(&[12], &[(0.5, y.into(), &[1]), (0.5, y.into(), &[1])], y, &[1])?;
        s.multiply(&[3, 4], y, &[4, 1], s.share(&one), &[0, 0], y, &[4, 1])?;
        s.gather(y, Matrix::new(4, 3), index, rows, Matrix::new(2, 3), Some(word.slice(2..)))?;
        s.fill_matrix(y, Matrix::new(4, 1).ld(3), 1.0)?;
        s.scatter(rows, Matrix::new(2, 3), index, y, Matrix::new(4, 3), Some(word.slice(3..)))?;
        s.copy_matrix(y, Matrix::new(2, 3).ld(6), rows, Matrix::new(2, 3))?;
        s.copy_matrix(y, Matrix::new(1, 3).batches(2, 3), rows, Matrix::new(1, 3).batches(2, 3))?;
        s.reduce(rows, Op::Sum, n.slice(10..11), None)?;
        s.resize(Filter::Nearest, x, Image::new(3, 4, 1), y, Image::new(3, 4, 1))?;
        s.reduce(y, Op::Sum, n.slice(11..12), None)?;
        s.fill(y, 3.0)?;
        s.copy(y.slice(0..6), rows)?;
        s.reduce(y, Op::Sum, n.slice(12..13), None)?;
        s.resize_batch(Filter::Nearest, &[(x, Image::new(3, 4, 1))], y, Image::new(3, 4, 1), 0)?;
        s.reduce(y, Op::Sum, n.slice(11..12), None)
    })??;
    assert_eq!(numbers[..4], [66.0, 11.0, 506.0, 5.0]);
    assert_eq!(numbers[4..9], [6.0, 22.0, 38.0, 3.0, 11.0]);
    assert_eq!(numbers[9..13], [132.0, 48.0, 66.0, 66.0]);
    assert_eq!((place[0], &word[..]), (11, &[0, 0, 0, 0][..]));
    Ok(())
}
