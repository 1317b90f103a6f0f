// Movement as calls: transposes, permutations, fills, copies, rows by index.
#include "failure.hpp"
#include "problems/builder.hpp"
#include "text.hpp"

namespace tool {

Instance make_transpose(Builder b) {
  const int64_t size = b.p.number("bytes");
  const int64_t rows = b.p.number("rows");
  const int64_t cols = b.p.number("cols");
  const int64_t src_ld = b.p.number("src_ld", cols);
  const int64_t dst_ld = b.p.number("dst_ld", rows);
  const int64_t batches = b.p.number("batches", 1);
  const int64_t src_next = b.p.number("src_batch_stride", batches > 1 ? rows * src_ld : 0);
  const int64_t dst_next = b.p.number("dst_batch_stride", batches > 1 ? cols * dst_ld : 0);
  const auto src = b.input("src", reach({batches, rows, cols}, {src_next, src_ld, 1}) * size, elements(size));
  const auto dst = b.output("dst", reach({batches, cols, rows}, {dst_next, dst_ld, 1}) * size);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    return call(on, gpumem_transpose_batched, gpumem_transpose_batched_async, ctx, size, rows, cols, at(src), src_ld,
                src_next, at(dst), dst_ld, dst_next, batches);
  });
}

Instance make_permute(Builder b) {
  const int64_t size = b.p.number("bytes");
  const Extents extents = b.p.numbers("extents");
  const Extents axes = b.p.numbers("order");
  const std::vector<int32_t> order(axes.begin(), axes.end());
  Extents to;
  for (const int32_t axis : order) to.push_back(extents[static_cast<std::size_t>(axis)]);
  const Extents from_strides = b.p.has("src_strides") ? b.p.numbers("src_strides") : row_major(extents);
  const Extents to_strides = b.p.has("dst_strides") ? b.p.numbers("dst_strides") : row_major(to);
  const auto src = b.input("src", reach(extents, from_strides) * size, elements(size));
  const auto dst = b.output("dst", reach(to, to_strides) * size);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    const auto rank = static_cast<int32_t>(extents.size());
    return call(on, gpumem_permute, gpumem_permute_async, ctx, size, rank, extents.data(), order.data(), at(src),
                from_strides.data(), at(dst), to_strides.data());
  });
}

Instance make_fill(Builder b) {
  const int64_t size = b.p.number("bytes");
  const int64_t n = b.p.number("n");
  const int64_t rows = b.p.number("rows", 1);
  const int64_t pitch = b.p.number("pitch", n * size);
  const Pattern pattern = fill_pattern(b.p.number("uniform", size == 1 ? 1 : 0) != 0);
  const auto dst = b.output("dst", (rows - 1) * pitch + n * size);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::write, [=](On on) {
    return call(on, gpumem_fill_2d, gpumem_fill_2d_async, ctx, at(dst), pitch, pattern.bytes, size, n, rows);
  });
}

Instance make_copy(Builder b) {
  const int64_t row = b.p.number("bytes");
  const int64_t rows = b.p.number("rows", 1);
  const int64_t slices = b.p.number("slices", 1);
  const int64_t src_pitch = b.p.number("src_pitch", row);
  const int64_t dst_pitch = b.p.number("dst_pitch", row);
  const int64_t src_slice = b.p.number("src_slice", rows * src_pitch);
  const int64_t dst_slice = b.p.number("dst_slice", rows * dst_pitch);
  const auto src = b.input("src", reach({slices, rows, row}, {src_slice, src_pitch, 1}), elements(8));
  const auto dst = b.output("dst", reach({slices, rows, row}, {dst_slice, dst_pitch, 1}));
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    return call(on, gpumem_copy_3d, gpumem_copy_3d_async, ctx, at(dst), dst_pitch, dst_slice, at(src), src_pitch,
                src_slice, row, rows, slices);
  });
}

// Boxes follow each other, a multiple of their largest stride apart.
Instance make_copy_boxes(Builder b) {
  const int64_t size = b.p.number("bytes");
  const int64_t count = b.p.number("count", 1);
  const Extents extents = b.p.numbers("extents");
  const auto rank = static_cast<int32_t>(extents.size());
  const auto strides_of = [&](const char* key) { return b.p.has(key) ? b.p.numbers(key) : row_major(extents); };
  const auto step_of = [&](const Extents& strides) {
    int64_t step = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      if (extents[d] > 1) step = std::max(step, extents[d] * strides[d]);
    }
    return step * size;
  };
  const Extents src_strides = strides_of("src_strides");
  const Extents dst_strides = strides_of("dst_strides");
  const int64_t src_step = step_of(src_strides);
  const int64_t dst_step = step_of(dst_strides);
  const auto src = b.input("src", (count - 1) * src_step + reach(extents, src_strides) * size, elements(size));
  const auto dst = b.output("dst", (count - 1) * dst_step + reach(extents, dst_strides) * size);
  const auto boxes = static_cast<std::size_t>(count);
  Extents all_extents;
  Extents all_src;
  Extents all_dst;
  std::vector<const void*> from(boxes);
  std::vector<void*> to(boxes);
  for (std::size_t k = 0; k < boxes; ++k) {
    all_extents.insert(all_extents.end(), extents.begin(), extents.end());
    all_src.insert(all_src.end(), src_strides.begin(), src_strides.end());
    all_dst.insert(all_dst.end(), dst_strides.begin(), dst_strides.end());
    from[k] = at<char>(src) + static_cast<int64_t>(k) * src_step;
    to[k] = at<char>(dst) + static_cast<int64_t>(k) * dst_step;
  }
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    return call(on, gpumem_copy_boxes, gpumem_copy_boxes_async, ctx, size, rank, count, all_extents.data(), from.data(),
                all_src.data(), to.data(), all_dst.data());
  });
}

