#include "models/catalogue.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>
#include <utility>

#include "models/description.h"
#include "models/gguf/import.h"
#include "models/hugging_face/import.h"
#include "models/hugging_face/names.h"
#include "models/hugging_face/non_finite.h"
#include "text/catalogue_folder.h"
#include "text/input_file.h"
#include "text/version.h"
#include "text/wording.h"

namespace treeline::models {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 16u << 20;

bool is_path(const std::string& name_or_path) {
    std::error_code ignored;
    return name_or_path.find('/') != std::string::npos || fs::path(name_or_path).extension() == ".json" ||
           fs::path(name_or_path).extension() == ".gguf" || fs::is_regular_file(name_or_path, ignored);
}

json::Document open(const fs::path& path) {
    const std::string text = text::read_file(path, largest_file);
    return json::Document::parse(
        hugging_face::has_non_finite_numbers(text) ? hugging_face::without_non_finite_numbers(text) : text, path.string());
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
    const fs::path file = config.parent_path() / "hf_quant_config.json";
    if (config.filename() != "config.json" || !text::is_file(file)) {
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

json::Described<sim::Model> load_gguf(const fs::path& path) {
    json::Described<sim::Model> described;
    described.value = gguf::import_file(path);
    const sim::Model& model = described.value;
    described.provenance = {{path.string(),
                             std::to_string(model.order.size()) + " layers of width " + std::to_string(model.width),
                             model.source, "published"}};
    return described;
}

json::Described<sim::Model> load_file(const fs::path& path) {
    if (path.extension() == ".gguf") {
        return load_gguf(path);
    }
    json::Document document = open(path);
    json::Reader root = document.root();
    const bool imported = looks_like_hugging_face(root);
    if (!imported && document.problems().empty() && !root.has("name") && !root.has("layers")) {
        throw text::InputError(
            {path.string() + ": is neither a description (\"name\", \"layers\"; models/README.md) nor a config.json of Hugging "
                             "Face (\"architectures\" or \"model_type\"); give the config.json that lies beside the weights"});
    }
    json::Described<sim::Model> described;
    described.value = imported ? import_file(root, path) : read_model_description(root);
    if (document.problems().empty()) {
        document.add_problems(problems_of(described.value));
    }
    document.throw_if_problems();
    note_source(described, document, imported ? "published" : root.text("kind"));
    return described;
}

/// A file of models/aliases: a name for what another description says.
json::Described<sim::Model> load_alias(const fs::path& catalogue, const fs::path& path) {
    json::Document document = open(path);
    json::Reader root = document.root();
    const std::string name = root.text("name"), same_as = root.text("same_as"), source = root.text("source"),
                      kind = root.text("kind");
    const bool other_modules = root.has("mtp_layers");
    const sim::Count modules = other_modules ? root.count("mtp_layers", 0, most_mtp_layers) : 0;
    sim::Model published;
    read_publication(root, published);
    root.finish();
    document.throw_if_problems();
    json::Described<sim::Model> described = load_file(catalogue / (same_as + ".json"));
    described.value.name = name;
    if (other_modules) {
        described.value.mtp_layers = modules;
    }
    described.value.max_context = published.max_context;  // a version with the same layers may be trained for more
    described.value.repository = published.repository;
    described.value.stored_as = published.stored_as;
    described.value.notes.insert(described.value.notes.begin(), "Described as " + same_as + ": " + source + ".");
    described.provenance.insert(described.provenance.begin(), {document.name(), "the same as " + same_as, source, kind});
    return described;
}

/// "Qwen/Qwen3.8-27B" names a model of Hugging Face, unless such a file exists.
bool is_repository(const std::string& text) {
    std::error_code ignored;
    const std::size_t slash = text.find('/');
    return slash != std::string::npos && slash > 0 && slash + 1 < text.size() &&
           text.find('/', slash + 1) == std::string::npos && text.front() != '.' && text.front() != '~' &&
           fs::path(text).extension() != ".json" && fs::path(text).extension() != ".gguf" && !fs::exists(text, ignored);
}

std::string in_small_letters(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return text;
}

/// The name of the model, among these of a folder, that is published under a repository, in whichever letters; "" without one.
std::string published_as(const std::string& repository, const fs::path& folder, const std::vector<std::string>& names) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        json::Document document = open(folder / (name + ".json"));
        return in_small_letters(document.root().text_or("repository", "")) == in_small_letters(repository);
    });
    return found == names.end() ? "" : *found;
}

/// Whether a name ends in a release's year and month, or month and day ("-2507", "-0528").
bool ends_in_date(const std::string& name) {
    constexpr std::size_t digits = 4;
    return name.size() > digits + 1 && name[name.size() - digits - 1] == '-' &&
           (name[name.size() - digits] == '2' || name[name.size() - digits] == '0') &&
           std::all_of(name.end() - digits, name.end(), [](unsigned char letter) { return std::isdigit(letter) != 0; });
}

