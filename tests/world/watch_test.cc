// Nothing lost, doubled or out of order: every watch is folded, and the fold is compared with the state at the revision it has
// come to, event by event. The state is read beside the watches, whenever the store moves. Readers are fast and slow, select,
// begin in each of the four ways, and go on from where they were when a watch ends, is cut, expires, or the server dies.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "kube/selector.h"
#include "kube/well_known.h"
#include "sim/world.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using client::Request;
using client::Verb;
using client::WatchEvent;
using json::Value;
using kube::Revision;

using kube::kConfigMaps;
using kube::kNamespaces;
using kube::kSecrets;
constexpr std::string_view kPrefix = "/registry/core/configmaps/";

const Image& watched_image() {
  static const Image kImage = Image::bootstrapped();
  return kImage;
}

using State = std::map<std::string, Value>;  // by namespace/name

std::string key_of(const Value& object) { return kube::key_of(object).to_string(); }

/// What a watcher may select, and the same said once more in the plainest way.
struct Choice {
  std::string ns;
  std::string labels;
  std::string fields;
  std::function<bool(const Value&)> holds;
};

std::vector<Choice> choices() {
  const auto label = [](const Value& object) { return object["metadata"]["labels"]["l"].str(); };
  const auto is_in = [](const Value& object, std::string_view ns) { return object["metadata"]["namespace"].as_string() == ns; };
  return {
      {"default", "", "", [=](const Value& o) { return is_in(o, "default"); }},
      {"", "", "", [](const Value&) { return true; }},
      {"other", "", "", [=](const Value& o) { return is_in(o, "other"); }},
      {"default", "l=1", "", [=](const Value& o) { return is_in(o, "default") && label(o) == "1"; }},
      {"", "l in (0,2)", "", [=](const Value& o) { return label(o) == "0" || label(o) == "2"; }},
      {"", "!l", "", [=](const Value& o) { return !o["metadata"]["labels"].has("l"); }},
      {"default", "", "metadata.name=m3", [=](const Value& o) { return is_in(o, "default") && kube::name(o) == "m3"; }},
      {"", "l!=1", "metadata.namespace=other", [=](const Value& o) { return is_in(o, "other") && label(o) != "1"; }},
  };
}

/// The state at every revision at which the store was seen, and what it was between them as far as history reaches.
class Truth {
 public:
  /// Looks at the store after a step of the world. Says what is wrong: a revision that is not what it once was.
  std::string look(World& world) {
    store::Store* const store = world.store();
    if (store == nullptr) {
      was_down_ = true;
      return {};
    }
    if (std::exchange(was_down_, false) && newest_ != 0) {
      if (store->revision() < newest_) return fmt::format("revision {} was seen, and is gone after a restart", newest_);
      if (store->compacted() <= newest_ && read(*store, newest_) != states_[newest_]) {
        return fmt::format("the state at {} is another after a restart", newest_);
      }
    }
    const Revision from = std::max({newest_ + 1, store->compacted(), newest_ == 0 ? store->revision() : 0});
    for (Revision at = from; at <= store->revision(); ++at) states_[at] = read(*store, at);
    newest_ = std::max(newest_, store->revision());
    return {};
  }

  Revision newest() const { return newest_; }
  /// Null where history had gone before it was read.
  const State* at(Revision revision) const {
    const auto found = states_.find(revision);
    return found == states_.end() ? nullptr : &found->second;
  }
  State selected(Revision revision, const Choice& choice) const {
    State chosen;
    for (const auto& [key, object] : states_.at(revision)) {
      if (choice.holds(object)) chosen.emplace(key, object);
    }
    return chosen;
  }

 private:
  static State read(const store::Store& store, Revision at) {
    const auto range = store.range({.prefix = std::string(kPrefix), .start = {}, .at = at});
    SLIPWAY_CHECK(range.has_value(), range.error().message);
    State state;
    for (const auto& [key, entry] : range->entries) state.emplace(key.substr(kPrefix.size()), entry.value);
    return state;
  }

  std::map<Revision, State> states_;
  Revision newest_ = 0;
  bool was_down_ = false;
};

/// How much has happened in a run, so that a test that sees nothing fails.
struct Counts {
  int events = 0;
  int bookmarks = 0;
  int expired = 0;
  int cut = 0;
  int ended = 0;
  int lists = 0;
};

