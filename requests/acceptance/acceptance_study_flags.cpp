#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "requests/acceptance/acceptance_study_reader.h"
#include "requests/keys/acceptance_study_keys.h"
#include "text/parse_number.h"
#include "text/split.h"

namespace treeline::requests {
namespace {

FlagJson number_in(const std::string& text, const std::string& wanted) {
    const std::optional<double> value = text::parse_number(text);
    if (!value) {
        throw text::InputError({fmt::format("{}, not \"{}\"", wanted, text)});
    }
    const bool whole = *value == std::floor(*value) && std::abs(*value) < 1e15;
    return whole ? FlagJson(static_cast<std::int64_t>(*value))
                 : FlagJson(*value);  // so that messages show it as it was written
}

FlagJson temperatures_of_flag(const std::string& text) {
    FlagJson numbers = FlagJson::array();
    for (const std::string& part : text::split(text, ',')) {
        numbers.push_back(number_in(part, "--temperature: must be comma-separated numbers, such as 0,0.7,1"));
    }
    return numbers;
}

FlagJson points_of_flag(const std::string& text) {
    const std::string wanted = "--measured: must be comma-separated temperature:length pairs, such as 0:2.04,1:1.55";
    FlagJson points = FlagJson::array();
    for (const std::string& part : text::split(text, ',')) {
        const std::vector<std::string> pair = text::split(part, ':');
        if (pair.size() != 2) {
            throw text::InputError({fmt::format("{}, not \"{}\"", wanted, text)});
        }
        points.push_back({{"temperature", number_in(pair[0], wanted)}, {"accept_length", number_in(pair[1], wanted)}});
    }
    return points;
}

/// Paths in files are relative to the file, paths in flags to the current folder.
FlagJson shape_of_flag(const std::string& text) {
    return !text.starts_with("{") && looks_like_path(text) ? std::filesystem::absolute(text).string() : text;
}

}  // namespace

const std::vector<KeyFlag>& acceptance_study_flags() {
    using json::help_of;
    static const std::vector<KeyFlag> flags = {
        {"--shape", "TREE", "shapes", "Tree as in `treeline tree`, repeatable (default: chain:4 and stree-mil)", nullptr,
         "shapes.shape"},
        {"--temperature", "T1,T2,...", "temperatures", help_of(acceptance_study_keys::temperatures), temperatures_of_flag},
        {"--drafter-temperature", "T", "drafter_temperature", help_of(acceptance_study_keys::drafter_temperature)},
        {"--measured", "T:LENGTH,...", "measured.points",
         "Measured accept lengths by temperature that the models should reproduce: " +
             std::string(measured_study_keys::points.meaning),
         points_of_flag, "measured.points.accept_length"},
        {"--measured-shape", "TREE", "measured.shape", help_of(measured_study_keys::shape), shape_of_flag},
        {"--measured-method", "METHOD", "measured.method", help_of(measured_study_keys::method)},
        {"--vocabulary", "N", "world.vocabulary", help_of(world_keys::vocabulary)},
        {"--sharpness", "X", "world.sharpness", help_of(world_keys::sharpness)},
        {"--mismatch", "X", "world.mismatch", help_of(world_keys::mismatch)},
        {"--caution", "X", "world.caution", help_of(world_keys::caution)},
        {"--worlds", "N", "world.worlds", help_of(world_keys::worlds)},
        {"--seed", "N", "world.seed", help_of(world_keys::seed)},
        {"--rounds", "N", "rounds", help_of(acceptance_study_keys::rounds)},
    };
    return flags;
}

FlagJson with_flags(FlagJson study, const FlagTexts& flags, const std::vector<std::string>& shapes) {
    if (!study.is_object()) {
        return study;  // the reader says what is wrong with it
    }
    if (!shapes.empty()) {
        study["shapes"] = FlagJson::array();
        for (const std::string& shape : shapes) {
            study["shapes"].push_back(shape_of_flag(shape));
        }
    }
    set_given(study, acceptance_study_flags(), flags);
    return study;
}

}  // namespace treeline::requests
