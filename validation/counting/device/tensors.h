// Making tensors on the pretend card, and the kernels that make or view them.
#pragma once

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/NativeFunctions.h>

#include <cmath>

#include "runtime.h"

namespace counting {

using at::Tensor;
using c10::SymIntArrayRef;
using std::optional;

inline const c10::DispatchKeySet cuda_keys{c10::DispatchKey::CUDA};

inline int64_t pieces(int64_t whole, int64_t piece) { return (whole + piece - 1) / piece; }
inline int64_t round_up(int64_t value, int64_t multiple) {
  return pieces(value, multiple) * multiple;
}
inline bool is_half(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }

inline Tensor allocate(at::IntArrayRef sizes, at::ScalarType type,
                       optional<at::MemoryFormat> format = std::nullopt) {
  return at::detail::empty_generic(sizes, &the_allocator(), cuda_keys, type, format);
}

inline Tensor allocate_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                               at::ScalarType type) {
  return at::detail::empty_strided_generic(sizes, strides, &the_allocator(), cuda_keys, type);
}

inline Tensor empty(SymIntArrayRef sizes, optional<at::ScalarType> type, optional<at::Layout>,
                    optional<at::Device>, optional<bool>, optional<at::MemoryFormat> format) {
  return allocate(C10_AS_INTARRAYREF_SLOW(sizes), c10::dtype_or_default(type), format);
}

inline Tensor empty_strided(SymIntArrayRef sizes, SymIntArrayRef strides,
                            optional<at::ScalarType> type, optional<at::Layout>,
                            optional<at::Device>, optional<bool>) {
  return allocate_strided(C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides),
                          c10::dtype_or_default(type));
}

inline Tensor as_strided(const Tensor& self, SymIntArrayRef sizes, SymIntArrayRef strides,
                         optional<c10::SymInt> offset) {
  optional<int64_t> start;
  if (offset) start = offset->expect_int();
  return at::native::as_strided_tensorimpl(self, C10_AS_INTARRAYREF_SLOW(sizes),
                                           C10_AS_INTARRAYREF_SLOW(strides), start);
}

inline Tensor view(const Tensor& self, SymIntArrayRef sizes) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(sizes));
}

inline Tensor reshape_alias(const Tensor& self, SymIntArrayRef sizes, SymIntArrayRef strides) {
  return at::native::_reshape_alias(self, C10_AS_INTARRAYREF_SLOW(sizes),
                                    C10_AS_INTARRAYREF_SLOW(strides));
}

inline Tensor& copy_(Tensor& self, const Tensor&, bool) { return self; }

inline const Tensor& resize_(const Tensor& self, SymIntArrayRef sizes,
                             optional<at::MemoryFormat>) {
  self.unsafeGetTensorImpl()->set_sizes_contiguous(C10_AS_INTARRAYREF_SLOW(sizes));
  const size_t needed = self.numel() * self.element_size();
  c10::Storage storage = self.storage();
  if (needed > storage.nbytes()) {
    storage.set_data_ptr_noswap(the_allocator().allocate(needed));
    storage.set_nbytes(needed);
  }
  return self;
}

inline Tensor& arange_out(const at::Scalar& start, const at::Scalar& end, const at::Scalar& step,
                          Tensor& out) {
  const double length = (end.toDouble() - start.toDouble()) / step.toDouble();
  out.resize_({static_cast<int64_t>(std::ceil(length))});
  return out;
}

// There is no data to read. 1 for a loss or a norm, false for "an infinity was found".
inline at::Scalar item(const Tensor& self) {
  if (self.is_floating_point()) return 1.0;
  if (self.scalar_type() == at::kBool) return false;
  return int64_t{0};
}

}  // namespace counting
