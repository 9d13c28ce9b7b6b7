#include "server/server_fixture.h"

namespace slipway::server {
namespace {

using client::WatchEvent;

class Watching : public ServerTest {
 public:
  using Handle = std::unique_ptr<client::Watch>;

  Result<Handle> open_watch(Request asked) { return env_.run(server_->watch(std::move(asked))); }
  Handle must_watch(Request asked) {
    auto opened = open_watch(std::move(asked));
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  static Request watching(std::string version = "", std::string name = "") {
    Request asked = request(Verb::Watch, kConfigMaps, std::move(name));
    asked.resource_version = std::move(version);
    return asked;
  }
  std::string now() const { return std::to_string(store_->revision()); }
  /// "ADDED a@5 DELETED b@7", the events of one next().
  std::string next(const Handle& watch) { return text(env_.run(watch->next())); }
  static std::string text(const Result<std::vector<WatchEvent>>& events) {
    if (!events) return fmt::format("{}: {}", to_string(events.error().reason), events.error().message);
    std::string line;
    for (const WatchEvent& event : *events) {
      line += fmt::format("{}{} {}@{}", line.empty() ? "" : " ", to_string(event.type), kube::name(event.object),
                          kube::revision(event.object));
    }
    return line;
  }
};

TEST_F(Watching, tells_changes_after_a_revision) {
  must(create(kConfigMaps, config_map("a")));
  const auto r = store_->revision();
  const Handle watch = must_watch(watching(now()));
  must(update(kConfigMaps, config_map("a", "2")));
  must(create(kSecrets, yaml("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}}")));
  must(create(kConfigMaps, config_map("b")));
  must(remove(kConfigMaps, "a"));
  EXPECT_EQ(next(watch), fmt::format("MODIFIED a@{} ADDED b@{} DELETED a@{}", r + 1, r + 3, r + 4));
}

TEST_F(Watching, the_deleted_object_is_the_last_state_with_the_revision_of_its_end) {
  const Value made = must(create(kConfigMaps, config_map("a")));
  const Handle one = must_watch(watching(now()));
  const Handle two = must_watch(watching(now()));
  must(remove(kConfigMaps, "a"));
  const auto first = env_.run(one->next());
  const auto second = env_.run(two->next());
  ASSERT_TRUE(first && second);
  const Value& gone = first->front().object;
  EXPECT_EQ(gone, made.with_path({"metadata", "resourceVersion"}, now()));
  EXPECT_TRUE(gone.is_same(second->front().object)) << "made once for all watchers";
}

TEST_F(Watching, events_are_the_stored_values_themselves) {
  const Handle one = must_watch(watching(now()));
  must(create(kConfigMaps, config_map("a")));
  const auto events = env_.run(one->next());
  ASSERT_TRUE(events);
  EXPECT_TRUE(events->front().object.is_same(must(get(kConfigMaps, "a"))));
}

TEST_F(Watching, without_a_revision_begins_with_the_state) {
  must(create(kConfigMaps, config_map("a")));
  must(create(kConfigMaps, config_map("b")));
  const auto r = store_->revision();
  for (const char* version : {"", "0"}) {
    const Handle watch = must_watch(watching(version));
    EXPECT_EQ(next(watch), fmt::format("ADDED a@{} ADDED b@{}", r - 1, r));
  }
}

TEST_F(Watching, initial_events_end_with_a_bookmark_that_says_so) {
  must(create(kConfigMaps, config_map("a")));
  const auto r = store_->revision();
  Request asked = watching();
  asked.send_initial_events = true;
  asked.resource_version_match = "NotOlderThan";
  asked.allow_watch_bookmarks = true;
  const Handle watch = must_watch(asked);
  const auto events = env_.run(watch->next());
  EXPECT_EQ(text(events), fmt::format("ADDED a@{} BOOKMARK @{}", r, r));
  ASSERT_TRUE(events);
  EXPECT_EQ(events->back().object, yaml(fmt::format(R"(
kind: ConfigMap
apiVersion: v1
metadata: {{resourceVersion: '{}', annotations: {{k8s.io/initial-events-end: 'true'}}}}
)",
                                                    r)));
  must(create(kConfigMaps, config_map("b")));
  EXPECT_EQ(next(watch), fmt::format("ADDED b@{}", r + 1));
}

TEST_F(Watching, sends_a_large_state_in_batches) {
  Options options;
  options.watch_batch = 2;
  reopen(std::move(options));
  for (int i = 0; i < 5; ++i) must(create(kConfigMaps, config_map(fmt::format("m{}", i))));
  const Handle watch = must_watch(watching());
  const auto sizes = [&] {
    const auto events = env_.run(watch->next());
    return events ? events->size() : 0;
  };
  EXPECT_EQ(sizes(), 2u);
  EXPECT_EQ(sizes(), 2u);
  EXPECT_EQ(sizes(), 1u);
}

TEST_F(Watching, selects_among_objects_of_an_older_schema_as_a_list_does) {
  const Value definition = widgets_definition();
  const std::initializer_list<std::string_view> schema = {"schema",     "openAPIV3Schema", "properties", "spec",
                                                          "properties", "color",           "default"};
  const auto with_version = [&](const Value& version) {
    return definition.with_path({"spec", "versions"}, json::array({version}));
  };
  const Value made = must(create(kCrds, with_version(definition["spec"]["versions"].item(0).without_path(schema))));
  must(create(kWidgets, widget("a")));
  const Value now_there = must(get(kCrds, std::string(kube::name(made)), ""));
  must(update(kCrds, definition.with_path({"metadata", "resourceVersion"}, now_there["metadata"]["resourceVersion"])));

  Request asked = request(Verb::Watch, kWidgets, "");
  asked.field_selector = "spec.color=red";
  const Handle watch = must_watch(asked);
  const auto r = store_->revision();
  EXPECT_TRUE(next(watch).starts_with("ADDED a@"));
  must(remove(kWidgets, "a"));
  const auto gone = env_.run(watch->next());
  EXPECT_EQ(text(gone), fmt::format("DELETED a@{}", r + 1));
  ASSERT_TRUE(gone && !gone->empty());
  EXPECT_EQ(gone->front().object["spec"]["color"], Value("red"));
}

TEST_F(Watching, entering_and_leaving_a_selection_are_added_and_deleted) {
  must(create(kConfigMaps, config_map("a")));
  const auto r = store_->revision();
  Request asked = watching(now());
  asked.label_selector = "on=yes";
  const Handle watch = must_watch(asked);
  const auto label = [&](std::string_view value) {
    must(patch(kConfigMaps, "a", client::PatchType::Merge, fmt::format("{{metadata: {{labels: {{'on': '{}'}}}}}}", value)));
  };
  label("yes");
  must(patch(kConfigMaps, "a", client::PatchType::Merge, "{data: {k: '2'}}"));
  label("no");
  must(patch(kConfigMaps, "a", client::PatchType::Merge, "{data: {k: '3'}}"));
  label("yes");
  must(remove(kConfigMaps, "a"));
  const auto events = env_.run(watch->next());
  EXPECT_EQ(text(events),
            fmt::format("ADDED a@{} MODIFIED a@{} DELETED a@{} ADDED a@{} DELETED a@{}", r + 1, r + 2, r + 3, r + 5, r + 6));
  ASSERT_TRUE(events && events->size() == 5);
  EXPECT_EQ(kube::label((*events)[2].object, "on"), "yes") << "what left is told as it was inside";
}

TEST_F(Watching, of_one_name_tells_of_no_other) {
  const auto r = store_->revision();
  Request asked = watching(now());
  asked.field_selector = "metadata.name=a";
  const Handle by_field = must_watch(asked);
  const Handle by_name = must_watch(watching(now(), "a"));
  must(create(kConfigMaps, config_map("ab")));
  must(create(kConfigMaps, config_map("a")));
  EXPECT_EQ(next(by_field), fmt::format("ADDED a@{}", r + 2));
  EXPECT_EQ(next(by_name), fmt::format("ADDED a@{}", r + 2));
}

TEST_F(Watching, sends_bookmarks_each_minute_and_before_the_end) {
  Request asked = watching(now());
  asked.allow_watch_bookmarks = true;
  asked.timeout_seconds = 150;
  const Time start = env_.now();
  const Handle watch = must_watch(asked);
  must(create(kSecrets, yaml("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}}")));
  std::vector<Duration> at;
  while (true) {
    const auto events = env_.run(watch->next());
    ASSERT_TRUE(events);
    if (events->empty()) break;
    EXPECT_EQ(text(events), "BOOKMARK @" + now()) << "a bookmark moves with other resources too";
    at.push_back(env_.now() - start);
  }
  using std::chrono::seconds;
  EXPECT_EQ(at, (std::vector<Duration>{seconds{60}, seconds{120}, seconds{148}, seconds{150}}));
  EXPECT_EQ(env_.now() - start, seconds{150});
  EXPECT_EQ(next(watch), "") << "the end stays the end";
}

TEST_F(Watching, without_bookmarks_ends_in_silence) {
  Request asked = watching(now());
  asked.timeout_seconds = 90;
  const Time start = env_.now();
  const Handle watch = must_watch(asked);
  EXPECT_EQ(next(watch), "");
  EXPECT_EQ(env_.now() - start, std::chrono::seconds{90});
}

TEST_F(Watching, ends_between_one_and_two_times_the_servers_timeout_when_none_is_given) {
  const Time start = env_.now();
  const Handle watch = must_watch(watching(now()));
  EXPECT_EQ(next(watch), "");
  EXPECT_GE(env_.now() - start, std::chrono::minutes{30});
  EXPECT_LE(env_.now() - start, std::chrono::minutes{60});
}

TEST_F(Watching, from_a_compacted_revision_has_expired) {
  const auto old = store_->revision();
  must(create(kConfigMaps, config_map("a")));
  ASSERT_TRUE(env_.run(store_->compact(store_->revision())));
  const auto late = open_watch(watching(std::to_string(old)));
  ASSERT_FALSE(late);
  EXPECT_EQ(to_string(late.error().reason), "Expired");
  EXPECT_EQ(late.error().message, fmt::format("too old resource version: {} ({})", old, store_->compacted()));
}

TEST_F(Watching, a_reader_slower_than_history_has_expired) {
  const auto r = store_->revision();
  const Handle watch = must_watch(watching(now()));
  must(create(kConfigMaps, config_map("a")));
  must(create(kConfigMaps, config_map("b")));
  ASSERT_TRUE(env_.run(store_->compact(store_->revision())));
  EXPECT_EQ(next(watch), fmt::format("Expired: too old resource version: {} ({})", r, store_->compacted()));
}

TEST_F(Watching, waits_for_a_revision_and_gives_up) {
  const auto late = open_watch(watching(std::to_string(store_->revision() + 9)));
  ASSERT_FALSE(late);
  EXPECT_EQ(to_string(late.error().reason), "Timeout");
}

TEST_F(Watching, ends_when_its_resource_is_no_longer_served) {
  define_widgets();
  Request asked = request(Verb::Watch, kWidgets, "");
  asked.resource_version = now();
  asked.allow_watch_bookmarks = true;
  const Handle watch = must_watch(asked);
  must(remove(kCrds, "widgets.example.com", "", ""));
  must(patch(kCrds, "widgets.example.com", client::PatchType::Merge, "{metadata: {finalizers: null}}", "", ""));
  const Time start = env_.now();
  env_.run(watch->next());
  EXPECT_EQ(next(watch), "");
  EXPECT_LE(env_.now() - start, std::chrono::minutes{2});
}

TEST_F(Watching, refuses_what_upstream_refuses) {
  const auto with = [&](std::string version, std::string match, std::optional<bool> initial) {
    Request asked = watching(std::move(version));
    asked.resource_version_match = std::move(match);
    asked.send_initial_events = initial;
    const auto opened = open_watch(std::move(asked));
    return opened ? "opened" : opened.error().message;
  };
  const std::string head = "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: ";
  EXPECT_EQ(with("", "", true), head + "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  EXPECT_EQ(with("1", "NotOlderThan", {}),
            head + "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  EXPECT_EQ(
      with("1", "Exact", {}),
      "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
      "unless "
      "sendInitialEvents is provided, resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]");
}

// The fold of every watch equals the list at its revision, whatever is written, compacted, selected, and however slowly it is
// read.

struct Follower {
  std::string selector;
  std::size_t batch_wait = 0;  // reads only every so many steps
  std::unique_ptr<client::Watch> watch;
  std::map<std::string, Value> objects;
  kube::Revision revision = 0;
  int expirations = 0;
};

class Fold : public Watching {
 public:
  void relist(Follower& follower) {
    Request asked = request(Verb::List, kConfigMaps, "");
    asked.label_selector = follower.selector;
    const Value all = must(object_of(asked));
    follower.objects.clear();
    for (const Value& item : all["items"].items()) follower.objects.emplace(kube::name(item), item);
    follower.revision = kube::revision(all);
    Request watching = request(Verb::Watch, kConfigMaps, "");
    watching.label_selector = follower.selector;
    watching.resource_version = std::to_string(follower.revision);
    watching.allow_watch_bookmarks = true;
    watching.timeout_seconds = 1'000'000;
    follower.watch = must_watch(watching);
  }

