#include "models/gguf/import.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "models/description.h"
#include "models/gguf/layer.h"
#include "models/hugging_face/import.h"
#include "sim/operations.h"
#include "text/input_error.h"
#include "text/parse_number.h"

namespace treeline::models::gguf {
namespace {

constexpr std::size_t most_layers = 4096;

const Tensor* named(const Header& header, std::string_view name) {
    const auto found =
        std::find_if(header.tensors.begin(), header.tensors.end(), [&](const Tensor& tensor) { return tensor.name == name; });
    return found == header.tensors.end() ? nullptr : &*found;
}

/// The model's type as Hugging Face spells it, as far as its tokenizer is told by it.
std::string type_of(std::string architecture) {
    std::replace(architecture.begin(), architecture.end(), '-', '_');
    return architecture.starts_with("qwen35") ? "qwen3_5" : architecture == "glm_dsa" ? "glm_moe_dsa" : architecture;
}

/// Tensors by layer; those of the ends of the model are in none.
std::vector<LayerTensors> by_layer(const Header& header, const std::string& name) {
    std::vector<LayerTensors> layers;
    constexpr std::string_view start = "blk.";
    for (const Tensor& tensor : header.tensors) {
        const std::size_t dot = tensor.name.find('.', start.size());
        if (!tensor.name.starts_with(start) || dot == std::string::npos) {
            continue;
        }
        const auto layer =
            text::parse_number<std::size_t>(std::string_view(tensor.name).substr(start.size(), dot - start.size()));
        if (!layer || *layer >= most_layers) {
            throw text::InputError({name + ": its tensor " + tensor.name + " is of no layer that can be"});
        }
        layers.resize(std::max(layers.size(), *layer + 1));
        layers[*layer][tensor.name.substr(dot + 1)] = &tensor;
    }
    return layers;
}

/// Tensors that are stored in several types as one: bits in the mean, the type of most of them.
class MeanStorage {
public:
    void add(const Tensor& tensor, double times = 1.0) {
        const double elements = tensor.elements() * times;
        elements_ += elements;
        bits_ += elements * tensor.type->bits();
        unpacking_ += elements * tensor.type->unpacking;
        of_type_[tensor.type] += elements;
    }
    [[nodiscard]] const sim::GgmlType* most() const {
        const auto most = std::max_element(of_type_.begin(), of_type_.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        return most->first;
    }
    [[nodiscard]] sim::Storage storage() const {
        sim::Storage storage = most()->storage();
        if (of_type_.size() > 1) {
            storage.bits = bits_ / elements_;
            storage.unpacking = unpacking_ / elements_;
        }
        return storage;
    }
    [[nodiscard]] bool empty() const { return of_type_.empty(); }

private:
    double elements_ = 0.0, bits_ = 0.0, unpacking_ = 0.0;
    std::map<const sim::GgmlType*, double> of_type_;
};

/// Kinds of layers, in the order in which they occur, with what their operations read.
struct Kinds {
    std::map<std::string, std::size_t> of_structure;
    std::vector<std::map<std::string, MeanStorage>> operations;
};

/// "attention, experts", with a number from the second kind of that name on.
std::string distinct_name(const std::string& wanted, const sim::Model& model) {
    const std::string base = wanted.empty() ? "layer" : wanted;
    std::string name = base;
    for (int number = 2;
         std::any_of(model.kinds.begin(), model.kinds.end(), [&](const sim::LayerKind& kind) { return kind.name == name; });
         ++number) {
        name = base + " " + std::to_string(number);
    }
    return name;
}

void add_layer(ImportedLayer layer, sim::Model& model, Kinds& kinds) {
    const auto [found, is_new] = kinds.of_structure.emplace(layer.structure, model.kinds.size());
    if (is_new) {
        model.kinds.push_back({distinct_name(layer.name, model), layer.blocks});
        kinds.operations.emplace_back();
    }
    model.order.push_back(found->second);
    for (const auto& [operation, tensors] : layer.operations) {
        for (const Tensor* tensor : tensors) {
            kinds.operations[found->second][operation].add(*tensor);
        }
    }
}

void read_layers(const Header& header, const ModelFacts& facts, std::size_t left_out, sim::Model& model, Kinds& kinds) {
    const std::vector<LayerTensors> layers = by_layer(header, model.name);
    std::set<std::string> others;
    const std::size_t count = layers.size() - std::min(layers.size(), left_out);
    for (std::size_t i = 0; i < count; ++i) {
        ImportedLayer layer = import_layer(layers[i], facts, i);
        if (!layer.problem.empty()) {
            throw text::InputError({model.name + ": layer " + std::to_string(i) + " " + layer.problem});
        }
        others.insert(layer.others.begin(), layer.others.end());
        add_layer(std::move(layer), model, kinds);
    }
    for (const std::string& name : others) {
        model.notes.push_back("Weights called " + name + " are priced as a plain linear layer.");
    }
}

void read_precision(const Header& header, const Kinds& kinds, sim::Model& model) {
    using enum sim::NumberFormat;
    sim::Precision& precision = model.precision;
    precision = sim::uniform_precision(fp16);
    precision.state = sim::Storage{fp32};
    MeanStorage all, experts;
    for (const Tensor& tensor : header.tensors) {
        if (tensor.shape.size() > 1 && tensor.name.starts_with("blk.")) {
            (tensor.name.find("_exps.") != std::string::npos ? experts : all).add(tensor);
        }
    }
    const sim::GgmlType* usual = all.empty() ? (experts.empty() ? sim::ggml_type_named("f16") : experts.most()) : all.most();
    precision.weights = usual->storage();
    precision.math = usual->math();
    precision.experts = experts.empty() ? precision.weights : experts.storage();
    const Tensor* embeddings = named(header, "token_embd.weight");
    precision.embeddings = embeddings->type->storage();
    for (std::size_t kind = 0; kind < kinds.operations.size(); ++kind) {
        for (const auto& [operation, mean] : kinds.operations[kind]) {
            if (!(mean.storage() == precision.weights)) {
                precision.exceptions.push_back(
                    {model.kinds[kind].name + ": " + operation, mean.storage(), mean.most()->math()});
            }
        }
    }
    if (const Tensor* head = named(header, "output.weight")) {
        precision.exceptions.push_back({"LM head", head->type->storage(), head->type->math()});
    }
}

/// What the description does not hold of the file, where that is worth a word.
void note_difference(const Header& header, sim::Model& model) {
    constexpr double worth_a_word = 0.005;
    double stored = 0.0;
    for (const Tensor& tensor : header.tensors) {
        stored += tensor.elements();
    }
    const double counted = static_cast<double>(sim::parameter_count(model));
    if (model.mtp_layers.value_or(0) == 0 && std::abs(counted - stored) > worth_a_word * stored) {
        model.notes.push_back("The file holds " + std::to_string(static_cast<long long>(stored)) + " parameters, of which " +
                              std::to_string(static_cast<long long>(counted)) + " are described.");
    }
}

/// "qwen3-8b" of "Qwen3-8B-UD-Q4_K_XL-00001-of-00002".
std::string name_of_file(const std::filesystem::path& path) {
    std::string name = path.stem().string();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    constexpr std::size_t of_part = 15;  // "-00001-of-00002"
    if (name.size() > of_part && name.compare(name.size() - of_part + 6, 4, "-of-") == 0) {
        name.erase(name.size() - of_part);
    }
    std::string longest;
    std::vector<std::string> endings = sim::gguf_names();
    endings.insert(endings.end(), {"f16", "bf16", "f32", "mxfp4", "nvfp4"});
    for (const std::string& ending : endings) {
        for (const char* mark : {"-", "."}) {
            if (name.ends_with(mark + ending) && ending.size() + 1 > longest.size() && ending.size() + 1 < name.size()) {
                longest = mark + ending;
            }
        }
    }
    name.erase(name.size() - longest.size());
    return name;
}

}  // namespace

sim::Model import_header(const Header& header, const std::string& name) {
    sim::Model model;
    model.name = name;
    const std::string architecture = header.metadata.text("general.architecture");
    const Tensor* embeddings = named(header, "token_embd.weight");
    if (architecture.empty() || embeddings == nullptr) {
        throw text::InputError({name + ": holds no language model: it has no " +
                                (architecture.empty() ? "general.architecture" : "token_embd.weight")});
    }
    model.source = "header of the GGUF file";
    model.width = embeddings->extent(0);
    model.vocabulary_size = embeddings->extent(1);
    model.vocabulary = inferred_vocabulary(type_of(architecture), model.vocabulary_size);
    model.tied_embeddings = named(header, "output.weight") == nullptr;
    model.final_norm_vectors = named(header, "output_norm.bias") != nullptr ? 2 : 1;
    const ModelFacts facts{header.metadata, architecture, model.width};
    model.mtp_layers = facts.count("nextn_predict_layers");
    if (const sim::Count context = facts.count("context_length"); context >= 1 && context <= longest_context) {
        model.max_context = context;
    }
    Kinds kinds;
    read_layers(header, facts, static_cast<std::size_t>(*model.mtp_layers), model, kinds);
    read_precision(header, kinds, model);
    if (const std::vector<std::string> problems = sim::problems_of(model); !problems.empty()) {
        throw text::InputError({name + ": " + problems.front()});
    }
    note_difference(header, model);
    return model;
}

sim::Model import_file(const std::filesystem::path& path) {
    sim::Model model = import_header(load_header(path), name_of_file(path));
    model.source += " " + path.filename().string();
    return model;
}

}  // namespace treeline::models::gguf
