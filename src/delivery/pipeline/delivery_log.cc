#include "delivery/pipeline/delivery_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/digest.h"
#include "delivery/pipeline/kind.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr std::size_t kMostSpecBytes = kMostSegmentBytes - (std::size_t{4} << 10);
constexpr std::size_t kUidDigits = 8;
constexpr std::size_t kMostSegmentNameBytes = 200;  // of the pipeline in a segment's name, which has 253

std::string text_of(const DeliveryEntry& entry) {
  DeliveryEntry bare = entry;
  bare.hash.clear();
  return json::print(json::encode(bare));
}

std::size_t bytes_of(const DeliveryLogSpec& spec) { return json::print(json::encode(spec)).size(); }

void shorten(std::string& text) {
  if (text.size() <= kMostEntryTextBytes) return;
  std::size_t end = kMostEntryTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
}

std::set<std::string> keys_of(const Chain& chain) {
  std::set<std::string> keys;
  for (const Segment& segment : chain.segments) {
    for (const DeliveryEntry& entry : segment.spec.entries) keys.insert(entry.key);
  }
  return keys;
}

Time newest(const Chain& chain) {
  const DeliveryEntry* last = chain.last();
  return last == nullptr ? Time::min() : last->at;
}

std::string entry_name(const DeliveryEntry& entry) {
  return entry.version.empty() ? entry.what : fmt::format("{} {}", entry.what, entry.version);
}

}  // namespace

Result<Duration> parse_days(std::string_view text) {
  const auto refuse = [&] {
    return fail(Reason::BadRequest, fmt::format("{}: give a duration above 0, such as 30d, 2w or 12h", text));
  };
  if (!text.empty() && (text.back() == 'd' || text.back() == 'w')) {
    std::int64_t count = 0;
    const std::string digits(text.substr(0, text.size() - 1));
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, count);
    if (error != std::errc{} || stop != end || count <= 0 || count > 100'000) return refuse();
    return Duration(std::chrono::days{text.back() == 'w' ? count * 7 : count});
  }
  const auto parsed = parse_duration(text);
  if (!parsed || *parsed <= Duration{0}) return refuse();
  return *parsed;
}

Duration keep_of(const kube::Object& object) {
  const std::string_view written = kube::annotation(object, kKeepAnnotation);
  return written.empty() ? kKeepHistory : parse_days(written).value_or(kKeepHistory);
}

std::string segment_name(std::string_view pipeline, std::string_view uid, std::int64_t number) {
  std::string name(pipeline.substr(0, kMostSegmentNameBytes));
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return fmt::format("{}-{}-{}", name, uid.substr(0, kUidDigits), number);
}

const DeliveryEntry* Chain::last() const {
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (!segment->spec.entries.empty()) return &segment->spec.entries.back();
  }
  return nullptr;
}

std::vector<Chain> chains_of(const std::vector<kube::Object>& objects, std::string_view ns, std::string_view pipeline) {
  std::map<std::string, Chain> by_uid;
  for (const kube::Object& object : objects) {
    if (kube::ns(object) != ns || object["spec"]["pipeline"].as_string() != pipeline) continue;
    auto spec = json::decode<DeliveryLogSpec>(object["spec"], "spec", {.allow_unknown = true});
    if (!spec) continue;
    Chain& chain = by_uid[spec->pipeline_uid];
    chain.ns = ns;
    chain.pipeline = pipeline;
    chain.uid = spec->pipeline_uid;
    chain.segments.push_back({.object = object, .spec = std::move(*spec)});
  }
  std::vector<Chain> chains;
  for (auto& [uid, chain] : by_uid) {
    std::ranges::sort(chain.segments, {}, [](const Segment& one) { return one.spec.segment; });
    chains.push_back(std::move(chain));
  }
  std::ranges::sort(chains, {}, [](const Chain& chain) { return std::pair(newest(chain), chain.uid); });
  return chains;
}

std::string hash_of(const DeliveryEntry& entry, std::string_view before) {
  return sha256_hex(fmt::format("{}\n{}", before, text_of(entry)));
}