/// A client that keeps a copy of a selection up to date, as an informer does, and holds it against the truth.
class Reader {
 public:
  Reader(World& world, const Truth& truth, Counts& counts, Choice choice, std::uint64_t seed)
      : world_(world), truth_(truth), counts_(counts), choice_(std::move(choice)), random_(seed) {
    constexpr Duration kPauses[] = {0ms, 0ms, 50ms, 3s, 20s};
    pause_ = kPauses[random_.next() % std::size(kPauses)];
  }

  Task<> run() {
    while (wrong_.empty()) {
      auto opened = co_await world_.user().watch(co_await request());
      if (!opened) {
        co_await took(opened.error());
        continue;
      }
      const auto watch = std::move(*opened);
      while (wrong_.empty()) {
        auto events = co_await watch->next();
        if (!events) {
          co_await took(events.error());
          break;
        }
        if (events->empty()) {
          ++counts_.ended;
          if (is_beginning_) has_begun_ = false;  // of which revision the state was is not known yet
          break;
        }
        for (const WatchEvent& event : *events) take(event);
        if (is_hurried_) continue;
        if (pause_ > 0s) co_await sleep_for(world_.user_domain().env(), pause_);
      }
      // No watcher comes again at once for ever.
      co_await sleep_for(world_.user_domain().env(), 100ms);
    }
  }

  /// From now on as fast as can be.
  void hurry() { is_hurried_ = true; }
  bool is_at_end() const { return has_begun_ && !is_beginning_ && fold_ == truth_.selected(truth_.newest(), choice_); }
  const std::string& wrong() const { return wrong_; }
  std::string about() const {
    return fmt::format("ns='{}' labels='{}' fields='{}' at {} of {} with {} objects", choice_.ns, choice_.labels,
                       choice_.fields, upto_, truth_.newest(), fold_.size());
  }

 private:
  enum class Beginning : std::uint8_t { List, Nothing, Zero, WatchList };

  Request asked(Verb verb) const {
    Request made;
    made.verb = verb;
    made.resource = kConfigMaps;
    made.ns = choice_.ns;
    made.label_selector = choice_.labels;
    made.field_selector = choice_.fields;
    return made;
  }

  /// A watch that goes on, or that begins in one of the ways there are.
  Task<Request> request() {
    Request made = asked(Verb::Watch);
    made.allow_watch_bookmarks = random_.next() % 2 == 0;
    if (random_.next() % 3 != 0) made.timeout_seconds = 5 + static_cast<std::int64_t>(random_.next() % 100);
    if (!has_begun_) {
      fold_.clear();
      upto_ = 0;
      is_beginning_ = true;
      switch (static_cast<Beginning>(random_.next() % 4)) {
        case Beginning::List:
          co_await list();
          break;
        case Beginning::Nothing:
          co_return made;
        case Beginning::Zero:
          made.resource_version = "0";
          co_return made;
        case Beginning::WatchList:
          made.send_initial_events = true;
          made.resource_version_match = "NotOlderThan";
          made.allow_watch_bookmarks = true;
          co_return made;
      }
    }
    made.resource_version = std::to_string(upto_);
    co_return made;
  }

  Task<> list() {
    for (bool is_all = false; !is_all;) {
      Request made = asked(Verb::List);
      made.limit = static_cast<std::int64_t>(random_.next() % 4);
      fold_.clear();
      for (;;) {
        auto reply = co_await world_.user().call(made);
        ++counts_.lists;
        if (!reply) break;  // the page has expired: again from the start
        for (const Value& item : reply->object["items"].items()) fold_[key_of(item)] = item;
        upto_ = kube::revision(reply->object);
        made.continue_token = reply->object["metadata"]["continue"].str();
        is_all = made.continue_token.empty();
        if (is_all) break;
      }
    }
    has_begun_ = true;
    is_beginning_ = false;
    compare("after a list");
  }

  Task<> took(Status status) {
    if (status.reason == Reason::Expired) {
      ++counts_.expired;
      has_begun_ = false;
    } else {
      ++counts_.cut;
      if (is_beginning_) has_begun_ = false;
    }
    co_await sleep_for(world_.user_domain().env(), std::chrono::milliseconds{random_.next() % 2000});
  }

