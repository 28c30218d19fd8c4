#include "cli/shell/catalogue_names.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/example_files.h"
#include "engines/engine.h"
#include "hardware/catalogue.h"
#include "hardware/fpga.h"
#include "models/catalogue.h"
#include "requests/descriptions.h"
#include "requests/published_acceptance.h"
#include "text/catalogue_folder.h"
#include "text/input_error.h"

namespace treeline::cli {
namespace {

using Names = std::vector<std::string>;
using requests::Catalogue;

constexpr std::array<std::pair<std::string_view, std::string_view>, 18> takers = {{{"--target", "models"},
                                                                                   {"--model", "models"},
                                                                                   {"--device", "devices"},
                                                                                   {"--host", "devices"},
                                                                                   {"--stack", "stacks"},
                                                                                   {"--engine", "engines"},
                                                                                   {"--drafter", "drafters"},
                                                                                   {"--expert-kernels", "expert-kernels"},
                                                                                   {"--attention-kernels", "attention-kernels"},
                                                                                   {"--board", "boards"},
                                                                                   {"--design", "designs"},
                                                                                   {"--shape", "trees"},
                                                                                   {"--tree", "trees"},
                                                                                   {"models NAME", "models"},
                                                                                   {"hardware NAME", "hardware"},
                                                                                   {"examples NAME", "examples"},
                                                                                   {"tree show TREE", "trees"},
                                                                                   {"tree compare TREE", "trees"}}};

Names engine_words(const Catalogue&) {
    Names words;
    for (const engines::Engine& engine : engines::newest_engines()) {
        words.push_back(engine.word);
    }
    return words;
}

Names drafters(const Catalogue& catalogue) {
    Names names;
    requests::Descriptions descriptions(catalogue, {});
    for (const requests::PublishedDrafter& drafter : descriptions.published_drafters()) {
        names.push_back(drafter.name);
    }
    return names;
}

Names trees(const Catalogue& catalogue) {
    std::error_code error;
    return text::description_names(examples_folder(catalogue) / "trees", error);
}

Names all_hardware(const Catalogue& catalogue) {
    Names all;
    for (Names (*of)(const std::filesystem::path&) :
         {hardware::device_names, hardware::stack_names, hardware::board_names, hardware::design_names}) {
        const Names some = of(catalogue.hardware);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

struct Kind {
    std::string_view name;
    Names (*names)(const Catalogue& catalogue);
};

constexpr std::array<Kind, 12> kinds = {
    {{"models", [](const Catalogue& from) { return models::all_model_names(from.models); }},
     {"devices", [](const Catalogue& from) { return hardware::device_names(from.hardware); }},
     {"stacks", [](const Catalogue& from) { return hardware::stack_names(from.hardware); }},
     {"expert-kernels", [](const Catalogue& from) { return hardware::expert_kernel_names(from.hardware); }},
     {"attention-kernels", [](const Catalogue& from) { return hardware::attention_kernel_names(from.hardware); }},
     {"boards", [](const Catalogue& from) { return hardware::board_names(from.hardware); }},
     {"designs", [](const Catalogue& from) { return hardware::design_names(from.hardware); }},
     {"hardware", all_hardware},
     {"engines", engine_words},
     {"drafters", drafters},
     {"examples", example_names},
     {"trees", trees}}};

}  // namespace

std::string_view kind_of_names(std::string_view flag) {
    const auto* const found =
        std::find_if(takers.begin(), takers.end(), [&](const auto& taker) { return taker.first == flag; });
    return found == takers.end() ? std::string_view() : found->second;
}

Names catalogue_names(std::string_view kind, const Catalogue& catalogue) {
    const auto* const found = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& each) { return each.name == kind; });
    if (found == kinds.end()) {
        throw text::InputError({fmt::format("completions: there are no names of \"{}\"", kind)});
    }
    return found->names(catalogue);
}

}  // namespace treeline::cli
