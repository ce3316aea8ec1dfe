// The parts of a CUDA runtime that PyTorch asks for: memory, devices and streams, and its hooks.
#pragma once

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "log.h"

namespace counting {

inline const c10::Device the_card{c10::DeviceType::CUDA, 0};

// Hands out addresses with no memory behind them. The context of a pointer is its number.
class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &c10::detail::deleteNothing, the_card};
    const int64_t number = the_log().allocated(static_cast<int64_t>(bytes));
    // Distinct and not null is all that is asked of an address nobody reads.
    void* address = reinterpret_cast<void*>(first_address + number * alignment);
    return {address, reinterpret_cast<void*>(number), &release, the_card};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void*, const void*, size_t) const override {}

 private:
  static constexpr int64_t first_address = int64_t{1} << 44;
  static constexpr int64_t alignment = 512;
  static void release(void* context) { the_log().released(reinterpret_cast<int64_t>(context)); }
};

inline Allocator& the_allocator() {
  static Allocator* allocator = new Allocator;
  return *allocator;
}

// One device with one stream, always done with its work.
class DeviceGuard final : public c10::impl::DeviceGuardImplInterface {
  using Device = c10::Device;
  using Stream = c10::Stream;
  using Index = c10::DeviceIndex;
  static Stream only_stream() { return Stream(Stream::DEFAULT, the_card); }

 public:
  c10::DeviceType type() const override { return the_card.type(); }
  Index deviceCount() const noexcept override { return 1; }
  Device getDevice() const override { return the_card; }
  Device exchangeDevice(Device) const override { return the_card; }
  void setDevice(Device) const override {}
  void uncheckedSetDevice(Device) const noexcept override {}

  Stream getStream(Device) const noexcept override { return only_stream(); }
  Stream getDefaultStream(Device) const override { return only_stream(); }
  Stream getNewStream(Device, int) const override { return only_stream(); }
  Stream exchangeStream(Stream) const noexcept override { return only_stream(); }
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override {}

  void record(void**, const Stream&, const Index, const c10::EventFlag) const override {}
  void block(void*, const Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const Index) const noexcept override {}
};

}  // namespace counting

namespace at {

// The class must have this name: PyTorch looks the hooks up by it.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  int getNumGPUs() const override { return 1; }
  DeviceIndex deviceCount() const override { return 1; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  DeviceIndex current_device() const override { return 0; }
  Device getDeviceFromPtr(void*) const override { return counting::the_card; }
  Allocator* getPinnedMemoryAllocator() const override { return GetAllocator(kCPU); }
};

}  // namespace at
