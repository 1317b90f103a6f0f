"""An array in boxes, and the ghost cells around one of them."""

from canvas import CELL, GAP, MUTED, TINTS, picture

BOX = 3  # rows and columns of a box


@picture("boxes_halo", "Boxes of a distributed array, and the ghost cells that gpumem_dist_plan_halo fills")
def boxes_halo(p):
    side, top = 2 * BOX, 40

    def owner(r, c):
        box = r // BOX * 2 + c // BOX
        return box, TINTS[box]

    p.heading(0, 0, "the whole array: four boxes")
    p.cells(0, top, side, side, owner)
    for box in range(4):
        p.rect(box % 2 * BOX * CELL, top + box // 2 * BOX * CELL, BOX * CELL, BOX * CELL, "none", MUTED, 2)
    for box in range(4):
        p.legend(0, top + side * CELL + 26 + 22 * box, TINTS[box], f"box of participant {box}")

    def with_halo(r, c):
        r, c = r - 1, c - 1
        return owner(r, c) if r >= 0 and c >= 0 else None

    x, wide = 340, BOX + 2
    p.heading(x, 0, "memory of participant 0")
    p.cells(x, top, wide, wide, with_halo)
    p.mark(x + CELL, top + CELL, BOX * CELL, BOX * CELL)
    p.span(x + (BOX + 1) * CELL, x + wide * CELL, top + wide * CELL + 14, "`high[1]` = 1", below=True)
    p.span_down(x + wide * CELL + 14, top + (BOX + 1) * CELL, top + wide * CELL, "`high[0]` = 1", right=True)
    y = top + side * CELL + 26
    p.text(x, y, "inside the frame: its box", colour=MUTED)
    p.text(x, y + 22, "outside: ghost cells, with the number of their owner", colour=MUTED)
    p.legend(x, y + 44, GAP, "past the ends of the array: not written, as `periodic` is 0")


@picture("decompositions", "A cube in slabs, pencils and blocks, for eight processes")
def decompositions(p):
    side, back, top = 144, (54, -42), 92  # pixels of the front, and from the front to the back

    def corner(x, cuts, at):
        """A point of the cube: at[d] of cuts[d] parts along axis d."""
        down, right, away = (at[d] / cuts[d] for d in range(3))
        return x + right * side + away * back[0], top + down * side + away * back[1]

    def face(x, cuts, at, axes, fill):
        first, second = axes
        corners = []
        for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)):
            moved = list(at)
            moved[first] += i
            moved[second] += j
            corners.append(corner(x, cuts, moved))
        p.polygon(*corners, fill=fill)
        return corners

    for i, (name, cuts) in enumerate((("slabs", (8, 1, 1)), ("pencils", (4, 2, 1)), ("blocks", (2, 2, 2)))):
        x = i * 250
        p.heading(x, 0, name)
        p.text(x, 24, f"{cuts[0]} x {cuts[1]} x {cuts[2]} boxes", colour=MUTED)

        def tint(down, right, away, cuts=cuts):
            return TINTS[((down * cuts[1] + right) * cuts[2] + away) % len(TINTS)]

        for right in range(cuts[1]):
            for away in range(cuts[2]):
                face(x, cuts, (0, right, away), (1, 2), tint(0, right, away))
        for down in range(cuts[0]):
            for away in range(cuts[2]):
                face(x, cuts, (down, cuts[1], away), (0, 2), tint(down, cuts[1] - 1, away))
            for right in range(cuts[1]):
                corners = face(x, cuts, (down, right, 0), (0, 1), tint(down, right, 0))
                middle = [sum(axis) / 4 for axis in zip(*corners)]
                p.text(*middle, str((down * cuts[1] + right) * cuts[2]), anchor="middle")
