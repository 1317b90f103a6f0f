"""Transfers between host and device, pages of managed memory, and words of vectorised copies."""

from canvas import ACCENT, BLANK, CELL, DEEP, GAP, MUTED, SMALL, TINTS, picture
from movement import strip


@picture("pinned_overlap", "The same work by pageable memory, by pinned memory, and by pinned memory in pieces on two streams")
def pinned_overlap(p):
    unit, left, height = 46, 130, 30
    host, link, kernel = TINTS[4], TINTS[0], TINTS[2]

    def lane(y, name, *pieces):
        p.text(left - 12, y + height / 2, name, "end", SMALL, colour=MUTED)
        p.line((left, y + height + 3), (left + 13 * unit, y + height + 3), colour=GAP)
        for begin, length, label, fill in pieces:
            p.cell(left + begin * unit, y, label, fill, length * unit, height, SMALL)

    def done(y, at):
        p.line((left + at * unit, y - 4), (left + at * unit, y + 2 * height + 14), colour=ACCENT, weight=2, dashed=True)

    y = 0
    p.heading(0, y, "pageable: the host copies each piece to a staging buffer first")
    y += 22
    lane(y, "host thread", *[(2 * k, 2, f"copy {k}", host) for k in range(4)])
    lane(y + 38, "copy engine", *[(2 * k + 2, 1, f"send {k}", link) for k in range(4)])
    lane(y + 76, "kernels", (9, 4, "all of the work", kernel))
    done(y + 38, 13)
    y += 140
    p.heading(0, y, "pinned: the copy engine reads the host's memory")
    y += 22
    lane(y, "copy engine", (0, 4, "send 0 to 3", link))
    lane(y + 38, "kernels", (4, 4, "all of the work", kernel))
    done(y, 8)
    y += 104
    p.heading(0, y, "pinned, in pieces on two streams: the work on a piece overlaps the next transfer")
    y += 22
    lane(y, "copy engine", *[(k, 1, f"send {k}", link) for k in range(4)])
    lane(y + 38, "kernels", *[(k + 1, 1, f"work {k}", kernel) for k in range(4)])
    done(y, 5)
    p.arrow((left, y + 92), (left + 13 * unit, y + 92))
    p.text(left + 12 * unit, y + 106, "time", "middle", SMALL, colour=MUTED)


@picture("managed_pages", "Pages of managed memory that the host wrote: moved by faults, by a prefetch, or not at all")
def managed_pages(p):
    pages, gap = 4, 330
    at_host, at_device = TINTS[4], TINTS[0]
    ways = (
        ("by faults", "the kernel waits at each group of pages", ((0, 1), (1, 2), (2, 3), (3, 4))),
        ("by a prefetch", "all pages cross before the kernel begins", ((0, 4),)),
        ("first touch on the device", "nothing was written, so nothing crosses", ()),
    )
    for k, (name, words, moves) in enumerate(ways):
        x, y = k * gap, 0
        p.heading(x, y, name)
        p.text(x, y + 20, words, colour=MUTED)
        y += 62
        left = x + 62
        fresh = not moves
        p.text(left - 10, y + CELL / 2, "host", "end", SMALL, colour=MUTED)
        strip(p, left, y, pages, lambda at: ("", GAP) if fresh else (f"p{at}", at_host))
        p.text(left - 10, y + 98 + CELL / 2, "device", "end", SMALL, colour=MUTED)
        strip(p, left, y + 98, pages, lambda at: (f"p{at}", at_device))
        for first, last in moves:
            middle = left + (first + last) / 2 * CELL
            p.arrow((middle, y + CELL + 3), (middle, y + 95), colour=ACCENT if last - first == 1 else DEEP[0], weight=1.6)
        p.text(
            left + pages * CELL + 12,
            y + CELL + 34,
            {4: "4 faults", 1: "1 transfer", 0: "no transfer"}[len(moves)],
            bold=True,
            colour=ACCENT if len(moves) == 4 else DEEP[2],
        )


@picture("vector_words", "scalar, vec2 and vec4: the bytes that the lanes of a warp move in one instruction")
def vector_words(p):
    lanes, elements = 4, 16
    p.text(
        0,
        0,
        f"A warp of {lanes} lanes (32 on a device) moves {elements} elements of 4 bytes. A cell shows its lane.",
        colour=MUTED,
    )
    p.text(0, 20, "White cells follow in later instructions.", colour=MUTED)
    y = 50
    for name, words, kind in (("scalar", 1, "`uint32_t`"), ("vec2", 2, "`uint2`"), ("vec4", 4, "`uint4`")):
        p.heading(0, y + CELL / 2 - 9, name)
        p.text(0, y + CELL / 2 + 10, kind, colour=MUTED)
        strip(p, 80, y, elements, lambda at: (at // words, TINTS[at // words]) if at < lanes * words else ("", BLANK))
        for lane in range(lanes):
            p.rect(80 + lane * words * CELL, y, words * CELL, CELL, "none", MUTED, 2)
        steps = elements // (lanes * words)
        p.text(
            80 + elements * CELL + 16,
            y + CELL / 2,
            f"{steps} instruction{'s' if steps > 1 else ''}",
            bold=True,
            colour=ACCENT if steps > 1 else DEEP[2],
        )
        y += CELL + 20


@picture("solver_check", "A solver in a graph: the host looks at the residual of one launch while the next one runs")
def solver_check(p):
    unit, left, height = 62, 110, 30
    gpu, look = TINTS[2], TINTS[1]
    for row, name in enumerate(("GPU", "host")):
        y = row * 84
        p.text(left - 12, y + height / 2, name, "end", SMALL, colour=MUTED)
        p.line((left, y + height + 3), (left + 9 * unit, y + height + 3), colour=GAP)
    for k in range(4):
        begin = left + 2 * k * unit
        p.cell(begin, 0, f"ten iterations, {k}", gpu, 2 * unit, height, SMALL)
        end = begin + 2 * unit
        p.arrow((end, height + 6), (end, 78))
        p.cell(end, 84, f"r.r of {k}", look, unit, height, SMALL)
    p.text(left + 3 * unit, 58, "to pinned memory", "middle", SMALL, colour=MUTED)
    p.arrow((left, 140), (left + 9 * unit, 140))
    p.text(left + 8.5 * unit, 154, "time", "middle", SMALL, colour=MUTED)
