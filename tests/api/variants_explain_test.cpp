// The variants by name, forcing one, and what gpumem_explain() says of the choice.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/arithmetic.hpp"
#include "support/boxes.hpp"
#include "support/by_index.hpp"
#include "support/contexts.hpp"
#include "support/environment.hpp"
#include "support/explain.hpp"
#include "support/images.hpp"
#include "support/lines.hpp"
#include "support/map.hpp"
#include "support/memory.hpp"
#include "support/rows.hpp"
#include "support/selected.hpp"

namespace gpumem_test {
namespace {

constexpr gpumem_family kFamilies[] = {
    GPUMEM_FAMILY_REDUCE,          GPUMEM_FAMILY_TRANSPOSE,  GPUMEM_FAMILY_FILL,   GPUMEM_FAMILY_REDUCE_AXIS,
    GPUMEM_FAMILY_REDUCE_SEGMENTS, GPUMEM_FAMILY_COPY,       GPUMEM_FAMILY_AXPBY,  GPUMEM_FAMILY_GATHER,
    GPUMEM_FAMILY_SCATTER,         GPUMEM_FAMILY_PERMUTE,    GPUMEM_FAMILY_RESIZE, GPUMEM_FAMILY_CONVERT,
    GPUMEM_FAMILY_ARITHMETIC,      GPUMEM_FAMILY_SCAN,       GPUMEM_FAMILY_SORT,   GPUMEM_FAMILY_SELECT,
    GPUMEM_FAMILY_REDUCE_BY_INDEX, GPUMEM_FAMILY_COPY_BOXES,
};
constexpr const char* kVariables[] = {
    "GPUMEM_VARIANT_REDUCE",
    "GPUMEM_VARIANT_TRANSPOSE",
    "GPUMEM_VARIANT_FILL",
    "GPUMEM_VARIANT_REDUCE_AXIS",
    "GPUMEM_VARIANT_REDUCE_SEGMENTS",
    "GPUMEM_VARIANT_COPY",
    "GPUMEM_VARIANT_AXPBY",
    "GPUMEM_VARIANT_GATHER",
    "GPUMEM_VARIANT_SCATTER",
    "GPUMEM_VARIANT_PERMUTE",
    "GPUMEM_VARIANT_RESIZE",
    "GPUMEM_VARIANT_CONVERT",
    "GPUMEM_VARIANT_ARITHMETIC",
    "GPUMEM_VARIANT_SCAN",
    "GPUMEM_VARIANT_SORT",
    "GPUMEM_VARIANT_SELECT",
    "GPUMEM_VARIANT_REDUCE_BY_INDEX",
    "GPUMEM_VARIANT_COPY_BOXES",
};
constexpr int64_t kOffsets[] = {0, 10, 1000};
constexpr int32_t kIndex[] = {2, 0, 9, 1};
constexpr int64_t kExtents[] = {10, 20, 5};
constexpr int32_t kOrder[] = {1, 0, 2};

TEST(Variants, EachFamilyListsItsOwn) {
  for (const gpumem_family family : kFamilies) {
    const std::vector<std::string> names = variant_names(family);
    EXPECT_GE(names.size(), 2u) << "family " << family;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << "a name stands twice";
    for (const std::string& name : names) EXPECT_NE(name, "");
  }
}

TEST(Variants, TheListEnds) {
  for (const gpumem_family family : kFamilies) {
    const auto count = static_cast<int32_t>(variant_names(family).size());
    static const char kPoison[] = "poison";
    const char* name = kPoison;
    EXPECT_TRUE(refused(GPUMEM_NOT_FOUND, gpumem_variant_name(family, count, &name), {"index", std::to_string(count)}));
    EXPECT_TRUE(gives(GPUMEM_NOT_FOUND, gpumem_variant_name(family, INT32_MAX, &name)));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_variant_name(family, -1, &name), {"index", "-1"}));
    EXPECT_EQ(name, kPoison);
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_variant_name(family, 0, nullptr), {"name", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_variant_count(family, nullptr), {"count", "NULL"}));
  }
}

