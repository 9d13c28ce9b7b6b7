#include "os/text.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace slipway::os {
namespace {

bool is_debugged() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("TracerPid:")) return line != "TracerPid:\t0";
  }
  return false;
}

/// Segments that may not be written have no pages of this process's own.
int let_go_of(dl_phdr_info* object, std::size_t, void*) {
  if (std::string_view(object->dlpi_name).starts_with("linux-vdso")) return 0;  // of the kernel, without a file
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) / page * page;
    const std::uintptr_t end = (object->dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
    // The page in which a segment ends may be another's, too.
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void let_go_of_text() {
  if (!is_debugged()) dl_iterate_phdr(let_go_of, nullptr);
}

}  // namespace slipway::os