  /// Takes one batch, which must be there.
  void read(Follower& follower) {
    const auto events = env_.run(follower.watch->next());
    if (!events) {
      ASSERT_EQ(to_string(events.error().reason), "Expired") << events.error().message;
      ++follower.expirations;
      relist(follower);
      return;
    }
    for (const WatchEvent& event : *events) {
      ASSERT_GE(kube::revision(event.object), follower.revision) << "revisions never go back";
      follower.revision = kube::revision(event.object);
      const std::string name(kube::name(event.object));
      switch (event.type) {
        case WatchEvent::Type::Added:
          ASSERT_FALSE(follower.objects.contains(name)) << name;
          follower.objects.emplace(name, event.object);
          break;
        case WatchEvent::Type::Modified:
          ASSERT_TRUE(follower.objects.contains(name)) << name;
          follower.objects.insert_or_assign(name, event.object);
          break;
        case WatchEvent::Type::Deleted:
          ASSERT_EQ(follower.objects.erase(name), 1u) << name;
          break;
        case WatchEvent::Type::Bookmark:
          break;
      }
    }
  }

  void random_write(SeededRandom& random) {
    const std::string name = fmt::format("m{}", random.next() % 12);
    const std::string_view on = random.next() % 2 == 0 ? "yes" : "no";
    const auto roll = random.next() % 10;
    if (roll < 4) {
      std::ignore = create(kConfigMaps, config_map(name).with_path({"metadata", "labels", "on"}, on));
    } else if (roll < 7) {
      std::ignore = patch(kConfigMaps, name, client::PatchType::Merge,
                          fmt::format("{{metadata: {{labels: {{'on': '{}'}}}}, data: {{k: '{}'}}}}", on, random.next() % 100));
    } else if (roll < 9) {
      std::ignore = remove(kConfigMaps, name);
    } else {
      std::ignore =
          create(kSecrets, yaml(fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{name: s{}, namespace: default}}}}",
                                            random.next() % 1000)));
    }
  }

  /// Reads until a bookmark says that everything up to now was told, then compares with the list.
  void check(Follower& follower) {
    const kube::Revision target = store_->revision();
    while (follower.revision < target) read(follower);
    Request asked = request(Verb::List, kConfigMaps, "");
    asked.label_selector = follower.selector;
    const Value all = must(object_of(asked));
    std::map<std::string, Value> expected;
    for (const Value& item : all["items"].items()) expected.emplace(kube::name(item), item);
    ASSERT_EQ(follower.objects.size(), expected.size());
    for (const auto& [name, object] : expected) ASSERT_EQ(follower.objects[name], object) << name;
  }
};

