#!/usr/bin/env python3
"""Runs the shell commands of pages: their indented blocks, and their fences of sh.

usage: shell.py BUILD_FOLDER PYTHON PAGE...    PYTHON: an interpreter with NumPy, for python3 on the pages
       shell.py --packages PAGE                prints a script of the page's commands from the Debian packages

They run in a copy of the tree whose build/user is the build folder. The section "Five minutes" or "Quick start" also has one program. Its
name is in the text before it, "With this as `file`:" or "Save this as `file`:". The next fence of text is the output of the last command.
If the section does not install gpumem, the script installs it first. The section may go on with "the Debian packages that [`cpack` makes]". Commands that
build, and checks that are tests themselves, are not run. The script only checks that their scripts, presets and options exist.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:^    \S.*\n)+", re.M)
FIVE_MINUTES = re.compile(r"^## (?:Five minutes|Quick start)\n(.*?)(?=^## |\Z)", re.M | re.S)
FROM_PACKAGES = "the Debian packages that [`cpack` makes]"
PROGRAM = re.compile(r"(?:With|Save) this as `([^`]+)`:\n+```\w+\n(.*?)^```$.*?^```text\n(.*?)^```$", re.M | re.S)
LOOKED_AT = re.compile(r"(?:\w+=\S* )*(?:(?:scripts|tests|bench|docs|build)/|ctest|cpack|pip |apt |cmake (?:--preset|-B|--build (?!.*--target)))")
OUR_OWN = """#include <gpumem.h>
int main(void) {
  void *p;
  gpumem_ctx *ctx;
  return gpumem_ctx_create(0, &ctx) || gpumem_alloc_device(ctx, 4096, &p) || gpumem_free(ctx, p) ||
         gpumem_tuning_save(ctx, "tuning.txt") || gpumem_ctx_destroy(ctx);
}
"""
INSTALL = 'cmake --install build/user --prefix "$HOME/gpumem"'
TAKEN_FOR_GRANTED = f"""set -e
{INSTALL}
cc program.c -o program $(pkg-config --cflags --libs gpumem)
gpumem grid --generate 20x30 --out terrain.npy
GPUMEM_TRACE=trace ./program && mv trace.* trace
"""


class Wrong(Exception):
    pass


def commands_of(text):
    """The commands of each indented block and each fence of sh, without their comments."""
    found = [(match.start(), match[2]) for match in FENCE.finditer(text) if match[1] == "sh"]
    outside = FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found += [(match.start(), match[0]) for match in INDENTED.finditer(outside)]
    for _, block in sorted(found):
        yield [re.sub(r"\s+# .*", "", line).strip() for line in block.splitlines()]


def looked_at(command):
    return any(LOOKED_AT.match(part.strip(" ()")) for part in command.split("&&"))


def look_at(command, build):
    """Raises Wrong if the program, option or preset of a command that is not run does not exist."""
    for part in command.split("&&"):
        words = [word for word in shlex.split(part.strip(" ()")) if not re.match(r"\w+=", word)]
        program = ROOT / words[0]
        if words[0].startswith("build/"):
            program = pathlib.Path(re.sub(r"^build/\w+", str(build), words[0]))
            if not (build / program.relative_to(build).parts[0]).exists():
                continue  # that part of the tree is left out of this build
        if "/" in words[0] and not os.access(program, os.X_OK):
            raise Wrong(f"{command}: there is no program {words[0]}")
        for option in [word.split("=")[0] for word in words[1:] if word.startswith("--")] if program.is_relative_to(ROOT / "scripts") else []:
            if option not in program.read_text(encoding="utf-8"):
                raise Wrong(f"{command}: {words[0]} has no option {option}")
        if words[:2] == ["cmake", "--preset"] and f'"name": "{words[2]}"' not in (ROOT / "CMakePresets.json").read_text(encoding="utf-8"):
            raise Wrong(f"{command}: there is no such preset")


def script_of(commands, program):
    """A script of the commands. It writes the page's program before the first command with its name, or before the last one."""
    name, text, expected = program
    place = next((at for at, command in enumerate(commands) if pathlib.Path(name).name in command), len(commands) - 1)
    put = f"cat >{name} <<'END_OF_PROGRAM'\n{text}END_OF_PROGRAM"
    compare = f"diff - printed <<'END_OF_TEXT'\n{expected}END_OF_TEXT"
    return "\n".join(["set -euxo pipefail", *commands[:place], put, *commands[place:-1], f"{commands[-1]} >printed", compare, ""])


