//! Functions, comparisons, choices and scaled conversions, blocking and on a stream, on the default device.
use gpumem::*;

fn context() -> Context {
    Context::new().expect("libgpumem.so is found by GPUMEM_LIBRARY or by the loader")
}

fn status<T: std::fmt::Debug>(result: Result<T>) -> Status {
    result.unwrap_err().status()
}

#[test]
fn maps() -> Result<()> {
    let ctx = context();
    let (x, y, mut z) = ([7i32, -7, 5, i32::MIN], [2i32, 2, -3, -1], [0i32; 4]);
    ctx.map_unary(Unary::Absolute, &[4], &x, &[1], &mut z, &[1])?;
    assert_eq!(z, x.map(|v| v.wrapping_abs()));
    ctx.map_binary(Binary::Remainder, &[4], &x, &[1], &y, &[1], &mut z, &[1])?;
    assert_eq!(z, [1, -1, 2, 0]);
    ctx.map_binary(Binary::ShiftLeft, &[2, 2], &x, &[1, 2], &[3], &[0, 0], &mut z, &[2, 1])?; // a transpose, times 8
    assert_eq!(z, [56, 40, -56, 0]);
    let mut roots = [-1.0f64; 9];
    ctx.map_unary(Unary::SquareRoot, &[2, 2, 2], &[4.0, 9.0], &[0, 1, 0], &mut roots, &[4, 2, 1])?;
    assert_eq!(roots, [2.0, 2.0, 3.0, 3.0, 2.0, 2.0, 3.0, 3.0, -1.0]);
    let by_zero = ctx.map_binary(Binary::Divide, &[2], &x, &[1], &[2, 0], &[1], &mut z, &[1]);
    assert_eq!((status(by_zero), &z[..2]), (Status::OUT_OF_RANGE, &[3, 0][..]));
    assert_eq!(status(ctx.map_unary(Unary::Reciprocal, &[4], &x, &[1], &mut z, &[1])), Status::UNSUPPORTED);
    assert_eq!(status(ctx.map_unary(Unary::Negate, &[5], &x, &[1], &mut z, &[0])), Status::OUT_OF_RANGE);
    assert_eq!(status(ctx.map_unary(Unary::Negate, &[4], &x, &[1], &mut z, &[2])), Status::OUT_OF_RANGE);
    assert_eq!(status(ctx.map_unary(Unary::Negate, &[4], &x, &[], &mut z, &[1])), Status::INVALID_ARGUMENT);
    let short = ctx.map_binary(Binary::Add, &[4], &x, &[1], &y[..3], &[1], &mut z, &[1]);
    assert!(short.unwrap_err().sentence().starts_with("y has 3 elements"));
    Ok(())
}

#[test]
fn names_each_function() -> Result<()> {
    let ctx = context();
    let mut z = [0f64];
    for (op, result) in [
        (Unary::Negate, 2.5),
        (Unary::Absolute, 2.5),
        (Unary::Reciprocal, -0.4),
        (Unary::Floor, -3.0),
        (Unary::Ceil, -2.0),
        (Unary::Truncate, -2.0),
        (Unary::Round, -2.0),
    ] {
        ctx.map_unary(op, &[1], &[-2.5], &[1], &mut z, &[1])?;
        assert_eq!(z, [result], "{:?}", op);
    }
    for (op, result) in [
        (Binary::Add, -0.5),
        (Binary::Subtract, -4.5),
        (Binary::Multiply, -5.0),
        (Binary::Divide, -1.25),
        (Binary::Minimum, -2.5),
        (Binary::Maximum, 2.0),
        (Binary::CopySign, 2.5),
    ] {
        ctx.map_binary(op, &[1], &[-2.5], &[1], &[2.0], &[1], &mut z, &[1])?;
        assert_eq!(z, [result], "{:?}", op);
    }
    let mut bits = [0i8];
    ctx.map_unary(Unary::Not, &[1], &[12i8], &[1], &mut bits, &[1])?;
    assert_eq!(bits, [!12]);
    for (op, result) in
        [(Binary::And, 8), (Binary::Or, 14), (Binary::Xor, 6), (Binary::ShiftLeft, 0), (Binary::ShiftRight, 0)]
    {
        ctx.map_binary(op, &[1], &[12], &[1], &[10i8], &[1], &mut bits, &[1])?;
        assert_eq!(bits, [result], "{:?}", op);
    }
    Ok(())
}

#[test]
fn compares() -> Result<()> {
    let ctx = context();
    let (x, mut mask) = ([1.0f32, 2.0, f32::NAN, 3.0], [9u8; 4]);
    for (op, holds) in [
        (Comparison::Less, [1, 0, 0, 0]),
        (Comparison::LessEqual, [1, 1, 0, 0]),
        (Comparison::Equal, [0, 1, 0, 0]),
        (Comparison::NotEqual, [1, 0, 1, 1]),
        (Comparison::GreaterEqual, [0, 1, 0, 1]),
        (Comparison::Greater, [0, 0, 0, 1]),
    ] {
        ctx.compare(op, &[4], &x, &[1], &[2.0], &[0], &mut mask, &[1])?;
        assert_eq!(mask, holds, "{:?}", op);
    }
    let outside = ctx.compare(Comparison::Less, &[4], &x, &[1], &x, &[1], &mut mask[..3], &[1]);
    assert_eq!(status(outside), Status::OUT_OF_RANGE);
    Ok(())
}

