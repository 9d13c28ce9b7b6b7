// The standard streams of a container that has input or a terminal. What it is to read lies as files in a folder, each made
// whole by a rename: names of 20 digits, taken in their order and removed; an empty one ends the input (a terminal is told so
// by its end-of-file character). A small process of its own, ended with the pod's supervisor, passes them on, and what a
// terminal shows to the log. So whoever writes to a container needs nothing but files, and may be started anew at any time.
#pragma once

#include <sys/types.h>

#include <expected>
#include <string>

#include "base/pod_record.h"
#include "os/files.h"

namespace slipway::os {

/// What a container is started with.
struct Streams {
  Descriptor in;  // the container's ends
  Descriptor out;
  Descriptor error;
  Descriptor near;  // the relay's end: of the pipe to stdin, or the terminal's master; none without input and terminal
  Descriptor log;   // for what a terminal shows
  bool is_terminal = false;
};

/// Opens the logs, and a pipe or a terminal where the container has one. The failure is for a StartError.
std::expected<Streams, std::string> open_streams(const PodContainer& container);
/// Starts the relay of a container that runs as `process`, as a child of this process; 0 when it needs none or cannot be
/// started. It ends when the container's ends are closed, or with this process.
pid_t start_relay(const PodContainer& container, pid_t process, const Streams& streams);

}  // namespace slipway::os