def five_minutes(text):
    """The program of a page, its commands from a clone, and its commands from the packages; None without such a section."""
    section = FIVE_MINUTES.search(text)
    if not section:
        return None
    from_clone, _, from_packages = section[1].partition(FROM_PACKAGES)
    program = PROGRAM.search(from_clone)
    if not program:
        raise SystemExit(f'{section[0].splitlines()[0]}: expected "Save this as `file`:" on a line, the program, and a fence of text')
    return program.groups(), *(sum(commands_of(part), []) for part in (from_clone, from_packages))


def installed(page, command, environment):
    """Whether the program of a command is here; a line says so if it is not."""
    name = next(word for word in shlex.split(command) if "=" not in word)
    if "/" in name or name in ("cd", "export") or shutil.which(name, path=environment["PATH"]):
        return True
    print(f"{page.name}: {name} is not installed: {command}")
    return False


def run(script, folder, environment):
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Wrong(f"{script}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")


def copy_of_the_tree(scratch, build):
    tree = scratch / "tree"
    (tree / "build").mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name not in ("build", ".git"):
            (tree / path.name).symlink_to(path)
    (tree / "build/user").symlink_to(build)
    return tree


def environment_of(scratch, build, python):
    home, shims = scratch / "home", scratch / "bin"
    home.mkdir()
    shims.mkdir()
    (shims / "python3").write_text(f'#!/bin/sh\nexec {shlex.quote(str(python))} "$@"\n', encoding="utf-8")  # a link leaves its venv
    (shims / "python3").chmod(0o755)
    kept = {key: os.environ.get(key, str(pathlib.Path.home() / folder)) for key, folder in
            (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"))}  # fmt: skip
    removed = ("GPUMEM_LIBRARY", "PYTHONPATH", "PKG_CONFIG_PATH", "CARGO_TARGET_DIR")
    return {**{key: value for key, value in os.environ.items() if key not in removed}, **kept, "HOME": str(home),
            "CARGO_NET_OFFLINE": "true", "PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{shims}:{build}/bin:{os.environ['PATH']}"}


def walk(page, build, python, scratch):
    """The section of a page that starts from a clone, without the build."""
    program, commands, _ = five_minutes(page.read_text(encoding="utf-8"))
    if not any(command.startswith("cmake --install") for command in commands):
        commands.insert(0, INSTALL)
    for command in filter(looked_at, commands):
        look_at(command, build)
    left, environment = [command for command in commands if not looked_at(command)], environment_of(scratch, build, python)
    if not all(installed(page, command, environment) for command in left):
        return 0
    run(script_of(left, program), copy_of_the_tree(scratch, build), environment)
    return len(commands)


def run_the_others(page, build, python, scratch):
    """All other commands of a page, with the program, installed copy, terrain, trace and tuning that they assume."""
    commands = sum(commands_of(FIVE_MINUTES.sub("", page.read_text(encoding="utf-8"))), [])
    if not all(map(looked_at, commands)):
        tree, environment = copy_of_the_tree(scratch, build), environment_of(scratch, build, python)
        (tree / "program.c").write_text(OUR_OWN, encoding="utf-8")
        environment["PKG_CONFIG_PATH"] = environment["HOME"] + "/gpumem/lib/pkgconfig"
        environment["LD_LIBRARY_PATH"] = environment["HOME"] + "/gpumem/lib"
        run(TAKEN_FOR_GRANTED, tree, environment)
    for command in commands:
        if looked_at(command):
            look_at(command, build)
        elif installed(page, command, environment):
            run(command, tree, environment)
    return len(commands)


def main():
    if sys.argv[1] == "--packages":
        program, _, commands = five_minutes(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
        print(script_of(commands, program), end="")
        return 0
    build, python, *pages = (pathlib.Path(word).absolute() for word in sys.argv[1:])
    manifest, wrong, count = build / "install_manifest.txt", 0, 0
    manifest_before = manifest.read_bytes() if manifest.exists() else None
    for page in pages:
        for part in [walk, run_the_others] if five_minutes(page.read_text(encoding="utf-8")) else [run_the_others]:
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    count += part(page, build, python, pathlib.Path(scratch))
                except Wrong as error:
                    print(f"{page}: {error}")
                    wrong += 1
    print(f"{count} commands in {len(pages)} pages, {wrong} wrong")
    manifest.unlink(missing_ok=True)
    if manifest_before is not None:
        manifest.write_bytes(manifest_before)
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main())