/// The catalogue's spelling: small letters, without a repository's owner and without words of training that change no size.
std::string catalogue_name(std::string name) {
    name = in_small_letters(name.substr(name.find('/') == std::string::npos ? 0 : name.find('/') + 1));
    for (const std::string_view maker : {"nvidia-", "meta-"}) {  // before a name of another family
        if (name.starts_with(maker)) {
            name.erase(0, maker.size());
        }
    }
    for (bool shorter = true; shorter;) {
        shorter = ends_in_date(name);
        name.erase(shorter ? name.size() - std::string_view("-2507").size() : name.size());
        for (const std::string_view ending : {"-instruct", "-it", "-chat", "-hf", "-thinking", "-base", "-bf16"}) {
            if (name.size() > ending.size() && name.ends_with(ending)) {
                name.erase(name.size() - ending.size());
                shorter = true;
            }
        }
    }
    return name;
}

/// Takes an ending off a name; false where it has another.
bool take_ending(std::string& name, std::string_view ending) {
    const bool ends = name.size() > ending.size() && name.ends_with(ending);
    name.erase(name.size() - (ends ? ending.size() : 0));
    return ends;
}

/// Takes the number of a file among several off its name ("-00001-of-00003").
void take_part(std::string& name) {
    constexpr std::string_view form = "-00001-of-00003";
    const bool fits = name.size() > form.size() &&
                      std::equal(form.begin(), form.end(), name.end() - form.size(), [](char in_form, unsigned char letter) {
                          return std::isdigit(static_cast<unsigned char>(in_form)) != 0
                                     ? std::isdigit(letter) != 0
                                     : static_cast<unsigned char>(in_form) == letter;
                      });
    name.erase(name.size() - (fits ? form.size() : 0));
}

/// Whether a word is one that llama.cpp's quantised files end in ("q4_k_m", "iq3_xxs", "bf16").
bool names_ggml_format(std::string_view word) {
    const std::size_t letters = word.starts_with("iq") || word.starts_with("tq") ? 2 : word.starts_with('q') ? 1 : 0;
    const bool quantised = letters > 0 && word.size() > letters + 1 &&
                           std::isdigit(static_cast<unsigned char>(word[letters])) != 0 && word[letters + 1] == '_';
    return quantised || word == "bf16" || word == "f16" || word == "mxfp4";
}

/// The model and the format of a GGUF file by its name, in small letters: "qwen3-8b-ud-q4_k_xl-00001-of-00003.gguf" is
/// {"qwen3-8b", "ud-q4_k_xl"}. "…-mtp" says that a file holds modules for MTP; "i1" that it was quantised with an importance
/// matrix.
std::pair<std::string, std::string> of_gguf_file(std::string name) {
    static_cast<void>(take_ending(name, ".gguf"));
    take_part(name);
    const std::size_t mark = name.find_last_of("-.");
    std::string format = mark == std::string::npos ? "" : name.substr(mark + 1);
    if (!names_ggml_format(format)) {
        return {catalogue_name(name), ""};
    }
    name.erase(mark);
    format = (take_ending(name, "-ud") ? "ud-" : "") + format;
    static_cast<void>(take_ending(name, "-i1") || take_ending(name, ".i1"));
    static_cast<void>(take_ending(name, "-mtp"));
    return {catalogue_name(name), format};
}

