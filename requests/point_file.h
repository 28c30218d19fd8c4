// A design point from a file, flags or both, or from a text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "requests/point_reader.h"

namespace treeline::requests {

struct PointSource {
    sweeps::PointInput input;
    nlohmann::ordered_json raw;  ///< the point as the file or the flags have it; its paths as `input` reads them
};

/// Reads the point (or, in an earlier result of `estimate`, the "input" that it repeats) with the keys that flags give
/// replaced. Paths in it become relative to the current folder, as those of flags are. Without a file (empty) the flags are the
/// whole point. Throws InputError.
PointSource read_point(const std::string& file, const FlagTexts& flags, const Catalogue& catalogue);
/// The same from a text, which messages call `name`; paths in it are relative to `folder`.
PointSource read_point_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                            const Catalogue& catalogue);

}  // namespace treeline::requests
