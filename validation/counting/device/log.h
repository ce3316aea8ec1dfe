// What happened on the pretend card, in order. Python reads it when the run is over.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace counting {

enum class Kind : int64_t { allocation = 0, release = 1, phase = 2 };

// Python reads this layout too: see Event in card.py.
struct Event {
  Kind kind;
  int64_t number;  // of the allocation, counted from 1, or of the phase
  int64_t bytes;   // as requested, not rounded; 0 but for allocations
};

// Backward runs on a thread of its own, so each entry is made under a lock.
class Log {
 public:
  int64_t allocated(int64_t bytes) {
    std::lock_guard lock(mutex_);
    events_.push_back({Kind::allocation, ++allocations_, bytes});
    return allocations_;
  }
  void released(int64_t allocation) { append({Kind::release, allocation, 0}); }
  void phase(int64_t number) { append({Kind::phase, number, 0}); }
  const std::vector<Event>& events() const { return events_; }

 private:
  void append(Event event) {
    std::lock_guard lock(mutex_);
    events_.push_back(event);
  }

  std::mutex mutex_;
  std::vector<Event> events_;
  int64_t allocations_ = 0;
};

// Never destroyed: tensors may outlive every static object.
inline Log& the_log() {
  static Log* log = new Log;
  return *log;
}

}  // namespace counting
