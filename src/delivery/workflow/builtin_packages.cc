// The CUE packages that templates import. Until definitions/package is built in, these are the functions of the standard
// providers, in both styles.
#include "delivery/workflow/template.h"

namespace slipway::delivery::workflow {
namespace {

constexpr const char* kOp = R"cue(package op

#Apply: {#do: "apply", #provider: "op", cluster: *"" | string, value: {...}, patch?: {...}, ...}
#ApplyInParallel: {#do: "apply-in-parallel", #provider: "op", cluster: *"" | string, value: [...{...}], ...}
#Patch: {#do: "patch", #provider: "op", cluster: *"" | string, value: {...}, patch: {...}, result?: {...}, ...}
#Read: {#do: "read", #provider: "op", cluster: *"" | string, value: {...}, err?: string, ...}
#List: {#do: "list", #provider: "op", cluster: *"" | string, resource: {apiVersion: string, kind: string}, filter?: {...}, list?: {...}, ...}
#Delete: {#do: "delete", #provider: "op", cluster: *"" | string, value: {...}, filter?: {...}, ...}
#DoVar: {#do: "var", #provider: "op", method: *"Get" | "Put", path: string, value?: _}
#ConditionalWait: {#do: "wait", #provider: "op", continue: *false | bool, message?: string}
#Wait: #ConditionalWait
#Suspend: {#do: "suspend", #provider: "op", duration?: string, message?: string}
#Break: {#do: "break", #provider: "op", message?: string}
#Fail: {#do: "fail", #provider: "op", message?: string}
#Message: {#do: "message", #provider: "op", message?: string}
#Steps: {...}
#Log: {#do: "log", #provider: "op", data?: {...} | string, level: *3 | int, source?: {...}}
#HTTPDo: {#do: "do", #provider: "op", method: *"GET" | "POST" | "PUT" | "DELETE", url: string, request?: {timeout?: string, body?: string, header?: [string]: string, ...}, tls_config?: {...}, response?: {body: string, header?: {...}, statusCode: int, ...}, ...}
#HTTPGet: #HTTPDo & {method: "GET"}
#HTTPPost: #HTTPDo & {method: "POST"}
#HTTPPut: #HTTPDo & {method: "PUT"}
#HTTPDelete: #HTTPDo & {method: "DELETE"}
)cue";

constexpr const char* kKube = R"cue(package kube

#Apply: {#do: "apply", #provider: "kube", $params: {cluster: *"" | string, value: {...}, patch?: {...}}, $returns?: {value?: {...}, err?: string}, ...}
#ApplyInParallel: {#do: "apply-in-parallel", #provider: "kube", $params: {cluster: *"" | string, value: [...{...}]}, $returns?: {value?: [...{...}]}, ...}
#Patch: {#do: "patch", #provider: "kube", $params: {cluster: *"" | string, value: {...}, patch: {...}}, $returns?: {result?: {...}}, ...}
#Read: {#do: "read", #provider: "kube", $params: {cluster: *"" | string, value: {...}}, $returns?: {value?: {...}, err?: string}, ...}
#List: {#do: "list", #provider: "kube", $params: {cluster: *"" | string, resource: {apiVersion: string, kind: string}, filter?: {namespace: *"" | string, matchingLabels?: {...}}}, $returns?: {values?: {...}, err?: string}, ...}
#Delete: {#do: "delete", #provider: "kube", $params: {cluster: *"" | string, value: {...}, filter?: {...}}, $returns?: {value?: {...}, err?: string}, ...}
)cue";

constexpr const char* kBuiltin = R"cue(package builtin

#DoVar: {#do: "var", #provider: "builtin", $params: {method: *"Get" | "Put", path: string, value?: _}, $returns?: {value: _}}
#ConditionalWait: {#do: "wait", #provider: "builtin", $params: {continue: *false | bool, message?: string}}
#Suspend: {#do: "suspend", #provider: "builtin", $params: {duration?: string, message?: string}}
#Break: {#do: "break", #provider: "builtin", $params: {message?: string}}
#Fail: {#do: "fail", #provider: "builtin", $params: {message?: string}}
#Message: {#do: "message", #provider: "builtin", $params: {message?: string}}
#Steps: {...}
)cue";

constexpr const char* kHttp = R"cue(package http

#HTTPDo: {#do: "do", #provider: "http", $params: {method: *"GET" | "POST" | "PUT" | "DELETE", url: string, request?: {timeout?: string, body?: string, header?: [string]: string, ...}, tls_config?: {...}}, $returns?: {body: string, header?: {...}, statusCode: int, ...}, ...}
#HTTPGet: #HTTPDo & {$params: method: "GET"}
#HTTPPost: #HTTPDo & {$params: method: "POST"}
#HTTPPut: #HTTPDo & {$params: method: "PUT"}
#HTTPDelete: #HTTPDo & {$params: method: "DELETE"}
)cue";

constexpr const char* kUtil = R"cue(package util

#Log: {#do: "log", #provider: "util", $params: {data?: {...} | string, level: *3 | int, source?: {...}}}
)cue";

}  // namespace

const cue::Packages& packages() {
  static const cue::Packages kPackages = {
      {"vela/op", {{"op.cue", kOp}}},       {"vela/kube", {{"kube.cue", kKube}}}, {"vela/builtin", {{"builtin.cue", kBuiltin}}},
      {"vela/http", {{"http.cue", kHttp}}}, {"vela/util", {{"util.cue", kUtil}}},
  };
  return kPackages;
}

}  // namespace slipway::delivery::workflow