class VariantsOn : public OnEachContext {
 protected:
  // That fit a problem: on a GPU, a scan is either ordered or not.
  int least_variants(gpumem_family family) const { return on_cuda() && family == GPUMEM_FAMILY_SCAN ? 1 : 2; }
  // A problem of each family in memory of the context's device: what run() does.
  std::string problem(gpumem_family family) {
    if (lines[family].empty()) {
      EXPECT_TRUE(ok(run(family)));
      lines[family] = last_problem();
    }
    return lines[family];
  }
  Resize resize() { return {GPUMEM_FILTER_BILINEAR, GPUMEM_U8, 1, x.get(), 50, 50, 50, y.get(), 40, 60, 60}; }
  Arithmetic product() {
    return {true, GPUMEM_F32, {20, 50}, {}, {{x.get(), {50, 1}}, {x.get(), {1, 20}}}, {y.get(), {50, 1}}};
  }
  // As arithmetic, with z among the sources.
  MapCall choice() {
    return {MapFunction::map,
            GPUMEM_MAP_MAXIMUM,
            GPUMEM_F32,
            GPUMEM_F32,
            4,
            {20, 50},
            {{x.get(), {50, 1}}, {y.get(), {50, 1}}},
            {y.get(), {50, 1}}};
  }
  gpumem_status run(gpumem_family family) {
    int64_t result = 0;
    const char pattern = 7;
    switch (static_cast<decltype(GPUMEM_FAMILY_REDUCE)>(family)) {
      case GPUMEM_FAMILY_REDUCE:
        return gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<const int32_t*>(x.get()), 1000, 1, &result);
      case GPUMEM_FAMILY_TRANSPOSE:
        return gpumem_transpose(ctx, 4, 20, 50, x.get(), 50, y.get(), 20);
      case GPUMEM_FAMILY_REDUCE_AXIS:
        return gpumem_reduce_axis(ctx, GPUMEM_I32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.get(), 20, 50, 50, 1, 0, y.get());
      case GPUMEM_FAMILY_REDUCE_SEGMENTS:
        return gpumem_reduce_segments(ctx, GPUMEM_I32, GPUMEM_SUM, x.get(), 1000, kOffsets, 2, y.get());
      case GPUMEM_FAMILY_AXPBY:
        return gpumem_test::run(ctx, Axpby{GPUMEM_F32, 1, x.get(), 0, nullptr, y.get(), 1000});
      case GPUMEM_FAMILY_CONVERT:
        return gpumem_convert(ctx, GPUMEM_I32, x.get(), GPUMEM_F32, y.get(), 1000);
      case GPUMEM_FAMILY_ARITHMETIC:
        return gpumem_test::run(ctx, product());
      case GPUMEM_FAMILY_MAP:
        return gpumem_test::run(ctx, choice());
      case GPUMEM_FAMILY_SORT:
        return gpumem_sort(ctx, GPUMEM_F32, x.get(), 1000, 0, y.get(), nullptr, GPUMEM_I64);
      case GPUMEM_FAMILY_SCAN:
        return gpumem_scan(ctx, GPUMEM_I32, GPUMEM_SUM, 0, x.get(), 1000, y.get(), GPUMEM_I32);
      case GPUMEM_FAMILY_GATHER:
      case GPUMEM_FAMILY_SCATTER:
        return gpumem_test::run(ctx, rows(family));
      case GPUMEM_FAMILY_SELECT:
        return gpumem_test::run(ctx, selection(), &result);
      case GPUMEM_FAMILY_REDUCE_BY_INDEX:
        return gpumem_test::run(ctx, by_index(), y.get());
      case GPUMEM_FAMILY_PERMUTE:
        return gpumem_permute(ctx, 4, 3, kExtents, kOrder, x.get(), nullptr, y.get(), nullptr);
      case GPUMEM_FAMILY_COPY:
        return gpumem_copy(ctx, y.get(), x.get(), 4000);
      case GPUMEM_FAMILY_COPY_BOXES:
        return gpumem_test::run(ctx, boxes());
      case GPUMEM_FAMILY_RESIZE:
        return gpumem_test::run(ctx, resize());
      case GPUMEM_FAMILY_FILL:
        return gpumem_fill(ctx, y.get(), &pattern, 1, 4000);
        break;
    }
    return GPUMEM_INTERNAL;
  }
  // In memory of the device, index and offsets too.
  gpumem_status run_async(gpumem_family family) {
    const gpumem_status status = enqueue(family);
    return status != GPUMEM_OK ? status : gpumem_stream_synchronize(ctx, nullptr);
  }
  gpumem_status enqueue(gpumem_family family) {
    const char pattern = 7;
    const auto* offsets = static_cast<const int64_t*>(near.get());
    switch (static_cast<decltype(GPUMEM_FAMILY_REDUCE)>(family)) {
      case GPUMEM_FAMILY_REDUCE:
        return gpumem_reduce_i32_async(ctx, GPUMEM_SUM, static_cast<const int32_t*>(x.get()), 1000, 1,
                                       static_cast<int64_t*>(y.get()), nullptr, nullptr);
      case GPUMEM_FAMILY_TRANSPOSE:
        return gpumem_transpose_async(ctx, 4, 20, 50, x.get(), 50, y.get(), 20, nullptr);
      case GPUMEM_FAMILY_REDUCE_AXIS:
        return gpumem_test::run_async(ctx, Axis{GPUMEM_I32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.get(), 20, 50, 50, 1, 0},
                                      y.get(), nullptr, nullptr);
      case GPUMEM_FAMILY_REDUCE_SEGMENTS:
        return gpumem_test::run_async(ctx, Segmented{GPUMEM_I32, GPUMEM_SUM, x.get(), 1000, offsets, 2}, y.get(),
                                      nullptr, nullptr);
      case GPUMEM_FAMILY_AXPBY:
        return gpumem_test::run_async(ctx, Axpby{GPUMEM_F32, 1, x.get(), 0, nullptr, y.get(), 1000}, nullptr);
      case GPUMEM_FAMILY_CONVERT:
        return gpumem_convert_async(ctx, GPUMEM_I32, x.get(), GPUMEM_F32, y.get(), 1000, nullptr);
      case GPUMEM_FAMILY_ARITHMETIC:
        return gpumem_test::run_async(ctx, product(), nullptr);
      case GPUMEM_FAMILY_MAP:
        return gpumem_test::run(ctx, choice(), {true});
      case GPUMEM_FAMILY_SORT:
        return gpumem_sort_async(ctx, GPUMEM_F32, x.get(), 1000, 0, y.get(), nullptr, GPUMEM_I64, nullptr);
      case GPUMEM_FAMILY_SCAN:
        return gpumem_scan_async(ctx, GPUMEM_I32, GPUMEM_SUM, 0, x.get(), 1000, y.get(), GPUMEM_I32, nullptr, nullptr);
      case GPUMEM_FAMILY_GATHER:
      case GPUMEM_FAMILY_SCATTER: {
        Rows near_rows = rows(family);
        near_rows.index = near.get();
        return gpumem_test::run_async(ctx, near_rows, nullptr, nullptr);
      }
      case GPUMEM_FAMILY_REDUCE_BY_INDEX:
        return gpumem_test::run_async(ctx, by_index(), y.get(), nullptr, nullptr);
      case GPUMEM_FAMILY_SELECT:
        return gpumem_test::run_async(ctx, selection(), reinterpret_cast<int64_t*>(y.bytes() + 3000), nullptr);
      case GPUMEM_FAMILY_PERMUTE:
        return gpumem_permute_async(ctx, 4, 3, kExtents, kOrder, x.get(), nullptr, y.get(), nullptr, nullptr);
      case GPUMEM_FAMILY_COPY:
        return gpumem_copy_async(ctx, y.get(), x.get(), 4000, nullptr);
      case GPUMEM_FAMILY_COPY_BOXES:
        return gpumem_test::run_async(ctx, boxes(), nullptr);
      case GPUMEM_FAMILY_RESIZE:
        return gpumem_test::run_async(ctx, resize(), nullptr);
      case GPUMEM_FAMILY_FILL:
        return gpumem_fill_async(ctx, y.get(), &pattern, 1, 4000, nullptr);
        break;
    }
    return GPUMEM_INTERNAL;
  }
  ByIndex by_index() { return {GPUMEM_I32, GPUMEM_SUM, x.get(), GPUMEM_I32, near.get(), 16, 10}; }
  Boxes boxes() {
    Boxes b{.element_bytes = 4, .ndim = 3};
    for (int k = 0; k < 2; ++k) b.add({4, 6, 10}, x.bytes() + 1000 * k, y.bytes() + 1000 * k);
    return b;
  }
  Selected selection() { return {12, x.get(), 12, static_cast<const uint8_t*>(near.get()), 64, y.get(), 60, 16}; }
  Rows rows(gpumem_family family) { return {family, 48, x.get(), 48, GPUMEM_I32, kIndex, 4, y.get(), 48, 10}; }
  void SetUp() override {
    const Bytes zeros(4000);
    upload(ctx, x.get(), zeros.data(), zeros.size());
    upload(ctx, y.get(), zeros.data(), zeros.size());
    upload(ctx, near.get(), zeros.data(), 64);
    for (const gpumem_family family : kFamilies) problem(family);  // nothing is forced yet
  }
  void TearDown() override {}  // no count of what is left: x and y still live

  std::map<gpumem_family, std::string> lines;
  Memory x{ctx, GPUMEM_MEMORY_DEVICE, 4000};
  Memory y{ctx, GPUMEM_MEMORY_DEVICE, 4000};
  Memory near{ctx, GPUMEM_MEMORY_DEVICE, 64};
};

