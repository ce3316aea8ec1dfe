// Every other operator. One that only writes into its arguments allocates nothing; for the rest
// PyTorch's own meta kernel says which outputs it makes, and these are allocated.
#pragma once

#include <torch/library.h>

#include <optional>
#include <vector>

#include "tensors.h"

namespace counting {

// The arguments that the operator returns, or nothing if it makes a tensor of its own.
inline std::optional<std::vector<c10::IValue>> written_arguments(
    const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> values) {
  std::vector<c10::IValue> written;
  for (const auto& result : schema.returns()) {
    const auto* alias = result.alias_info();
    if (!alias || !alias->isWrite()) return std::nullopt;
    size_t position = 0;
    for (; position < values.size(); ++position) {
      const auto* own = schema.arguments()[position].alias_info();
      if (own && own->isWrite() && own->beforeSets() == alias->beforeSets()) break;
    }
    if (position == values.size()) return std::nullopt;
    written.push_back(values[position]);
  }
  return written;
}

inline Tensor without_card(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) return tensor;
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
}

inline c10::IValue without_card(const c10::IValue& value) {
  if (value.isTensor()) return without_card(value.toTensor());
  if (value.isDevice()) return c10::Device(at::kMeta);
  if (!value.isTensorList()) return value;
  c10::List<Tensor> list;
  for (const Tensor& tensor : value.toTensorVector()) list.push_back(without_card(tensor));
  return list;
}

inline c10::IValue onto_card(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return value;
  const Tensor& made = value.toTensor();
  return allocate_strided(made.sizes(), made.strides(), made.scalar_type());
}

inline void any_operator(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  const auto values = torch::jit::last(*stack, count);
  torch::jit::Stack results;
  if (auto written = written_arguments(op.schema(), values)) {
    results = std::move(*written);
    torch::jit::drop(*stack, count);
  } else {
    for (const auto& value : values) results.push_back(without_card(value));
    op.callBoxed(results);
    torch::jit::drop(*stack, count);
    for (auto& value : results) value = onto_card(value);
  }
  stack->insert(stack->end(), results.begin(), results.end());
}

}  // namespace counting
