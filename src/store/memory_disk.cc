#include "store/memory_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace slipway::store {
namespace {

constexpr std::size_t kSector = 512;

/// Some sectors arrive, one of them perhaps only in part.
void tear(const DiskFile::Unsynced& change, DiskImage& durable, Random& random) {
  std::string_view left = change.bytes;
  for (std::uint64_t offset = change.offset; !left.empty();) {
    const std::size_t sector = std::min<std::size_t>(left.size(), kSector - offset % kSector);
    const std::uint64_t fate = random.next() % 8;
    const std::size_t arrives = fate == 7 ? random.next() % (sector + 1) : fate % 2 == 0 ? sector : 0;
    if (arrives > 0) durable.write(offset, left.substr(0, arrives));
    left.remove_prefix(sector);
    offset += sector;
  }
}

}  // namespace

DiskImage::Page& DiskImage::writable(std::size_t index) {
  auto& page = pages_[index];
  if (!page) page = std::make_shared<Page>();
  if (page.use_count() > 1) page = std::make_shared<Page>(*page);
  return *page;
}

void DiskImage::resize(std::uint64_t size) {
  if (size < size_ && size % kPage != 0) {
    Page& last = writable(size / kPage);
    std::fill(last.begin() + static_cast<std::ptrdiff_t>(size % kPage), last.end(), '\0');
  }
  size_ = size;
  pages_.resize((size + kPage - 1) / kPage);
}

void DiskImage::write(std::uint64_t offset, std::string_view bytes) {
  if (offset + bytes.size() > size_) resize(offset + bytes.size());
  while (!bytes.empty()) {
    const std::size_t within = offset % kPage;
    const std::size_t part = std::min(bytes.size(), kPage - within);
    std::memcpy(writable(offset / kPage).data() + within, bytes.data(), part);
    bytes.remove_prefix(part);
    offset += part;
  }
}

std::size_t DiskImage::read(std::uint64_t offset, char* into, std::size_t count) const {
  std::memset(into, 0, count);
  const std::size_t have = offset >= size_ ? 0 : std::min<std::uint64_t>(count, size_ - offset);
  for (std::size_t done = 0; done < have;) {
    const std::size_t within = (offset + done) % kPage;
    const std::size_t part = std::min(have - done, kPage - within);
    const auto& page = pages_[(offset + done) / kPage];
    if (page) std::memcpy(into + done, page->data() + within, part);
    done += part;
  }
  return have;
}

void DiskImage::take_pages(const DiskImage& from, std::uint64_t offset, std::size_t length) {
  if (length == 0) return;
  const std::size_t last =
      std::min<std::size_t>((offset + length - 1) / kPage + 1, std::min(pages_.size(), from.pages_.size()));
  for (std::size_t page = offset / kPage; page < last; ++page) pages_[page] = from.pages_[page];
}

void DiskFile::write(std::uint64_t offset, std::string_view bytes) {
  cached.write(offset, bytes);
  unsynced.push_back({false, offset, std::string(bytes)});
}

void DiskFile::truncate(std::uint64_t size) {
  cached.resize(size);
  unsynced.push_back({true, size, {}});
}

void DiskFile::sync() {
  for (const Unsynced& change : unsynced) {
    if (change.is_truncation) durable.resize(std::min(durable.size(), change.offset));
  }
  durable.resize(cached.size());
  for (const Unsynced& change : unsynced) {
    if (change.is_truncation) continue;
    durable.take_pages(cached, change.offset, change.bytes.size());
  }
  unsynced.clear();
}

void DiskFile::settle(Random& random) {
  for (const Unsynced& change : std::exchange(unsynced, {})) {
    const std::uint64_t fate = random.next() % 3;
    if (fate == 0) continue;
    if (change.is_truncation) {
      durable.resize(change.offset);
    } else if (fate == 1) {
      durable.write(change.offset, change.bytes);
    } else {
      tear(change, durable, random);
    }
  }
}

std::shared_ptr<DiskFile> MemoryDisk::find(const std::string& path) const {
  const auto at = names_.find(path);
  return at == names_.end() ? nullptr : at->second.current;
}

