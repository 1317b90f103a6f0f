/* A table with the address of every function of the header: compiled as each standard of C and C++, it shows that each
 * prototype is one. The header is included twice on purpose, and before anything else. */
#include "gpumem.h"

typedef struct gpumem_functions {
  gpumem_status (*version)(int32_t *, int32_t *, int32_t *);
  const char *(*status_name)(gpumem_status);
  gpumem_status (*last_error)(char *, int64_t, int64_t *);
  gpumem_status (*device_count)(int32_t *);
  gpumem_status (*device_info_init)(gpumem_device_info *, int64_t);
  gpumem_status (*device_query)(int32_t, gpumem_device_info *);
  gpumem_status (*ctx_options_init)(gpumem_ctx_options *, int64_t);
  gpumem_status (*ctx_create)(const gpumem_ctx_options *, gpumem_ctx **);
  gpumem_status (*ctx_destroy)(gpumem_ctx *);
  gpumem_status (*ctx_device)(gpumem_ctx *, gpumem_device_info *);
  gpumem_status (*ctx_status)(gpumem_ctx *);
  gpumem_status (*ctx_synchronize)(gpumem_ctx *);
  gpumem_status (*ctx_set_log)(gpumem_ctx *, gpumem_log_fn, void *);
  gpumem_status (*ctx_warmup)(gpumem_ctx *);
  gpumem_status (*alloc_device)(gpumem_ctx *, int64_t, void **);
  gpumem_status (*alloc_pinned)(gpumem_ctx *, int64_t, void **);
  gpumem_status (*alloc_managed)(gpumem_ctx *, int64_t, void **);
  gpumem_status (*free)(gpumem_ctx *, void *);
  gpumem_status (*alloc_async)(gpumem_ctx *, int64_t, int64_t, gpumem_stream *, void **);
  gpumem_status (*free_async)(gpumem_ctx *, void *, gpumem_stream *);
  gpumem_status (*memory_used_on)(gpumem_ctx *, const void *, gpumem_stream *);
  gpumem_status (*memory_trim)(gpumem_ctx *, int64_t);
  gpumem_status (*memory_check)(gpumem_ctx *);
  gpumem_status (*memory_trace)(gpumem_ctx *, const char *);
  gpumem_status (*host_register)(gpumem_ctx *, void *, int64_t);
  gpumem_status (*host_unregister)(gpumem_ctx *, void *);
  gpumem_status (*memory_label)(gpumem_ctx *, const void *, const char *);
  gpumem_status (*pointer_info_init)(gpumem_pointer_info *, int64_t);
  gpumem_status (*pointer_query)(gpumem_ctx *, const void *, gpumem_pointer_info *);
  gpumem_status (*memory_stats_init)(gpumem_memory_stats_info *, int64_t);
  gpumem_status (*memory_stats)(gpumem_ctx *, gpumem_memory_stats_info *);
  gpumem_status (*ceiling_info_init)(gpumem_ceiling_info *, int64_t);
  gpumem_status (*ceiling)(gpumem_ctx *, gpumem_ceiling_info *);
  gpumem_status (*profile_begin)(gpumem_ctx *, int64_t);
  gpumem_status (*profile_end)(gpumem_ctx *);
  gpumem_status (*profile_row_init)(gpumem_profile_row *, int64_t);
  gpumem_status (*profile_report)(gpumem_ctx *, gpumem_profile_row *, int64_t, int64_t *);
  gpumem_status (*profile_write)(gpumem_ctx *, gpumem_format, const char *);
  gpumem_status (*tune_options_init)(gpumem_tune_options *, int64_t);
  gpumem_status (*tune_info_init)(gpumem_tune_info *, int64_t);
  gpumem_status (*tune)(gpumem_ctx *, const char *, const gpumem_tune_options *, gpumem_tune_info *);
  gpumem_status (*tuning_load)(gpumem_ctx *, const char *, int64_t *, int64_t *);
  gpumem_status (*tuning_save)(gpumem_ctx *, const char *);
  gpumem_status (*tuning_clear)(gpumem_ctx *);
  gpumem_status (*shared_ctx)(int32_t, gpumem_ctx **);
  void *(*torch_malloc)(int64_t, int32_t, void *);
  void (*torch_free)(void *, int64_t, int32_t, void *);
  void (*torch_record_stream)(void *, void *);
  void (*torch_begin_pool)(int32_t, int64_t, int64_t, const void *);
  void (*torch_end_pool)(int32_t, int64_t, int64_t);
  void (*torch_release_pool)(int32_t, int64_t, int64_t);
  void (*torch_empty_cache)(void);
  void *(*torch_segment_malloc)(int64_t, int32_t, void *);
  void (*torch_segment_free)(void *, int64_t, int32_t, void *);
  void *(*cupy_malloc)(void *, int64_t, int32_t);
  void (*cupy_free)(void *, void *, int32_t);
  gpumem_status (*managed_prefetch)(gpumem_ctx *, const void *, int64_t, int32_t);
  gpumem_status (*managed_prefetch_async)(gpumem_ctx *, const void *, int64_t, int32_t, gpumem_stream *);
  gpumem_status (*managed_advise)(gpumem_ctx *, const void *, int64_t, gpumem_advice, int32_t);
  gpumem_status (*managed_info_init)(gpumem_managed_info *, int64_t);
  gpumem_status (*managed_query)(gpumem_ctx *, const void *, int64_t, gpumem_managed_info *);
  gpumem_status (*copy)(gpumem_ctx *, void *, const void *, int64_t);
  gpumem_status (*copy_async)(gpumem_ctx *, void *, const void *, int64_t, gpumem_stream *);
  gpumem_status (*copy_2d)(gpumem_ctx *, void *, int64_t, const void *, int64_t, int64_t, int64_t);
  gpumem_status (*copy_2d_async)(gpumem_ctx *, void *, int64_t, const void *, int64_t, int64_t, int64_t,
                                 gpumem_stream *);
  gpumem_status (*copy_3d)(gpumem_ctx *, void *, int64_t, int64_t, const void *, int64_t, int64_t, int64_t, int64_t,
                           int64_t);
  gpumem_status (*copy_3d_async)(gpumem_ctx *, void *, int64_t, int64_t, const void *, int64_t, int64_t, int64_t,
                                 int64_t, int64_t, gpumem_stream *);
  gpumem_status (*fill)(gpumem_ctx *, void *, const void *, int64_t, int64_t);
  gpumem_status (*fill_async)(gpumem_ctx *, void *, const void *, int64_t, int64_t, gpumem_stream *);
  gpumem_status (*fill_2d)(gpumem_ctx *, void *, int64_t, const void *, int64_t, int64_t, int64_t);
  gpumem_status (*fill_2d_async)(gpumem_ctx *, void *, int64_t, const void *, int64_t, int64_t, int64_t,
                                 gpumem_stream *);
  gpumem_status (*stream_create)(gpumem_ctx *, gpumem_stream **);
  gpumem_status (*stream_destroy)(gpumem_stream *);
  gpumem_status (*stream_wrap)(gpumem_ctx *, void *, gpumem_stream **);
  gpumem_status (*stream_native)(gpumem_ctx *, gpumem_stream *, void **);
  gpumem_status (*stream_synchronize)(gpumem_ctx *, gpumem_stream *);
  gpumem_status (*stream_query)(gpumem_ctx *, gpumem_stream *);
  gpumem_status (*stream_wait_event)(gpumem_ctx *, gpumem_stream *, gpumem_event *);
  gpumem_status (*event_create)(gpumem_ctx *, gpumem_event **);
  gpumem_status (*event_destroy)(gpumem_event *);
  gpumem_status (*event_record)(gpumem_ctx *, gpumem_event *, gpumem_stream *);
  gpumem_status (*event_synchronize)(gpumem_event *);
  gpumem_status (*event_elapsed)(gpumem_event *, gpumem_event *, double *);
  gpumem_status (*reduce)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, int64_t, int64_t, void *);
  gpumem_status (*reduce_i32)(gpumem_ctx *, gpumem_reduce_op, const int32_t *, int64_t, int64_t, int64_t *);
  gpumem_status (*reduce_i64)(gpumem_ctx *, gpumem_reduce_op, const int64_t *, int64_t, int64_t, int64_t *);
  gpumem_status (*reduce_u32)(gpumem_ctx *, gpumem_reduce_op, const uint32_t *, int64_t, int64_t, uint64_t *);
  gpumem_status (*reduce_u64)(gpumem_ctx *, gpumem_reduce_op, const uint64_t *, int64_t, int64_t, uint64_t *);
  gpumem_status (*reduce_f32)(gpumem_ctx *, gpumem_reduce_op, const float *, int64_t, int64_t, double *);
  gpumem_status (*reduce_f64)(gpumem_ctx *, gpumem_reduce_op, const double *, int64_t, int64_t, double *);
  gpumem_status (*reduce_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, int64_t, int64_t, void *,
                                gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_i32_async)(gpumem_ctx *, gpumem_reduce_op, const int32_t *, int64_t, int64_t, int64_t *,
                                    gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_i64_async)(gpumem_ctx *, gpumem_reduce_op, const int64_t *, int64_t, int64_t, int64_t *,
                                    gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_u32_async)(gpumem_ctx *, gpumem_reduce_op, const uint32_t *, int64_t, int64_t, uint64_t *,
                                    gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_u64_async)(gpumem_ctx *, gpumem_reduce_op, const uint64_t *, int64_t, int64_t, uint64_t *,
                                    gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_f32_async)(gpumem_ctx *, gpumem_reduce_op, const float *, int64_t, int64_t, double *,
                                    gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_f64_async)(gpumem_ctx *, gpumem_reduce_op, const double *, int64_t, int64_t, double *,
                                    gpumem_status *, gpumem_stream *);
  gpumem_status (*argreduce)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, int64_t, int64_t, void *,
                             int64_t *);
  gpumem_status (*argreduce_i32)(gpumem_ctx *, gpumem_reduce_op, const int32_t *, int64_t, int64_t, int64_t *,
                                 int64_t *);
  gpumem_status (*argreduce_i64)(gpumem_ctx *, gpumem_reduce_op, const int64_t *, int64_t, int64_t, int64_t *,
                                 int64_t *);
  gpumem_status (*argreduce_u32)(gpumem_ctx *, gpumem_reduce_op, const uint32_t *, int64_t, int64_t, uint64_t *,
                                 int64_t *);
  gpumem_status (*argreduce_u64)(gpumem_ctx *, gpumem_reduce_op, const uint64_t *, int64_t, int64_t, uint64_t *,
                                 int64_t *);
  gpumem_status (*argreduce_f32)(gpumem_ctx *, gpumem_reduce_op, const float *, int64_t, int64_t, double *, int64_t *);
  gpumem_status (*argreduce_f64)(gpumem_ctx *, gpumem_reduce_op, const double *, int64_t, int64_t, double *, int64_t *);
  gpumem_status (*argreduce_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, int64_t, int64_t, void *,
                                   int64_t *, gpumem_stream *);
  gpumem_status (*argreduce_i32_async)(gpumem_ctx *, gpumem_reduce_op, const int32_t *, int64_t, int64_t, int64_t *,
                                       int64_t *, gpumem_stream *);
  gpumem_status (*argreduce_i64_async)(gpumem_ctx *, gpumem_reduce_op, const int64_t *, int64_t, int64_t, int64_t *,
                                       int64_t *, gpumem_stream *);
  gpumem_status (*argreduce_u32_async)(gpumem_ctx *, gpumem_reduce_op, const uint32_t *, int64_t, int64_t, uint64_t *,
                                       int64_t *, gpumem_stream *);
  gpumem_status (*argreduce_u64_async)(gpumem_ctx *, gpumem_reduce_op, const uint64_t *, int64_t, int64_t, uint64_t *,
                                       int64_t *, gpumem_stream *);
  gpumem_status (*argreduce_f32_async)(gpumem_ctx *, gpumem_reduce_op, const float *, int64_t, int64_t, double *,
                                       int64_t *, gpumem_stream *);
  gpumem_status (*argreduce_f64_async)(gpumem_ctx *, gpumem_reduce_op, const double *, int64_t, int64_t, double *,
                                       int64_t *, gpumem_stream *);
  gpumem_status (*dot_f32)(gpumem_ctx *, const float *, const float *, int64_t, int64_t, int64_t, double *);
  gpumem_status (*dot_f64)(gpumem_ctx *, const double *, const double *, int64_t, int64_t, int64_t, double *);
  gpumem_status (*dot_f32_async)(gpumem_ctx *, const float *, const float *, int64_t, int64_t, int64_t, double *,
                                 gpumem_stream *);
  gpumem_status (*dot_f64_async)(gpumem_ctx *, const double *, const double *, int64_t, int64_t, int64_t, double *,
                                 gpumem_stream *);
  gpumem_status (*nrm2_f32)(gpumem_ctx *, const float *, int64_t, int64_t, double *);
  gpumem_status (*nrm2_f64)(gpumem_ctx *, const double *, int64_t, int64_t, double *);
  gpumem_status (*nrm2_f32_async)(gpumem_ctx *, const float *, int64_t, int64_t, double *, gpumem_stream *);
  gpumem_status (*nrm2_f64_async)(gpumem_ctx *, const double *, int64_t, int64_t, double *, gpumem_stream *);
  gpumem_status (*reduce_axis)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, gpumem_axis, const void *, int64_t,
                               int64_t, int64_t, int64_t, int64_t, void *);
  gpumem_status (*reduce_axis_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, gpumem_axis, const void *, int64_t,
                                     int64_t, int64_t, int64_t, int64_t, void *, gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_axes)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const int64_t *, const void *,
                               const int64_t *, int32_t, void *, gpumem_dtype);
  gpumem_status (*reduce_axes_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const int64_t *,
                                     const void *, const int64_t *, int32_t, void *, gpumem_dtype, gpumem_status *,
                                     gpumem_stream *);
  gpumem_status (*argreduce_axis)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, gpumem_axis, const void *, int64_t,
                                  int64_t, int64_t, int64_t, int64_t, void *, int64_t *);
  gpumem_status (*argreduce_axis_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, gpumem_axis, const void *,
                                        int64_t, int64_t, int64_t, int64_t, int64_t, void *, int64_t *, gpumem_status *,
                                        gpumem_stream *);
  gpumem_status (*reduce_segments)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, int64_t, const int64_t *,
                                   int64_t, void *);
  gpumem_status (*reduce_segments_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, int64_t,
                                         const int64_t *, int64_t, void *, gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_by_index)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, gpumem_dtype,
                                   const void *, int64_t, void *, int64_t);
  gpumem_status (*reduce_by_index_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, gpumem_dtype,
                                         const void *, int64_t, void *, int64_t, gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_rows_by_index)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, int64_t, int64_t,
                                        int64_t, gpumem_dtype, const void *, void *, int64_t);
  gpumem_status (*reduce_rows_by_index_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, const void *, int64_t,
                                              int64_t, int64_t, gpumem_dtype, const void *, void *, int64_t,
                                              gpumem_status *, gpumem_stream *);
  gpumem_status (*reduce_view)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const int64_t *, const void *,
                               const int64_t *, void *);
  gpumem_status (*reduce_view_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const int64_t *,
                                     const void *, const int64_t *, void *, gpumem_status *, gpumem_stream *);
  gpumem_status (*argreduce_view)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const int64_t *, const void *,
                                  const int64_t *, void *, int64_t *);
  gpumem_status (*argreduce_view_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const int64_t *,
                                        const void *, const int64_t *, void *, int64_t *, gpumem_stream *);
  gpumem_status (*dot_view_f32)(gpumem_ctx *, int32_t, const int64_t *, const float *, const int64_t *, const float *,
                                const int64_t *, double *);
  gpumem_status (*dot_view_f64)(gpumem_ctx *, int32_t, const int64_t *, const double *, const int64_t *, const double *,
                                const int64_t *, double *);
  gpumem_status (*dot_view_f32_async)(gpumem_ctx *, int32_t, const int64_t *, const float *, const int64_t *,
                                      const float *, const int64_t *, double *, gpumem_stream *);
  gpumem_status (*dot_view_f64_async)(gpumem_ctx *, int32_t, const int64_t *, const double *, const int64_t *,
                                      const double *, const int64_t *, double *, gpumem_stream *);
  gpumem_status (*dot_order_free)(gpumem_ctx *, gpumem_dtype, int32_t, const int64_t *, const void *, const int64_t *,
                                  const void *, const int64_t *, double *);
  gpumem_status (*dot_order_free_async)(gpumem_ctx *, gpumem_dtype, int32_t, const int64_t *, const void *,
                                        const int64_t *, const void *, const int64_t *, double *, gpumem_stream *);
  gpumem_status (*nrm2_view_f32)(gpumem_ctx *, int32_t, const int64_t *, const float *, const int64_t *, double *);
  gpumem_status (*nrm2_view_f64)(gpumem_ctx *, int32_t, const int64_t *, const double *, const int64_t *, double *);
  gpumem_status (*nrm2_view_f32_async)(gpumem_ctx *, int32_t, const int64_t *, const float *, const int64_t *, double *,
                                       gpumem_stream *);
  gpumem_status (*nrm2_view_f64_async)(gpumem_ctx *, int32_t, const int64_t *, const double *, const int64_t *,
                                       double *, gpumem_stream *);
  gpumem_status (*scan)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const void *, int64_t, void *,
                        gpumem_dtype);
  gpumem_status (*scan_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const void *, int64_t, void *,
                              gpumem_dtype, gpumem_status *, gpumem_stream *);
  gpumem_status (*scan_axis)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, int32_t, const int64_t *, int32_t,
                             const void *, const int64_t *, void *, const int64_t *, gpumem_dtype);
  gpumem_status (*scan_axis_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, int32_t, const int64_t *,
                                   int32_t, const void *, const int64_t *, void *, const int64_t *, gpumem_dtype,
                                   gpumem_status *, gpumem_stream *);
  gpumem_status (*scan_segments)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const void *, int64_t,
                                 const int64_t *, int64_t, void *, gpumem_dtype);
  gpumem_status (*scan_segments_async)(gpumem_ctx *, gpumem_dtype, gpumem_reduce_op, int32_t, const void *, int64_t,
                                       const int64_t *, int64_t, void *, gpumem_dtype, gpumem_status *,
                                       gpumem_stream *);
  gpumem_status (*transpose)(gpumem_ctx *, int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t);
  gpumem_status (*axpby_f32)(gpumem_ctx *, float, const float *, float, const float *, float *, int64_t);
  gpumem_status (*axpby_f64)(gpumem_ctx *, double, const double *, double, const double *, double *, int64_t);
  gpumem_status (*axpby_f32_async)(gpumem_ctx *, float, const float *, float, const float *, float *, int64_t,
                                   gpumem_stream *);
  gpumem_status (*axpby_f64_async)(gpumem_ctx *, double, const double *, double, const double *, double *, int64_t,
                                   gpumem_stream *);
  gpumem_status (*convert)(gpumem_ctx *, gpumem_dtype, const void *, gpumem_dtype, void *, int64_t);
  gpumem_status (*convert_async)(gpumem_ctx *, gpumem_dtype, const void *, gpumem_dtype, void *, int64_t,
                                 gpumem_stream *);
  gpumem_status (*lincomb_f32)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const float *, const float *const *,
                               const int64_t *, float *, const int64_t *);
  gpumem_status (*lincomb_f32_async)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const float *,
                                     const float *const *, const int64_t *, float *, const int64_t *, gpumem_stream *);
  gpumem_status (*lincomb_f64)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const double *, const double *const *,
                               const int64_t *, double *, const int64_t *);
  gpumem_status (*lincomb_f64_async)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const double *,
                                     const double *const *, const int64_t *, double *, const int64_t *,
                                     gpumem_stream *);
  gpumem_status (*multiply_f32)(gpumem_ctx *, int32_t, const int64_t *, const float *, const int64_t *, const float *,
                                const int64_t *, float *, const int64_t *);
  gpumem_status (*multiply_f32_async)(gpumem_ctx *, int32_t, const int64_t *, const float *, const int64_t *,
                                      const float *, const int64_t *, float *, const int64_t *, gpumem_stream *);
  gpumem_status (*multiply_f64)(gpumem_ctx *, int32_t, const int64_t *, const double *, const int64_t *, const double *,
                                const int64_t *, double *, const int64_t *);
  gpumem_status (*multiply_f64_async)(gpumem_ctx *, int32_t, const int64_t *, const double *, const int64_t *,
                                      const double *, const int64_t *, double *, const int64_t *, gpumem_stream *);
  gpumem_status (*lincomb_at_f32)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const float *, const double *const *,
                                  const double *const *, const float *const *, const int64_t *, float *,
                                  const int64_t *);
  gpumem_status (*lincomb_at_f64)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const double *,
                                  const double *const *, const double *const *, const double *const *, const int64_t *,
                                  double *, const int64_t *);
  gpumem_status (*lincomb_at_f32_async)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const float *,
                                        const double *const *, const double *const *, const float *const *,
                                        const int64_t *, float *, const int64_t *, gpumem_stream *);
  gpumem_status (*lincomb_at_f64_async)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const double *,
                                        const double *const *, const double *const *, const double *const *,
                                        const int64_t *, double *, const int64_t *, gpumem_stream *);
  gpumem_status (*lincomb_dot_f32)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const float *,
                                   const double *const *, const double *const *, const float *const *, const int64_t *,
                                   float *, const int64_t *, int32_t, const float *const *, const int64_t *, double *);
  gpumem_status (*lincomb_dot_f64)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const double *,
                                   const double *const *, const double *const *, const double *const *, const int64_t *,
                                   double *, const int64_t *, int32_t, const double *const *, const int64_t *,
                                   double *);
  gpumem_status (*lincomb_dot_f32_async)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const float *,
                                         const double *const *, const double *const *, const float *const *,
                                         const int64_t *, float *, const int64_t *, int32_t, const float *const *,
                                         const int64_t *, double *, gpumem_stream *);
  gpumem_status (*lincomb_dot_f64_async)(gpumem_ctx *, int32_t, const int64_t *, int32_t, const double *,
                                         const double *const *, const double *const *, const double *const *,
                                         const int64_t *, double *, const int64_t *, int32_t, const double *const *,
                                         const int64_t *, double *, gpumem_stream *);
  gpumem_status (*map)(gpumem_ctx *, gpumem_map_op, gpumem_dtype, int32_t, const int64_t *, const void *,
                       const int64_t *, const void *, const int64_t *, void *, const int64_t *);
  gpumem_status (*map_async)(gpumem_ctx *, gpumem_map_op, gpumem_dtype, int32_t, const int64_t *, const void *,
                             const int64_t *, const void *, const int64_t *, void *, const int64_t *, gpumem_status *,
                             gpumem_stream *);
  gpumem_status (*compare)(gpumem_ctx *, gpumem_compare_op, gpumem_dtype, int32_t, const int64_t *, const void *,
                           const int64_t *, const void *, const int64_t *, uint8_t *, const int64_t *);
  gpumem_status (*compare_async)(gpumem_ctx *, gpumem_compare_op, gpumem_dtype, int32_t, const int64_t *, const void *,
                                 const int64_t *, const void *, const int64_t *, uint8_t *, const int64_t *,
                                 gpumem_stream *);
  gpumem_status (*where)(gpumem_ctx *, int64_t, int32_t, const int64_t *, const uint8_t *, const int64_t *,
                         const void *, const int64_t *, const void *, const int64_t *, void *, const int64_t *);
  gpumem_status (*where_async)(gpumem_ctx *, int64_t, int32_t, const int64_t *, const uint8_t *, const int64_t *,
                               const void *, const int64_t *, const void *, const int64_t *, void *, const int64_t *,
                               gpumem_stream *);
  gpumem_status (*convert_scaled)(gpumem_ctx *, int32_t, const int64_t *, gpumem_dtype, const void *, const int64_t *,
                                  const double *, const int64_t *, const double *, const int64_t *, double,
                                  gpumem_dtype, void *, const int64_t *);
  gpumem_status (*convert_scaled_async)(gpumem_ctx *, int32_t, const int64_t *, gpumem_dtype, const void *,
                                        const int64_t *, const double *, const int64_t *, const double *,
                                        const int64_t *, double, gpumem_dtype, void *, const int64_t *,
                                        gpumem_stream *);
  gpumem_status (*gather)(gpumem_ctx *, int64_t, const void *, int64_t, int64_t, gpumem_dtype, const void *, int64_t,
                          void *, int64_t);
  gpumem_status (*gather_async)(gpumem_ctx *, int64_t, const void *, int64_t, int64_t, gpumem_dtype, const void *,
                                int64_t, void *, int64_t, gpumem_status *, gpumem_stream *);
  gpumem_status (*scatter)(gpumem_ctx *, int64_t, const void *, int64_t, gpumem_dtype, const void *, int64_t, void *,
                           int64_t, int64_t);
  gpumem_status (*scatter_async)(gpumem_ctx *, int64_t, const void *, int64_t, gpumem_dtype, const void *, int64_t,
                                 void *, int64_t, int64_t, gpumem_status *, gpumem_stream *);
  gpumem_status (*copy_boxes)(gpumem_ctx *, int64_t, int32_t, int64_t, const int64_t *, const void *const *,
                              const int64_t *, void *const *, const int64_t *);
  gpumem_status (*copy_boxes_async)(gpumem_ctx *, int64_t, int32_t, int64_t, const int64_t *, const void *const *,
                                    const int64_t *, void *const *, const int64_t *, gpumem_stream *);
  gpumem_status (*sort)(gpumem_ctx *, gpumem_dtype, const void *, int64_t, int32_t, void *, void *, gpumem_dtype);
  gpumem_status (*sort_async)(gpumem_ctx *, gpumem_dtype, const void *, int64_t, int32_t, void *, void *, gpumem_dtype,
                              gpumem_stream *);
  gpumem_status (*sort_segments)(gpumem_ctx *, gpumem_dtype, const void *, int64_t, const int64_t *, int64_t, int32_t,
                                 void *, void *, gpumem_dtype);
  gpumem_status (*sort_segments_async)(gpumem_ctx *, gpumem_dtype, const void *, int64_t, const int64_t *, int64_t,
                                       int32_t, void *, void *, gpumem_dtype, gpumem_status *, gpumem_stream *);
  gpumem_status (*select)(gpumem_ctx *, int64_t, const void *, int64_t, const uint8_t *, int64_t, void *, int64_t,
                          int64_t, int64_t *);
  gpumem_status (*select_async)(gpumem_ctx *, int64_t, const void *, int64_t, const uint8_t *, int64_t, void *, int64_t,
                                int64_t, int64_t *, gpumem_stream *);
  gpumem_status (*select_places)(gpumem_ctx *, const uint8_t *, int64_t, gpumem_dtype, void *, int64_t, int64_t *);
  gpumem_status (*select_places_async)(gpumem_ctx *, const uint8_t *, int64_t, gpumem_dtype, void *, int64_t, int64_t *,
                                       gpumem_stream *);
  gpumem_status (*permute)(gpumem_ctx *, int64_t, int32_t, const int64_t *, const int32_t *, const void *,
                           const int64_t *, void *, const int64_t *);
  gpumem_status (*permute_async)(gpumem_ctx *, int64_t, int32_t, const int64_t *, const int32_t *, const void *,
                                 const int64_t *, void *, const int64_t *, gpumem_stream *);
  gpumem_status (*resize_2d)(gpumem_ctx *, gpumem_filter, gpumem_dtype, int32_t, const void *, int64_t, int64_t,
                             int64_t, void *, int64_t, int64_t, int64_t);
  gpumem_status (*resize_2d_async)(gpumem_ctx *, gpumem_filter, gpumem_dtype, int32_t, const void *, int64_t, int64_t,
                                   int64_t, void *, int64_t, int64_t, int64_t, gpumem_stream *);
  gpumem_status (*resize_2d_batch)(gpumem_ctx *, gpumem_filter, gpumem_dtype, int32_t, int64_t, const void *const *,
                                   const int64_t *, const int64_t *, const int64_t *, void *, int64_t, int64_t, int64_t,
                                   int64_t);
  gpumem_status (*resize_2d_batch_async)(gpumem_ctx *, gpumem_filter, gpumem_dtype, int32_t, int64_t,
                                         const void *const *, const int64_t *, const int64_t *, const int64_t *, void *,
                                         int64_t, int64_t, int64_t, int64_t, gpumem_stream *);
  gpumem_status (*transpose_async)(gpumem_ctx *, int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t,
                                   gpumem_stream *);
  gpumem_status (*transpose_batched)(gpumem_ctx *, int64_t, int64_t, int64_t, const void *, int64_t, int64_t, void *,
                                     int64_t, int64_t, int64_t);
  gpumem_status (*transpose_batched_async)(gpumem_ctx *, int64_t, int64_t, int64_t, const void *, int64_t, int64_t,
                                           void *, int64_t, int64_t, int64_t, gpumem_stream *);
  gpumem_status (*variant_count)(gpumem_family, int32_t *);
  gpumem_status (*variant_name)(gpumem_family, int32_t, const char **);
  gpumem_status (*variant_force)(gpumem_ctx *, gpumem_family, const char *);
  gpumem_status (*last_problem)(char *, int64_t, int64_t *);
  gpumem_status (*explain)(gpumem_ctx *, const char *, gpumem_format, char *, int64_t, int64_t *);
  gpumem_status (*dist_transport_init)(gpumem_dist_transport *, int64_t);
  gpumem_status (*dist_options_init)(gpumem_dist_options *, int64_t);
  gpumem_status (*dist_info_init)(gpumem_dist_info *, int64_t);
  gpumem_status (*dist_layout_init)(gpumem_dist_layout *, int64_t);
  gpumem_status (*dist_plan_options_init)(gpumem_dist_plan_options *, int64_t);
  gpumem_status (*dist_create)(const gpumem_dist_options *, gpumem_dist **);
  gpumem_status (*dist_query)(gpumem_dist *, gpumem_dist_info *);
  gpumem_status (*dist_abort)(gpumem_dist *);
  gpumem_status (*dist_destroy)(gpumem_dist *);
  gpumem_status (*dist_plan_redistribute)(gpumem_dist *, const gpumem_dist_layout *, const gpumem_dist_layout *,
                                          const int32_t *, const gpumem_dist_plan_options *, gpumem_dist_plan **);
  gpumem_status (*dist_plan_halo)(gpumem_dist *, const gpumem_dist_layout *, const int64_t *, const int64_t *,
                                  const int32_t *, const gpumem_dist_plan_options *, gpumem_dist_plan **);
  gpumem_status (*dist_plan_reduce)(gpumem_dist *, const gpumem_dist_layout *, const gpumem_dist_plan_options *,
                                    gpumem_dist_plan **);
  gpumem_status (*dist_execute)(gpumem_dist_plan *, const void *const *, void *const *);
  gpumem_status (*dist_execute_async)(gpumem_dist_plan *, const void *const *, void *const *, gpumem_stream *const *);
  gpumem_status (*dist_reduce)(gpumem_dist_plan *, gpumem_dtype, gpumem_reduce_op, const void *const *, void *);
  gpumem_status (*dist_argreduce)(gpumem_dist_plan *, gpumem_dtype, gpumem_reduce_op, const void *const *, void *,
                                  int64_t *);
  gpumem_status (*dist_dot)(gpumem_dist_plan *, gpumem_dtype, const void *const *, const void *const *, double *);
  gpumem_status (*dist_nrm2)(gpumem_dist_plan *, gpumem_dtype, const void *const *, double *);
  gpumem_status (*dist_dot_order_free)(gpumem_dist_plan *, gpumem_dtype, const void *const *, const void *const *,
                                       double *);
  gpumem_status (*dist_explain)(gpumem_dist_plan *, gpumem_format, char *, int64_t, int64_t *);
  gpumem_status (*dist_plan_destroy)(gpumem_dist_plan *);
} gpumem_functions;

