#include <array>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/acceptance/acceptance_study_reader.h"
#include "text/parse_number.h"
#include "text/split.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

struct FlagKey {
    const char* key;
    const char* flag;
};
/// Longer keys first if one is a prefix of another.
constexpr std::array<FlagKey, 15> flag_keys = {{{"world.vocabulary", "--vocabulary"},
                                                {"world.sharpness", "--sharpness"},
                                                {"world.mismatch", "--mismatch"},
                                                {"world.caution", "--caution"},
                                                {"world.worlds", "--worlds"},
                                                {"world.seed", "--seed"},
                                                {"measured.shape", "--measured-shape"},
                                                {"measured.method", "--measured-method"},
                                                {"measured.points", "--measured"},
                                                {"measured", "--measured"},
                                                {"drafter_temperature", "--drafter-temperature"},
                                                {"temperatures", "--temperature"},
                                                {"rounds", "--rounds"},
                                                {"shapes", "--shape"},
                                                {"world", "--worlds"}}};

[[noreturn]] void refuse(const std::string& flag, const std::string& wanted, const std::string& text) {
    throw InputError({fmt::format("{}: must be {}, not \"{}\"", flag, wanted, text)});
}

Json number_in(const std::string& flag, const std::string& wanted, const std::string& text) {
    const std::optional<double> value = parse_number(text);
    if (!value) {
        refuse(flag, wanted, text);
    }
    const bool whole = *value == std::floor(*value) && std::abs(*value) < 1e15;
    return whole ? Json(static_cast<std::int64_t>(*value)) : Json(*value);  // so that messages show it as it was written
}

Json numbers_in(const std::string& flag, const std::string& text) {
    Json numbers = Json::array();
    for (const std::string& part : split(text, ',')) {
        numbers.push_back(number_in(flag, "comma-separated numbers, such as 0,0.7,1", part));
    }
    return numbers;
}

Json points_in(const std::string& text) {
    const std::string wanted = "comma-separated temperature:length pairs, such as 0:2.04,1:1.55";
    Json points = Json::array();
    for (const std::string& part : split(text, ',')) {
        const std::vector<std::string> pair = split(part, ':');
        if (pair.size() != 2) {
            refuse("--measured", wanted, text);
        }
        points.push_back({{"temperature", number_in("--measured", wanted, pair[0])},
                          {"accept_length", number_in("--measured", wanted, pair[1])}});
    }
    return points;
}

void set_number(Json& object, const char* key, const std::string& flag, const std::string& text) {
    if (!text.empty()) {
        object[key] = number_in(flag, "a number", text);
    }
}

/// Paths in files are relative to the file, paths in flags to the current folder.
std::string from_current_folder(const std::string& shape) {
    return !shape.starts_with("{") && looks_like_path(shape) ? std::filesystem::absolute(shape).string() : shape;
}

std::string in_terms_of_flags(const std::string& problem) {
    constexpr std::string_view prefix = "flags: ";
    if (!problem.starts_with(prefix)) {
        return problem;
    }
    const std::string rest = problem.substr(prefix.size());
    for (const auto& [key, flag] : flag_keys) {
        if (rest.starts_with(key)) {
            const std::size_t colon = rest.find(": ", std::string_view(key).size());
            return colon == std::string::npos ? rest : flag + rest.substr(colon);
        }
    }
    return rest;
}

}  // namespace

Json with_flags(Json study, const AcceptanceStudyFlags& flags) {
    if (!study.is_object()) {
        return study;  // the reader says what is wrong with it
    }
    if (!flags.shapes.empty()) {
        study["shapes"] = Json::array();
        for (const std::string& shape : flags.shapes) {
            study["shapes"].push_back(from_current_folder(shape));
        }
    }
    if (!flags.temperatures.empty()) {
        study["temperatures"] = numbers_in("--temperature", flags.temperatures);
    }
    set_number(study, "drafter_temperature", "--drafter-temperature", flags.drafter_temperature);
    set_number(study, "rounds", "--rounds", flags.rounds);
    Json world = study.value("world", Json::object());
    if (world.is_object()) {
        set_number(world, "vocabulary", "--vocabulary", flags.vocabulary);
        set_number(world, "sharpness", "--sharpness", flags.sharpness);
        set_number(world, "mismatch", "--mismatch", flags.mismatch);
        set_number(world, "caution", "--caution", flags.caution);
        set_number(world, "worlds", "--worlds", flags.worlds);
        set_number(world, "seed", "--seed", flags.seed);
        if (!world.empty()) {
            study["world"] = world;
        }
    }
    Json measured = study.value("measured", Json::object());
    if (measured.is_object()) {
        if (!flags.measured.empty()) {
            measured["points"] = points_in(flags.measured);
        }
        if (!flags.measured_shape.empty()) {
            measured["shape"] = from_current_folder(flags.measured_shape);
        }
        if (!flags.measured_method.empty()) {
            measured["method"] = flags.measured_method;
        }
        if (!measured.empty()) {
            study["measured"] = measured;
        }
    }
    return study;
}

std::vector<std::string> in_terms_of_study_flags(std::vector<std::string> problems) {
    for (std::string& problem : problems) {
        problem = in_terms_of_flags(problem);
    }
    return problems;
}

}  // namespace treeline
