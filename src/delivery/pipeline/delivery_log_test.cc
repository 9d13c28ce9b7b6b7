#include "delivery/pipeline/delivery_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/pipeline/kind.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using std::chrono::days;

constexpr std::string_view kUid = "0f1e2d3c-0000-4000-8000-000000000001";
const Time kStart = *parse_rfc3339("2026-03-01T10:00:00Z");

DeliveryEntry entry(int number, std::string text = "") {
  return {.at = kStart + std::chrono::minutes{number},
          .what = "observed",
          .environment = "prod",
          .version = fmt::format("1.0.{}", number),
          .text = std::move(text),
          .key = fmt::format("k{}", number)};
}

Chain empty_chain() { return {.ns = "apps", .pipeline = "podinfo", .uid = std::string(kUid), .segments = {}}; }

Chain chain_of(int count, std::size_t text_bytes = 0) {
  Chain chain = empty_chain();
  for (int i = 0; i < count; ++i) append(chain, {entry(i, std::string(text_bytes, 'x'))});
  return chain;
}

/// As it comes back from the server.
Chain stored(const Chain& chain) {
  std::vector<kube::Object> objects;
  for (const Segment& segment : chain.segments) objects.push_back(object_of(segment, chain.ns, "30d"));
  const std::vector<Chain> found = chains_of(objects, chain.ns, chain.pipeline);
  return found.size() == 1 ? found.front() : Chain{};
}

TEST(DeliveryLog, a_key_is_told_once) {
  Chain chain = empty_chain();
  EXPECT_EQ(append(chain, {entry(1), entry(2), entry(1)}), std::vector<std::size_t>{0});
  EXPECT_EQ(append(chain, {entry(2)}), std::vector<std::size_t>{});
  EXPECT_EQ(chain.segments.front().spec.entries.size(), 2U);
}

TEST(DeliveryLog, is_whole_when_it_comes_back_from_the_server) {
  const Chain chain = chain_of(300, 400);
  ASSERT_GT(chain.segments.size(), 2U);
  for (const Segment& segment : chain.segments) {
    EXPECT_LE(json::print(object_of(segment, "apps", "30d")).size(), kMostSegmentBytes);
  }
  const Verified verified = verify(stored(chain));
  EXPECT_EQ(verified.fault, "");
  EXPECT_EQ(verified.entries, 300U);
  EXPECT_EQ(verified.last_hash, chain.last()->hash);
}

TEST(DeliveryLog, names_the_entry_that_was_changed) {
  Chain chain = chain_of(5);
  chain.segments[0].spec.entries[3].by = "somebody else";
  EXPECT_EQ(verify(chain).fault, "entry 3 of podinfo-0f1e2d3c-0 (observed 1.0.3) is not what was written there");
}

TEST(DeliveryLog, finds_entries_that_were_taken_out_put_in_or_moved) {
  Chain without = chain_of(5);
  without.segments[0].spec.entries.erase(without.segments[0].spec.entries.begin() + 1);
  EXPECT_EQ(verify(without).fault, "entry 1 of podinfo-0f1e2d3c-0 (observed 1.0.2) is not what was written there");
  Chain with = chain_of(5);
  with.segments[0].spec.entries.insert(with.segments[0].spec.entries.begin(), entry(9));
  EXPECT_FALSE(verify(with).is_whole());
  Chain moved = chain_of(5);
  std::swap(moved.segments[0].spec.entries[1], moved.segments[0].spec.entries[2]);
  EXPECT_FALSE(verify(moved).is_whole());
  Chain other = chain_of(5);
  other.uid = "another";
  EXPECT_FALSE(verify(other).is_whole()) << "a chain belongs to its pipeline";
}

TEST(DeliveryLog, finds_a_segment_that_is_missing_in_the_middle) {
  Chain chain = chain_of(400, 400);
  ASSERT_GT(chain.segments.size(), 3U);
  chain.segments.erase(chain.segments.begin() + 1);
  EXPECT_EQ(verify(chain).fault, "segment podinfo-0f1e2d3c-1 is missing");
}