Instance make_gather(Builder b) {
  const int64_t row = b.p.number("row_bytes");
  const int64_t n = b.p.number("n");
  const int64_t rows = b.p.number("src_rows");
  const int64_t src_pitch = b.p.number("src_pitch", row);
  const int64_t dst_pitch = b.p.number("dst_pitch", row);
  const gpumem_dtype type = b.p.dtype("index_type");
  const auto src = b.input("src", (rows - 1) * src_pitch + row, elements(8));
  const auto index = b.input("index", n * kDtypeBytes[type], some_rows(type, rows));
  const auto dst = b.output("dst", (n - 1) * dst_pitch + row);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    return call(on, gpumem_gather, gpumem_gather_async, ctx, row, at(src), rows, src_pitch, type, at(index), n, at(dst),
                dst_pitch);
  });
}

Instance make_scatter(Builder b) {
  const int64_t row = b.p.number("row_bytes");
  const int64_t n = b.p.number("n");
  const int64_t rows = b.p.number("dst_rows");
  if (n > rows) {  // the message of gpumem_tune()
    const std::string sentence =
        format("line: %lld rows go to %lld; expected at most as many, since which of two stays is not defined",
               static_cast<long long>(n), static_cast<long long>(rows));
    throw CallFailure(sentence, GPUMEM_UNSUPPORTED, sentence);
  }
  const int64_t src_pitch = b.p.number("src_pitch", row);
  const int64_t dst_pitch = b.p.number("dst_pitch", row);
  const gpumem_dtype type = b.p.dtype("index_type");
  const auto src = b.input("src", (n - 1) * src_pitch + row, elements(8));
  const auto index = b.input("index", n * kDtypeBytes[type], some_rows(type, rows));
  const auto dst = b.output("dst", (rows - 1) * dst_pitch + row);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    return call(on, gpumem_scatter, gpumem_scatter_async, ctx, row, at(src), src_pitch, type, at(index), n, at(dst),
                rows, dst_pitch);
  });
}

// The output that is checked is sorted, or order if only that is wanted.
Instance make_sort(Builder b) {
  const gpumem_dtype dtype = b.p.dtype();
  const gpumem_dtype order_type = b.p.has("order_type") ? b.p.dtype("order_type") : GPUMEM_I64;
  const int64_t n = b.p.number("n");
  const auto descending = static_cast<int32_t>(b.p.number("descending"));
  const auto keys = b.input("keys", n * kDtypeBytes[dtype], values(dtype, 1));
  const auto order = b.p.text("order") == "none" ? nullptr : b.output("order", n * kDtypeBytes[order_type]);
  const auto sorted = b.p.text("sorted") == "none" ? nullptr : b.output("sorted", n * kDtypeBytes[dtype]);
  gpumem_ctx* const ctx = b.ctx;
  if (b.p.has("segments")) {
    const int64_t segments = b.p.number("segments");
    const auto offsets = b.input("offsets", (segments + 1) * 8, even_offsets(n, segments));
    return b.finish(Limit::none, [=](On on) {
      return call(on, gpumem_sort_segments, gpumem_sort_segments_async, ctx, dtype, at(keys), n, at<int64_t>(offsets),
                  segments, descending, at(sorted), at(order), order_type);
    });
  }
  return b.finish(Limit::none, [=](On on) {
    return call(on, gpumem_sort, gpumem_sort_async, ctx, dtype, at(keys), n, descending, at(sorted), at(order),
                order_type);
  });
}

Instance make_select(Builder b) {
  const bool places = b.p.text("of") == "places";
  const gpumem_dtype type = places ? b.p.dtype("index_type") : GPUMEM_U8;
  const int64_t row = places ? kDtypeBytes[type] : b.p.number("row_bytes");
  const int64_t n = b.p.number("n");
  const int64_t room = b.p.number("dst_rows", n);
  const int64_t src_pitch = b.p.number("src_pitch", row);
  const int64_t dst_pitch = b.p.number("dst_pitch", row);
  const auto src = places || room == 0 ? nullptr : b.input("src", (n - 1) * src_pitch + row, elements(row));
  const auto mask = b.input("mask", n, half_mask());
  const auto kept = b.result("pinned", 8);
  const auto dst = room == 0 ? nullptr : b.output("dst", (room - 1) * dst_pitch + row);
  gpumem_ctx* const ctx = b.ctx;
  return b.finish(Limit::copy, [=](On on) {
    if (places) {
      return call(on, gpumem_select_places, gpumem_select_places_async, ctx, at<const uint8_t>(mask), n, type, at(dst),
                  room, at<int64_t>(kept));
    }
    return call(on, gpumem_select, gpumem_select_async, ctx, row, at(src), src_pitch, at<const uint8_t>(mask), n,
                at(dst), room, dst_pitch, at<int64_t>(kept));
  });
}

}  // namespace tool
