// A CUDA device that computes nothing and counts every byte, for a CPU build of PyTorch.
// Loading the library installs it; the functions at the end are for Python.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>

#include "attention.h"
#include "fallback.h"
#include "layers.h"
#include "log.h"
#include "runtime.h"
#include "tensors.h"

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks)
}  // namespace at

namespace {

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&counting::any_operator>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", counting::empty);
  library.impl("empty_strided", counting::empty_strided);
  library.impl("as_strided", counting::as_strided);
  library.impl("view", counting::view);
  library.impl("_reshape_alias", counting::reshape_alias);
  library.impl("copy_", counting::copy_);
  library.impl("resize_", counting::resize_);
  library.impl("arange.start_out", counting::arange_out);
  library.impl("_local_scalar_dense", counting::item);

  library.impl("index_select", counting::index_select);
  library.impl("embedding_dense_backward", counting::embedding_backward);
  library.impl("native_layer_norm", counting::layer_norm);
  library.impl("native_layer_norm_backward", counting::layer_norm_backward);
  library.impl("_softmax_backward_data", counting::softmax_backward);
  library.impl("native_dropout", counting::dropout);
  library.impl("native_dropout_backward", counting::dropout_backward);
  library.impl("_foreach_norm.Scalar", counting::foreach_norm);

  library.impl("_fused_sdp_choice", counting::choose_attention);
  library.impl("_scaled_dot_product_flash_attention", counting::flash);
  library.impl("_scaled_dot_product_flash_attention_backward", counting::flash_backward);
  library.impl("_scaled_dot_product_efficient_attention", counting::efficient);
  library.impl("_scaled_dot_product_efficient_attention_backward", counting::efficient_backward);

  // These have kernels for any backend, which the fallback would lose to: CUDA's write in place.
  for (const char* in_place :
       {"zero_", "fill_.Scalar", "fill_.Tensor", "_foreach_add_.Scalar", "_foreach_mul_.Scalar",
        "_foreach_mul_.Tensor", "_fused_adamw_", "_fused_adamw_.tensor_lr",
        "_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"})
    library.impl(in_place,
                 torch::CppFunction::makeFromBoxedFunction<&counting::any_operator>());
}

const bool installed = [] {
  constexpr auto card = c10::DeviceType::CUDA;
  constexpr uint8_t above_the_default = 100;
  static const counting::DeviceGuard guard;
  c10::SetAllocator(card, &counting::the_allocator(), above_the_default);
  c10::impl::device_guard_impl_registry[static_cast<size_t>(card)].store(&guard);
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&counting::choose_attention);
  return true;
}();

}  // namespace

extern "C" {

void counting_use_flash(bool flash) {
  counting::chosen_attention() =
      flash ? sdp::SDPBackend::flash_attention : sdp::SDPBackend::efficient_attention;
}

void counting_start_phase(int64_t number) { counting::the_log().phase(number); }

int64_t counting_events() { return static_cast<int64_t>(counting::the_log().events().size()); }

void counting_copy_events(counting::Event* into) {
  std::ranges::copy(counting::the_log().events(), into);
}
}
