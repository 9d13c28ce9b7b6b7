#include "delivery/pipeline/packed_view.h"

#include <type_traits>

#include "base/check.h"
#include "kube/protobuf_wire.h"

namespace slipway::delivery::pipeline {
namespace {

/// Microseconds so that times before 1970 stay small numbers too: 0, -1, 1, -2 … become 0, 1, 2, 3 …
constexpr std::uint64_t folded(std::int64_t count) {
  return (static_cast<std::uint64_t>(count) << 1U) ^ static_cast<std::uint64_t>(count >> 63U);
}
constexpr std::int64_t unfolded(std::uint64_t number) {
  return static_cast<std::int64_t>((number >> 1U) ^ (~(number & 1U) + 1));
}

class Writer {
 public:
  void number(std::uint64_t value) { kube::write_varint(out_, value); }
  void field(const std::string& text) {
    number(text.size());
    out_ += text;
  }
  template <class Plain>
    requires std::is_enum_v<Plain> || std::is_same_v<Plain, bool>
  void field(const Plain& value) {
    number(static_cast<std::uint64_t>(value));
  }
  void field(const std::optional<Time>& time) {
    number(time ? 1 : 0);
    if (time) number(folded(time->time_since_epoch().count()));
  }
  bool is_same(const Version& one, const Version& other) {
    number(one == other ? 1 : 0);
    return one == other;
  }
  template <class Item, class Each>
  void list(const std::vector<Item>& items, Each each) {
    number(items.size());
    for (const Item& item : items) each(item);
  }
  /// As long as it need be, without the room that a string keeps to grow.
  std::string end() const { return std::string(out_.data(), out_.size()); }

 private:
  std::string out_{};
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      SLIPWAY_CHECK(!rest_.empty() && shift < 64, "a packed view is cut short");
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  }
  void field(std::string& text) {
    const std::uint64_t size = number();
    SLIPWAY_CHECK(size <= rest_.size(), "a packed view is cut short");
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  template <class Plain>
    requires std::is_enum_v<Plain> || std::is_same_v<Plain, bool>
  void field(Plain& value) {
    value = static_cast<Plain>(number());
  }
  void field(std::optional<Time>& time) {
    time.reset();
    if (number() != 0) time = Time{Duration{unfolded(number())}};
  }
  bool is_same(Version& one, const Version& other) {
    if (number() == 0) return false;
    one = other;
    return true;
  }
  template <class Item, class Each>
  void list(std::vector<Item>& items, Each each) {
    items.resize(number());
    for (Item& item : items) each(item);
  }

 private:
  std::string_view rest_;
};

template <class Io, class What>
void pass_version(Io& io, What& version) {
  io.field(version.text);
  io.field(version.digest);
  io.field(version.time);
}

template <class Io, class What>
void pass_values(Io& io, What& values) {
  pass_version(io, values.specified);
  if (!io.is_same(values.attempted, values.specified)) pass_version(io, values.attempted);
  if (!io.is_same(values.running, values.attempted)) pass_version(io, values.running);
  io.field(values.chart);
  io.list(values.images, [&](auto& image) {
    io.field(image.name);
    io.field(image.tag);
    io.field(image.digest);
  });
  io.field(values.images_time);
  io.field(values.ready_at);
  io.field(values.is_drifted);
  io.field(values.state);
  io.field(values.text);
}

/// Both directions take the same steps, so that what is read is what was written.
template <class Io, class What>
void pass_view(Io& io, What& view) {
  pass_values(io, view.memory.last);
  io.field(view.memory.content);
  io.list(view.memory.renderings, [&](auto& one) {
    io.field(one.release);
    io.field(one.content);
    io.field(one.is_complete);
  });
  io.field(view.state);
  io.field(view.trouble);
  io.field(view.text);
  io.field(view.error);
  io.field(view.problem);
  io.field(view.claim);
  io.field(view.since);
  io.field(view.api_version);
  io.list(view.related, [&](auto& one) { io.field(one); });
}

}  // namespace

std::string packed(const TargetView& view) {
  Writer writer;
  pass_view(writer, view);
  return writer.end();
}

TargetView unpacked(std::string_view text) {
  TargetView view;
  if (text.empty()) return view;
  Reader reader(text);
  pass_view(reader, view);
  return view;
}

}  // namespace slipway::delivery::pipeline