extern const gpumem_functions gpumem_every_function;
const gpumem_functions gpumem_every_function = {gpumem_version,
                                                gpumem_status_name,
                                                gpumem_last_error,
                                                gpumem_device_count,
                                                gpumem_device_info_init,
                                                gpumem_device_query,
                                                gpumem_ctx_options_init,
                                                gpumem_ctx_create,
                                                gpumem_ctx_destroy,
                                                gpumem_ctx_device,
                                                gpumem_ctx_status,
                                                gpumem_ctx_synchronize,
                                                gpumem_ctx_set_log,
                                                gpumem_ctx_warmup,
                                                gpumem_alloc_device,
                                                gpumem_alloc_pinned,
                                                gpumem_alloc_managed,
                                                gpumem_free,
                                                gpumem_alloc_async,
                                                gpumem_free_async,
                                                gpumem_memory_used_on,
                                                gpumem_memory_trim,
                                                gpumem_memory_check,
                                                gpumem_memory_trace,
                                                gpumem_host_register,
                                                gpumem_host_unregister,
                                                gpumem_memory_label,
                                                gpumem_pointer_info_init,
                                                gpumem_pointer_query,
                                                gpumem_memory_stats_init,
                                                gpumem_memory_stats,
                                                gpumem_ceiling_info_init,
                                                gpumem_ceiling,
                                                gpumem_profile_begin,
                                                gpumem_profile_end,
                                                gpumem_profile_row_init,
                                                gpumem_profile_report,
                                                gpumem_profile_write,
                                                gpumem_tune_options_init,
                                                gpumem_tune_info_init,
                                                gpumem_tune,
                                                gpumem_tuning_load,
                                                gpumem_tuning_save,
                                                gpumem_tuning_clear,
                                                gpumem_shared_ctx,
                                                gpumem_torch_malloc,
                                                gpumem_torch_free,
                                                gpumem_torch_record_stream,
                                                gpumem_torch_begin_pool,
                                                gpumem_torch_end_pool,
                                                gpumem_torch_release_pool,
                                                gpumem_torch_empty_cache,
                                                gpumem_torch_segment_malloc,
                                                gpumem_torch_segment_free,
                                                gpumem_cupy_malloc,
                                                gpumem_cupy_free,
                                                gpumem_managed_prefetch,
                                                gpumem_managed_prefetch_async,
                                                gpumem_managed_advise,
                                                gpumem_managed_info_init,
                                                gpumem_managed_query,
                                                gpumem_copy,
                                                gpumem_copy_async,
                                                gpumem_copy_2d,
                                                gpumem_copy_2d_async,
                                                gpumem_copy_3d,
                                                gpumem_copy_3d_async,
                                                gpumem_fill,
                                                gpumem_fill_async,
                                                gpumem_fill_2d,
                                                gpumem_fill_2d_async,
                                                gpumem_stream_create,
                                                gpumem_stream_destroy,
                                                gpumem_stream_wrap,
                                                gpumem_stream_native,
                                                gpumem_stream_synchronize,
                                                gpumem_stream_query,
                                                gpumem_stream_wait_event,
                                                gpumem_event_create,
                                                gpumem_event_destroy,
                                                gpumem_event_record,
                                                gpumem_event_synchronize,
                                                gpumem_event_elapsed,
                                                gpumem_reduce,
                                                gpumem_reduce_i32,
                                                gpumem_reduce_i64,
                                                gpumem_reduce_u32,
                                                gpumem_reduce_u64,
                                                gpumem_reduce_f32,
                                                gpumem_reduce_f64,
                                                gpumem_reduce_async,
                                                gpumem_reduce_i32_async,
                                                gpumem_reduce_i64_async,
                                                gpumem_reduce_u32_async,
                                                gpumem_reduce_u64_async,
                                                gpumem_reduce_f32_async,
                                                gpumem_reduce_f64_async,
                                                gpumem_argreduce,
                                                gpumem_argreduce_i32,
                                                gpumem_argreduce_i64,
                                                gpumem_argreduce_u32,
                                                gpumem_argreduce_u64,
                                                gpumem_argreduce_f32,
                                                gpumem_argreduce_f64,
                                                gpumem_argreduce_async,
                                                gpumem_argreduce_i32_async,
                                                gpumem_argreduce_i64_async,
                                                gpumem_argreduce_u32_async,
                                                gpumem_argreduce_u64_async,
                                                gpumem_argreduce_f32_async,
                                                gpumem_argreduce_f64_async,
                                                gpumem_dot_f32,
                                                gpumem_dot_f64,
                                                gpumem_dot_f32_async,
                                                gpumem_dot_f64_async,
                                                gpumem_nrm2_f32,
                                                gpumem_nrm2_f64,
                                                gpumem_nrm2_f32_async,
                                                gpumem_nrm2_f64_async,
                                                gpumem_reduce_axis,
                                                gpumem_reduce_axis_async,
                                                gpumem_reduce_axes,
                                                gpumem_reduce_axes_async,
                                                gpumem_argreduce_axis,
                                                gpumem_argreduce_axis_async,
                                                gpumem_reduce_segments,
                                                gpumem_reduce_segments_async,
                                                gpumem_reduce_by_index,
                                                gpumem_reduce_by_index_async,
                                                gpumem_reduce_rows_by_index,
                                                gpumem_reduce_rows_by_index_async,
                                                gpumem_reduce_view,
                                                gpumem_reduce_view_async,
                                                gpumem_argreduce_view,
                                                gpumem_argreduce_view_async,
                                                gpumem_dot_view_f32,
                                                gpumem_dot_view_f64,
                                                gpumem_dot_view_f32_async,
                                                gpumem_dot_view_f64_async,
                                                gpumem_dot_order_free,
                                                gpumem_dot_order_free_async,
                                                gpumem_nrm2_view_f32,
                                                gpumem_nrm2_view_f64,
                                                gpumem_nrm2_view_f32_async,
                                                gpumem_nrm2_view_f64_async,
                                                gpumem_scan,
                                                gpumem_scan_async,
                                                gpumem_scan_axis,
                                                gpumem_scan_axis_async,
                                                gpumem_scan_segments,
                                                gpumem_scan_segments_async,
                                                gpumem_transpose,
                                                gpumem_axpby_f32,
                                                gpumem_axpby_f64,
                                                gpumem_axpby_f32_async,
                                                gpumem_axpby_f64_async,
                                                gpumem_convert,
                                                gpumem_convert_async,
                                                gpumem_lincomb_f32,
                                                gpumem_lincomb_f32_async,
                                                gpumem_lincomb_f64,
                                                gpumem_lincomb_f64_async,
                                                gpumem_multiply_f32,
                                                gpumem_multiply_f32_async,
                                                gpumem_multiply_f64,
                                                gpumem_multiply_f64_async,
                                                gpumem_lincomb_at_f32,
                                                gpumem_lincomb_at_f64,
                                                gpumem_lincomb_at_f32_async,
                                                gpumem_lincomb_at_f64_async,
                                                gpumem_lincomb_dot_f32,
                                                gpumem_lincomb_dot_f64,
                                                gpumem_lincomb_dot_f32_async,
                                                gpumem_lincomb_dot_f64_async,
                                                gpumem_map,
                                                gpumem_map_async,
                                                gpumem_compare,
                                                gpumem_compare_async,
                                                gpumem_where,
                                                gpumem_where_async,
                                                gpumem_convert_scaled,
                                                gpumem_convert_scaled_async,
                                                gpumem_gather,
                                                gpumem_gather_async,
                                                gpumem_scatter,
                                                gpumem_scatter_async,
                                                gpumem_copy_boxes,
                                                gpumem_copy_boxes_async,
                                                gpumem_sort,
                                                gpumem_sort_async,
                                                gpumem_sort_segments,
                                                gpumem_sort_segments_async,
                                                gpumem_select,
                                                gpumem_select_async,
                                                gpumem_select_places,
                                                gpumem_select_places_async,
                                                gpumem_permute,
                                                gpumem_permute_async,
                                                gpumem_resize_2d,
                                                gpumem_resize_2d_async,
                                                gpumem_resize_2d_batch,
                                                gpumem_resize_2d_batch_async,
                                                gpumem_transpose_async,
                                                gpumem_transpose_batched,
                                                gpumem_transpose_batched_async,
                                                gpumem_variant_count,
                                                gpumem_variant_name,
                                                gpumem_variant_force,
                                                gpumem_last_problem,
                                                gpumem_explain,
                                                gpumem_dist_transport_init,
                                                gpumem_dist_options_init,
                                                gpumem_dist_info_init,
                                                gpumem_dist_layout_init,
                                                gpumem_dist_plan_options_init,
                                                gpumem_dist_create,
                                                gpumem_dist_query,
                                                gpumem_dist_abort,
                                                gpumem_dist_destroy,
                                                gpumem_dist_plan_redistribute,
                                                gpumem_dist_plan_halo,
                                                gpumem_dist_plan_reduce,
                                                gpumem_dist_execute,
                                                gpumem_dist_execute_async,
                                                gpumem_dist_reduce,
                                                gpumem_dist_argreduce,
                                                gpumem_dist_dot,
                                                gpumem_dist_nrm2,
                                                gpumem_dist_dot_order_free,
                                                gpumem_dist_explain,
                                                gpumem_dist_plan_destroy};

