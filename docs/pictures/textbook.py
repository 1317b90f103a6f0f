"""What differs between the textbook's variants of transpositions and reductions."""

from canvas import ACCENT, BLANK, CELL, DEEP, GAP, MUTED, SMALL, TINTS, picture
from movement import strip


@picture("transpose_textbook", "naive and shared: what one warp reads and writes")
def transpose_textbook(p):
    side, warp = 4, 1
    far, lanes = 290, range(side)
    p.text(
        0,
        0,
        f"A cell shows the lane of one warp that moves it. Drawn with {side} lanes and tiles of {side} x {side}; "
        "they are 32 and 32 x 32.",
        colour=MUTED,
    )

    def tile(x, y, name, lane_at):
        p.text(x + side * CELL / 2, y - 14, name, "middle")
        p.cells(
            x,
            y,
            side,
            side,
            lambda r, c: (lane_at(r, c), TINTS[lane_at(r, c)]) if lane_at(r, c) in lanes else ("", BLANK),
        )

    def along(r, c):
        return c if r == warp else None

    def down(r, c):
        return r if c == warp else None

    def step(x, y, words):
        p.arrow((x + side * CELL + 20, y + side * CELL / 2), (x + far - 20, y + side * CELL / 2))
        p.text(x + (side * CELL + far) / 2, y + side * CELL / 2 - 14, words, "middle", SMALL, colour=MUTED)

    y = 48
    p.heading(0, y, "naive")
    tile(0, y + 50, "`src`", along)
    step(0, y + 50, "each lane its element")
    tile(far, y + 50, "`dst`", down)
    p.text(0, y + 50 + side * CELL + 16, "a row: side by side", colour=MUTED)
    p.text(far, y + 50 + side * CELL + 16, f"a column: {side} rows, so {side} places far apart", colour=ACCENT)

    y = 274
    p.heading(0, y, "shared")
    tile(0, y + 50, "`src`", along)
    step(0, y + 50, "written in order")
    tile(far, y + 50, "tile in shared memory", along)
    p.text(0, y + 50 + side * CELL + 16, "a row: side by side", colour=MUTED)
    p.text(far, y + 50 + side * CELL + 16, "all warps of the block wait for the tile", colour=MUTED)
    y += 234
    tile(far, y, "the same tile", down)
    step(far, y, "read turned")
    tile(2 * far, y, "`dst`", along)
    p.text(far, y + side * CELL + 16, "a column, in fast memory", colour=MUTED)
    p.text(2 * far, y + side * CELL + 16, "a row: side by side", colour=MUTED)


@picture("transpose_banks", "shared and shared_padded: the banks of a column of the tile")
def transpose_banks(p):
    side, column = 8, 2
    p.text(
        0,
        0,
        f"A cell of the tile, an element of 4 bytes, shows its bank. Drawn with {side} lanes and banks in place of 32.",
        colour=MUTED,
    )
    for k, (name, padding) in enumerate((("shared", 0), ("shared_padded", 1))):
        width = side + padding
        x, y = k * 392, 44

        def bank(r, c):
            return (r * width + c) % side

        p.heading(x + 60, y, name)
        p.text(x + 60, y + 22, f"`tile[{side}][{side}{' + 1' if padding else ''}]`")
        p.cells(
            x + 60,
            y + 44,
            side,
            width,
            lambda r, c: (bank(r, c), TINTS[0] if c == column else GAP if c == side else BLANK),
        )
        p.mark(x + 60 + column * CELL, y + 44, CELL, side * CELL)
        p.indices(x + 52, y + 44, side, "lane ", down=True)
        if padding:
            p.text(x + 60 + side * CELL + CELL / 2, y + 30, "padding", "middle", SMALL, colour=MUTED)
        y += 44 + side * CELL + 36
        p.text(x + 60, y, f"lane `x` reads `tile[x][{column}]`: lanes by bank", colour=MUTED)
        in_bank = [[lane for lane in range(side) if bank(lane, column) == b] for b in range(side)]
        tall = side
        y += 18
        for b, lanes in enumerate(in_bank):
            for level, lane in enumerate(reversed(lanes)):
                p.cell(x + 60 + b * CELL, y + (tall - 1 - level) * 22, lane, TINTS[0], height=22)
        p.line((x + 60, y + tall * 22), (x + 60 + side * CELL, y + tall * 22), weight=2)
        p.indices(x + 60, y + tall * 22 + 11, side)
        p.text(x + 52, y + tall * 22 + 11, "bank", "end", SMALL, colour=MUTED)
        turns = max(map(len, in_bank))
        p.text(
            x + 60,
            y + tall * 22 + 34,
            f"{turns} turns: one lane after the other" if turns > 1 else "1 turn: all lanes at once",
            bold=True,
            colour=ACCENT if turns > 1 else DEEP[2],
        )