TEST_P(VariantsOn, ExplainNamesTheVariantAndWhyEachOtherWasPassedOver) {
  for (const gpumem_family family : kFamilies) {
    Explained explained;
    ASSERT_TRUE(ok(explain(ctx, problem(family), explained)));
    const std::vector<std::string> names = variant_names(family);
    EXPECT_EQ(std::count(names.begin(), names.end(), explained.variant), 1) << explained.variant;
    EXPECT_EQ(explained.not_taken.size() + 1, names.size());
    for (const std::string& name : names) {
      if (name == explained.variant) continue;
      EXPECT_NE(explained.not_taken[name], "") << name << " was passed over without a reason";
    }
    std::string text;
    ASSERT_TRUE(ok(explain(ctx, problem(family), GPUMEM_FORMAT_TEXT, text)));
    constexpr const char* kElsewhere = "and this work runs on";  // the reason against variants of the other backend
    EXPECT_EQ(text.find(kElsewhere), std::string::npos) << text;
    for (const std::string& name : names) {
      if (explained.not_taken[name].find(kElsewhere) != std::string::npos) continue;
      EXPECT_TRUE(contains_word(text, name)) << name << " is not in:\n" << text;
    }
    EXPECT_FALSE(parse_json(text).has_value());
  }
}

TEST_P(VariantsOn, ForcingOneMakesItTheOneInUse) {
  for (const gpumem_family family : kFamilies) {
    int accepted = 0;
    for (const std::string& name : variant_names(family)) {
      ASSERT_TRUE(ok(gpumem_variant_force(ctx, family, name.c_str())));
      Explained explained;
      const gpumem_status explanation = explain(ctx, problem(family), explained);
      EXPECT_TRUE(gives(explanation, run(family))) << name << ": the call and its explanation differ";
      if (explanation == GPUMEM_OK) {
        ++accepted;
        EXPECT_EQ(explained.variant, name);
      } else {
        EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, explanation, {name})) << "it must say which variant does not fit";
      }
    }
    EXPECT_GE(accepted, least_variants(family)) << "family " << family;
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, family, nullptr)));
    EXPECT_TRUE(ok(run(family)));
  }
}

