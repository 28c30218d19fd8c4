#include "engines/checkpoints.h"

#include <fmt/format.h>

#include "text/precision_text.h"
#include "text/version.h"

namespace treeline::engines {
namespace {

/// The formats of a checkpoint, in which no keys and values are stored: "nvfp4, key-value cache fp4" is "nvfp4".
std::string without_cache(std::string label) {
    if (const std::size_t at = label.find(", key-value cache "); at != std::string::npos) {
        const std::size_t end = label.find(',', at + 1);
        label.erase(at, end == std::string::npos ? end : end - at);
    }
    return label;
}

}  // namespace

Checkpoints checkpoints_of(const sweeps::Variant& variant) {
    Checkpoints names;
    const sim::Model& target = variant.setup.target;
    if (target.repository.empty()) {
        names.remarks.push_back(fmt::format("{}: the repository or path of {}", target_placeholder, target.name));
    } else {
        names.target = target.repository;
    }
    const sim::Precision &priced = variant.setup.precision, &published = target.precision;
    const bool requantised = priced.weights.format != published.weights.format;
    if (requantised || priced.experts.format != published.experts.format) {
        names.remarks.push_back(
            fmt::format("priced as {}: load a checkpoint that is stored so", without_cache(variant.labels.precision)));
    }
    const auto* model = std::get_if<sim::IndependentDrafter>(&variant.setup.drafter);
    const std::string& drafter = variant.checkpoint.empty() && model != nullptr ? model->model.repository : variant.checkpoint;
    if (model != nullptr && model->precision.weights.format != model->model.precision.weights.format) {
        names.remarks.push_back(
            fmt::format("drafter priced in {}: load a checkpoint that is stored so", text::checkpoint_text(model->precision)));
    } else if (model != nullptr && requantised && model->precision.weights.element_bits() > priced.weights.element_bits()) {
        names.remarks.push_back(fmt::format("drafter priced in {}, as published: --draft-precision prices a smaller one",
                                            text::checkpoint_text(model->precision)));
    }
    names.drafter = drafter.empty() ? names.drafter : drafter;
    if (const std::string release = text::release_in(drafter); !release.empty() && release != text::release_in(names.target)) {
        names.remarks.push_back(fmt::format("the drafter was trained for the release of {}: serve that one", release));
    }
    return names;
}

std::string gguf_of(const std::string& checkpoint, const char* placeholder, std::vector<std::string>& remarks) {
    if (checkpoint != placeholder) {
        remarks.push_back(fmt::format("{}.gguf: {} in llama.cpp's format", placeholder, checkpoint));
    }
    return fmt::format("{}.gguf", placeholder);
}

}  // namespace treeline::engines
