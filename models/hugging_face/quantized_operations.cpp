// From what a quantisation config says about modules to the storage of a model's operations.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "models/hugging_face/family.h"
#include "models/hugging_face/operation_modules.h"
#include "models/hugging_face/quantization.h"
#include "sim/operations.h"

namespace treeline::models::hugging_face {

namespace {

/// An operation of a kind of layer, with the weights that one of these layers holds.
struct WeightedOperation {
    std::string name;  ///< without the layer
    std::vector<std::string> modules;
    double elements = 0.0;
    bool experts = false;
};

std::vector<WeightedOperation> operations_of_kind(const sim::LayerKind& kind, const std::vector<sim::Operation>& all) {
    const auto is_mlp = [](const sim::Block& block) { return std::holds_alternative<sim::Mlp>(block.kind); };
    const bool dense_beside_experts = std::any_of(kind.blocks.begin(), kind.blocks.end(), is_mlp);
    std::vector<WeightedOperation> result;
    for (const sim::Block& block : kind.blocks) {
        for (const OperationModules& entry : modules_of(block.kind)) {
            const std::string full = kind.name + ": " + std::string(entry.operation);
            const auto found = std::find_if(all.begin(), all.end(), [&](const sim::Operation& o) { return o.name == full; });
            if (found == all.end()) {
                continue;
            }
            const bool experts = found->kind == sim::OperationKind::experts;
            // Gemma 4 has a dense MLP beside the experts of a layer; its experts do not lie in "mlp".
            const bool apart = experts && dense_beside_experts;
            result.push_back({std::string(entry.operation),
                              apart ? std::vector<std::string>{"experts.0.gate_proj", "moe.gate_proj"} : entry.modules,
                              found->weight_elements, experts});
        }
    }
    return result;
}

/// The format of one operation in the layer with this number.
StoredFormat format_of(const Quantization& quantization, const WeightedOperation& operation, std::size_t layer,
                       const StoredFormat& unquantised) {
    bool excluded = false;
    for (const std::string& module : operation.modules) {
        const std::string name = "layers." + std::to_string(layer) + "." + module;
        if (const StoredFormat* named = quantization.named.find(name)) {
            return *named;
        }
        excluded = excluded || quantization.excluded.find(name) != nullptr;
    }
    // Routers stay as they are in every method unless they are named, and so do DeepSeek-V4's small projections.
    constexpr std::array<std::string_view, 4> kept = {"router", "compression", "index compression", "index weights"};
    const bool stays = excluded || std::find(kept.begin(), kept.end(), operation.name) != kept.end();
    return stays ? unquantised : quantization.linear.value_or(unquantised);
}

using Formats = std::vector<StoredFormat>;

/// A kind of layer with the formats of its operations.
struct FormattedKind {
    std::size_t original;  ///< the kind before formats were told apart
    std::size_t kind;
    std::vector<WeightedOperation> operations;
    Formats formats;
    double layers = 0.0;
};

/// A copy of a kind whose layers are stored otherwise: "experts in bf16", after the format of its largest operation.
std::size_t add_kind(std::size_t original, const std::vector<WeightedOperation>& operations, const Formats& formats,
                     sim::Model& model) {
    const auto biggest = std::max_element(operations.begin(), operations.end(),
                                          [](const auto& a, const auto& b) { return a.elements < b.elements; });
    const StoredFormat& format = formats[static_cast<std::size_t>(biggest - operations.begin())];
    sim::LayerKind copy = model.kinds[original];
    const std::string name = copy.name + " in " + std::string(name_of(format.storage.format));
    copy.name = name;
    for (int i = 2; std::any_of(model.kinds.begin(), model.kinds.end(), [&](const auto& k) { return k.name == copy.name; });
         ++i) {
        copy.name = name + " (" + std::to_string(i) + ")";
    }
    model.kinds.push_back(std::move(copy));
    return model.kinds.size() - 1;
}

/// Layers of one kind that differ in formats become kinds of their own.
std::vector<FormattedKind> split_kinds(const Quantization& quantization, const StoredFormat& unquantised, sim::Model& model) {
    const std::vector<sim::Operation> all = operations_of(model, model.precision, {});
    std::vector<std::vector<WeightedOperation>> operations;
    operations.reserve(model.kinds.size());
    for (const sim::LayerKind& kind : model.kinds) {
        operations.push_back(operations_of_kind(kind, all));
    }
    std::vector<FormattedKind> result;
    for (std::size_t layer = 0; layer < model.order.size(); ++layer) {
        const std::size_t original = model.order[layer];
        Formats formats;
        for (const WeightedOperation& operation : operations[original]) {
            formats.push_back(format_of(quantization, operation, layer, unquantised));
        }
        const bool shares_weights = model.kinds[original].distinct_copies > 0;
        const auto of_original = [&](const FormattedKind& known) { return known.original == original; };
        auto found = std::find_if(result.begin(), result.end(), [&](const FormattedKind& known) {
            return of_original(known) && (shares_weights || known.formats == formats);
        });
        if (found == result.end()) {
            const bool is_first = std::none_of(result.begin(), result.end(), of_original);
            const std::size_t kind = is_first ? original : add_kind(original, operations[original], formats, model);
            result.push_back({original, kind, operations[original], formats, 0.0});
            found = result.end() - 1;
        }
        found->layers += 1.0;
        model.order[layer] = found->kind;
    }
    return result;
}

/// The format that most weights have.
StoredFormat most_common(const std::vector<FormattedKind>& kinds, bool experts, const StoredFormat& fallback) {
    std::vector<std::pair<StoredFormat, double>> totals;
    for (const FormattedKind& kind : kinds) {
        for (std::size_t i = 0; i < kind.operations.size(); ++i) {
            if (kind.operations[i].experts != experts) {
                continue;
            }
            const double elements = kind.operations[i].elements * kind.layers;
            const auto same = [&](const auto& total) { return total.first == kind.formats[i]; };
            const auto found = std::find_if(totals.begin(), totals.end(), same);
            if (found == totals.end()) {
                totals.emplace_back(kind.formats[i], elements);
            } else {
                found->second += elements;
            }
        }
    }
    const auto biggest =
        std::max_element(totals.begin(), totals.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return biggest == totals.end() ? fallback : biggest->first;
}

/// Operations that are stored otherwise than the precision says of their kind. One name stands for an operation of all layers.
void add_exceptions(const std::vector<FormattedKind>& kinds, sim::Model& model) {
    sim::Precision& precision = model.precision;
    std::map<std::string, std::vector<std::pair<std::string, StoredFormat>>> by_operation;
    for (const FormattedKind& kind : kinds) {
        for (std::size_t i = 0; i < kind.operations.size(); ++i) {
            by_operation[kind.operations[i].name].emplace_back(model.kinds[kind.kind].name, kind.formats[i]);
        }
    }
    for (const auto& entry : by_operation) {
        const auto& operation = entry.first;  // clang 14 captures no structured binding
        const auto& layers = entry.second;
        const sim::Storage& kind = operation == "routed experts" ? precision.experts : precision.weights;
        const StoredFormat usual{kind, sim::product_format(kind, precision)};
        const bool all_same =
            std::all_of(layers.begin(), layers.end(), [&](const auto& layer) { return layer.second == layers.front().second; });
        for (const auto& [layer, format] : layers) {
            if (!(format == usual)) {
                precision.exceptions.push_back({all_same ? operation : layer + ": " + operation, format.storage, format.math});
            }
            if (all_same) {
                break;
            }
        }
    }
}

/// Embedding and LM head keep their own format unless the config names them (or, for the head, all linear layers).
void apply_to_ends(const Quantization& quantization, const StoredFormat& unquantised, sim::Model& model) {
    model.precision.embeddings = unquantised.storage;
    const StoredFormat* embedding = quantization.named.find("embed_tokens");
    if (embedding != nullptr) {
        model.precision.exceptions.push_back({"token embedding", embedding->storage, embedding->math});
    }
    const StoredFormat* head = model.tied_embeddings ? embedding : quantization.named.find("lm_head");
    const bool excluded = quantization.excluded.find("lm_head") != nullptr;
    if (head == nullptr && !model.tied_embeddings && quantization.lm_head && quantization.linear && !excluded) {
        head = &*quantization.linear;
    }
    if (head != nullptr && !(*head == unquantised)) {
        model.precision.exceptions.push_back({"LM head", head->storage, head->math});
    }
}

}  // namespace

void apply_quantization(const Quantization& quantization, sim::NumberFormat base, sim::Model& model) {
    const StoredFormat unquantised{sim::Storage{base}, base};
    const std::vector<FormattedKind> kinds = split_kinds(quantization, unquantised, model);
    const StoredFormat experts = most_common(kinds, true, unquantised);
    const StoredFormat weights = most_common(kinds, false, experts);
    model.precision.weights = weights.storage;
    model.precision.math = weights.math;
    const bool has_experts = std::any_of(kinds.begin(), kinds.end(), [](const FormattedKind& kind) {
        return std::any_of(kind.operations.begin(), kind.operations.end(), [](const auto& o) { return o.experts; });
    });
    model.precision.experts = has_experts ? experts.storage : weights.storage;
    add_exceptions(kinds, model);
    apply_to_ends(quantization, unquantised, model);
    if (quantization.kv_cache) {
        model.precision.kv_cache = *quantization.kv_cache;
    }
}

}  // namespace treeline::models::hugging_face
