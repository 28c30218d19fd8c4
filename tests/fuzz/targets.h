// One target for each reader: any bytes are read, or refused in a sentence. Anything else (a signal, another exception, a
// sanitizer's report) is a fault.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "requests/catalogue.h"

namespace treeline::fuzz {

struct Target {
    const char* name;
    void (*read)(std::string_view bytes);
};

std::span<const Target> text_targets();         ///< JSON, YAML, TOML, CSV, configurations of engines, trees
std::span<const Target> description_targets();  ///< models, Hugging Face configs, devices, stacks
std::span<const Target> request_targets();      ///< workloads, sweeps, points, decoders, and what is priced from them
std::span<const Target> measurement_targets();  ///< runs and logs, acceptance, tables of times, experiments, stores
std::span<const Target> evaluator_targets();    ///< random valid structures

/// Throws std::invalid_argument for a name that no target has.
const Target& target_named(std::string_view name);

/// The catalogue of the source tree.
const requests::Catalogue& catalogue();
/// The bytes as a file, for readers that take a path; one of each name in this process.
std::string as_file(std::string_view bytes, const std::string& name);

/// Runs a reader, for which InputError is an answer like any other.
void answered(void (*read)(std::string_view), std::string_view bytes);

}  // namespace treeline::fuzz
