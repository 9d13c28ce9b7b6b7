// A bump allocator. What is built for one program or one evaluation lies in one arena and is dropped with it: nothing in an
// arena is destroyed or freed singly. An arena counts its bytes, so that an evaluation can be stopped at a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace slipway::cue {

/// Chunks that arenas are done with, for the next ones: asking the system anew for each evaluation costs more than most of
/// them. Keeps a bounded number. Threads may share it.
class ChunkPool {
 public:
  static constexpr std::size_t kChunk = std::size_t{64} << 10;
  using Chunk = std::unique_ptr<char[]>;

  Chunk take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique_for_overwrite<char[]>(kChunk);
    Chunk chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  void give(Chunk chunk) {
    const std::lock_guard lock(mutex_);
    if (free_.size() < kMost) free_.push_back(std::move(chunk));
  }

 private:
#if defined(__has_feature) && __has_feature(address_sanitizer)
  static constexpr std::size_t kMost = 0;  // what is used after its arena is gone shall be found
#else
  static constexpr std::size_t kMost = 64;
#endif
  std::mutex mutex_;
  std::vector<Chunk> free_;
};

class Arena {
 public:
  Arena() = default;
  explicit Arena(ChunkPool& pool) : pool_(&pool) {}
  ~Arena() {
    for (ChunkPool::Chunk& chunk : pooled_) pool_->give(std::move(chunk));
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Aligned for any scalar type. Never fails short of the machine's memory.
  void* allocate(std::size_t bytes) {
    bytes = (bytes + 7) & ~std::size_t{7};
    if (bytes > left_) grow(bytes);
    char* at = next_;
    next_ += bytes;
    left_ -= bytes;
    used_ += bytes;
    return at;
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena destroys nothing");
    return new (allocate(sizeof(T))) T{std::forward<Args>(args)...};
  }

  /// Value-initialised.
  template <class T>
  T* array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T) * count)) T[count]();
  }

  template <class T>
  std::span<T> copy(std::span<const T> from) {
    if (from.empty()) return {};
    T* to = array<T>(from.size());
    std::copy(from.begin(), from.end(), to);
    return {to, from.size()};
  }
  template <class T>
  std::span<T> copy(const std::vector<T>& from) {
    return copy(std::span<const T>(from));
  }

  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* to = static_cast<char*>(allocate(text.size()));
    std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }

  std::size_t used_bytes() const { return used_; }

 private:
  void grow(std::size_t bytes) {
    if (pool_ != nullptr && bytes <= ChunkPool::kChunk) {
      pooled_.push_back(pool_->take());
      next_ = pooled_.back().get();
      left_ = ChunkPool::kChunk;
      return;
    }
    std::size_t size = std::max<std::size_t>(bytes, chunks_.empty() ? 16 * 1024 : 64 * 1024);
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = chunks_.back().get();
    left_ = size;
  }

  ChunkPool* pool_ = nullptr;
  std::vector<ChunkPool::Chunk> pooled_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t used_ = 0;
};

/// A growing array in an arena; what it outgrows stays behind until the arena is dropped.
template <class T>
class List {
 public:
  void push(Arena& arena, const T& item) {
    if (size_ == capacity_) reserve(arena, capacity_ == 0 ? 4 : capacity_ * 2);
    items_[size_++] = item;
  }
  void reserve(Arena& arena, std::uint32_t capacity) {
    if (capacity <= capacity_) return;
    T* grown = static_cast<T*>(arena.allocate(sizeof(T) * capacity));
    for (std::uint32_t i = 0; i < size_; ++i) new (grown + i) T(items_[i]);
    items_ = grown;
    capacity_ = capacity;
  }
  void clear() { size_ = 0; }
  void resize_down(std::uint32_t size) { size_ = size; }
  T& operator[](std::size_t index) { return items_[index]; }
  const T& operator[](std::size_t index) const { return items_[index]; }
  T& back() { return items_[size_ - 1]; }
  std::uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }

 private:
  T* items_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace slipway::cue
