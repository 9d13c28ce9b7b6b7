// The programs that render an Application: what they are asked, and what they said. helm, and kustomize or, where that is not
// there, kubectl with the same built in.
#pragma once

#include <string>

#include "base/programs.h"
#include "delivery/application/template_source.h"
#include "json/value.h"

namespace slipway::delivery::application {

struct TemplateOrder {
  std::string application, ns;
  std::string path;        // of the folder in the repository
  json::Value parameters;  // helm: values; kustomize: a patch of the Application; may be null
  Duration timeout;
};

/// `helm template` of the chart: release and namespace are the Application's.
ProgramCall helm_call(const TemplateOrder& order, const SourceFiles& source);

/// A kustomization over the folder, with the patch. Components, policies and steps of Applications are told apart by their
/// names, traits by their types: the patch changes what it names and leaves the others.
ProgramCall kustomize_call(const TemplateOrder& order, const SourceFiles& source, const std::string& program);
/// "kustomize" or "kubectl", whichever the machine has. NotFound naming both.
Result<std::string> kustomize_program(Programs& programs);

/// What it printed. Errors: those of running it; NotFound says what to install; Invalid with what it said when it failed.
Task<Result<std::string>> rendered_by(Programs& programs, ProgramCall call);

}  // namespace slipway::delivery::application