#[test]
fn chooses() -> Result<()> {
    let ctx = context();
    let (mask, x, y) = ([255u8, 0], [1u128, 2, 3, 4, 5, 6], [1u128 << 100]);
    let mut z = [0u128; 6];
    ctx.where_mask(&[3, 2], &mask, &[0, 1], &x, &[2, 1], &y, &[0, 0], &mut z, &[2, 1])?;
    assert_eq!(z, [1, y[0], 3, y[0], 5, y[0]]);
    let triples = [[1u8, 2, 3]];
    let odd = ctx.where_mask(&[1], &mask, &[1], &triples, &[1], &triples, &[1], &mut [[0u8; 3]], &[1]);
    assert_eq!(status(odd), Status::INVALID_ARGUMENT);
    let short = ctx.where_mask(&[3], &mask, &[1], &x, &[1], &x, &[1], &mut z, &[1]);
    assert_eq!(status(short), Status::OUT_OF_RANGE);
    Ok(())
}

#[test]
fn converts_with_a_scale() -> Result<()> {
    let ctx = context();
    let (packed, mut degrees) = ([100i16, 200, -40, 0, 8, 16], [0f32; 6]);
    let (scale, offset) = ([0.5, 2.0], [4.0]);
    let per_row = Some((View::from(&scale), &[1, 0][..]));
    ctx.convert_scaled(
        &[2, 3],
        &packed,
        &[3, 1],
        per_row,
        Some((View::from(&offset), &[])),
        0.0,
        &mut degrees,
        &[3, 1],
    )?;
    assert_eq!(degrees, [52.0, 102.0, -18.0, 8.0, 24.0, 40.0]);
    degrees[1] = f32::NAN;
    let mut bytes = [0u8; 6];
    ctx.convert_scaled(&[6], &degrees, &[1], None, None, 77.0, &mut bytes, &[1])?;
    assert_eq!(bytes, [52, 77, 0, 8, 24, 40]);
    let short = ctx.convert_scaled(&[2, 3], &packed, &[3, 1], per_row, None, 0.0, &mut degrees[..5], &[3, 1]);
    assert_eq!(status(short), Status::OUT_OF_RANGE);
    let none = Some((View::from(&scale[..0]), &[][..]));
    let empty = ctx.convert_scaled(&[6], &packed, &[1], none, None, 0.0, &mut degrees, &[1]);
    assert_eq!(status(empty), Status::OUT_OF_RANGE);
    Ok(())
}

#[test]
fn enqueues_all_of_them() -> Result<()> {
    let ctx = context();
    let x = ctx.device_from(&[5i32, -1, 3, 8, 0, -6])?;
    let zero = ctx.device_from(&[0i32])?;
    let factors = ctx.device_from(&[2.0, 3.0])?;
    let (mut y, mut mask) = (ctx.device_buffer::<i32>(6)?, ctx.device_buffer::<u8>(6)?);
    let (mut kept, mut scaled) = (ctx.device_buffer::<i32>(6)?, ctx.device_buffer::<i32>(6)?);
    let mut word = ctx.pinned_from(&[-1i32])?;
    let stream = ctx.stream()?;
    stream.scope(|s| -> Result<()> {
        let (x, y, zero, factors) = (s.share(&x), s.lend(&mut y), s.share(&zero), s.share(&factors));
        let (mask, kept, scaled) = (s.lend(&mut mask), s.lend(&mut kept), s.lend(&mut scaled));
        let (scale, offset) = (Some((factors, &[][..])), Some((factors.slice(1..), &[][..])));
        s.compare(Comparison::Greater, &[6], x, &[1], zero, &[0], mask, &[1])?;
        s.where_mask(&[6], mask, &[1], x, &[1], zero, &[0], kept, &[1])?;
        s.convert_scaled(&[6], x, &[1], scale, offset, 0.0, y, &[1])?;
        s.map_unary(Unary::Negate, &[6], y, &[1], scaled, &[1])?;
        s.map_binary(Binary::Divide, &[6], y, &[1], x, &[1], y, &[1], Some(s.lend(&mut word)))
    })??;
    let mut found = [[0i32; 6]; 2];
    ctx.copy(&mut found[0], &kept)?;
    ctx.copy(&mut found[1], &scaled)?;
    assert_eq!(found, [[5, 0, 3, 8, 0, 0], [-16, -4, -12, -22, -6, 6]]);
    assert_eq!(word[0], Status::OUT_OF_RANGE.code());
    Ok(())
}
