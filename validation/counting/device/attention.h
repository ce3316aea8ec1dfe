// Fused attention: what FlashAttention and the memory-efficient kernels allocate, in order.
// Tensors come as (batch, heads, tokens, head width); the kernels work on (batch, tokens, heads,
// head width) and hand back transposed views.
#pragma once

#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>

#include <array>
#include <tuple>

#include "tensors.h"

namespace counting {

// The run says which kernel it asks about: what a real card picks depends on its generation.
inline sdp::SDPBackend& chosen_attention() {
  static sdp::SDPBackend backend = sdp::SDPBackend::flash_attention;
  return backend;
}

inline int64_t choose_attention(const Tensor&, const Tensor&, const Tensor&,
                                const optional<Tensor>&, double, bool, optional<double>, bool) {
  return static_cast<int64_t>(chosen_attention());
}

struct Heads {
  int64_t batch, heads, tokens, width;
  explicit Heads(const Tensor& x)
      : batch(x.size(0)), heads(x.size(1)), tokens(x.size(2)), width(x.size(3)) {}
  std::array<int64_t, 4> tokens_first() const { return {batch, tokens, heads, width}; }
};

inline Tensor swapped(const Tensor& x) { return x.transpose(1, 2); }

// ATen/native/transformers/cuda/attention.cu and flash_attn/flash_api.cpp (mha_fwd), without the
// buffers of split keys.
inline std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>
flash(const Tensor& query, const Tensor&, const Tensor&, double, bool, bool, optional<double>) {
  const Heads shape(query);
  const c10::SymInt tokens(shape.tokens);
  Tensor output = swapped(at::empty_like(swapped(query)));
  Tensor logsumexp = allocate({shape.batch, shape.heads, shape.tokens}, at::kFloat);
  Tensor rng_state = allocate({2}, at::kLong), unused = allocate({}, at::kLong);
  Tensor no_mask = allocate({0}, query.scalar_type());
  return {output, logsumexp, {}, {}, tokens, tokens, rng_state, unused, no_mask};
}

// flash_api.cpp (mha_bwd): a float32 accumulator for the queries' gradient, rounded up to tiles.
inline std::tuple<Tensor, Tensor, Tensor> flash_backward(
    const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& output, const Tensor&, const Tensor&, const Tensor&, c10::SymInt, c10::SymInt,
    double, bool, const Tensor&, const Tensor&, optional<double>) {
  const Heads shape(query);
  const Tensor grad = swapped(grad_output).contiguous(), out = swapped(output).contiguous();
  const Tensor grad_query = at::empty_like(swapped(query));
  const Tensor grad_key = at::empty_like(swapped(key));
  const Tensor grad_value = at::empty_like(swapped(value));
  const int64_t tokens = round_up(shape.tokens, 128);
  const int64_t width = round_up(shape.width, shape.width <= 128 ? 32 : 64);
  const Tensor row_sums = allocate({shape.batch, shape.heads, tokens}, at::kFloat);
  const Tensor accumulator = allocate({shape.batch, tokens, shape.heads, width}, at::kFloat);
  return {swapped(grad_query), swapped(grad_key), swapped(grad_value)};
}

// attention.cu and mem_eff_attention/kernel_forward.h. Seed and offset are scalars of the host.
inline std::tuple<Tensor, Tensor, Tensor, Tensor> efficient(
    const Tensor& query, const Tensor&, const Tensor& value, const optional<Tensor>&,
    bool for_backward, double, bool, optional<double>) {
  Heads shape(query);
  shape.width = value.size(3);
  const auto type = query.scalar_type();
  const Tensor output = allocate(shape.tokens_first(), type);
  const int64_t rows = for_backward ? round_up(shape.tokens, 32) : 0;
  Tensor logsumexp = allocate({shape.batch, shape.heads, rows}, at::kFloat);
  Tensor accumulator;  // wider heads do not fit in registers
  if (is_half(type) && shape.width > 128)
    accumulator = allocate(shape.tokens_first(), at::kFloat);
  Tensor seed = at::empty({}, at::kLong), offset = at::empty({}, at::kLong);
  return {swapped(output), logsumexp, seed, offset};
}

// attention_backward.cu and mem_eff_attention/kernel_backward.h.
inline std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_backward(
    const Tensor& grad_output, const Tensor& query, const Tensor&, const Tensor&, const Tensor&,
    const Tensor&, const Tensor&, const Tensor&, const Tensor&, double, std::array<bool, 4>, bool,
    optional<double>) {
  if (!grad_output.defined()) return {};
  const Heads shape(query);
  const auto type = query.scalar_type();
  const Tensor grad_query = allocate(shape.tokens_first(), type);
  const Tensor grad_key = allocate(shape.tokens_first(), type);
  const Tensor grad_value = allocate(shape.tokens_first(), type);

  // delta = (grad * output).sum(-1), transposed; half types get it from the kernel itself.
  Tensor sum;
  if (type == at::kFloat) {
    const Tensor product = allocate(shape.tokens_first(), at::kFloat);
    sum = allocate({shape.batch, shape.tokens, shape.heads}, at::kFloat);
  }
  const Tensor delta = allocate({shape.batch, shape.heads, shape.tokens}, at::kFloat);
  sum.reset();

  // Per head a float32 tile for each block of queries and columns, with a 16-byte header.
  const int64_t block = type != at::kFloat && shape.width > 64 ? 128 : 64;
  const int64_t tiles = pieces(shape.tokens, block) * pieces(shape.width, block);
  const int64_t per_head = round_up(tiles * (16 + block * block * 4), 16);
  const Tensor workspace = allocate({shape.batch * shape.heads * per_head}, at::kByte);
  return {swapped(grad_query), swapped(grad_key), swapped(grad_value), {}};
}

}  // namespace counting