TEST_P(VariantsOn, ForcingIsForOneContextAndOneFamily) {
  const Context other(GetParam());
  for (const gpumem_family family : kFamilies) {
    Explained free_choice;
    ASSERT_TRUE(ok(explain(ctx, problem(family), free_choice)));
    for (const std::string& name : variant_names(family)) {
      ASSERT_TRUE(ok(gpumem_variant_force(other, family, name.c_str())));
      Explained explained;
      ASSERT_TRUE(ok(explain(ctx, problem(family), explained)));
      EXPECT_EQ(explained.variant, free_choice.variant);
    }
    for (const gpumem_family untouched : kFamilies) {
      if (untouched <= family) continue;
      Explained mine, theirs;
      ASSERT_TRUE(ok(explain(ctx, problem(untouched), mine)));
      ASSERT_TRUE(ok(explain(other, problem(untouched), theirs)));
      EXPECT_EQ(mine.variant, theirs.variant);
    }
  }
}

TEST_P(VariantsOn, AnUnknownNameChangesNothing) {
  for (const gpumem_family family : kFamilies) {
    if (least_variants(family) < 2) continue;
    Explained before, after;
    ASSERT_TRUE(ok(explain(ctx, problem(family), before)));
    std::string other;  // one that fits, and is not the table's choice
    for (const std::string& name : variant_names(family)) {
      if (name == before.variant) continue;
      ASSERT_TRUE(ok(gpumem_variant_force(ctx, family, name.c_str())));
      if (explain(ctx, problem(family), after) == GPUMEM_OK) other = name;
    }
    ASSERT_NE(other, "");
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, family, other.c_str())));
    for (const char* name : {"no_such_variant", "", " "}) {
      EXPECT_TRUE(refused(GPUMEM_NOT_FOUND, gpumem_variant_force(ctx, family, name), {"name"})) << name;
    }
    ASSERT_TRUE(ok(explain(ctx, problem(family), after)));
    EXPECT_EQ(after.variant, other);
  }
}