/// A name that ends in a format, as repositories of quantised checkpoints do: the rest of it and the format's word; an empty
/// word where it ends in none.
std::pair<std::string, std::string> without_format(std::string name) {
    if (name.ends_with(".gguf")) {
        return of_gguf_file(name);
    }
    // "…-GGUF:Q4_K_M" names a file of the repository; "…-NVFP4-v2" is a later upload of the same format.
    const std::string tag = name.find(':') == std::string::npos ? "" : name.substr(name.find(':') + 1);
    name.erase(std::min(name.find(':'), name.size()));
    if (name.size() > 3 && name[name.size() - 3] == '-' && name[name.size() - 2] == 'v') {
        name.erase(name.size() - 3);
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 20> formats = {
        {{"-fp8-dynamic", "fp8"},   {"-fp8", "fp8"},           {"-awq-int4", "awq"},  {"-awq-4bit", "awq"},
         {"-awq", "awq"},           {"-gptq-int4", "gptq"},    {"-gptq", "gptq"},     {"-int4", "int4"},
         {"-int8", "int8"},         {"-w4a16", "w4a16"},       {"-w8a8", "w8a8"},     {"-nvfp4", "nvfp4"},
         {"-fp4", "nvfp4"},         {"-mxfp4", "mxfp4"},       {"-gguf", "q4_k_m"},   {"-bnb-4bit", "int4"},
         {"-mlx-4bit", "mlx-4bit"}, {"-mlx-8bit", "mlx-8bit"}, {"-4bit", "mlx-4bit"}, {"-8bit", "mlx-8bit"}}};
    for (const auto& [ending, word] : formats) {
        if (name.size() > ending.size() && name.ends_with(ending)) {
            name.erase(name.size() - ending.size());
            static_cast<void>(ending == "-gguf" && take_ending(name, "-mtp"));
            return {catalogue_name(name), tag.empty() ? std::string(word) : tag};
        }
    }
    const auto [model, format] = of_gguf_file(name);
    return format.empty() ? std::pair{name, std::string()} : std::pair{model, format};
}

/// The version in a model's name: the first number that is no size ("deepseek-v4.1-flash": "4.1"; "gpt-oss-120b": none).
std::string version_in(const std::string& name) {
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t begin = std::min(name.find_first_of("0123456789", at), name.size());
        const std::size_t end = std::min(name.find_first_not_of("0123456789.", begin), name.size());
        const bool size = end < name.size() && (name[end] == 'b' || name[end] == 'm');
        if (begin < end && !size) {
            return name.substr(begin, end - begin);
        }
        at = end + 1;
    }
    return "";
}

/// Another version is another model, however alike the names.
std::vector<std::string> of_same_version(const std::string& name, std::vector<std::string> known) {
    const std::string version = version_in(name);
    std::erase_if(known, [&](const std::string& other) { return !version.empty() && version_in(other) != version; });
    return known;
}

