// Reading a whole folder of text files, as the command line does with packages.
#pragma once

#include <map>
#include <string>

#include "base/env.h"

namespace slipway {

/// The files below `folder` by their path within it ("a/b.yaml"), those of any folder ".git" left out. BadRequest for more than
/// 100 folders in each other, which is how a link to a folder above shows; else the error of the first read that failed.
Result<std::map<std::string, std::string>> read_folder(Files& files, const std::string& folder);

}  // namespace slipway
