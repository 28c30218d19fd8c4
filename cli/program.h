// The program: flags in, exit code out.
#pragma once

namespace treeline::cli {

/// Runs one command. Errors go to standard error, one sentence per line. Returns 0, 2 for bad input (flags, files, values), or
/// 1 for a failure that better input would not have prevented (a full disk, no memory). Never throws.
int run_program(int argc, const char* const* argv) noexcept;

}  // namespace treeline::cli
