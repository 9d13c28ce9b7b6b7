// A folder of a git repository as files for a program: a Helm chart, or a kustomization with what it is made from. What a
// repository says is not trusted: nothing of it may make the program read other files of the machine or ask the network.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/git.h"
#include "base/programs.h"

namespace slipway::delivery::application {

struct TemplateSource {
  GitRemote remote;
  std::string branch;  // empty: the one that the remote's HEAD names
  std::string path;    // of the folder; empty: the root
};

struct SourceFiles {
  GitId commit;
  std::vector<GitFile> files;  // paths from the root of the repository
};

/// `path` without slashes at its ends. Invalid for segments ".", ".." and empty ones.
Result<std::string> source_path(std::string path);

enum class Reach : std::uint8_t { folder, repository };
/// The files of the folder, or of the whole repository (which holds what the folder refers to; files over 1 MiB are left out
/// there). Errors of Git; NotFound when the folder has no file; Invalid for symbolic links below it.
Task<Result<SourceFiles>> read_source(Git& git, TemplateSource source, Reach reach);

/// The files below `path` as a program's, below `folder`, without `path`. With an empty path all of them.
std::map<std::string, ProgramFile> program_files(const SourceFiles& source, const std::string& path, const std::string& folder);

/// Invalid when a kustomization of the repository refers to what is not in it: a URL, an absolute path, a path that leads out
/// of it or to nothing. (kustomize follows folders anywhere on the machine, and asks the network for what is no folder.)
Result<void> check_kustomizations(const std::vector<GitFile>& files);

}  // namespace slipway::delivery::application
