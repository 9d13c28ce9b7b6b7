// What k8s.io/apiserver asks of any storage (pkg/storage/testing: the RunTest* and Run* functions, all names of v0.33, v0.34
// and v0.35 together), stated over the server and its store. Upstream's name → the test here, or the one elsewhere that says
// it:
//
//   Create                                  a_created_object_comes_back_with_its_revision
//   CreateWithKeyExist                      a_name_is_given_once
//   Get                                     a_read_may_ask_for_no_state_older_than_a_revision
//   UnconditionalDelete                     a_delete_without_conditions_gives_the_last_state
//   ConditionalDelete                       a_delete_may_demand_the_uid
//   DeleteWithConflict                      a_delete_between_read_and_write_makes_the_write_fail
//   DeleteWithSuggestion                    a_delete_judges_the_newest_state_and_not_what_a_reader_saw
//   DeleteWithSuggestionAndConflict         (the same)
//   DeleteWithSuggestionOfDeletedObject     a_second_delete_finds_nothing
//   ValidateDeletionWithSuggestion          a_delete_judges_the_newest_state_and_not_what_a_reader_saw
//   ValidateDeletionWithOnlySuggestionValid (the same)
//   PreconditionalDeleteWithSuggestion      a_delete_may_demand_the_revision
//   PreconditionalDeleteWithOnlySuggestionPass  (the same)
//   List                                    a_list_is_ordered_by_key_and_carries_the_revision_of_its_state
//   ConsistentList                          a_list_without_a_revision_sees_every_write_that_was_answered
//   GetListNonRecursive                     a_list_of_one_name_gives_that_object_or_none
//   GetListRecursivePrefix                  a_prefix_ends_at_a_segment
//   KeySchema, NamespaceScopedList          a_namespace_lists_its_own_objects_only
//   ListPaging, ListContinuation            pages_follow_each_other_without_gap_or_double
//   ListPaginationRareObject                a_page_with_a_selector_looks_on_until_it_is_full
//   ListContinuationWithFilter              pages_of_a_selection_follow_each_other
//   ListInconsistentContinuation            an_expired_page_says_so (a token to go on inconsistently is not offered)
//   ListResourceVersionMatch                a_list_is_of_exactly_the_revision_asked_for
//   CompactRevision                         what_is_compacted_has_expired_for_lists_and_watches
//   GuaranteedUpdate                        an_update_moves_the_revision_and_a_no_op_does_not
//   ValidUpdate                             (the same)
//   GuaranteedUpdateChecksStoredData        an_update_that_restores_what_is_stored_writes_nothing
//   GuaranteedUpdateWithConflict            of_two_updates_from_one_read_the_second_conflicts
//   GuaranteedUpdateWithSuggestionAndConflict   a_patch_starts_from_the_newest_state
//   Count, Stats                            a_limited_list_counts_what_remains
//   Watch                                   a_watch_tells_creation_change_and_end
//   ClusterScopedWatch                      a_watch_of_cluster_scoped_objects_may_select_by_name
//   NamespaceScopedWatch                    a_watch_of_a_namespace_hears_of_no_other
//   WatchByLabels                           a_watch_by_labels_tells_of_entering_and_leaving
//   WatchFromZero                           a_watch_from_zero_begins_with_what_is_there_even_after_compaction
//   WatchFromNonZero                        a_watch_from_a_revision_tells_only_what_came_after
//   DeleteTriggerWatch                      a_deletion_is_told
//   DelayedWatchDelivery                    a_slow_reader_gets_everything_in_order
//   WatchDeleteEventObjectHaveLatestRV      the_object_of_a_deletion_carries_the_revision_of_the_deletion
//   WatcherTimeout                          a_reader_that_does_not_read_holds_up_nobody
//   WatchContextCancel                      a_closed_watch_ends
//   WatchInitializationSignal               Watching.initial_events_end_with_a_bookmark_that_says_so
//   ProgressNotify (optional)               Watching.sends_bookmarks_each_minute_and_before_the_end
//   WatchDispatchBookmarkEvents             Watching.sends_bookmarks_each_minute_and_before_the_end, …without_bookmarks_…
//   WatchBookmarksWithCorrectResourceVersion    a_bookmark_never_runs_ahead_of_events
//   SendInitialEventsBackwardCompatibility  a_watch_without_initial_events_begins_after_its_revision
//   WatchSemantics                          initial_events_are_the_state_and_then_changes_follow
//   WatchSemanticInitialEventsExtended      initial_events_of_one_namespace_end_with_the_revision_of_the_store
//   WatchListMatchSingle                    initial_events_of_one_name_are_that_object
//
// Not stated here: CreateWithTTL and GuaranteedUpdateWithTTL (nothing has a time to live: events stay until they are deleted);
// TransformationFailure, WatchError, WatchErrorIsBlockingFurtherEvents and WatchWithUnsafeDelete (values are not encrypted, so
// none can fail to be read one by one; a damaged file is refused when it is opened: RealFiles.with_a_changed_value_are_damaged
// and Damaged.a_file_with_any_flipped_byte_is_refused_or_reads_as_it_was_written in src/store); the RunBenchmark* (bench/).
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

