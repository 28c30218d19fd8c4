// What a measuring run leaves beside its tables: the machine, its state in each pass, and what could not be measured.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/measure/machine.h"
#include "calibrate/measure/protocol.h"

namespace treeline::calibrate {

/// A case that is missing from the tables, and why.
struct MissingCase {
    std::string name;       ///< KernelCase::name()
    std::string reason;     ///< a sentence
    bool is_fatal = false;  ///< measuring it ended the device's work
};

/// Whether a file of this name is one of these records rather than a table of kernels.
bool is_record_of_run(std::string_view file_name);

/// Writes NAME_machine.csv. All of these throw OutputError.
void write_machine(const std::filesystem::path& folder, const Machine& machine);
/// The machine of a folder of measurements; nothing if it has no such file. Throws InputError if there are several or one is
/// faulty.
std::optional<Machine> read_machine(const std::filesystem::path& folder);

/// Adds the state of the machine in each pass of a run to NAME_conditions.csv; `limits`, as a sentence, if there are any.
void write_conditions(const std::filesystem::path& folder, const Machine& machine, const ProtocolRun& run,
                      const std::string& limits);

/// Writes NAME_missing.csv, in place of an earlier one.
void write_missing(const std::filesystem::path& folder, const Machine& machine, const std::vector<MissingCase>& missing);
std::vector<MissingCase> read_missing(const std::filesystem::path& folder, const Machine& machine);

}  // namespace treeline::calibrate
