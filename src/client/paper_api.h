// For tests: an API of one resource on paper. Lists and watches answer from a script; the test decides when watch events arrive
// and which errors come before them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/count.h"
#include "base/env.h"
#include "client/client.h"

namespace slipway::client {

class PaperApi : public Client {
 public:
  explicit PaperApi(Env& env) : changed_(env) {}

  /// Changes the state; the event waits until deliver().
  void put(const std::string& name) {
    const bool is_new = !objects_.contains(name);
    objects_[name] = object(name, ++revision_);
    events_.push_back({is_new ? WatchEvent::Type::Added : WatchEvent::Type::Modified, objects_[name]});
  }
  void remove(const std::string& name) {
    objects_.erase(name);
    events_.push_back({WatchEvent::Type::Deleted, object(name, ++revision_)});
  }
  void bookmark() { events_.push_back({WatchEvent::Type::Bookmark, object("", ++revision_)}); }
  /// Lets running and later watches see everything so far.
  void deliver() {
    delivered_ = events_.size();
    changed_.notify();
  }
  /// Ends the running watch with this error; nullopt: regularly.
  void cut(std::optional<Status> error) {
    cut_ = std::move(error);
    ++cuts_;
    changed_.notify();
  }

  Task<Result<Reply>> call(Request request) override {
    calls.push_back(request.to_string());
    forms.push_back(request.form);
    if (!errors.empty()) {
      Status error = errors.front();
      errors.pop_front();
      co_return fail(error);
    }
    if (request.verb == Verb::Create) {
      const std::string name(kube::name(request.body));
      put(name);
      co_return Reply{objects_[name], {}, 201};
    }
    co_return Reply{page(request), {}, 200};
  }

  Task<Result<std::unique_ptr<Watch>>> watch(Request request) override {
    calls.push_back(request.to_string() + " from " + request.resource_version);
    co_return std::make_unique<PaperWatch>(*this, leading_count(request.resource_version));
  }

  std::vector<std::string> calls;
  std::vector<Form> forms;    // of the calls
  std::deque<Status> errors;  // of the next calls

 private:
  class PaperWatch : public Watch {
   public:
    PaperWatch(PaperApi& api, kube::Revision from) : api_(api), from_(from), cuts_(api.cuts_) {}
    Task<Result<std::vector<WatchEvent>>> next() override {
      for (;;) {
        if (api_.cuts_ != cuts_) {
          if (api_.cut_) co_return fail(*api_.cut_);
          co_return std::vector<WatchEvent>{};
        }
        std::vector<WatchEvent> found;
        for (; next_ < api_.delivered_; ++next_) {
          if (kube::revision(api_.events_[next_].object) > from_) found.push_back(api_.events_[next_]);
        }
        if (!found.empty() || is_closed_) co_return found;
        co_await api_.changed_.wait();
      }
    }
    void close() override {
      is_closed_ = true;
      api_.changed_.notify();
    }

   private:
    PaperApi& api_;
    kube::Revision from_;
    std::size_t cuts_;
    std::size_t next_ = 0;
    bool is_closed_ = false;
  };

  /// `limit` objects after the one that the continue token names.
  Value page(const Request& request) const {
    json::ArrayBuilder items;
    std::int64_t count = 0;
    std::string last;
    bool has_more = false;
    for (auto at = objects_.upper_bound(request.continue_token); at != objects_.end(); ++at) {
      if (request.limit > 0 && count == request.limit) {
        has_more = true;
        break;
      }
      items.add(at->second);
      last = at->first;
      ++count;
    }
    Value metadata = json::object({{"resourceVersion", std::to_string(revision_)}});
    if (has_more) metadata = metadata.with("continue", last);
    return json::object({{"kind", "ThingList"}, {"apiVersion", "v1"}, {"metadata", metadata}, {"items", items.build()}});
  }

  static Value object(const std::string& name, kube::Revision revision) {
    return json::object(
        {{"apiVersion", "v1"},
         {"kind", "Thing"},
         {"metadata",
          json::object(
              {{"name", name}, {"namespace", "default"}, {"uid", name}, {"resourceVersion", std::to_string(revision)}})}});
  }

  Signal changed_;
  std::map<std::string, Value> objects_;
  kube::Revision revision_ = 0;
  std::vector<WatchEvent> events_;
  std::size_t delivered_ = 0;
  std::optional<Status> cut_;
  std::size_t cuts_ = 0;
};

}  // namespace slipway::client