TEST_P(VariantsOn, TheEnvironmentForcesToo) {
  for (size_t i = 0; i < std::size(kFamilies); ++i) {
    const gpumem_family family = kFamilies[i];
    Explained free_choice;
    ASSERT_TRUE(ok(explain(ctx, problem(family), free_choice)));
    for (const std::string& name : variant_names(family)) {
      gpumem_ctx* other = nullptr;
      const gpumem_ctx_options options = options_for(GetParam());
      {
        const ScopedVariable variable(kVariables[i], name.c_str());
        ASSERT_TRUE(ok(gpumem_ctx_create(&options, &other)));
      }
      Explained explained;
      const gpumem_status status = explain(other, problem(family), explained);
      if (status == GPUMEM_OK) {
        EXPECT_EQ(explained.variant, name);
      } else {
        EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {name}));
      }
      ASSERT_TRUE(ok(gpumem_variant_force(other, family, nullptr))) << "NULL gives the choice back";
      ASSERT_TRUE(ok(explain(other, problem(family), explained)));
      EXPECT_EQ(explained.variant, free_choice.variant);
      EXPECT_TRUE(ok(gpumem_ctx_destroy(other)));
    }
  }
}

TEST_P(VariantsOn, ExplainIsCutAtCap) {
  for (const gpumem_format format : {GPUMEM_FORMAT_TEXT, GPUMEM_FORMAT_JSON}) {
    const std::string reduce = problem(GPUMEM_FAMILY_REDUCE);
    std::string whole;
    ASSERT_TRUE(ok(explain(ctx, reduce, format, whole)));
    for (const size_t cap :
         {size_t{1}, size_t{2}, whole.size() / 2, whole.size(), whole.size() + 1, whole.size() + 9}) {
      std::string buffer(whole.size() + 20, '\x7f');
      int64_t needed = -1;
      ASSERT_TRUE(ok(gpumem_explain(ctx, reduce.c_str(), format, buffer.data(), static_cast<int64_t>(cap), &needed)));
      EXPECT_EQ(needed, static_cast<int64_t>(whole.size()) + 1);
      EXPECT_EQ(std::string(buffer.c_str()), whole.substr(0, std::min(cap - 1, whole.size())));
      EXPECT_EQ(buffer.find_first_not_of('\x7f', cap), std::string::npos) << "wrote past cap = " << cap;
    }
  }
}