  void take(const WatchEvent& event) {
    const Revision revision = kube::revision(event.object);
    if (event.type == WatchEvent::Type::Bookmark) {
      ++counts_.bookmarks;
      if (revision < upto_) return say("a bookmark goes back", event);
      upto_ = std::max(upto_, revision);
      has_begun_ = true;
      is_beginning_ = false;
      return compare("at a bookmark");
    }
    ++counts_.events;
    const std::string key = key_of(event.object);
    const auto known = fold_.find(key);
    // The state to begin with is in order of keys and has no mark at its end, unless that was asked for: the first event that
    // is no addition, or that is of a key not above the last, is a change.
    if (is_beginning_ && event.type == WatchEvent::Type::Added && (fold_.empty() || key > fold_.rbegin()->first)) {
      has_begun_ = true;
      fold_[key] = event.object;
      upto_ = std::max(upto_, revision);
      return;
    }
    if (revision <= upto_ && !is_beginning_) return say("out of order", event);
    if ((event.type == WatchEvent::Type::Added) != (known == fold_.end())) return say("doubled or lost", event);
    if (event.type == WatchEvent::Type::Deleted) {
      fold_.erase(known);
    } else {
      fold_[key] = event.object;
    }
    is_beginning_ = false;
    upto_ = revision;
    compare("after an event");
  }

  void say(std::string_view what, const WatchEvent& event) {
    if (!wrong_.empty()) return;
    wrong_ = fmt::format("{}: {} {}@{}; {}", what, client::to_string(event.type), key_of(event.object),
                         kube::revision(event.object), about());
  }

  void compare(std::string_view when) {
    if (!wrong_.empty() || truth_.at(upto_) == nullptr) return;
    const State wanted = truth_.selected(upto_, choice_);
    if (fold_ == wanted) return;
    wrong_ = fmt::format("{}: {} objects, {} in the list; {}", when, fold_.size(), wanted.size(), about());
  }

  World& world_;
  const Truth& truth_;
  Counts& counts_;
  Choice choice_;
  SeededRandom random_;
  Duration pause_{0};
  State fold_;
  Revision upto_ = 0;
  bool has_begun_ = false;
  bool is_beginning_ = true;  // the state to begin with may go on
  bool is_hurried_ = false;
  std::string wrong_;
};

/// Creates, changes, relabels and deletes, never mind the answers.
Task<> write(World& world, std::uint64_t seed, int writes, int& writing) {
  SeededRandom random(seed);
  for (int i = 0; i < writes; ++i) {
    const bool is_noise = random.next() % 6 == 0;
    const kube::Resource resource = is_noise ? kSecrets : kConfigMaps;
    const std::string ns = random.next() % 3 == 0 ? "other" : "default";
    const std::string name = fmt::format("m{}", random.next() % 12);
    const std::uint64_t label = random.next() % 4;
    Value labels = Value::empty_object();
    if (label < 3) labels = labels.with("l", std::to_string(label));
    const Value object =
        json::object({{"apiVersion", "v1"},
                      {"kind", is_noise ? "Secret" : "ConfigMap"},
                      {"metadata", json::object({{"name", name}, {"namespace", ns}, {"labels", labels}})},
                      {is_noise ? "stringData" : "data", json::object({{"v", fmt::format("{}-{}", seed, i)}})}});
    switch (random.next() % 5) {
      case 0:
      case 1:
        if (co_await client::create(world.user(), resource, object, "writer")) break;
        [[fallthrough]];
      case 2:
      case 3:
        co_await client::update(world.user(), resource, object, "writer");
        break;
      default:
        co_await client::remove(world.user(), resource, {ns, name});
    }
    if (random.next() % 3 != 0) {
      co_await sleep_for(world.user_domain().env(), std::chrono::milliseconds{random.next() % 400});
    }
  }
  --writing;
}

