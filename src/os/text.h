// The program's text in memory. Starting runs through code that is never run again: the command line, the schemas of all kinds,
// the first reading of definitions. Its pages stay mapped, and count as resident, for as long as the process lives.
#pragma once

namespace slipway::os {

/// Lets go of the pages of the program and its libraries that are as in their files (madvise(2), MADV_DONTNEED). Those that are
/// run again come back from the page cache one after the other. For long-lived processes, once they have started; other threads
/// may run meanwhile. Does nothing where the kernel refuses, and while a debugger is attached: its breakpoints are in these
/// pages.
void let_go_of_text();

}  // namespace slipway::os