TEST_P(VariantsOn, ExplainRefusesBadArguments) {
  const std::string reduce = problem(GPUMEM_FAMILY_REDUCE);
  char text[64] = "poison";
  int64_t needed = -7;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_explain(ctx, nullptr, 0, text, 64, &needed), {"line", "NULL"}));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_explain(ctx, reduce.c_str(), 2, text, 64, &needed), {"format", "2"}));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_explain(ctx, reduce.c_str(), -1, text, 64, &needed), {"format", "-1"}));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_explain(ctx, reduce.c_str(), 0, text, -1, &needed), {"cap", "-1"}));
  EXPECT_TRUE(
      refused(GPUMEM_INVALID_ARGUMENT, gpumem_explain(ctx, reduce.c_str(), 0, nullptr, 8, &needed), {"buf", "NULL"}));
  const gpumem_family none = *std::max_element(std::begin(kFamilies), std::end(kFamilies)) + 1;
  for (const gpumem_family family : {0, none, -1, INT32_MAX}) {
    int32_t count = -7;
    const char* name = text;
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, gpumem_variant_count(family, &count), {"family", std::to_string(family)}));
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, gpumem_variant_name(family, 0, &name)));
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, gpumem_variant_force(ctx, family, nullptr)));
    EXPECT_TRUE(count == -7 && name == text);
  }
  EXPECT_STREQ(text, "poison");
  EXPECT_EQ(needed, -7);
}

TEST_P(VariantsOn, ExplainRefusesLinesThatCantBeRead) {
  const struct {
    const char* line;
    std::initializer_list<std::string> words;
  } kCases[] = {{"", {"family", "transpose"}},
                {"rotate n=1", {"rotate", "transpose"}},
                {"reduce dtype=f31 op=sum n=1 x=device", {"dtype", "f31", "bf16"}},
                {"reduce dtype=12 op=sum n=1 x=device", {"dtype", "12"}},
                {"reduce dtype=f32 op=sum n=1 x=gpu", {"x", "gpu", "device"}},
                {"reduce dtype=f32 op=sum n=1 y=device", {"y", "stride"}},
                {"reduce dtype=f32 op=sum x=device", {"n", "integer"}},
                {"reduce dtype=f32 op=sum n=1", {"x", "missing", "pinned"}},
                {"reduce dtype=f32 op=sum n=9e9 x=device", {"n", "9e9", "integer"}}};
  for (const auto& c : kCases) EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, explain(ctx, c.line), c.words)) << c.line;
}

// Those of a line were made up.
TEST_P(VariantsOn, ExplainRefusesWithoutAddresses) {
  const struct {
    const char* line;
    gpumem_status status;
    std::initializer_list<std::string> words;
  } kCases[] = {
      {"reduce dtype=f32 op=sum n=1 x=device:77", GPUMEM_UNSUPPORTED, {"x", "77"}},
      {"permute bytes=4 extents=10x20 order=1,0 src=device dst=src", GPUMEM_UNSUPPORTED, {"dst is src"}},
      {"convert from=f32 to=f64 n=3 src=device dst=src", GPUMEM_INVALID_ARGUMENT, {"dst is src"}},
      {"gather row_bytes=4 n=3 src_rows=3 index_type=i32 src=device index=device dst=device index_misaligned=3",
       GPUMEM_INVALID_ARGUMENT,
       {"index", "3 bytes", "4"}},
      {"copy bytes=4611686018427387904 src=device dst=device", GPUMEM_OUT_OF_RANGE, {"4611686018427387904"}},
  };
  for (const auto& c : kCases) {
    const gpumem_status got = explain(ctx, c.line);
    EXPECT_EQ(last_error().find("0x"), std::string::npos) << last_error();
    EXPECT_TRUE(refused(c.status, got, c.words)) << c.line;
  }
}

TEST_P(VariantsOn, ExplainHasTheSameMembersOfAProblemWithNothingToDo) {
  Explained some;
  Explained none;
  ASSERT_TRUE(ok(explain(ctx, "reduce dtype=f32 op=sum n=1 x=device", some)));
  ASSERT_TRUE(ok(explain(ctx, "reduce dtype=f32 op=sum n=0 x=device", none)));
  ASSERT_EQ(none.json.members.size(), some.json.members.size());
  for (size_t i = 0; i < none.json.members.size(); ++i) {
    EXPECT_EQ(none.json.members[i].first, some.json.members[i].first);
  }
  for (const char* name : {"runs_on", "device", "placement", "variant", "chosen_by", "launch"}) {
    EXPECT_EQ(none.json.member(name).type, Json::Type::null) << name;
  }
}

