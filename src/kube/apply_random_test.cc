// What must hold for any applier and any configuration, on random ones.
#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/apply.h"
#include "kube/managed_fields.h"
#include "kube/schema.h"
#include "kube/typed_merge.h"

namespace slipway::kube {
namespace {

using json::Value;

constexpr std::string_view kRandomSchema = R"(
type: object
properties:
  spec:
    type: object
    properties:
      a: {type: integer}
      b: {type: array, items: {type: integer}}
      c: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
      d: {type: object, additionalProperties: {type: integer}}
      e: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: integer}}
      f: {type: object, x-kubernetes-preserve-unknown-fields: true}
      g:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [k]
        items:
          type: object
          required: [k]
          properties:
            k: {type: integer}
            v: {type: integer}
            w: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
)";

class Source {
 public:
  explicit Source(std::uint64_t seed) : state_(seed * 2654435761U + 1) {}
  int below(int end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(end));
  }
  bool sometimes() { return below(2) == 0; }

  Value numbers() {
    json::ArrayBuilder out;
    for (int i = 0; i < 4; ++i) {
      if (sometimes()) out.add(sometimes() ? i : 3 - i);
    }
    return out.build();
  }
  Value set() {
    json::ArrayBuilder out;
    for (int i = 0, first = below(4); i < 4; ++i) {
      if (sometimes()) out.add((i + first) % 4);
    }
    return out.build();
  }
  Value map() {
    json::ObjectBuilder out;
    for (const char* key : {"x", "y", "z"}) {
      if (sometimes()) out.add(key, below(3));
    }
    return out.build();
  }
  Value items() {
    json::ArrayBuilder out;
    for (int i = 0, first = below(4); i < 4; ++i) {
      if (!sometimes()) continue;
      json::ObjectBuilder item;
      item.add("k", (i + first) % 4);
      if (sometimes()) item.add("v", below(2));
      if (sometimes()) item.add("w", set());
      out.add(item.build());
    }
    return out.build();
  }
  Value spec() {
    json::ObjectBuilder out;
    if (sometimes()) out.add("a", below(3));
    if (sometimes()) out.add("b", numbers());
    if (sometimes()) out.add("c", set());
    if (sometimes()) out.add("d", map());
    if (sometimes()) out.add("e", map());
    if (sometimes()) out.add("f", json::object({{"m", map()}, {"n", below(2)}}));
    if (sometimes()) out.add("g", items());
    return out.build();
  }

 private:
  std::uint64_t state_;
};

Value object_with(const Value& spec) {
  return json::object(
      {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", json::object({{"name", "w"}})}, {"spec", spec}});
}

/// Maps that lost their last member in an update have no owner, as upstream.
Value without_empty_maps(const Value& value) {
  if (!value.is_object()) return value;
  json::ObjectBuilder out;
  for (auto [key, member] : value.members()) {
    Value kept = without_empty_maps(member);
    if (!kept.is_object() || !kept.empty()) out.add(key, std::move(kept));
  }
  return out.build();
}

/// What all managers own together.
FieldSet all_owned(const Value& object) {
  FieldSet owned;
  const ManagedFields managed = ManagedFields::stored(object["metadata"]["managedFields"]);
  for (std::size_t at = 0; at < managed.size(); ++at) owned = unite(owned, managed.fields(at));
  return owned;
}

class RandomApply : public testing::Test {
 protected:
  void step(Source& source, int second) {
    const Writer writer{std::string(1, static_cast<char>('p' + source.below(3))), "example.com/v1", ""};
    const Time now = Time(std::chrono::seconds(second));
    const Value config = object_with(source.spec());
    if (source.below(4) == 0) {
      Value next = config;
      if (live_.is_object()) next = next.with_path({"metadata", "managedFields"}, live_["metadata"]["managedFields"]);
      live_ = track_update(type_, live_, next, writer, now);
    } else {
      live_ = apply(type_, live_, config, writer, true, now).value();
      check_applied(config, writer, now);
    }
    check_owners();
  }

  void check_applied(const Value& config, const Writer& writer, Time now) {
    const SchemaNode* node = &type_.schema->root();
    const Value& metadata = live_["metadata"];
    EXPECT_TRUE(typed::merge(node, live_, config) == live_) << "not all was applied: " << json::print(config);
    if (!metadata.has("managedFields")) return;  // an empty list alone is nothing to own
    auto again = apply(type_, live_, config, writer, false, now + Duration(5'000'000));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->is_same(live_)) << json::print(*again) << "\nis not\n" << json::print(live_);
  }

  void check_owners() {
    const Value& rows = live_["metadata"]["managedFields"];
    if (rows.is_null()) return;  // an update took everything from everybody: untracked from then on
    auto decoded = ManagedFields::decode(rows);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(json::print(decoded->encode()), json::print(rows)) << "is not written as it would be";
    const SchemaNode* node = &type_.schema->root();
    const FieldSet there = typed::fields_of(node, without_empty_maps(json::object({{"spec", live_["spec"]}})));
    EXPECT_TRUE(subtract(there, all_owned(live_)).leaves().empty())
        << "nobody owns " << json::print(subtract(there, all_owned(live_)).to_fields_v1()) << " of " << json::print(live_);
  }

  static ResourceType make_type() {
    ResourceType type;
    type.kind = {"example.com", "v1", "Widget"};
    type.schema = Schema::compile(json::parse_yaml(kRandomSchema).value()).value();
    return type;
  }

  ResourceType type_ = make_type();
  Value live_;
};

TEST_F(RandomApply, applies_all_of_a_configuration_twice_as_once_and_leaves_nothing_without_an_owner) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Source source(seed);
    live_ = Value();
    for (int second = 1; second <= 12; ++second) {
      SCOPED_TRACE(fmt::format("seed {} step {}", seed, second));
      step(source, second);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace slipway::kube