TEST(DeliveryLog, goes_on_where_the_oldest_segments_were_pruned) {
  Chain chain = stored(chain_of(400, 400));
  const Time now = chain.segments[1].spec.entries.front().at + days{30};
  const Outdated old = outdated(chain, PipelineIs::There, days{30}, now);
  ASSERT_EQ(old.segments.size(), 1U);
  EXPECT_EQ(kube::name(old.segments[0]), "podinfo-0f1e2d3c-0");
  EXPECT_EQ(old.next, chain.segments[1].spec.entries.back().at + days{30});
  chain.segments.erase(chain.segments.begin());
  EXPECT_TRUE(verify(chain).is_whole());
  EXPECT_EQ(verify(chain).first_segment, 1);
}

TEST(DeliveryLog, keeps_the_last_segment_as_long_as_the_pipeline_is_there) {
  const Chain chain = stored(chain_of(3));
  const Time later = kStart + days{1000};
  EXPECT_TRUE(outdated(chain, PipelineIs::There, days{400}, later).segments.empty());
  EXPECT_EQ(outdated(chain, PipelineIs::Gone, days{400}, later).segments.size(), 1U);
  EXPECT_EQ(outdated(chain, PipelineIs::Gone, days{400}, kStart).next, kStart + std::chrono::minutes{2} + days{400});
}

TEST(DeliveryLog, cuts_long_texts_between_characters) {
  Chain chain = empty_chain();
  append(chain, {entry(1, std::string(kMostEntryTextBytes - 1, 'x') + "é" + "tail")});
  EXPECT_EQ(chain.last()->text.size(), kMostEntryTextBytes - 1);
  EXPECT_TRUE(verify(stored(chain)).is_whole());
}

TEST(DeliveryLog, segments_have_no_owner_and_a_label_by_which_they_are_found) {
  const kube::Object object = object_of(chain_of(1).segments.front(), "apps", "30d");
  EXPECT_EQ(kube::name(object), "podinfo-0f1e2d3c-0");
  EXPECT_FALSE(object["metadata"].has("ownerReferences"));
  EXPECT_EQ(kube::label(object, kPipelineLabel), "podinfo");
  EXPECT_EQ(keep_of(object), Duration(days{30}));
  const std::string name(120, 'a');
  Chain long_name = empty_chain();
  long_name.pipeline = name;
  append(long_name, {entry(1)});
  EXPECT_FALSE(object_of(long_name.segments.front(), "apps", "")["metadata"].has("labels"));
}

TEST(DeliveryLog, a_new_pipeline_of_the_name_has_a_chain_of_its_own) {
  Chain second = empty_chain();
  second.uid = "aaaaaaaa-0000";
  append(second, {entry(50)});
  std::vector<kube::Object> objects = {object_of(second.segments[0], "apps", ""),
                                       object_of(chain_of(2).segments[0], "apps", "")};
  const std::vector<Chain> chains = chains_of(objects, "apps", "podinfo");
  ASSERT_EQ(chains.size(), 2U);
  EXPECT_EQ(chains[0].uid, kUid);
  EXPECT_EQ(chains[1].uid, "aaaaaaaa-0000") << "the newest last";
  EXPECT_TRUE(chains_of(objects, "apps", "other").empty());
  EXPECT_TRUE(chains_of(objects, "other", "podinfo").empty());
}

TEST(DeliveryLog, ages_are_days_weeks_or_durations_of_go) {
  EXPECT_EQ(parse_days("30d"), Duration(days{30}));
  EXPECT_EQ(parse_days("2w"), Duration(days{14}));
  EXPECT_EQ(parse_days("36h"), Duration(std::chrono::hours{36}));
  for (const char* bad : {"", "d", "0d", "-3d", "3", "x", "1.5d", "-1h", "0s"}) EXPECT_FALSE(parse_days(bad)) << bad;
}

}  // namespace
}  // namespace slipway::delivery::pipeline
