#!/usr/bin/env python3
"""Makes thousands of bad calls from the header. Each must fail with a status that the header permits for the mistake, and with
an error message that names an argument of the mistake. No memory may change.

usage: bad_calls.py LIBRARY [--most N] [--seed N] [--only PATTERN]
"""

import argparse
import collections
import ctypes
import os
import random
import re
import sys

import table
from mistakes import Bad, Function
from world import MODEL, NAME, STATUS, World, sentence


class Judge:
    def __init__(self, world):
        self.world = world
        self.calls = 0
        self.wrong = collections.Counter()

    def complain(self, function, bad, what):
        self.wrong[function.name] += 1
        if self.wrong[function.name] <= 5:
            shown = {n: bytes(v)[:16] if isinstance(v, (bytes, ctypes.Array)) else v for n, v in bad.changes.items()}
            print(f"{function.name} {shown}: {what}")

    def judge(self, function, bad):
        """Makes the call after another call's failure, to see that it writes its own error message."""
        library = self.world.library
        library.gpumem_variant_count(ctypes.c_int32(-77), ctypes.byref(ctypes.c_int32()))
        before = sentence(library)
        self.calls += 1
        status = function.call(bad.changes)
        said = sentence(library)
        if function.returns == "gpumem_status":
            if status not in {STATUS[s] for s in bad.statuses}:
                return self.complain(function, bad, f"{NAME.get(status, status)}; expected {sorted(bad.statuses)}: {said}")
        elif status is not None and function.returns == "void*":
            return self.complain(function, bad, "an address")
        if function.name == "gpumem_last_error":
            return None
        if said == before:
            return self.complain(function, bad, "no sentence of its own")
        if bad.names and not any(re.search(rf"\b{name}\b", said) for name in bad.names):
            return self.complain(function, bad, f"the sentence names none of {bad.names}: {said}")
        return None

    def all_of(self, function, most):
        if function.name not in table.NOT_MADE_FIRST and function.call({}) != 0:
            return self.complain(function, Bad({}, set(), []), f"a sound call: {sentence(self.world.library)}")
        self.world.ok("gpumem_ctx_synchronize", self.world.ctx)
        self.world.contents = self.world.seen()
        calls = list(function.bad())
        singles = [bad for bad in calls if len(bad.changes) == 1]
        pairs = [bad for bad in calls if len(bad.changes) > 1]
        pairs = random.sample(pairs, min(len(pairs), most))
        for bad in singles + pairs:
            self.judge(function, bad)
        self.world.ok("gpumem_ctx_synchronize", self.world.ctx)
        if self.world.seen() != self.world.contents:
            self.complain(function, Bad({}, set(), []), "something was written")
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--most", type=int, default=150, help="most pairs of bad sizes per function")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("GPUMEM_TEST_SEED", random.randrange(2**31))))
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    print(f"seed {arguments.seed}")
    library = ctypes.CDLL(arguments.library)
    count = ctypes.c_int32()
    library.gpumem_device_count(ctypes.byref(count))
    wrong = total = 0
    for device, debug in [(-1, 0), (-1, 1)] + ([(-3, 0)] if count.value > 0 else []):
        judge = Judge(World(library, device, debug))
        for model in MODEL["functions"]:
            if re.search(arguments.only, model["name"]) and model["returns"] != "const char*":
                judge.world.free_one()
                judge.all_of(Function(judge.world, model), arguments.most)
        print(f"device {device}, debug mode {debug}: {judge.calls} bad calls, {sum(judge.wrong.values())} not as documented")
        wrong, total = wrong + sum(judge.wrong.values()), total + judge.calls
    if total < 5000 and not arguments.only:
        raise SystemExit(f"only {total} bad calls were made")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
