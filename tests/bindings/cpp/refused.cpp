// Mistakes that the compiler refuses: compile.sh compiles this once for each, and once without any.
#include <gpumem.hpp>

#include <deque>
#include <vector>

void use(gpumem::context& ctx, gpumem::device_buffer<int>& device, std::vector<int>& host,
         const std::vector<int>& reading, std::vector<float>& floats, std::vector<double>& doubles) {
  using gpumem::matrix_view;
  using gpumem::reduce_op;
  ctx.copy(device, host);
  ctx.copy(host, device);
  const gpumem::dist dist({ctx});
  const auto plan = dist.plan_reduce(gpumem::dist_layout<int>({3}, {{{0}, {3}}}));
#if MISTAKE == 1  // device memory is not for the host to read
  host[0] = device[0];
#elif MISTAKE == 2
  host[0] = *device.view().begin();
#elif MISTAKE == 3
  gpumem::host_view<int> view(device);
#elif MISTAKE == 4  // a temporary: "this temporary owns its memory"
  ctx.copy(device, std::vector<int>{1, 2, 3});
#elif MISTAKE == 5
  ctx.copy(host, ctx.alloc_device<int>(3));
#elif MISTAKE == 6
  gpumem::host_view<const int> view(std::vector<int>{1, 2, 3});
#elif MISTAKE == 7  // "and dst must not be const"
  ctx.copy(reading, device);
#elif MISTAKE == 8  // "dst and src must have the same element type"
  ctx.copy(floats, host);
#elif MISTAKE == 9
  ctx.transpose(matrix_view(host, 1, 1), matrix_view(floats, 1, 1));
#elif MISTAKE == 10
  (void)ctx.dot(floats, doubles);
#elif MISTAKE == 11  // results are std::int64_t
  ctx.reduce(reduce_op::sum, host, doubles);
#elif MISTAKE == 12  // "elements of this type are only moved"
  std::vector<char32_t> letters(3);
  (void)ctx.reduce(reduce_op::sum, letters);
#elif MISTAKE == 13  // "this operation takes contiguous elements"
  ctx.copy(gpumem::every(host, 2), device);
#elif MISTAKE == 14  // owners are not copied
  gpumem::device_buffer<int> copy = device;
#elif MISTAKE == 15
  gpumem::context copy = ctx;
#elif MISTAKE == 16  // a result that nobody looks at
  ctx.attempt().synchronize();
#elif MISTAKE == 17  // constants of one kind are not those of another
  ctx.force(reduce_op::sum, "name");
#elif MISTAKE == 18  // elements that are more than their bytes
  std::vector<std::vector<int>> nested(3);
  ctx.fill(nested, std::vector<int>());
#elif MISTAKE == 19
  ctx.gather(matrix_view(host, 1, 1), floats, matrix_view(host, 1, 1));
#elif MISTAKE == 20
  (void)ctx.nrm2(host);
#elif MISTAKE == 21  // "not an operand"
  (void)ctx.reduce(reduce_op::sum, host.data());
#elif MISTAKE == 22  // "not an operand"
  std::deque<int> scattered(3);
  ctx.fill(scattered, 1);
#elif MISTAKE == 23  // "not an operand"
  std::vector<bool> bits(3);
  ctx.copy(bits, device);
#elif MISTAKE == 24  // "not an operand"
  matrix_view view(&host, 1, 1);
#elif MISTAKE == 25  // "elements of this type are only moved"
  char letters[3] = {};
  ctx.convert(letters, host);
#elif MISTAKE == 26  // "a matrix_view does not fit here"
  ctx.copy(host, matrix_view(host, 1, 1));
#elif MISTAKE == 27  // "trivially copyable"
  gpumem::pinned_buffer<std::vector<int>> nested;
#elif MISTAKE == 28  // "this temporary owns its memory"
  plan.execute(std::vector<std::vector<int>>(1));
#elif MISTAKE == 29  // "dot takes float and double"
  (void)plan.dot(host, host);
#elif MISTAKE == 30  // memory of other elements than the layout's
  (void)plan.reduce(reduce_op::sum, floats);
#elif MISTAKE == 31
  plan.execute(reading);
#elif MISTAKE == 32
  gpumem::dist copy = dist;
#elif MISTAKE == 33  // "transpose takes matrix views"
  ctx.transpose(host, host);
#elif MISTAKE == 34  // "reduce_axis takes a matrix_view"
  ctx.reduce_axis(reduce_op::sum, gpumem::axis::rows, doubles, doubles);
#elif MISTAKE == 35  // "gather takes matrix views as src and dst"
  ctx.gather(host, host, matrix_view(host, 1, 1));
#elif MISTAKE == 36  // "multiply takes grid views"
  ctx.multiply(doubles, doubles, gpumem::grid_view(doubles, {1}));
#elif MISTAKE == 37  // "lincomb takes a grid_view as z"
  ctx.lincomb({{0.5, gpumem::grid_view(doubles, {1})}}, doubles);
#elif MISTAKE == 38  // "resize takes matrix views"
  ctx.resize(gpumem::filter::nearest, floats, matrix_view(floats, 1, 1));
#elif MISTAKE == 39  // "the result of dot is a double that is not const"
  ctx.create_stream().dot(doubles, doubles, floats);
#elif MISTAKE == 40  // "scatter takes matrix views as src and dst"
  ctx.create_stream().scatter(host, host, matrix_view(host, 1, 1));
#elif defined(MISTAKE)
#error "there are no more mistakes"
#endif
  (void)plan, (void)reading, (void)floats, (void)doubles;
}