/// Something goes wrong every few seconds while there is writing.
Task<> disturb(World& world, std::uint64_t seed, const int& writing) {
  SeededRandom random(seed);
  while (writing > 0) {
    co_await sleep_for(world.user_domain().env(), std::chrono::milliseconds{500 + random.next() % 8000});
    constexpr FaultKind kKinds[] = {FaultKind::CrashServer, FaultKind::CutWatches, FaultKind::DiskFails, FaultKind::DiskFull,
                                    FaultKind::None};
    const FaultKind kind = kKinds[random.next() % std::size(kKinds)];
    kind == FaultKind::None ? world.compact() : world.inject(kind);
  }
}

struct Play {
  std::uint64_t seed = 1;
  int readers = 24;
  int writes = 120;  // of each of three writers
  bool is_disturbed = true;
};

/// Plays one world; gives what is wrong, and adds to the counts.
std::string play_watches(const Play& play, Counts& counts) {
  WorldOptions options;
  options.seed = play.seed;
  options.is_shuffled = true;
  options.image = &watched_image();
  options.controllers.pods = plane::PodRuntimeKind::None;
  options.history_changes = play.seed % 3 == 0 ? 2000 : 40;
  options.watch_batch = 1 + play.seed % 7;
  Truth truth;
  std::vector<std::unique_ptr<Reader>> readers;
  int writing = 3;
  World world(std::move(options));
  world.start();
  world.run([](World& in) -> Task<> {
    const Value other =
        json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", "other"}})}});
    co_await client::create(in.user(), kNamespaces, other, "writer");
  }(world));

  SeededRandom random(play.seed);
  const auto all = choices();
  for (int i = 0; i < play.readers; ++i) {
    const Choice& choice = all[static_cast<std::size_t>(i) % all.size()];
    readers.push_back(std::make_unique<Reader>(world, truth, counts, choice, random.next()));
    world.user_domain().spawn(readers.back()->run());
  }
  for (int i = 0; i < writing; ++i) world.user_domain().spawn(write(world, random.next(), play.writes, writing));
  if (play.is_disturbed) world.user_domain().spawn(disturb(world, random.next(), writing));

  std::string wrong;
  const auto look = [&] {
    wrong = truth.look(world);
    for (const auto& reader : readers) {
      if (wrong.empty()) wrong = reader->wrong();
    }
    return !wrong.empty();
  };
  if (!world.run_until([&] { return look() || writing == 0; }, 2h)) return "the writers are stuck";
  for (const auto& reader : readers) reader->hurry();
  const auto is_settled = [&] {
    return look() ||
           (world.store() != nullptr && std::ranges::all_of(readers, [](const auto& reader) { return reader->is_at_end(); }));
  };
  if (!world.run_until(is_settled, 2h)) {
    for (const auto& reader : readers) {
      if (!reader->is_at_end()) return "a reader never gets to the end: " + reader->about();
    }
  }
  return wrong;
}

int seeds() {
  const char* text = std::getenv("SLIPWAY_SIM_SEEDS");
  return text != nullptr ? std::max(1, std::atoi(text)) : 20;
}

TEST(Watches, fold_to_the_list_at_their_revision_whatever_happens_in_random_runs) {
  Counts counts;
  for (int seed = 1; seed <= seeds(); ++seed) {
    ASSERT_EQ(play_watches({.seed = static_cast<std::uint64_t>(seed)}, counts), "") << "seed " << seed;
  }
  fmt::print("sim: watches: {} events, {} bookmarks, {} expired, {} cut, {} ended, {} pages\n", counts.events, counts.bookmarks,
             counts.expired, counts.cut, counts.ended, counts.lists);
  EXPECT_GT(counts.events, 1000);
  EXPECT_GT(counts.bookmarks, 10);
  EXPECT_GT(counts.expired, 10);
  EXPECT_GT(counts.cut, 10);
  EXPECT_GT(counts.ended, 10);
}

TEST(Watches, a_thousand_at_once_fold_to_the_list_at_their_revision) {
  Counts counts;
  ASSERT_EQ(play_watches({.seed = 7, .readers = 1000, .writes = 15}, counts), "");
  EXPECT_GT(counts.events, 1000);
}

TEST(Watches, that_nothing_disturbs_end_only_by_their_time) {
  Counts counts;
  ASSERT_EQ(play_watches({.seed = 3, .is_disturbed = false}, counts), "");
  EXPECT_EQ(counts.cut, 0);
}

}  // namespace
}  // namespace slipway::sim
