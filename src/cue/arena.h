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

  /// Takes the bytes behind `end` too, if they are the next ones: then what ends there has grown.
  bool extend(const void* end, std::size_t bytes) {
    bytes = (bytes + 7) & ~std::size_t{7};
    if (end != next_ || bytes > left_) return false;
    next_ += bytes;
    left_ -= bytes;
    used_ += bytes;
    return true;
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

/// A growing array in an arena: one pointer, nothing until the first item. It grows where it lies when it is the last thing in
/// its arena; what it outgrows otherwise stays behind until the arena is dropped. A copy is the same list.
template <class T>
class List {
  static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 8);

 public:
  void push(Arena& arena, const T& item) {
    if (block_ == nullptr || block_->size == block_->capacity) {
      const T kept = item;  // it may be one of the list's own
      reserve(arena, block_ == nullptr ? kFirst : block_->capacity * 2);
      new (items() + block_->size++) T(kept);
      return;
    }
    new (items() + block_->size++) T(item);
  }
  void reserve(Arena& arena, std::uint32_t capacity) {
    std::uint32_t had = block_ == nullptr ? 0 : block_->capacity;
    if (capacity <= had) return;
    if (block_ == nullptr || !arena.extend(items() + had, sizeof(T) * (capacity - had))) {
      auto* grown = static_cast<Block*>(arena.allocate(sizeof(Block) + sizeof(T) * capacity));
      grown->size = size();
      if (block_ != nullptr) std::uninitialized_copy(begin(), end(), reinterpret_cast<T*>(grown + 1));
      block_ = grown;
    }
    block_->capacity = capacity;
  }
  void clear() {
    if (block_ != nullptr) block_->size = 0;
  }
  T& operator[](std::size_t index) { return items()[index]; }
  const T& operator[](std::size_t index) const { return items()[index]; }
  T& back() { return items()[block_->size - 1]; }
  std::uint32_t size() const { return block_ == nullptr ? 0 : block_->size; }
  bool empty() const { return size() == 0; }
  T* begin() { return block_ == nullptr ? nullptr : items(); }
  T* end() { return begin() + size(); }
  const T* begin() const { return block_ == nullptr ? nullptr : items(); }
  const T* end() const { return begin() + size(); }

 private:
  struct Block {
    std::uint32_t size;
    std::uint32_t capacity;
  };
  static constexpr std::uint32_t kFirst = sizeof(T) > 24 ? 1 : 2;

  T* items() const { return reinterpret_cast<T*>(block_ + 1); }

  Block* block_ = nullptr;
};

}  // namespace slipway::cue
