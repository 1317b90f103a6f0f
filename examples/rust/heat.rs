//! The heat equation on a terrain, by explicit steps with fixed edges. One step is one call.
//! The height of the terrain is the temperature at the start.
//! usage: heat [TERRAIN.npy]    of int16 or int32; by default a small terrain from a formula
use gpumem::{Context, Lent, Matrix};
use std::error::Error;

const STEPS: usize = 500;
const EVERY: usize = 100;

struct Terrain {
    rows: usize,
    cols: usize,
    heights: Vec<i32>,
}

impl Terrain {
    /// A file of NumPy: 10 bytes, then a header text, then the elements. The last two of the 10 bytes are the size of
    /// the header.
    fn read(path: &str) -> Result<Terrain, Box<dyn Error>> {
        let file = std::fs::read(path)?;
        if file.get(..7) != Some(b"\x93NUMPY\x01") || file.len() < 10 {
            return Err("the file is not one of NumPy".into());
        }
        let begin = 10 + usize::from(file[8]) + 256 * usize::from(file[9]);
        let (header, elements) = (file.get(10..begin).ok_or("the file is too short")?, &file[begin..]);
        let header = std::str::from_utf8(header)?;
        let shape = header.split("'shape': (").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or("");
        let shape = shape.split(',').map(|extent| extent.trim().parse::<usize>()).collect::<Result<Vec<_>, _>>()?;
        let heights: Vec<i32> = if header.contains("'<i4'") {
            elements.chunks_exact(4).map(|x| i32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect()
        } else {
            elements.chunks_exact(2).map(|x| i16::from_le_bytes([x[0], x[1]]).into()).collect()
        };
        let known = (header.contains("'<i4'") || header.contains("'<i2'")) && header.contains("'fortran_order': False");
        match shape[..] {
            [rows, cols] if known && rows > 2 && cols > 2 && rows.checked_mul(cols) == Some(heights.len()) => {
                Ok(Terrain { rows, cols, heights })
            }
            _ => Err("the file is not of int16 or int32 in three rows and columns or more".into()),
        }
    }

    fn make() -> Terrain {
        let (rows, cols) = (96, 128);
        let height = |i: usize, j: usize| ((i * i * 7 + j * j * 3 + i * j * 5) % 1009) as i32;
        Terrain { rows, cols, heights: (0..rows * cols).map(|k| height(k / cols, k % cols)).collect() }
    }
}

fn run(ground: &Terrain) -> gpumem::Result<()> {
    let (rows, cols, n) = (ground.rows, ground.cols, ground.rows * ground.cols);
    let ctx = Context::new()?;
    let (steps, copies) = (ctx.stream()?, ctx.stream()?);
    let (mut u, mut v) = (ctx.device_buffer::<f64>(n)?, ctx.device_buffer::<f64>(n)?);
    ctx.convert(&ctx.device_from(&ground.heights)?, &mut u)?; // converts heights to temperatures
    ctx.copy(&mut v, &u)?; // also the edges, which no step writes

    // Each stream owns its memory until the program takes it back. So no events are needed.
    let (mut u, mut v, difference) = (steps.give(u), steps.give(v), steps.give(ctx.device_buffer::<f64>(n)?));
    let mut norm = steps.give(ctx.pinned_buffer::<f64>(1)?);
    let snapshot = copies.give(ctx.pinned_buffer::<f64>(n)?);
    let mut transposed = copies.give(ctx.device_buffer::<f64>(n)?);
    let (inner, strides): ([usize; 2], [usize; 2]) = ([rows - 2, cols - 2], [cols, 1]);
    for step in 1..=STEPS {
        let old = Lent::from(&u);
        let term = |factor: f64, first: usize| (factor, old.slice(first..), &strides[..]);
        let (up, left, right, down) = (1, cols, cols + 2, 2 * cols + 1);
        let terms = [term(0.125, up), term(0.125, left), term(0.5, cols + 1), term(0.125, right), term(0.125, down)];
        steps.lincomb(&inner, &terms, v.lent().slice(cols + 1..), &strides)?;
        std::mem::swap(&mut u, &mut v);
        if step % EVERY != 0 {
            continue;
        }

        steps.lincomb(&[n], &[(1.0, (&u).into(), &[1]), (-1.0, (&v).into(), &[1])], &difference, &[1])?;
        steps.nrm2(&difference, &norm)?;
        // Waits until the previous snapshot has left `transposed`. The copy of this one overlaps the next steps.
        let turned = steps.give(copies.take(transposed)?);
        steps.transpose(&u, Matrix::new(rows, cols), &turned, Matrix::new(cols, rows))?;
        let residual = steps.take(norm)?;
        println!("step {} residual {:016X}", step, residual[0].to_bits());
        norm = steps.give(residual);
        transposed = copies.give(steps.take(turned)?);
        copies.copy(&snapshot, &transposed)?;
    }
    let snapshot = copies.take(snapshot)?;
    println!("step {} centre {:016X}", STEPS, snapshot[cols / 2 * rows + rows / 2].to_bits());
    Ok(())
}

fn main() {
    let ground = std::env::args().nth(1).map_or_else(|| Ok(Terrain::make()), |path| Terrain::read(&path));
    if let Err(error) = ground.and_then(|ground| Ok(run(&ground)?)) {
        eprintln!("heat: {}", error);
        std::process::exit(1);
    }
}