TEST_F(Fold, of_every_watch_is_the_list_at_its_revision) {
  int expirations = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SeededRandom random(seed);
    Options options;
    options.watch_batch = 1 + random.next() % 4;
    reopen(std::move(options));
    std::array<Follower, 4> followers;
    followers[1].selector = "on=yes";
    followers[2].selector = "on!=yes";
    followers[2].batch_wait = 17;
    followers[3].batch_wait = 61;
    for (Follower& follower : followers) relist(follower);
    for (std::size_t step = 1; step <= 300; ++step) {
      random_write(random);
      if (random.next() % 40 == 0) {
        const kube::Revision oldest = store_->compacted();
        const auto span = static_cast<std::uint64_t>(store_->revision() - oldest) + 1;
        ASSERT_TRUE(env_.run(store_->compact(oldest + static_cast<kube::Revision>(random.next() % span))));
      }
      for (Follower& follower : followers) {
        if (follower.batch_wait == 0 || step % follower.batch_wait == 0) {
          if (follower.revision < store_->revision()) read(follower);
        }
        if (HasFatalFailure()) return;
      }
    }
    for (Follower& follower : followers) {
      check(follower);
      if (HasFatalFailure()) return;
      expirations += follower.expirations;
    }
  }
  EXPECT_GT(expirations, 10) << "slow readers must have met compaction";
}

}  // namespace
}  // namespace slipway::server