def steps_of(name, threads):
    """Per step, the pairs (thread, element, element that is added to it), as in kernels/textbook/reduce.cu."""
    distances = [1 << k for k in range(threads.bit_length() - 1)]
    if name == "neighbored":
        return [[(t, t, t + d) for t in range(threads) if t % (2 * d) == 0] for d in distances]
    if name == "neighbored_packed":
        return [[(t, 2 * d * t, 2 * d * t + d) for t in range(threads) if 2 * d * t < threads] for d in distances]
    return [[(t, t, t + h) for t in range(h)] for h in reversed(distances)]


@picture("ladder", "neighbored, neighbored_packed and interleaved: which thread adds what to what")
def ladder(p):
    threads, warp, apart = 8, 4, 266
    p.text(0, 0, f"A block of {threads} threads in warps of {warp}; on a device 512 in warps of 32.", colour=MUTED)
    p.text(0, 20, "A cell of shared memory shows the thread that adds to it, the arrows what it adds.", colour=MUTED)
    for k, name in enumerate(("neighbored", "neighbored_packed", "interleaved")):
        x, y = k * apart, 58
        p.heading(x, y, name)
        y += 22
        strip(p, x, y, threads, lambda at: (f"s{at}", BLANK))
        steps = steps_of(name, threads)
        for step in steps:
            below = y + 68
            writes = {to: t for t, to, _ in step}
            for t, to, fro in step:
                p.arrow((x + (fro + 0.5) * CELL, y + CELL + 2), (x + (to + 0.5) * CELL + 4, below - 2), colour=DEEP[1])
                p.arrow(
                    (x + (to + 0.5) * CELL - 4, y + CELL + 2), (x + (to + 0.5) * CELL - 4, below - 2), colour=DEEP[0]
                )
            y = below
            strip(
                p,
                x,
                y,
                threads,
                lambda at: (f"t{writes[at]}", TINTS[writes[at] // warp]) if at in writes else ("", BLANK),
            )
        y += CELL + 34
        p.text(x, y - 14, "threads at work, step by step", colour=MUTED)
        for step in steps:
            working = {t for t, _, _ in step}
            for t in range(threads):
                at = x + t * (CELL - 2) + (t // warp) * 14
                p.cell(at, y, f"t{t}", TINTS[t // warp] if t in working else GAP, CELL - 2, 22, SMALL)
            y += 26
        words = {
            "neighbored": ["in a warp some work, others wait"],
            "neighbored_packed": ["whole warps go idle;", "2, 4, 8 … apart: bank conflicts"],
            "interleaved": ["whole warps go idle;", "side by side: no bank conflicts"],
        }[name]
        for n, line in enumerate(words):
            p.text(x, y + 14 + 19 * n, line)


@picture("ladder_unroll", "unroll2 and the last warp of unroll8_warp")
def ladder_unroll(p):
    threads = 4
    p.heading(0, 0, "unroll2")
    p.text(0, 22, "a block takes two data blocks, and adds them on the way in", colour=MUTED)
    y = 60
    x = 60
    p.text(x - 10, y + CELL / 2, "`x`", "end")
    strip(p, x, y, 2 * threads, lambda at: (at, TINTS[at // threads]))
    p.text(x - 10, y + 92 + CELL / 2, "s", "end")
    strip(p, x, y + 92, threads, lambda at: (f"t{at}", BLANK))
    for t in range(threads):
        p.arrow((x + (t + 0.5) * CELL - 3, y + CELL + 2), (x + (t + 0.5) * CELL - 3, y + 90), colour=DEEP[0])
        p.arrow((x + (t + threads + 0.5) * CELL, y + CELL + 2), (x + (t + 0.5) * CELL + 4, y + 90), colour=DEEP[1])
    for k in range(2):
        p.text(x + (k + 0.5) * threads * CELL, y - 10, f"data block {k}", "middle", SMALL, colour=MUTED)
    p.text(x, y + 142, "drawn with a block of 4 threads;", colour=MUTED)
    p.text(x, y + 160, "`unroll8_*` takes eight data blocks", colour=MUTED)

    x, y, lanes = 456, 60, 8
    p.heading(x - 36, 0, "unroll8_warp: the last warp")
    p.text(x - 36, 22, "by shuffles, from register to register, without a barrier", colour=MUTED)
    strip(p, x, y, lanes, lambda at: (f"v{at}", TINTS[0]))
    for distance in (4, 2, 1):
        for lane in range(distance):
            p.arrow(
                (x + (lane + distance + 0.5) * CELL, y + CELL + 2),
                (x + (lane + 0.5) * CELL + 4, y + 72),
                colour=DEEP[1],
            )
            p.arrow((x + (lane + 0.5) * CELL - 4, y + CELL + 2), (x + (lane + 0.5) * CELL - 4, y + 72), colour=DEEP[0])
        p.text(x + lanes * CELL + 12, y + 52, f"distance {distance}")
        y += 74
        strip(p, x, y, distance, lambda at: (f"v{at}", TINTS[0]))
    p.text(x + CELL + 12, y + CELL / 2, "8 lanes of 32, and what reaches v0", colour=MUTED)


@picture("access", "coalesced and strided: what the threads of a warp touch in one step")
def access(p):
    threads, run, sector = 4, 4, 4
    p.text(
        0,
        0,
        f"A warp of {threads} threads (32 on a device) shares {threads * run} elements. A cell shows its thread; "
        "heavy lines bound the sectors",
        colour=MUTED,
    )
    p.text(0, 20, f"in which memory moves, here of {sector} elements (32 bytes on a device).", colour=MUTED)
    x, y = 70, 52
    for name, thread_of, step_of, words in (
        ("coalesced", lambda i: i % threads, lambda i: i // threads, "neighbouring threads, neighbouring elements"),
        ("strided", lambda i: i // run, lambda i: i % run, "each thread its own run"),
    ):
        p.heading(0, y, name)
        p.text(110, y, words, colour=MUTED)
        y += 22
        for step in range(2):
            p.text(x - 10, y + CELL / 2, f"step {step}", "end")
            strip(
                p, x, y, threads * run, lambda i: (thread_of(i), TINTS[thread_of(i)] if step_of(i) == step else BLANK)
            )
            touched = {i // sector for i in range(threads * run) if step_of(i) == step}
            for s in range(0, threads * run + 1, sector):
                p.line((x + s * CELL, y - 3), (x + s * CELL, y + CELL + 3), weight=2.5)
            p.text(
                x + threads * run * CELL + 16,
                y + CELL / 2,
                f"{len(touched)} sector{'s' if len(touched) > 1 else ''}",
                bold=True,
                colour=ACCENT if len(touched) > 1 else DEEP[2],
            )
            y += CELL + 14
        y += 22