using client::WatchEvent;

class StorageContract : public ServerTest {
 public:
  using Handle = std::unique_ptr<client::Watch>;

  static Value named(std::string_view name, std::string_view ns = "default", std::string_view label = "") {
    return yaml(fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {}, namespace: {}, labels: {{l: '{}'}}}}}}",
                            name, ns, label));
  }
  void need_namespace(std::string_view name) {
    must(create(kNamespaces, yaml(fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}", name))));
  }
  Result<Value> list_with(std::function<void(Request&)> edit, std::string ns = "default") {
    Request asked = request(Verb::List, kConfigMaps, "", std::move(ns));
    edit(asked);
    return object_of(std::move(asked));
  }
  static std::string names(const Value& list) {
    std::string text;
    for (const Value& item : list["items"].items()) text += (text.empty() ? "" : " ") + item["metadata"]["name"].str();
    return text;
  }
  Handle watch(std::function<void(Request&)> edit = nullptr, const kube::Resource& resource = kConfigMaps,
               std::string ns = "default") {
    Request asked = request(Verb::Watch, resource, "", std::move(ns));
    if (edit) edit(asked);
    auto opened = env_.run(server_->watch(std::move(asked)));
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  Handle watch_from(kube::Revision revision) {
    return watch([&](Request& r) { r.resource_version = std::to_string(revision); });
  }
  static void ask_for_initial_events(Request& asked) {
    asked.send_initial_events = true;
    asked.resource_version_match = "NotOlderThan";
    asked.allow_watch_bookmarks = true;
  }
  /// "ADDED a@5 DELETED b@7"
  std::string next(const Handle& handle) {
    const auto events = env_.run(handle->next());
    if (!events) return std::string(to_string(events.error().reason));
    std::string line;
    for (const WatchEvent& event : *events) {
      line += fmt::format("{}{} {}@{}", line.empty() ? "" : " ", to_string(event.type), kube::name(event.object),
                          kube::revision(event.object));
    }
    return line;
  }
  kube::Revision now() const { return store_->revision(); }
};

TEST_F(StorageContract, a_created_object_comes_back_with_its_revision) {
  const Value made = must(create(kConfigMaps, named("a")));
  EXPECT_EQ(kube::revision(made), now());
  EXPECT_FALSE(kube::uid(made).empty());
  EXPECT_EQ(must(get(kConfigMaps, "a")), made);
}

TEST_F(StorageContract, a_name_is_given_once) {
  const Value made = must(create(kConfigMaps, named("a")));
  EXPECT_EQ(reason(create(kConfigMaps, named("a", "default", "other"))), "AlreadyExists");
  EXPECT_EQ(must(get(kConfigMaps, "a")), made);
  EXPECT_EQ(now(), kube::revision(made));
}

TEST_F(StorageContract, a_read_may_ask_for_no_state_older_than_a_revision) {
  const Value made = must(create(kConfigMaps, named("a")));
  for (const std::string& version : {std::string(), std::string("0"), std::to_string(kube::revision(made))}) {
    Request asked = request(Verb::Get, kConfigMaps, "a");
    asked.resource_version = version;
    EXPECT_EQ(must(object_of(asked)), made) << version;
  }
  EXPECT_EQ(reason(get(kConfigMaps, "b")), "NotFound");
}

TEST_F(StorageContract, a_delete_without_conditions_gives_the_last_state) {
  const Value made = must(create(kConfigMaps, named("a")));
  const Value status = must(remove(kConfigMaps, "a"));
  EXPECT_EQ(status["details"]["uid"], made["metadata"]["uid"]);
  EXPECT_EQ(reason(get(kConfigMaps, "a")), "NotFound");
}

TEST_F(StorageContract, a_second_delete_finds_nothing) {
  must(create(kConfigMaps, named("a")));
  must(remove(kConfigMaps, "a"));
  const auto before = now();
  EXPECT_EQ(reason(remove(kConfigMaps, "a")), "NotFound");
  EXPECT_EQ(now(), before);
}

TEST_F(StorageContract, a_delete_may_demand_the_uid) {
  const Value made = must(create(kConfigMaps, named("a")));
  EXPECT_EQ(reason(remove(kConfigMaps, "a", "{preconditions: {uid: other}}")), "Conflict");
  must(remove(kConfigMaps, "a", fmt::format("{{preconditions: {{uid: {}}}}}", kube::uid(made))));
}

TEST_F(StorageContract, a_delete_may_demand_the_revision) {
  const Value made = must(create(kConfigMaps, named("a")));
  const Value next_one = must(update(kConfigMaps, named("a", "default", "x")));
  const auto demand = [](const Value& object) {
    return fmt::format("{{preconditions: {{resourceVersion: '{}'}}}}", kube::revision(object));
  };
  EXPECT_EQ(reason(remove(kConfigMaps, "a", demand(made))), "Conflict");
  must(remove(kConfigMaps, "a", demand(next_one)));
}

TEST_F(StorageContract, a_delete_judges_the_newest_state_and_not_what_a_reader_saw) {
  must(create(kConfigMaps, named("a")));
  must(patch(kConfigMaps, "a", client::PatchType::Merge, "{metadata: {finalizers: [x/y]}}"));
  const Value kept = must(remove(kConfigMaps, "a"));
  EXPECT_TRUE(kube::is_deleting(kept)) << "the finalizer that came last holds it";
  EXPECT_TRUE(kube::is_deleting(must(get(kConfigMaps, "a"))));
}

TEST_F(StorageContract, a_delete_between_read_and_write_makes_the_write_fail) {
  const Value made = must(create(kConfigMaps, named("a")));
  must(remove(kConfigMaps, "a"));
  EXPECT_EQ(reason(update(kConfigMaps, made)), "NotFound");
  must(create(kConfigMaps, named("a")));
  EXPECT_EQ(reason(update(kConfigMaps, made)), "Conflict");
}

TEST_F(StorageContract, a_list_is_ordered_by_key_and_carries_the_revision_of_its_state) {
  need_namespace("other");
  for (const char* name : {"c", "a", "b"}) must(create(kConfigMaps, named(name)));
  must(create(kConfigMaps, named("aa", "other")));
  const Value all = must(list(kConfigMaps, ""));
  EXPECT_EQ(names(all), "a b c aa");
  EXPECT_EQ(kube::revision(all), now());
}

TEST_F(StorageContract, a_list_without_a_revision_sees_every_write_that_was_answered) {
  for (int i = 0; i < 5; ++i) {
    must(create(kConfigMaps, named(fmt::format("m{}", i))));
    EXPECT_EQ(must(list(kConfigMaps))["items"].size(), static_cast<std::size_t>(i + 1));
  }
}

TEST_F(StorageContract, a_list_of_one_name_gives_that_object_or_none) {
  for (const char* name : {"a", "ab"}) must(create(kConfigMaps, named(name)));
  const auto by_name = [&](std::string name) {
    return names(must(list_with([&](Request& r) { r.field_selector = "metadata.name=" + name; })));
  };
  EXPECT_EQ(by_name("a"), "a");
  EXPECT_EQ(by_name("b"), "");
}

TEST_F(StorageContract, a_prefix_ends_at_a_segment) {
  need_namespace("defaults");
  must(create(kConfigMaps, named("a", "defaults")));
  EXPECT_EQ(names(must(list(kConfigMaps, "default"))), "");
  EXPECT_EQ(names(must(list(kConfigMaps, "defaults"))), "a");
}

TEST_F(StorageContract, a_namespace_lists_its_own_objects_only) {
  need_namespace("other");
  must(create(kConfigMaps, named("a")));
  must(create(kConfigMaps, named("b", "other")));
  EXPECT_EQ(names(must(list(kConfigMaps, "default"))), "a");
  EXPECT_EQ(names(must(list(kConfigMaps, "other"))), "b");
}

TEST_F(StorageContract, pages_follow_each_other_without_gap_or_double) {
  for (int i = 0; i < 5; ++i) must(create(kConfigMaps, named(fmt::format("m{}", i))));
  std::string seen;
  std::string token;
  kube::Revision revision = 0;
  do {
    const Value page = must(list_with([&](Request& r) {
      r.limit = 2;
      r.continue_token = token;
    }));
    seen += names(page) + "|";
    if (revision == 0) revision = kube::revision(page);
    EXPECT_EQ(kube::revision(page), revision) << "all pages are of one state";
    token = page["metadata"]["continue"].str();
    must(create(kConfigMaps, named(fmt::format("m1{}", seen.size()))));  // is in no page
  } while (!token.empty());
  EXPECT_EQ(seen, "m0 m1|m2 m3|m4|");
}

TEST_F(StorageContract, a_page_with_a_selector_looks_on_until_it_is_full) {
  for (int i = 0; i < 50; ++i) must(create(kConfigMaps, named(fmt::format("m{:02}", i), "default", i == 40 ? "rare" : "x")));
  const Value page = must(list_with([](Request& r) {
    r.limit = 1;
    r.label_selector = "l=rare";
  }));
  EXPECT_EQ(names(page), "m40");
}

TEST_F(StorageContract, pages_of_a_selection_follow_each_other) {
  for (int i = 0; i < 6; ++i) must(create(kConfigMaps, named(fmt::format("m{}", i), "default", i % 2 == 0 ? "even" : "odd")));
  std::string seen;
  std::string token;
  do {
    const Value page = must(list_with([&](Request& r) {
      r.limit = 2;
      r.label_selector = "l=even";
      r.continue_token = token;
    }));
    EXPECT_FALSE(page["metadata"].has("remainingItemCount"));
    seen += names(page) + "|";
    token = page["metadata"]["continue"].str();
  } while (!token.empty());
  EXPECT_TRUE(seen == "m0 m2|m4|" || seen == "m0 m2|m4||") << seen;
}

TEST_F(StorageContract, an_expired_page_says_so) {
  for (int i = 0; i < 4; ++i) must(create(kConfigMaps, named(fmt::format("m{}", i))));
  const Value page = must(list_with([](Request& r) { r.limit = 2; }));
  must(create(kConfigMaps, named("m9")));
  ASSERT_TRUE(env_.run(store_->compact(now())));
  const auto late = list_with([&](Request& r) { r.continue_token = page["metadata"]["continue"].str(); });
  EXPECT_EQ(reason(late), "Expired");
}

TEST_F(StorageContract, a_list_is_of_exactly_the_revision_asked_for) {
  const Value first = must(create(kConfigMaps, named("a")));
  must(create(kConfigMaps, named("b")));
  const auto at = [&](std::string match, kube::Revision revision) {
    return list_with([&](Request& r) {
      r.resource_version_match = match;
      r.resource_version = std::to_string(revision);
    });
  };
  EXPECT_EQ(names(must(at("Exact", kube::revision(first)))), "a");
  EXPECT_EQ(kube::revision(must(at("Exact", kube::revision(first)))), kube::revision(first));
  EXPECT_EQ(names(must(at("NotOlderThan", kube::revision(first)))), "a b");
  EXPECT_EQ(reason(at("Exact", 0)), "Invalid");
}

TEST_F(StorageContract, what_is_compacted_has_expired_for_lists_and_watches) {
  const Value first = must(create(kConfigMaps, named("a")));
  must(update(kConfigMaps, named("a", "default", "x")));
  ASSERT_TRUE(env_.run(store_->compact(now())));
  const std::string version = std::to_string(kube::revision(first));
  const auto exact = list_with([&](Request& r) {
    r.resource_version = version;
    r.resource_version_match = "Exact";
  });
  EXPECT_EQ(reason(exact), "Expired");
  Request asked = request(Verb::Watch, kConfigMaps, "");
  asked.resource_version = version;
  const auto opened = env_.run(server_->watch(asked));
  const std::string found = opened ? next(*opened) : std::string(to_string(opened.error().reason));
  EXPECT_EQ(found, "Expired");
  EXPECT_EQ(names(must(list(kConfigMaps))), "a");
}

TEST_F(StorageContract, an_update_moves_the_revision_and_a_no_op_does_not) {
  const Value made = must(create(kConfigMaps, named("a")));
  const Value changed = must(update(kConfigMaps, made.with("data", yaml("{k: v}"))));
  EXPECT_GT(kube::revision(changed), kube::revision(made));
  EXPECT_EQ(must(update(kConfigMaps, changed)), changed);
  EXPECT_EQ(now(), kube::revision(changed));
  EXPECT_EQ(reason(update(kConfigMaps, named("b"))), "NotFound");
}

TEST_F(StorageContract, an_update_that_restores_what_is_stored_writes_nothing) {
  const Value made = must(create(kConfigMaps, named("a")));
  const Value changed = must(update(kConfigMaps, made.with("data", yaml("{k: v}"))));
  EXPECT_EQ(must(update(kConfigMaps, changed.with("data", yaml("{k: v}")))), changed);
  EXPECT_EQ(now(), kube::revision(changed));
}

TEST_F(StorageContract, of_two_updates_from_one_read_the_second_conflicts) {
  const Value made = must(create(kConfigMaps, named("a")));
  must(update(kConfigMaps, made.with("data", yaml("{k: one}"))));
  EXPECT_EQ(reason(update(kConfigMaps, made.with("data", yaml("{k: two}")))), "Conflict");
  EXPECT_EQ(must(get(kConfigMaps, "a"))["data"], yaml("{k: one}"));
}

TEST_F(StorageContract, a_patch_starts_from_the_newest_state) {
  must(create(kConfigMaps, named("a")));
  must(patch(kConfigMaps, "a", client::PatchType::Merge, "{data: {k: '1'}}"));
  must(patch(kConfigMaps, "a", client::PatchType::Merge, "{data: {l: '2'}}"));
  EXPECT_EQ(must(get(kConfigMaps, "a"))["data"], yaml("{k: '1', l: '2'}"));
}

TEST_F(StorageContract, a_limited_list_counts_what_remains) {
  for (int i = 0; i < 5; ++i) must(create(kConfigMaps, named(fmt::format("m{}", i))));
  EXPECT_EQ(must(list_with([](Request& r) { r.limit = 2; }))["metadata"]["remainingItemCount"].as_int(), 3);
  EXPECT_EQ(store_->count("/registry/core/configmaps/default/"), 5u);
}

TEST_F(StorageContract, a_watch_tells_creation_change_and_end) {
  const auto r = now();
  const Handle handle = watch_from(r);
  must(create(kConfigMaps, named("a")));
  must(update(kConfigMaps, named("a", "default", "x")));
  must(remove(kConfigMaps, "a"));
  EXPECT_EQ(next(handle), fmt::format("ADDED a@{} MODIFIED a@{} DELETED a@{}", r + 1, r + 2, r + 3));
}

TEST_F(StorageContract, a_watch_of_cluster_scoped_objects_may_select_by_name) {
  const auto r = now();
  const Handle handle = watch(
      [&](Request& asked) {
        asked.resource_version = std::to_string(r);
        asked.field_selector = "metadata.name=b";
      },
      kNamespaces, "");
  need_namespace("a");
  need_namespace("b");
  EXPECT_EQ(next(handle), fmt::format("ADDED b@{}", kube::revision(must(get(kNamespaces, "b", "")))));
}

TEST_F(StorageContract, a_watch_of_a_namespace_hears_of_no_other) {
  need_namespace("other");
  const auto r = now();
  const Handle handle = watch_from(r);
  must(create(kConfigMaps, named("a", "other")));
  must(create(kConfigMaps, named("b")));
  EXPECT_EQ(next(handle), fmt::format("ADDED b@{}", r + 2));
}

TEST_F(StorageContract, a_watch_by_labels_tells_of_entering_and_leaving) {
  const auto r = now();
  const Handle handle = watch([&](Request& asked) {
    asked.resource_version = std::to_string(r);
    asked.label_selector = "l=in";
  });
  must(create(kConfigMaps, named("a", "default", "out")));
  must(update(kConfigMaps, named("a", "default", "in")));
  must(update(kConfigMaps, named("a", "default", "out")));
  must(remove(kConfigMaps, "a"));
  EXPECT_EQ(next(handle), fmt::format("ADDED a@{} DELETED a@{}", r + 2, r + 3));
}

TEST_F(StorageContract, a_watch_from_zero_begins_with_what_is_there_even_after_compaction) {
  must(create(kConfigMaps, named("a")));
  const Value changed = must(update(kConfigMaps, named("a", "default", "x")));
  need_namespace("other");
  ASSERT_TRUE(env_.run(store_->compact(now())));
  const Handle handle = watch_from(0);
  EXPECT_EQ(next(handle), fmt::format("ADDED a@{}", kube::revision(changed)));
}

TEST_F(StorageContract, a_watch_from_a_revision_tells_only_what_came_after) {
  const Value made = must(create(kConfigMaps, named("a")));
  const Handle handle = watch_from(kube::revision(made));
  const Value changed = must(update(kConfigMaps, named("a", "default", "x")));
  EXPECT_EQ(next(handle), fmt::format("MODIFIED a@{}", kube::revision(changed)));
}

TEST_F(StorageContract, a_deletion_is_told) {
  const Value made = must(create(kConfigMaps, named("a")));
  const Handle handle = watch_from(kube::revision(made));
  must(remove(kConfigMaps, "a"));
  EXPECT_EQ(next(handle), fmt::format("DELETED a@{}", now()));
}

TEST_F(StorageContract, the_object_of_a_deletion_carries_the_revision_of_the_deletion) {
  const Value made = must(create(kConfigMaps, named("a", "default", "x")));
  const Handle handle = watch_from(kube::revision(made));
  must(remove(kConfigMaps, "a"));
  const auto events = env_.run(handle->next());
  ASSERT_TRUE(events);
  EXPECT_GT(kube::revision(events->front().object), kube::revision(made));
  EXPECT_EQ(events->front().object["metadata"]["labels"], made["metadata"]["labels"]);
}

TEST_F(StorageContract, a_slow_reader_gets_everything_in_order) {
  const auto r = now();
  const Handle handle = watch_from(r);
  for (int i = 0; i < 1200; ++i) must(create(kConfigMaps, named(fmt::format("m{:04}", i))));
  kube::Revision last = r;
  while (last < now()) {
    const auto events = env_.run(handle->next());
    ASSERT_TRUE(events);
    ASSERT_FALSE(events->empty());
    for (const WatchEvent& event : *events) ASSERT_EQ(kube::revision(event.object), ++last);
  }
}

TEST_F(StorageContract, a_reader_that_does_not_read_holds_up_nobody) {
  const auto r = now();
  const Handle idle = watch_from(r);
  const Handle busy = watch_from(r);
  for (int i = 0; i < 20; ++i) {
    must(create(kConfigMaps, named(fmt::format("m{:02}", i))));
    EXPECT_EQ(next(busy), fmt::format("ADDED m{:02}@{}", i, now()));
  }
}

TEST_F(StorageContract, a_closed_watch_ends) {
  const Handle handle = watch_from(now());
  env_.run(store_->close());
  EXPECT_EQ(next(handle), "ServiceUnavailable");
}

TEST_F(StorageContract, a_bookmark_never_runs_ahead_of_events) {
  const Handle handle = watch([&](Request& asked) {
    asked.resource_version = std::to_string(now());
    asked.allow_watch_bookmarks = true;
  });
  kube::Revision seen = now();
  for (int round = 0; round < 5; ++round) {
    must(create(kConfigMaps, named(fmt::format("m{}", round))));
    for (bool is_bookmark = false; !is_bookmark;) {
      const auto events = env_.run(handle->next());
      ASSERT_TRUE(events);
      ASSERT_FALSE(events->empty());
      for (const WatchEvent& event : *events) {
        is_bookmark = event.type == WatchEvent::Type::Bookmark;
        EXPECT_GE(kube::revision(event.object), seen);
        seen = kube::revision(event.object);
      }
    }
    EXPECT_EQ(seen, now());
  }
}

TEST_F(StorageContract, a_watch_without_initial_events_begins_after_its_revision) {
  must(create(kConfigMaps, named("a")));
  const auto r = now();
  const Handle handle = watch([&](Request& asked) {
    asked.resource_version = std::to_string(r);
    asked.resource_version_match = "NotOlderThan";
    asked.send_initial_events = false;
    asked.allow_watch_bookmarks = true;
  });
  must(create(kConfigMaps, named("b")));
  EXPECT_EQ(next(handle), fmt::format("ADDED b@{}", r + 1));
}

TEST_F(StorageContract, initial_events_are_the_state_and_then_changes_follow) {
  must(create(kConfigMaps, named("a")));
  must(create(kConfigMaps, named("b")));
  const auto r = now();
  const std::string state = fmt::format("ADDED a@{} ADDED b@{} BOOKMARK @{}", r - 1, r, r);
  std::vector<Handle> handles;
  for (const std::string& version : {std::string(), std::string("0"), std::to_string(r)}) {
    handles.push_back(watch([&](Request& asked) {
      ask_for_initial_events(asked);
      asked.resource_version = version;
    }));
    EXPECT_EQ(next(handles.back()), state);
  }
  must(update(kConfigMaps, named("b", "default", "x")));
  for (const Handle& handle : handles) EXPECT_EQ(next(handle), fmt::format("MODIFIED b@{}", now()));
}

TEST_F(StorageContract, initial_events_of_one_namespace_end_with_the_revision_of_the_store) {
  need_namespace("other");
  const Value mine = must(create(kConfigMaps, named("a")));
  must(create(kConfigMaps, named("b", "other")));
  const Handle handle = watch(ask_for_initial_events);
  EXPECT_EQ(next(handle), fmt::format("ADDED a@{} BOOKMARK @{}", kube::revision(mine), now()));
}

TEST_F(StorageContract, initial_events_of_one_name_are_that_object) {
  const Value mine = must(create(kConfigMaps, named("a")));
  must(create(kConfigMaps, named("b")));
  const Handle handle = watch([](Request& asked) {
    ask_for_initial_events(asked);
    asked.field_selector = "metadata.name=a";
  });
  EXPECT_EQ(next(handle), fmt::format("ADDED a@{} BOOKMARK @{}", kube::revision(mine), now()));
}

}  // namespace
}  // namespace slipway::server
