#include "control/informer_pool.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "json/value_pool.h"

namespace slipway::control {
namespace {

using json::Value;

/// Objects beyond that many bytes in memory are those that have much in them that is alike, such as the rows of a status.
constexpr std::size_t kLargeObject = std::size_t{16} << 10U;

/// Hands on what the server answers, with equal parts in memory once: of large objects all parts, of others what their managers
/// own, which is as large as the rest and the same for all that one template made.
class SharingClient : public client::Client {
 public:
  explicit SharingClient(std::shared_ptr<client::Client> inner) : inner_(std::move(inner)) {}

  Task<Result<client::Reply>> call(client::Request request) override {
    auto reply = co_await inner_->call(std::move(request));
    if (!reply) co_return reply;
    const std::span<const Value> items = reply->object["items"].items();
    if (std::ranges::none_of(items, is_dear)) co_return reply;
    json::ArrayBuilder made;
    for (const Value& item : items) made.add(cheaper(*pool_, item));
    reply->object = reply->object.with("items", made.build());
    co_return reply;
  }

  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request request) override {
    SLIPWAY_CO_TRY(opened, co_await inner_->watch(std::move(request)));
    co_return std::make_unique<SharingWatch>(std::move(opened), pool_);
  }

 private:
  static bool is_large(const Value& object) { return object.memory_bytes() > kLargeObject; }
  static bool is_dear(const Value& object) { return !object["metadata"]["managedFields"].empty() || is_large(object); }
  static Value cheaper(json::ValuePool& pool, const Value& object) {
    if (is_large(object)) return pool.shared(object);
    const Value& managed = object["metadata"]["managedFields"];
    return managed.empty() ? object : object.with_path({"metadata", "managedFields"}, pool.shared(managed));
  }

  class SharingWatch : public client::Watch {
   public:
    SharingWatch(std::unique_ptr<client::Watch> inner, std::shared_ptr<json::ValuePool> pool)
        : inner_(std::move(inner)), pool_(std::move(pool)) {}

    Task<Result<std::vector<client::WatchEvent>>> next() override {
      auto events = co_await inner_->next();
      if (!events) co_return events;
      for (client::WatchEvent& event : *events) event.object = cheaper(*pool_, event.object);
      co_return events;
    }
    void close() override { inner_->close(); }

   private:
    std::unique_ptr<client::Watch> inner_;
    std::shared_ptr<json::ValuePool> pool_;
  };

  std::shared_ptr<client::Client> inner_;
  std::shared_ptr<json::ValuePool> pool_ = std::make_shared<json::ValuePool>();
};

}  // namespace

/// What all leases of an informer share; its end is the informer's.
struct InformerLease::Held {
  Held(Env& env, std::shared_ptr<client::Client> through, const kube::Resource& resource, Form form)
      : client(std::move(through)),
        informer(std::make_shared<Informer>(env, *client, resource, client::InformerOptions{.form = form})) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { informer->stop(); }

  std::shared_ptr<client::Client> client;
  std::shared_ptr<Informer> informer;
};

namespace {

/// Keeps what the informer refers to until its last request has been answered.
Task<> run_informer(std::shared_ptr<Informer> informer, std::shared_ptr<client::Client> client) {
  co_await informer->run();
  static_cast<void>(client);
}

}  // namespace

InformerLease& InformerLease::operator=(InformerLease&& other) noexcept {
  if (this == &other) return *this;
  release();
  held_ = std::move(other.held_);
  handlers_ = std::exchange(other.handlers_, {});
  return *this;
}

Informer& InformerLease::operator*() const {
  SLIPWAY_CHECK(held_ != nullptr, "an empty lease has no informer");
  return *held_->informer;
}

void InformerLease::on_change(Informer::Handler handler) { handlers_.push_back((*this)->add_handler(std::move(handler))); }

void InformerLease::release() {
  if (held_ == nullptr) return;
  for (const Informer::HandlerId id : std::exchange(handlers_, {})) held_->informer->remove_handler(id);
  held_.reset();
}

InformerPool::InformerPool(Env& env, std::shared_ptr<client::Client> client, Tasks& tasks, bool shares_values)
    : env_(env), client_(std::move(client)), tasks_(tasks), shares_values_(shares_values) {
  if (!shares_values_) client_ = std::make_shared<SharingClient>(std::move(client_));
}

InformerLease InformerPool::take(const kube::Resource& resource, Form form) {
  if (shares_values_) form = Form::Whole;
  std::shared_ptr<InformerLease::Held> held = informers_[{resource, Form::Whole}].lock();
  if (held == nullptr && form == Form::Metadata) held = informers_[{resource, form}].lock();
  if (held == nullptr) {
    std::erase_if(informers_, [](const auto& entry) { return entry.second.expired(); });
    held = std::make_shared<InformerLease::Held>(env_, client_, resource, form);
    informers_[{resource, form}] = held;
    if (is_started_) run(held);
  }
  return InformerLease(std::move(held));
}

std::shared_ptr<Informer> InformerPool::find(const kube::Resource& resource) const {
  for (const Form form : {Form::Whole, Form::Metadata}) {
    const auto found = informers_.find({resource, form});
    const auto held = found == informers_.end() ? nullptr : found->second.lock();
    if (held != nullptr) return held->informer;
  }
  return nullptr;
}

void InformerPool::start() {
  if (std::exchange(is_started_, true)) return;
  for (const auto& [key, informer] : informers_) {
    if (const auto held = informer.lock()) run(held);
  }
}

void InformerPool::run(const std::shared_ptr<InformerLease::Held>& held) {
  tasks_.spawn(run_informer(held->informer, held->client));
}

Task<> InformerPool::wait_synced() {
  std::vector<std::shared_ptr<Informer>> all;
  for (const auto& [key, informer] : informers_) {
    if (const auto held = informer.lock()) all.push_back(held->informer);
  }
  for (const auto& informer : all) co_await informer->wait_synced();
}

void InformerPool::stop() {
  for (const auto& [key, informer] : informers_) {
    if (const auto held = informer.lock()) held->informer->stop();
  }
}

}  // namespace slipway::control