std::vector<std::size_t> append(Chain& chain, std::vector<DeliveryEntry> entries) {
  std::set<std::string> keys = keys_of(chain);
  std::vector<std::size_t> changed;
  const DeliveryEntry* last = chain.last();
  std::string before = last != nullptr ? last->hash : chain.segments.empty() ? chain.uid : chain.segments.back().spec.previous;
  std::size_t bytes = chain.segments.empty() ? kMostSpecBytes : bytes_of(chain.segments.back().spec);
  for (DeliveryEntry& entry : entries) {
    if (!keys.insert(entry.key).second) continue;
    shorten(entry.text);
    entry.hash = hash_of(entry, before);
    const std::size_t more = json::print(json::encode(entry)).size() + 1;
    if (bytes + more > kMostSpecBytes) {
      const std::int64_t number = chain.segments.empty() ? 0 : chain.segments.back().spec.segment + 1;
      chain.segments.push_back({.spec = {.pipeline = chain.pipeline,
                                         .pipeline_uid = chain.uid,
                                         .segment = number,
                                         .previous = number == 0 ? "" : before}});
      bytes = bytes_of(chain.segments.back().spec);
    }
    bytes += more;
    before = entry.hash;
    chain.segments.back().spec.entries.push_back(std::move(entry));
    if (changed.empty() || changed.back() != chain.segments.size() - 1) changed.push_back(chain.segments.size() - 1);
  }
  return changed;
}

kube::Object object_of(const Segment& segment, std::string_view ns, std::string_view keep) {
  const json::Value spec = json::encode(segment.spec);
  if (!segment.object.is_null()) return segment.object.with("spec", spec);
  json::ObjectBuilder meta;
  meta.set("name", segment_name(segment.spec.pipeline, segment.spec.pipeline_uid, segment.spec.segment));
  meta.set("namespace", ns);
  if (segment.spec.pipeline.size() <= kMostLabelBytes) {
    meta.set("labels", json::object({{kPipelineLabel, segment.spec.pipeline}}));
  }
  json::ObjectBuilder annotations;
  annotations.set(kPipelineLabel, segment.spec.pipeline);
  annotations.set(kUidAnnotation, segment.spec.pipeline_uid);
  if (!keep.empty()) annotations.set(kKeepAnnotation, keep);
  meta.set("annotations", annotations.build());
  return json::object({{"apiVersion", kDeliveryLogKind.api_version()},
                       {"kind", kDeliveryLogKind.kind},
                       {"metadata", meta.build()},
                       {"spec", spec}});
}

Verified verify(const Chain& chain) {
  Verified found;
  if (chain.segments.empty()) return found;
  found.first_segment = chain.segments.front().spec.segment;
  std::string before = found.first_segment == 0 ? chain.uid : chain.segments.front().spec.previous;
  std::int64_t number = found.first_segment;
  for (const Segment& segment : chain.segments) {
    const std::string name = segment_name(chain.pipeline, chain.uid, segment.spec.segment);
    if (segment.spec.segment != number) {
      found.fault = segment.spec.segment < number
                        ? fmt::format("segment {} is there twice", name)
                        : fmt::format("segment {} is missing", segment_name(chain.pipeline, chain.uid, number));
      return found;
    }
    if (number > 0 && segment.spec.previous != before) {
      found.fault = fmt::format("segment {} does not continue the one before it", name);
      return found;
    }
    for (std::size_t i = 0; i < segment.spec.entries.size(); ++i) {
      const DeliveryEntry& entry = segment.spec.entries[i];
      if (entry.hash != hash_of(entry, before)) {
        found.fault = fmt::format("entry {} of {} ({}) is not what was written there", i, name, entry_name(entry));
        return found;
      }
      before = entry.hash;
      ++found.entries;
    }
    ++number;
  }
  found.last_hash = before;
  return found;
}

SegmentAge age_of(const Segment& segment) {
  SegmentAge age{
      .name = std::string(kube::name(segment.object)), .uid = std::string(kube::uid(segment.object)), .youngest = Time::min()};
  for (const DeliveryEntry& entry : segment.spec.entries) age.youngest = std::max(age.youngest, entry.at);
  return age;
}

Outdated outdated(const std::vector<SegmentAge>& segments, PipelineIs pipeline, Duration keep, Time now) {
  Outdated found;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool is_last = i + 1 == segments.size();
    if (is_last && pipeline == PipelineIs::There) break;
    // Never a gap: a younger one ends it.
    if (segments[i].youngest != Time::min() && segments[i].youngest + keep > now) {
      found.next = segments[i].youngest + keep;
      break;
    }
    found.segments.push_back(segments[i]);
  }
  return found;
}

}  // namespace slipway::delivery::pipeline
