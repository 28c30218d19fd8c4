#include "models/catalogue.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "models/description.h"
#include "models/hugging_face/import.h"
#include "models/hugging_face/non_finite.h"
#include "text/file_roles.h"
#include "text/wording.h"

namespace treeline::models {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 16u << 20;

bool is_path(const std::string& name_or_path) {
    std::error_code ignored;
    return name_or_path.find('/') != std::string::npos || fs::path(name_or_path).extension() == ".json" ||
           fs::is_regular_file(name_or_path, ignored);
}

/// The file's text, or nothing when it cannot be read or is too large (json::Document::load says which).
std::optional<std::string> small_text(const fs::path& path) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || size > largest_file || !file) {
        return std::nullopt;
    }
    text::note_input(path);
    std::string text(static_cast<std::size_t>(size), '\0');
    file.read(text.data(), static_cast<std::streamsize>(size));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

json::Document open(const fs::path& path) {
    const std::optional<std::string> text = small_text(path);
    if (text && hugging_face::has_non_finite_numbers(*text)) {
        return json::Document::parse(hugging_face::without_non_finite_numbers(*text), path.string());
    }
    return json::Document::load(path, largest_file);
}

/// "org--name" of ".../org--name.json"; the folder's name of ".../name/config.json".
std::string name_of_config(const fs::path& path) {
    const bool generic = path.stem() == "config" || path.stem() == "mamba_config";
    const std::string folder = path.parent_path().filename().string();
    return generic && !folder.empty() ? folder : path.stem().string();
}

void note_source(json::Described<sim::Model>& described, const json::Document& document, const std::string& kind) {
    const sim::Model& model = described.value;
    described.provenance = document.provenance();
    described.provenance.insert(
        described.provenance.begin(),
        {document.name(), std::to_string(model.order.size()) + " layers of width " + std::to_string(model.width), model.source,
         kind});
}

/// How a checkpoint is quantised, where that stands in a file beside its config (ModelOpt writes it so).
std::optional<json::Document> quantization_beside(const fs::path& config) {
    std::error_code ignored;
    const fs::path file = config.parent_path() / "hf_quant_config.json";
    if (config.filename() != "config.json" || !fs::is_regular_file(file, ignored)) {
        return std::nullopt;
    }
    return json::Document::load(file, largest_file);
}

sim::Model import_file(json::Reader& root, const fs::path& path) {
    std::optional<json::Document> quantization = quantization_beside(path);
    if (!quantization) {
        return import_hugging_face(root, name_of_config(path));
    }
    json::Reader quantization_root = quantization->root();
    sim::Model model = import_hugging_face(root, name_of_config(path), &quantization_root);
    quantization->throw_if_problems();
    return model;
}

json::Described<sim::Model> load_file(const fs::path& path) {
    json::Document document = open(path);
    json::Reader root = document.root();
    const bool imported = looks_like_hugging_face(root);
    json::Described<sim::Model> described;
    described.value = imported ? import_file(root, path) : read_model_description(root);
    if (document.problems().empty()) {
        document.add_problems(problems_of(described.value));
    }
    document.throw_if_problems();
    note_source(described, document, imported ? "published" : root.text("kind"));
    return described;
}

[[noreturn]] void fail_unknown(const std::string& name, const std::vector<std::string>& known) {
    std::string list;
    for (const std::string& entry : known) {
        list += (list.empty() ? "" : ", ") + entry;
    }
    const std::optional<std::string> meant = text::nearest(name, known);
    throw text::InputError({"model \"" + name + "\" is not in the catalogue" +
                            (meant ? "; did you mean \"" + *meant + "\"?" : ".") + " Known are " + list +
                            "; a path to a description or to a Hugging Face config.json also works"});
}

}  // namespace

std::vector<std::string> model_names(const fs::path& catalogue) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator at(catalogue, error), end; !error && at != end; at.increment(error)) {
        if (at->path().extension() == ".json") {
            names.push_back(at->path().stem().string());
        }
    }
    if (error) {
        throw text::InputError({catalogue.string() + ": the catalogue of models cannot be read (" + error.message() + ")"});
    }
    std::sort(names.begin(), names.end());
    return names;
}

json::Described<sim::Model> load_model(const fs::path& catalogue, const std::string& name_or_path) {
    if (is_path(name_or_path)) {
        std::error_code ignored;
        const fs::path path = name_or_path;
        return load_file(fs::is_directory(path, ignored) ? path / "config.json" : path);
    }
    const std::vector<std::string> known = model_names(catalogue);
    if (std::find(known.begin(), known.end(), name_or_path) == known.end()) {
        fail_unknown(name_or_path, known);
    }
    return load_file(catalogue / (name_or_path + ".json"));
}

}  // namespace treeline::models
