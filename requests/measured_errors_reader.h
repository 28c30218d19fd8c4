// Reads what `treeline validate --errors` wrote: what predictions missed where engines were measured.
#pragma once

#include <filesystem>

#include "requests/catalogue.h"
#include "sweeps/measured_errors.h"

namespace treeline::requests {

/// Throws InputError with every problem of the file.
sweeps::MeasuredErrors read_measured_errors(const std::filesystem::path& path);

/// Those of a catalogue; empty if it holds none.
sweeps::MeasuredErrors measured_errors_of(const Catalogue& catalogue);

}  // namespace treeline::requests
