#include "text/precision_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/ggml_types.h"
#include "text/number_text.h"

namespace treeline::text {
namespace {

std::string text_of(const sim::Storage& storage) {
    std::string text(name_of(storage.format));
    if (storage.bits > 0.0) {
        text = fmt::format("{:.5g} bits of {}", storage.bits, text);
    }
    if (storage.group_size > 0.0) {
        text += fmt::format(" ({}-bit scale per {})", exact_text(storage.scale_bits), exact_text(storage.group_size));
    }
    return text;
}

/// "; but fp4 (8-bit scale per 16) with products in bf16: routed experts, LM head; bf16: router".
std::string text_of(const std::vector<sim::WeightException>& exceptions) {
    std::vector<std::pair<std::string, std::string>> groups;
    for (const sim::WeightException& exception : exceptions) {
        const bool own_math = exception.math != exception.storage.format;
        const std::string format =
            text_of(exception.storage) + (own_math ? fmt::format(" with products in {}", name_of(exception.math)) : "");
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) { return known.first == format; });
        if (group == groups.end()) {
            groups.emplace_back(format, exception.operation);
        } else {
            group->second += ", " + exception.operation;
        }
    }
    std::string text;
    for (const auto& [format, operations] : groups) {
        text += fmt::format("; {}{}: {}", text.empty() ? "but " : "", format, operations);
    }
    return text;
}

}  // namespace

std::string text_of(const sim::Precision& precision) {
    const sim::Storage& weights = precision.weights;
    std::string text = "weights " + text_of(weights);
    const auto add = [&](const char* what, const sim::Storage& storage) {
        if (!(storage == weights)) {
            text += fmt::format(", {} {}", what, text_of(storage));
        }
    };
    add("experts", precision.experts);
    add("embeddings", precision.embeddings);
    add("activations", precision.activations);
    add("key-value cache", precision.kv_cache);
    add("recurrent state", precision.state);
    text += fmt::format("; products in {}", name_of(sim::product_format(weights, precision)));
    const auto add_products = [&](const char* of, sim::NumberFormat format) {
        if (format != sim::product_format(weights, precision)) {
            text += fmt::format(", of {} in {}", of, name_of(format));
        }
    };
    add_products("experts", sim::product_format(precision.experts, precision));
    add_products("attention", sim::attention_format(precision));
    add_products("the LM head", sim::product_format(precision.embeddings, precision));
    return text + text_of(precision.exceptions);
}

std::string text_of(const sim::Precision& precision, const sim::Device& device) {
    std::string text = text_of(precision);
    std::vector<sim::NumberFormat> said;
    for (const sim::NumberFormat format :
         {sim::product_format(precision.weights, precision), sim::product_format(precision.experts, precision),
          sim::attention_format(precision), sim::product_format(precision.embeddings, precision)}) {
        const sim::NumberFormat computed = device.computed_in(format);
        if (computed != format && std::find(said.begin(), said.end(), format) == said.end()) {
            text +=
                fmt::format("; {} computed in {}, as {} has no units for it", name_of(format), name_of(computed), device.name);
            said.push_back(format);
        }
    }
    return text;
}

std::string checkpoint_text(const sim::Precision& precision) {
    for (const std::string& name : sim::gguf_names()) {
        if (sim::gguf_precision(name) == precision) {
            return name;
        }
    }
    return std::string(name_of(precision.weights.format));
}

}  // namespace treeline::text
