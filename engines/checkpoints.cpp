#include "engines/checkpoints.h"

#include <fmt/format.h>

#include "engines/definition.h"
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

/// Whether the engine makes this format of a checkpoint itself, of one in 16 bits alone.
bool is_made_on_load(const Engine& engine, const std::string& format, const sim::Precision& published) {
    return format == dialect_of(engine).quantises_to && sim::bits_of(published.weights.format) == 16.0 &&
           sim::bits_of(published.experts.format) == 16.0;
}

/// Names the target in the format that is priced: as somebody published it, as the engine makes it, or what to look for.
void name_in_format(Checkpoints& names, const sim::Model& target, const std::string& format, const Engine& engine) {
    const auto published = target.stored_as.find(format);
    if (dialect_of(engine).loads_gguf || target.repository.empty()) {
        names.remarks.push_back(fmt::format("priced as {}: load a checkpoint that is stored so", format));
    } else if (published != target.stored_as.end()) {
        names.target = published->second;
    } else if (is_made_on_load(engine, format, target.precision)) {
        names.load_as = format;
    } else {
        names.target = fmt::format("'{} stored as {}'", target.repository, format);
        names.remarks.push_back(fmt::format("no checkpoint of {} in {} is known here: put one in its place, or quantise it",
                                            target.repository, format));
    }
}

/// Checkpoints that their authors store for mamba_ssm. Of the first Mamba they publish others beside them, of Mamba-2 none
/// (transformers, pull request 37951; vLLM, 6484).
void remark_on_mamba_ssm(Checkpoints& names, const std::string& repository) {
    if (!repository.starts_with("state-spaces/mamba") || repository.ends_with("-hf")) {
        return;
    }
    names.remarks.push_back(repository.starts_with("state-spaces/mamba2")
                                ? fmt::format("{} is stored for mamba_ssm: convert it to Hugging Face's format first "
                                              "(convert_mamba2_ssm_checkpoint_to_pytorch.py of transformers)",
                                              repository)
                                : fmt::format("{0} is stored for mamba_ssm: {0}-hf is in Hugging Face's format", repository));
}

}  // namespace

Checkpoints checkpoints_of(const sweeps::Variant& variant, const Engine& engine) {
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
        name_in_format(names, target, without_cache(variant.labels.precision), engine);
    }
    const auto* model = std::get_if<sim::IndependentDrafter>(&variant.setup.drafter);
    // PARD drafts with masks that its own checkpoint was trained on; the model that it was made of has none.
    const bool is_made_of_model = variant.checkpoint.empty() && model != nullptr && !model->parallel;
    const std::string& drafter = is_made_of_model ? model->model.repository : variant.checkpoint;
    if (model != nullptr && model->precision.weights.format != model->model.precision.weights.format) {
        names.of_drafter.push_back(
            fmt::format("drafter priced in {}: load a checkpoint that is stored so", text::checkpoint_text(model->precision)));
    } else if (requantised && (model != nullptr || (dialect_of(engine).loads_gguf && !variant.checkpoint.empty()))) {
        const sim::Precision own = sim::plan(variant.setup.drafter, target, priced).precision;
        if (own.weights.element_bits() > priced.weights.element_bits()) {
            names.of_drafter.push_back(fmt::format("drafter priced in {}, as published: --draft-precision prices a smaller one",
                                                   text::checkpoint_text(own)));
        }
    }
    names.drafter = drafter.empty() ? names.drafter : drafter;
    for (const std::string& repository : {target.repository, drafter}) {
        if (!dialect_of(engine).loads_gguf) {
            remark_on_mamba_ssm(names, repository);
        }
    }
    if (const std::string release = text::release_in(drafter); !release.empty() && release != text::release_in(names.target)) {
        names.of_drafter.push_back(fmt::format("the drafter was trained for the release of {}: serve that one", release));
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
