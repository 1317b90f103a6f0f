#!/usr/bin/env python3
"""Proves that check_switches.py, check_definitions.py and check_functions.py find their violations, and pass the rest."""

import pathlib
import tempfile
import unittest

import check_definitions
import check_functions
import check_switches


def found_by(check, files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return list(check.violations(root))


class CheckSwitches(unittest.TestCase):
    def found(self, body):
        return found_by(check_switches, {"src/ops/reduce.cpp": "int f(int op) {\n  switch " + body + "\n  return 0;\n}\n"})

    def test_allows_what_the_compiler_sees(self):
        for body in [
            "(kind) { case NodeKind::sum: return 1; case NodeKind::norm: break; }",
            "(static_cast<decltype(GPUMEM_SUM)>(op)) { case GPUMEM_SUM: return 1; case GPUMEM_MIN: break; }",
            "(letter) { case 'x': return 1; case ':': case '\\'': return 2; default: return 3; }",
            "(bytes) { case 1: return 1; case 0x10: return 2; default: return 3; }",
            "(error) { case cudaSuccess: return 1; default: return 3; }",
            '(kind) { case NodeKind::sum: text("default:"); /* default: */ }  // default:',
            "(kind) { case NodeKind::sum: switch (letter) { case 'x': return 1; default: return 2; } }",
        ]:
            with self.subTest(body=body):
                self.assertEqual(self.found(body), [])

    def test_finds_what_hides_a_case(self):
        for body in [
            "(kind) { case NodeKind::sum: return 1; default: return 2; }",
            "(kind) { case sum: return 1; default: return 2; }",
            "(kind) { default: return 2; }",
            "(op) { case GPUMEM_SUM: return 1; case GPUMEM_MIN: break; }",
            "(static_cast<decltype(GPUMEM_SUM)>(op)) { case GPUMEM_SUM: return 1; default: break; }",
            "(kind) { case NodeKind::sum: switch (letter) { case 'x': return 1; } default: return 2; }",
            "(letter) { case 'x': switch (kind) { case NodeKind::sum: return 1; default: break; } default: return 2; }",
        ]:
            with self.subTest(body=body):
                found = self.found(body)
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith("src/ops/reduce.cpp:2: "), found)


class CheckDefinitions(unittest.TestCase):
    def found(self, first, second, names=("src/a.hpp", "src/b.hpp")):
        spaced = (f"#pragma once\nnamespace gpumem {{\n{text}\n}}  // namespace gpumem\n" for text in (first, second))
        return found_by(check_definitions, dict(zip(names, spaced)))

    def test_allows_one_definition(self):
        for first, second in [
            ("struct Strided { int p; };", "struct Strided;\nStrided* f();\nusing Other = int;"),
            ("namespace { struct Strided {}; }", "namespace { struct Strided {}; }"),
            ("struct A { struct Part { int x; }; };", "struct B { struct Part { int y; }; };"),
            ("inline int size(int a, long b = 3) { return 1; }", "inline int size(long a, int b) { return 2; }"),
            ("template <class T> struct Of;", "template <> struct Of<int> { int x; };"),
            ("struct A { int f(); };", "inline int A::f() { return 1; }"),
            ("namespace one { constexpr int kSize = 1; }", "namespace two { constexpr int kSize = 1; }"),
            ("struct A { A() : x{1} {} int x; };", "// struct A { int x; };"),
        ]:
            with self.subTest(first=first):
                self.assertEqual(self.found(first, second), [])
        of_one_file = ("static int f() { return 1; }\nconstexpr int kSize = 1;\nint g() { return f(); }",) * 2
        self.assertEqual(self.found(*of_one_file, names=("src/a.cpp", "src/b.cpp")), [])

    def test_finds_two_definitions(self):
        for first, second in [
            ("struct Strided { const char* p; };", "struct Strided final : Base { void* p; };"),
            ("class Pool { int x; };", "struct Pool { int x; } pool;"),
            ("enum class Kind : int { sum };", "enum class Kind { sum };"),
            ("constexpr int kThreads = 256;", "inline constexpr long kThreads{256};"),
            ("constexpr int kSizes[] = {1, 2};", "constexpr std::array<int, 2> kSizes = {1, 2};"),
            ("inline int size(int a, long b = 3) { return 1; }", "constexpr int size(int, long bytes) { return 2; }"),
            ("template <class T> T of(T x) { return x; }", "template <class T>\nT of(T y) { return y; }"),
            ("template <class T> struct Of { T x; };", "template <class T> struct Of { T y; };"),
        ]:
            with self.subTest(first=first):
                found = self.found(first, second)
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith("src/a.hpp:3, src/b.hpp:3: "), found)
        self.assertEqual(len(self.found("struct Part { int x; };", "struct Part { int y; };", ("src/a.cpp", "src/b.cpp"))), 1)


class CheckFunctions(unittest.TestCase):
    @staticmethod
    def found(head, lines):
        body = "  x += 1;\n" * (lines - 2)
        return found_by(check_functions, {"src/a.cpp": f"namespace gpumem {{\n{head} {{\n{body}}}\n}}  // namespace gpumem\n"})

    def test_finds_long_functions(self):
        for head in [
            "int f(int x)",
            "template <class T>\nauto g(T x) noexcept -> std::vector<T>",
            "void Widget::h() const",
            "Widget::Widget(int x) : x_(x), y_{2}",
            "__global__ void __launch_bounds__(256) k(const int* x)",
        ]:
            with self.subTest(head=head):
                self.assertEqual(self.found(head, 60), [])
                found = self.found(head, 61)
                self.assertEqual(len(found), 1, found)
                self.assertIn("has 61 lines", found[0])

    def test_passes_long_types_and_tables(self):
        for head in ["struct Widget", "enum class Color", "constexpr int kTable[] =", "namespace deep"]:
            with self.subTest(head=head):
                self.assertEqual(self.found(head, 100), [])


if __name__ == "__main__":
    unittest.main()