/// The letters of a name, word by word: "qwen3.5-coder-next" is "qwen", "coder", "next".
std::vector<std::string> letters_of(const std::string& name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        const auto letter = static_cast<unsigned char>(c);
        if (std::isalpha(letter) != 0) {
            words.back() += static_cast<char>(std::tolower(letter));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

/// The family that a name speaks of: the first word of a known name that one of its words is or begins with ("deepseekv3"),
/// else one that its first word misspells by a letter; "" where it speaks of none.
std::string family_in(const std::string& name, const std::vector<std::string>& known) {
    constexpr std::size_t shortest_beginning = 3;
    const std::vector<std::string> words = letters_of(name);
    std::string beginning, misspelt;
    for (const std::string& other : known) {
        const std::string family = letters_of(other).front();
        if (std::find(words.begin(), words.end(), family) != words.end()) {
            return family;
        }
        const bool begins = family.size() >= shortest_beginning &&
                            std::any_of(words.begin(), words.end(), [&](const auto& word) { return word.starts_with(family); });
        beginning = begins && family.size() > beginning.size() ? family : beginning;
        misspelt = misspelt.empty() && hugging_face::one_edit_apart(words.front(), family) ? family : misspelt;
    }
    return beginning.empty() ? misspelt : beginning;
}

/// Names that begin with all of `name`, or share its family's: however alike "mimo" and "kimi" are written, they are no slips
/// of the pen for each other.
std::vector<std::string> of_same_family(const std::string& name, std::vector<std::string> known) {
    const std::string family = family_in(name, known);
    std::erase_if(known, [&](const std::string& other) {
        const std::vector<std::string> words = letters_of(other);
        return !other.starts_with(name) && (family.empty() || std::find(words.begin(), words.end(), family) == words.end());
    });
    return known;
}

[[noreturn]] void fail_unknown(const std::string& name, const std::vector<std::string>& known) {
    const auto [model, format] = model_and_format(name);
    if (!format.empty() && std::find(known.begin(), known.end(), model) != known.end()) {
        throw text::InputError({"model \"" + name + "\" is named with its format: give the model, \"" + model +
                                "\", and the format as its precision, such as \"" + format +
                                "\"; a path to a Hugging Face config.json or to a GGUF file has both"});
    }
    throw text::InputError({"model \"" + name + "\" is not in the catalogue" +
                            text::other_names(name, of_same_version(name, of_same_family(name, known)), "treeline models") +
                            "; a path to a description or to a Hugging Face config.json also works"});
}

}  // namespace

std::vector<std::string> model_names(const fs::path& catalogue) {
    std::error_code error;
    std::vector<std::string> names = text::description_names(catalogue, error);
    if (error) {
        throw text::InputError({catalogue.string() + ": the catalogue of models cannot be read (" + error.message() + ")"});
    }
    return names;
}

std::string without_address(const std::string& text) {
    std::string_view rest = text;
    for (const std::string_view scheme : {"https://", "http://", "www."}) {
        rest.remove_prefix(rest.starts_with(scheme) ? scheme.size() : 0);
    }
    const std::array<std::string_view, 2> hosts = {"huggingface.co/", "hf.co/"};
    const auto host = std::find_if(hosts.begin(), hosts.end(), [&](std::string_view each) { return rest.starts_with(each); });
    if (host == hosts.end()) {
        return text;
    }
    rest.remove_prefix(host->size());
    rest = rest.substr(0, rest.find_first_of("?#"));
    const std::size_t owner = rest.find('/');
    const std::size_t end = owner == std::string_view::npos ? owner : rest.find('/', owner + 1);
    return std::string(rest.substr(0, end));
}

std::pair<std::string, std::string> model_and_format(const std::string& name) { return without_format(catalogue_name(name)); }

namespace {

std::vector<std::string> alias_names(const fs::path& catalogue) {
    const fs::path aliases = catalogue / "aliases";
    return text::is_folder(aliases) ? model_names(aliases) : std::vector<std::string>();
}

/// Found without listing the folder: a question reads many descriptions.
bool is_described(const fs::path& folder, const std::string& name) {
    return !name.empty() && name.find('/') == std::string::npos && text::is_file(folder / (name + ".json"));
}

/// A description or an alias by its name; nothing where there is none.
std::optional<json::Described<sim::Model>> load_named(const fs::path& catalogue, const std::string& name) {
    if (is_described(catalogue, name)) {
        return load_file(catalogue / (name + ".json"));
    }
    if (is_described(catalogue / "aliases", name)) {
        return load_alias(catalogue, catalogue / "aliases" / (name + ".json"));
    }
    return std::nullopt;
}

/// What of a described model also holds for the release that a repository names.
json::Described<sim::Model> as_asked(json::Described<sim::Model> described, const std::string& asked, bool known_name) {
    sim::Model& model = described.value;
    const bool own = in_small_letters(model.repository) == in_small_letters(asked);
    if (is_repository(asked) && !own) {
        model.repository = asked;
        model.stored_as.clear();
    }
    if (!own && !known_name && !text::release_in(asked).empty()) {
        model.max_context.reset();  // later releases of the same layers are trained for more
    }
    return described;
}

}  // namespace

std::vector<std::string> all_model_names(const fs::path& catalogue) {
    std::vector<std::string> names = model_names(catalogue);
    const std::vector<std::string> aliases = alias_names(catalogue);
    names.insert(names.end(), aliases.begin(), aliases.end());
    std::sort(names.begin(), names.end());
    return names;
}

std::pair<std::string, std::string> known_model_and_format(const fs::path& catalogue, const std::string& name) {
    if (is_path(name) && !is_repository(name)) {
        return {name, ""};
    }
    const auto [model, format] = model_and_format(name);
    if (format.empty()) {
        return {name, ""};
    }
    const std::vector<std::string> known = all_model_names(catalogue);
    const auto has = [&](const std::string& wanted) { return std::find(known.begin(), known.end(), wanted) != known.end(); };
    const bool without_it = has(model) && !has(name) && !has(catalogue_name(name));
    return without_it ? std::pair{model, format} : std::pair{name, std::string()};
}

json::Described<sim::Model> load_model(const fs::path& catalogue, const std::string& name_or_path) {
    const bool repository = is_repository(name_or_path);
    if (is_path(name_or_path) && !repository) {
        const fs::path path = name_or_path;
        return load_file(text::is_folder(path) ? path / "config.json" : path);
    }
    const bool known_name = is_described(catalogue, name_or_path);
    for (const std::string& name : {name_or_path, catalogue_name(name_or_path)}) {
        if (std::optional<json::Described<sim::Model>> found = load_named(catalogue, name)) {
            return as_asked(std::move(*found), name_or_path, known_name);
        }
    }
    if (repository) {
        std::string name = published_as(name_or_path, catalogue, model_names(catalogue));
        name = name.empty() ? published_as(name_or_path, catalogue / "aliases", alias_names(catalogue)) : name;
        if (std::optional<json::Described<sim::Model>> found = load_named(catalogue, name)) {
            return as_asked(std::move(*found), name_or_path, known_name);
        }
    }
    fail_unknown(repository ? catalogue_name(name_or_path) : name_or_path, all_model_names(catalogue));
}

json::Described<sim::Model> load_model_of_any_format(const fs::path& catalogue, const std::string& name_or_path) {
    return load_model(catalogue, known_model_and_format(catalogue, name_or_path).first);
}

std::optional<sim::Model> published_model(const fs::path& catalogue, const std::string& repository) {
    if (!is_repository(repository)) {
        return std::nullopt;
    }
    try {
        return load_model_of_any_format(catalogue, repository).value;
    } catch (const text::InputError&) {
        return std::nullopt;
    }
}

}  // namespace treeline::models