std::shared_ptr<DiskFile> MemoryDisk::create(const std::string& path) {
  return names_[path].current = std::make_shared<DiskFile>();
}

void MemoryDisk::remove(const std::string& path, bool is_synced) {
  const auto at = names_.find(path);
  if (at == names_.end()) return;
  at->second.current = nullptr;
  if (is_synced) sync_names();
}

MemoryDisk::Outcome MemoryDisk::count_operation(std::uint64_t epoch) {
  if (!is_alive(epoch)) return Outcome::Dead;
  if (operations_ >= off_at_) {
    is_off_ = true;
    return Outcome::Dead;
  }
  const std::uint64_t number = operations_++;
  return number >= fail_from_ && number < fail_to_ ? Outcome::Failed : Outcome::Ok;
}

MemoryDisk::Outcome MemoryDisk::write(DiskFile& file, std::uint64_t epoch, std::uint64_t offset, std::string_view bytes) {
  if (is_full_ && offset + bytes.size() > file.cached.size()) return is_alive(epoch) ? Outcome::Full : Outcome::Dead;
  const Outcome outcome = count_operation(epoch);
  if (outcome == Outcome::Dead) return outcome;
  file.write(offset, outcome == Outcome::Ok ? bytes : bytes.substr(0, random_.next() % (bytes.size() + 1)));
  return outcome;
}

MemoryDisk::Outcome MemoryDisk::truncate(DiskFile& file, std::uint64_t epoch, std::uint64_t size) {
  const Outcome outcome = count_operation(epoch);
  if (outcome == Outcome::Ok) file.truncate(size);
  return outcome;
}

MemoryDisk::Outcome MemoryDisk::sync(DiskFile& file, std::uint64_t epoch) {
  Outcome outcome = count_operation(epoch);
  if (outcome == Outcome::Dead) return outcome;
  ++syncs_;
  if (failing_syncs_ > 0) {
    --failing_syncs_;
    outcome = Outcome::Failed;
  }
  if (outcome == Outcome::Failed) {
    file.settle(random_);
    return outcome;
  }
  file.sync();
  return outcome;
}

void MemoryDisk::sync_names() {
  for (auto& [path, name] : names_) name.durable = name.current;
  std::erase_if(names_, [](const auto& entry) { return !entry.second.current; });
}

void MemoryDisk::settle_name(Name& name, Random& random) {
  if (name.current != name.durable && random.next() % 2 == 0) name.current = name.durable;
  name.durable = name.current;
  if (!name.current) return;
  name.current->settle(random);
  // A new file object: handles of before the cut keep the old one.
  auto file = std::make_shared<DiskFile>();
  file->cached = name.current->durable;
  file->durable = name.current->durable;
  name.current = name.durable = std::move(file);
}

void MemoryDisk::reset_faults() {
  fail_from_ = fail_to_ = off_at_ = kNever;
  failing_syncs_ = 0;
  is_off_ = false;
}

void MemoryDisk::crash(std::uint64_t seed) {
  ++epoch_;
  reset_faults();
  SeededRandom random(seed);
  for (auto& [path, name] : names_) settle_name(name, random);
  std::erase_if(names_, [](const auto& entry) { return !entry.second.current; });
}

void MemoryDisk::kill() {
  ++epoch_;
  for (auto& [path, name] : names_) {
    if (name.current) name.current->locks.clear();
  }
}

MemoryDisk::Images MemoryDisk::images() const {
  Images images;
  for (const auto& [path, name] : names_) {
    if (name.current) images.emplace(path, name.current->cached);
  }
  return images;
}

void MemoryDisk::restore(const Images& images) {
  ++epoch_;
  reset_faults();
  is_full_ = false;
  names_.clear();
  for (const auto& [path, image] : images) {
    auto file = std::make_shared<DiskFile>();
    file->cached = file->durable = image;
    names_[path] = {file, file};
  }
}

void MemoryDisk::fail_after(std::size_t skip, std::size_t count) {
  fail_from_ = operations_ + skip;
  fail_to_ = fail_from_ + count;
}

}  // namespace slipway::store
