// Embedding, layer norm, softmax, dropout and gradient norm: what their CUDA kernels allocate, in order.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "tensors.h"

namespace counting {

inline Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  auto sizes = self.sizes().vec();
  sizes[dim] = index.numel();
  return allocate(sizes, self.scalar_type());
}

// ATen/native/cuda/Embedding.cu and EmbeddingBackwardKernel.cu. Few tokens are summed straight
// into the gradient; many are sorted by word first, then summed by segments of equal words.
inline Tensor embedding_backward(const Tensor& grad_output, const Tensor& words,
                                 c10::SymInt vocabulary, c10::SymInt, bool) {
  constexpr int64_t few = 3072, tokens_per_segment = 10;
  constexpr int64_t scan_scratch = 16 << 10, sort_scratch = 64 << 10;  // roughly what CUB asks
  const int64_t rows = vocabulary.expect_int(), width = grad_output.size(-1);
  const int64_t tokens = words.numel();
  const Tensor index = words.contiguous(), grad = grad_output.contiguous();
  if (tokens <= few) return allocate({rows, width}, grad.scalar_type());

  const Tensor sorted = allocate(index.sizes(), at::kLong);
  const Tensor origin = allocate(index.sizes(), at::kLong);
  {
    const Tensor range = allocate({tokens}, at::kLong);
    const Tensor scratch = allocate({2 * 8 * tokens + sort_scratch}, at::kByte);
  }
  Tensor grad_weight = allocate({rows, width}, grad.scalar_type());
  const Tensor offsets = allocate({tokens}, at::kLong);
  const Tensor segments = allocate({1}, at::kLong);
  { const Tensor unique_scratch = allocate({scan_scratch}, at::kByte); }
  const int64_t most_words = std::min(tokens, rows);
  const Tensor partials_per_segment = allocate({most_words}, at::kLong);
  const Tensor partials_offset = allocate({most_words}, at::kLong);
  { const Tensor sum_scratch = allocate({scan_scratch}, at::kByte); }
  const Tensor partials = allocate({1}, at::kLong);
  const int64_t most_partials = tokens / tokens_per_segment + most_words;
  const Tensor partial_offsets = allocate({most_partials}, at::kLong);
  const Tensor partial_sums = allocate({most_partials, width}, at::kFloat);
  return grad_weight;
}

// ATen/native/cuda/layer_norm_kernel.cu.
inline std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& input, SymIntArrayRef normalized,
                                                     const optional<Tensor>&,
                                                     const optional<Tensor>&, double) {
  int64_t width = 1;
  for (const auto& size : normalized) width *= size.expect_int();
  const int64_t rows = input.numel() / width;
  const auto type = input.scalar_type(), sums = is_half(type) ? at::kFloat : type;
  auto per_row = input.sizes().vec();
  std::fill(per_row.end() - static_cast<int64_t>(normalized.size()), per_row.end(), 1);

  const Tensor contiguous = input.contiguous();
  Tensor output = allocate(input.sizes(), type);
  const Tensor mean = allocate({rows}, sums), deviation = allocate({rows}, sums);
  return {output, mean.view(per_row), deviation.view(per_row)};
}

inline std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(
    const Tensor& grad_output, const Tensor& input, SymIntArrayRef normalized, const Tensor&,
    const Tensor&, const optional<Tensor>& weight, const optional<Tensor>& bias,
    std::array<bool, 3> wanted) {
  constexpr int64_t many_rows = 64 << 10, rows_per_block = 32, multiprocessors = 108;  // A100
  int64_t width = 1;
  for (const auto& size : normalized) width *= size.expect_int();
  const int64_t rows = input.numel() / width;

  const Tensor x = input.contiguous(), grad = grad_output.contiguous();
  Tensor grad_input, grad_weight, grad_bias;
  if (wanted[0]) grad_input = allocate(input.sizes(), input.scalar_type());
  if (wanted[1]) grad_weight = allocate(weight->sizes(), weight->scalar_type());
  if (wanted[2]) grad_bias = allocate(bias->sizes(), bias->scalar_type());
  // Too few columns to keep the card busy: partial sums per block of rows.
  if (rows > many_rows && width / 32 < multiprocessors / 2) {
    const std::array<int64_t, 2> partial{rows / rows_per_block, width};
    Tensor weight_partials, bias_partials;
    if (wanted[1]) weight_partials = allocate(partial, weight->scalar_type());
    if (wanted[2]) bias_partials = allocate(partial, weight->scalar_type());
  }
  return {grad_input, grad_weight, grad_bias};
}

// ATen/native/cuda/SoftMax.cu (softmax_backward_cuda_out): the result first, then grad * output in
// the type of both, which is float32 where the softmax ran in float32 for a float16 input.
inline Tensor softmax_backward(const Tensor& grad, const Tensor& output, int64_t,
                               at::ScalarType input_type) {
  Tensor grad_input = allocate(grad.sizes(), input_type);
  const Tensor product = grad * output;
  return grad_input;
}

// ATen/native/cuda/Dropout.cu: the mask first.
inline std::tuple<Tensor, Tensor> dropout(const Tensor& input, double, optional<bool>) {
  Tensor mask = allocate(input.sizes(), at::kBool);
  Tensor output = at::empty_like(input);
  return {output, mask};
}

inline Tensor dropout_backward(const Tensor& grad, const Tensor&, double) {
  return at::empty_like(grad);
}

// ATen/native/cuda/ForeachReduceOp.cu: partial norms per chunk, as many for every tensor as the
// largest needs, then one scalar per tensor.
inline std::vector<Tensor> foreach_norm(at::TensorList tensors, const at::Scalar&,
                                        optional<at::ScalarType>) {
  constexpr int64_t chunk = 65536;
  int64_t most_chunks = 0;
  for (const Tensor& tensor : tensors)
    most_chunks = std::max(most_chunks, pieces(tensor.numel(), chunk));
  const Tensor partials =
      allocate({static_cast<int64_t>(tensors.size()) * most_chunks}, at::kFloat);
  std::vector<Tensor> norms;
  for (size_t i = 0; i < tensors.size(); ++i) norms.push_back(allocate({}, at::kFloat));
  return norms;
}

}  // namespace counting
