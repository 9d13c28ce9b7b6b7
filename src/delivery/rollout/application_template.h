// The application whose revision a rollout delivers. One that waits as a template (delivery/family/template_owner.h) is taken
// charge of before anything is made of it, released from being a template once its workload is there, and given back at the
// end. Each step is one write that says itself how far it is, so after a crash the next step follows. If the application
// delivers the revision itself, the rollout waits until it has.
#pragma once

#include "client/client.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

class ApplicationTemplate {
 public:
  /// `application` is the owner reference of a revision, or null: then nothing is ever done. `client` outlives this.
  ApplicationTemplate(client::Client& client, kube::Object rollout, json::Value application);

  /// NotFound, with the rollout to wait for, while another one is in charge.
  Task<Result<void>> take();
  /// Of an application that is no template. NotFound, with the text to record, while the application has not taken `revision`
  /// up yet or delivers it itself: a rollout that began then would make a second workload of it. A workflow that has ended or
  /// is suspended delivers nothing. A rollout that is one of the application's own objects never waits.
  Task<Result<void>> await_turn(std::string revision);
  /// What the rollout adjusts is there: the application is one like others again, but in its hands.
  Task<Result<void>> release();
  /// After a success, and when the rollout is deleted.
  Task<Result<void>> give_back();
  /// When what was made has been undone: it is not to be delivered, and stays in the hands of a rollout that is gone, unless
  /// it is a template still.
  Task<Result<void>> give_back_undone();

 private:
  Task<Result<kube::Object>> find();
  Task<Result<bool>> is_held_by_other(json::Value owner);
  Task<Result<void>> annotate(kube::Object application, std::string key, json::Value value);
  bool owns(const kube::Object& application) const;

  client::Client& client_;
  kube::Object rollout_;
  json::Value application_;
};

}  // namespace slipway::delivery::rollout