/* Structs are laid out without holes, which a binding in another language could get wrong: an array of -1 is an error. */
extern char gpumem_options_layout[sizeof(gpumem_ctx_options) == 24 + 2 * sizeof(void *) + 40 ? 1 : -1];
extern char gpumem_device_layout[sizeof(gpumem_device_info) == 8 + 10 * 4 + 3 * 8 + 128 + 256 ? 1 : -1];
extern char gpumem_managed_layout[sizeof(gpumem_managed_info) == 2 * 8 + 4 * 4 ? 1 : -1];
extern char gpumem_pointer_layout[sizeof(gpumem_pointer_info) == 8 + 4 * 4 + 2 * 8 + sizeof(void *) ? 1 : -1];
extern char gpumem_stats_layout[sizeof(gpumem_memory_stats_info) == 8 + 24 * 8 ? 1 : -1];
extern char gpumem_ceiling_layout[sizeof(gpumem_ceiling_info) == 8 + 6 * 8 ? 1 : -1];
extern char gpumem_row_layout[sizeof(gpumem_profile_row) == 10 * 8 + 64 + 512 ? 1 : -1];
extern char gpumem_tune_options_layout[sizeof(gpumem_tune_options) == 16 + 2 * sizeof(void *) ? 1 : -1];
extern char gpumem_tune_info_layout[sizeof(gpumem_tune_info) == 6 * 8 + 64 + 64 + 128 ? 1 : -1];
extern char gpumem_dist_transport_layout[sizeof(gpumem_dist_transport) == 16 + 5 * sizeof(void *) ? 1 : -1];
extern char gpumem_dist_options_layout[sizeof(gpumem_dist_options) == 24 + 2 * sizeof(void *) ? 1 : -1];
extern char gpumem_dist_info_layout[sizeof(gpumem_dist_info) == 5 * 8 ? 1 : -1];
extern char gpumem_dist_layout_layout[sizeof(gpumem_dist_layout) == 4 * 8 + 6 * sizeof(void *) ? 1 : -1];
extern char gpumem_dist_plan_options_layout[sizeof(gpumem_dist_plan_options) == 2 * 8 ? 1 : -1];
