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