TEST_P(VariantsOn, ExplainNamesItsSchemaAndItsLine) {
  Explained explained;
  ASSERT_TRUE(ok(explain(ctx, "transpose rows=20 cols=50 bytes=4 dst=device src=device src_ld=50", explained)));
  EXPECT_EQ(explained.json.member("schema").text, "gpumem.explain/1");
  EXPECT_EQ(explained.json.member("line").text, "transpose bytes=4 rows=20 cols=50 src=device dst=device");
  if (!on_cuda()) return;
  EXPECT_EQ(explained.not_taken["naive"], "used only by name");
}

// A call is explained by making it, whatever is forced: where the call was refused, so is its line.
TEST_P(VariantsOn, TheLastProblemExplainsTheCallInBothForms) {
  for (const gpumem_family family : kFamilies) {
    std::vector<std::string> forced = variant_names(family);
    forced.insert(forced.begin(), "");
    for (const std::string& name : forced) {
      ASSERT_TRUE(ok(gpumem_variant_force(ctx, family, name.empty() ? nullptr : name.c_str())));
      for (const bool async : {false, true}) {
        const gpumem_status called = async ? run_async(family) : run(family);
        const std::string line = last_problem();
        Explained explained;
        EXPECT_TRUE(gives(called, explain(ctx, line, explained))) << name << ": " << line;
        EXPECT_EQ(line.find("form=async") != std::string::npos, async) << line;
        if (called != GPUMEM_OK) continue;
        EXPECT_EQ(explained.json.member("line").text, line);
        EXPECT_TRUE(name.empty() || explained.variant == name) << line;
      }
    }
    ASSERT_TRUE(ok(gpumem_variant_force(ctx, family, nullptr)));
  }
}

TEST_P(VariantsOn, TheLastProblemIsTheThreadsOwn) {
  const std::string mine = last_problem();
  std::thread([&] {
    EXPECT_EQ(last_problem(), "");
    EXPECT_TRUE(ok(run(GPUMEM_FAMILY_FILL)));
    EXPECT_EQ(last_problem().rfind("fill bytes=1 n=4000 dst=device", 0), 0u) << last_problem();
  }).join();
  EXPECT_EQ(last_problem(), mine);
  // Neither what is no operation changes it, nor a call that gets no further than its handles.
  void* p = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 64, &p)));
  ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, gpumem_copy(nullptr, p, p, 1)));
  EXPECT_EQ(last_problem(), mine);
}

TEST_P(VariantsOn, TheLastProblemIsCutAtCap) {
  const std::string whole = last_problem();
  for (const size_t cap : {size_t{1}, size_t{7}, whole.size(), whole.size() + 1, whole.size() + 9}) {
    std::string buffer(whole.size() + 20, '\x7f');
    int64_t needed = -1;
    ASSERT_TRUE(ok(gpumem_last_problem(buffer.data(), static_cast<int64_t>(cap), &needed)));
    EXPECT_EQ(needed, static_cast<int64_t>(whole.size()) + 1);
    EXPECT_EQ(std::string(buffer.c_str()), whole.substr(0, std::min(cap - 1, whole.size())));
    EXPECT_EQ(buffer.find_first_not_of('\x7f', cap), std::string::npos) << "wrote past cap = " << cap;
  }
  int64_t needed = -7;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_last_problem(nullptr, 8, &needed), {"buf", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_last_problem(nullptr, -1, &needed), {"cap", "-1"}));
  EXPECT_EQ(needed, -7);
}

TEST_P(VariantsOn, ExplainRunsNothing) {
  const Bytes before = download(ctx, y.get(), 4000);
  for (const gpumem_family family : kFamilies) {
    std::string text;
    ASSERT_TRUE(ok(explain(ctx, problem(family), GPUMEM_FORMAT_TEXT, text)));
  }
  EXPECT_EQ(download(ctx, y.get(), 4000), before);
}

INSTANTIATE_TEST_SUITE_P(On, VariantsOn, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
