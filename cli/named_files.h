// The files that a command line names, looked at before any work.
#pragma once

namespace CLI {
class App;
}

namespace treeline::cli {

/// Throws InputError where a file that the command is to write is one that its flags or arguments name for reading, standard
/// input, a store, or another one that it is to write: hours of work would end in that refusal (text/file_roles.h). What a
/// command reads beside those, it is refused where the file is opened.
void refuse_clashing_files(const CLI::App& app);

}  // namespace treeline::cli
