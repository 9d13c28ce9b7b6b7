#include "cluster/world_fixture.h"

#include <algorithm>
#include <cstdlib>

namespace slipway::cluster {

std::uint64_t ClusterTest::thinning() {
  const char* every = std::getenv("SLIPWAY_SIM_EVERY");
  return every == nullptr ? 1 : std::max<std::uint64_t>(1, std::strtoull(every, nullptr, 10) / 4);
}

void ClusterTest::start() {
  auto store = store::Store::open(env_, {.path = "/data/cluster.db"});
  ASSERT_TRUE(store) << store.error().message;
  store_ = std::move(*store);
  server::Options options;
  options.admission = admission_rows();
  options.nodes = nodes_;
  server_ = std::make_unique<server::Server>(env_, *store_, options);
  const auto started = env_.run(server_->start());
  ASSERT_TRUE(started) << started.error().message;
  for (json::Value& definition : cluster_definitions()) {
    const auto applied = env_.run(client::apply(*server_, kDefinitions, std::move(definition), "test"));
    ASSERT_TRUE(applied) << applied.error().message;
  }
  pods_ = make_pods_(*this);
  clusters_ = std::make_unique<control::OneCluster>("local", *server_);
  runtime_ = std::make_unique<control::Runtime>(env_, *clusters_);
  add_cluster_controllers(env_, *runtime_, "local", {pods_.get()});
  runtime_->start();
  settle();
}

void ClusterTest::stop() {
  env_.drop_all();
  runtime_.reset();
  pods_.reset();
  server_.reset();
  store_.reset();
}

json::Value ClusterTest::make(const kube::Resource& resource, const std::string& yaml) {
  const auto object = json::parse_yaml(yaml);
  EXPECT_TRUE(object) << object.error().message;
  return create(resource, object.value_or(json::Value()));
}

json::Value ClusterTest::create(const kube::Resource& resource, json::Value object) {
  const auto made = env_.run(client::create(*server_, resource, std::move(object), "test"));
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(json::Value());
}

json::Value ClusterTest::get(const kube::Resource& resource, const std::string& name, const std::string& ns) {
  const auto found = env_.run(client::get(*server_, resource, {ns, name}));
  if (!found) EXPECT_EQ(found.error().reason, Reason::NotFound) << found.error().message;
  return found.value_or(json::Value());
}

std::vector<json::Value> ClusterTest::list(const kube::Resource& resource, const std::string& ns) {
  const auto found = env_.run(client::list(*server_, resource, {.ns = ns, .label_selector = "", .field_selector = ""}));
  EXPECT_TRUE(found) << found.error().message;
  std::vector<json::Value> items;
  if (!found) return items;
  for (const json::Value& item : (*found)["items"].items()) items.push_back(item);
  return items;
}

void ClusterTest::patch(const kube::Resource& resource, const std::string& name, const std::string& json,
                        const std::string& subresource) {
  const auto body = json::parse(json);
  ASSERT_TRUE(body) << body.error().message;
  const auto done = env_.run(client::merge_patch(*server_, resource, {"default", name}, *body, "test", subresource));
  EXPECT_TRUE(done) << done.error().message;
}

void ClusterTest::remove(const kube::Resource& resource, const std::string& name, const std::string& propagation,
                         const std::string& ns) {
  client::DeleteQuery query;
  query.propagation = propagation;
  const auto done = env_.run(client::remove(*server_, resource, {ns, name}, query));
  EXPECT_TRUE(done) << done.error().message;
}

std::string job_yaml(const std::string& name, const std::string& more, const std::string& annotations) {
  return fmt::format(R"(apiVersion: batch/v1
kind: Job
metadata: {{name: {}, namespace: default}}
spec:
{}  template:
    metadata: {{annotations: {{{}}}}}
    spec:
      restartPolicy: Never
      containers:
      - {{name: main, image: none, command: ["true"]}}
)",
                     name, more, annotations);
}

}  // namespace slipway::cluster
