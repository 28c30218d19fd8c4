#include <array>
#include <sstream>
#include <stdexcept>

#include "hardware/catalogue.h"
#include "json/reader.h"
#include "models/description.h"
#include "models/gguf/import.h"
#include "models/hugging_face/import.h"
#include "sim/operations.h"
#include "targets.h"

namespace treeline::fuzz {
namespace {

/// A model that is accepted has operations.
void use(json::Document& document, const sim::Model& model) {
    document.add_problems(sim::problems_of(model));
    document.throw_if_problems();
    static_cast<void>(sim::parameter_count(model));
}

void read_model(std::string_view bytes) {
    json::Document document = json::Document::parse(bytes, "model.json");
    json::Reader root = document.root();
    const sim::Model model = models::read_model_description(root);
    use(document, model);
}

void read_hugging_face(std::string_view bytes) {
    json::Document document = json::Document::parse(bytes, "config.json");
    json::Reader root = document.root();
    const sim::Model model = models::import_hugging_face(root, "model");
    use(document, model);
}

void read_gguf(std::string_view bytes) {
    std::istringstream stream{std::string(bytes)};
    const sim::Model model =
        models::gguf::import_header(models::gguf::read_header(stream, bytes.size(), "model.gguf"), "model");
    if (!sim::problems_of(model).empty()) {
        throw std::logic_error("a model that was accepted and cannot be priced");
    }
    static_cast<void>(sim::stored_weights(model, model.precision, 1.0));
}

void read_device(std::string_view bytes) {
    json::Document document = json::Document::parse(bytes, "device.json");
    json::Reader root = document.root();
    static_cast<void>(hardware::read_device(root, "device"));
    document.throw_if_problems();
}

void read_stack(std::string_view bytes) {
    json::Document document = json::Document::parse(bytes, "stack.json");
    json::Reader root = document.root();
    static_cast<void>(hardware::read_stack(root, "stack"));
    document.throw_if_problems();
}

}  // namespace

std::span<const Target> description_targets() {
    static constexpr std::array<Target, 5> all = {{{"model", read_model},
                                                   {"hugging_face", read_hugging_face},
                                                   {"gguf", read_gguf},
                                                   {"device", read_device},
                                                   {"stack", read_stack}}};
    return all;
}

}  // namespace treeline::fuzz
