#include "requests/loop/run_deployment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hardware/other_engines.h"
#include "models/catalogue.h"
#include "requests/flag_values.h"
#include "requests/keys/setup_keys.h"
#include "requests/loop/model_words.h"
#include "requests/precision_words.h"
#include "requests/setup_reader.h"
#include "text/input_error.h"
#include "text/wording.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;

bool has_any(const Json& object, std::initializer_list<const char*> keys) {
    return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return object.contains(key); });
}

/// An object under `key`, which a name alone may stand for: the value of `name_key` in it. Null for what is neither.
Json* part_of(Json& point, const char* key, const char* name_key) {
    Json& part = point[key];
    if (part.is_null()) {
        part = Json::object();
    } else if (part.is_string()) {
        part = Json{{name_key, part}};
    }
    return part.is_object() ? &part : nullptr;
}

/// A model of the catalogue, as an engine's log calls it.
struct KnownModel {
    std::string name;    ///< in the catalogue; empty where it does not know it
    std::string asked;   ///< how a question names it
    std::string format;  ///< that its name ends in; empty where it names none
};

std::string name_in(const Catalogue& catalogue, const std::string& name) {
    std::error_code none;
    try {
        return name.empty() || std::filesystem::exists(name, none) ? "" : models::load_model(catalogue.models, name).value.name;
    } catch (const text::InputError&) {
        return {};
    }
}

/// Of a folder or file of the server's machine, its last part is the name; what caches and uploaders put before a file's name
/// ("unsloth_Qwen3-8B-GGUF_Qwen3-8B-Q4_K_M.gguf") ends in an underscore.
KnownModel known_model(std::string said, const Catalogue& catalogue) {
    const bool file = said.ends_with(".gguf");
    const bool path = file || said.starts_with('/') || said.starts_with('.') || said.starts_with('~');
    said = path ? said.substr(said.find_last_of("/\\", said.find_last_not_of("/\\")) + 1) : said;
    if (const std::string name = file ? "" : name_in(catalogue, said); !name.empty()) {
        return {name, said, ""};
    }
    const auto [model, format] = models::model_and_format(said);
    for (const std::string& asked : {model, file ? model.substr(model.rfind('_') + 1) : ""}) {
        if (const std::string name = file || !format.empty() ? name_in(catalogue, asked) : ""; !name.empty()) {
            return {name, asked, precision_of_word(format, {}) ? format : ""};
        }
    }
    return {};
}

/// As llama-bench prints a model: the first of the names that the catalogue has.
KnownModel model_of_bench(const std::string& said, const Catalogue& catalogue) {
    const auto [names, format] = names_of_bench_words(said);
    for (const std::string& asked : names) {
        if (const std::string name = name_in(catalogue, asked); !name.empty()) {
            return {name, asked, precision_of_word(format, {}) ? format : ""};
        }
    }
    return {};
}

KnownModel model_said(const std::string& said, const Catalogue& catalogue) {
    KnownModel known = known_model(said, catalogue);
    return known.name.empty() ? model_of_bench(said, catalogue) : known;
}

/// The GGUF file that the name of a file of results begins with ("Qwen3-8B-Q8_0__cuda.json"); nothing where the files of a run
/// name none, or several.
KnownModel model_of_file_names(const std::vector<runs::RunSource>& sources, const Catalogue& catalogue) {
    KnownModel found;
    for (const runs::RunSource& source : sources) {
        KnownModel own;
        for (const std::string& beginning : beginnings_of_file_name(source.file)) {
            own = own.format.empty() ? known_model(beginning + ".gguf", catalogue) : own;
        }
        if (own.format.empty() || (!found.name.empty() && found.name != own.name)) {
            return {};
        }
        found = own;
    }
    return found;
}

/// The format of the weights that a model of the catalogue is published in; empty where it is not known.
std::string published_weights(const std::string& name, const Catalogue& catalogue) {
    try {
        return std::string(name_of(models::load_model(catalogue.models, name).value.precision.weights.format));
    } catch (const text::InputError&) {
        return {};
    }
}

/// Fills a point, and remembers what it filled and what is contradicted.
class Filler {
public:
    Filler(const runs::MeasuredRun& run, Json point, const Catalogue& catalogue)
        : run_(run), catalogue_(catalogue), point_(std::move(point)) {}

    PointOfRun filled() {
        fill_target();
        fill_weights();
        fill_cache();
        if (Json* platform = part_of(point_, "platform", "device")) {
            fill_platform(*platform);
        }
        fill_drafter();
        for (const char* key : {"target", "platform"}) {
            if (point_[key].empty()) {
                point_.erase(key);
            }
        }
        PointOfRun result{std::move(point_), {}, looks_up(drafter_kind_of_method(run_.identity.method))};
        result.looks_up = result.looks_up || (run_.identity.method.empty() && looks_up(kind_asked(result.point)));
        if (!taken_.empty()) {
            result.remarks.push_back(fmt::format("From the run's files: {}.", text::listed(taken_, "and")));
        }
        result.remarks.insert(result.remarks.end(), contradicted_.begin(), contradicted_.end());
        return result;
    }

private:
    void contradict(const std::string& what, const std::string& asked, const std::string& said) {
        contradicted_.push_back(
            fmt::format("The question says {} {}, the run's files {}; the question counts.", what, asked, said));
    }

    void fill_target() {
        const bool stated = !run_.identity.model.empty();
        Json* target = part_of(point_, "target", "model");
        if (target == nullptr || (!stated && target->contains("model"))) {
            return;
        }
        const KnownModel known =
            stated ? model_said(run_.identity.model, catalogue_) : model_of_file_names(run_.sources, catalogue_);
        const std::string said = stated ? run_.identity.model : known.asked + " (by the file's name)";
        if (!target->contains("model")) {
            if (known.name.empty()) {
                return;
            }
            (*target)["model"] = known.asked;
            taken_.push_back("model " + said);
            if (!known.format.empty() && !target->contains("precision")) {
                (*target)["precision"] = known.format;
            }
        } else if (const Json& asked = (*target)["model"]; asked.is_string() && !known.name.empty()) {
            const std::string own = known_model(asked.get<std::string>(), catalogue_).name;
            if (!own.empty() && own != known.name) {
                contradict("model", asked.get<std::string>(), said);
            }
        }
    }

    /// A format of the weights that checkpoints are named by, where the question names none.
    void fill_weights() {
        const std::string& said = run_.settings.weights;
        Json* target = part_of(point_, "target", "model");
        static constexpr std::array words = {"fp8", "mxfp4", "nvfp4", "int8"};
        if (target == nullptr || !target->contains("model") || std::find(words.begin(), words.end(), said) == words.end()) {
            return;
        }
        if (!target->contains("precision")) {
            const Json model = target->value("model", Json());
            const bool published = !model.is_string() || published_weights(model.get<std::string>(), catalogue_) == said;
            if (!published) {
                (*target)["precision"] = said;
                taken_.push_back(said + " weights");
            }
        } else if (const Json& asked = (*target)["precision"]; asked.is_string() && asked != said) {
            contradict("weights of", asked.get<std::string>(), said);
        }
    }

    void fill_cache() {
        Json* target = part_of(point_, "target", "model");
        if (target == nullptr || !target->contains("model") || !run_.settings.cache_format.starts_with("fp8")) {
            return;
        }
        Json precision = target->value("precision", Json::object());
        precision = precision.is_string() ? Json{{"checkpoint", precision}} : precision;
        if (!precision.is_object()) {
            return;
        }
        if (!has_any(precision, {"kv_cache", "all"})) {
            precision["kv_cache"] = "fp8";
            (*target)["precision"] = precision;
            taken_.emplace_back("fp8 cache");
        } else if (const Json asked = precision.value("kv_cache", Json()); asked.is_string() && asked != "fp8") {
            contradict("a cache in", asked.get<std::string>(), "fp8");
        }
    }

    void fill_platform(Json& platform) {
        const runs::RunIdentity& identity = run_.identity;
        if (!platform.contains("device") && !identity.device.empty()) {
            platform["device"] = identity.device;
            taken_.push_back("device " + identity.device);
        }
        const bool cut =
            has_any(platform, {"tensor_parallel", "gpus", "expert_parallel", "pipeline_parallel", "attention_data_parallel"});
        if (const double ranks = identity.ranks; ranks >= 1.0 && ranks == std::floor(ranks)) {
            const Json asked = has_any(platform, {"gpus", "pipeline_parallel", "attention_data_parallel"})
                                   ? Json()
                                   : platform.value("tensor_parallel", Json());
            if (!cut && ranks > 1.0) {
                platform["tensor_parallel"] = static_cast<long long>(ranks);
                taken_.push_back(fmt::format("{:g} devices", ranks));
            } else if (asked.is_number() && asked.get<double>() != ranks) {
                contradict("tensor parallelism of", fmt::format("{:g}", asked.get<double>()),
                           fmt::format("{:g} devices", ranks));
            }
        }
        const auto& engines = platform_keys::engine_words;
        const std::string within(hardware::stack_within(identity.engine));  // ik_llama.cpp's is llama.cpp's
        const std::string& engine = within.empty() ? identity.engine : within;
        if (std::find(engines.begin(), engines.end(), engine) == engines.end()) {
            return;
        }
        const std::string asked = engine_asked(platform);
        if (asked.empty() && !has_any(platform, {"stack", "engine"})) {
            platform["engine"] = engine;
            taken_.push_back("engine " + identity.engine);
        } else if (!asked.empty() && asked != engine) {
            contradict("engine", asked, identity.engine);
        }
    }

    /// The engine that the question names, also by its stack ("vllm-0.19"); empty where it names none.
    static std::string engine_asked(const Json& platform) {
        for (const char* key : {"engine", "stack"}) {
            const Json asked = platform.value(key, Json());
            const std::string name = asked.is_string() ? asked.get<std::string>() : std::string();
            const auto& engines = platform_keys::engine_words;
            const auto found =
                std::find_if(engines.begin(), engines.end(), [&](std::string_view word) { return name.starts_with(word); });
            if (found != engines.end() && !name.ends_with(".json")) {
                return std::string(*found);
            }
        }
        return {};
    }

    void fill_drafter() {
        const std::string kind = drafter_kind_of_method(run_.identity.method);
        const bool drafts =
            std::any_of(run_.cells.begin(), run_.cells.end(), [](const runs::RunCell& cell) { return cell.draft_tokens > 0; });
        if (kind.empty() || !drafts) {
            return;
        }
        if (!point_.contains("drafter")) {
            const std::string model = kind == "model" ? known_model(run_.identity.drafter, catalogue_).asked : "";
            if (kind == "model" && model.empty()) {
                return;
            }
            point_["drafter"] = Json{{"kind", kind}};
            if (kind == "model") {
                point_["drafter"]["model"] = model;
            }
            taken_.push_back("drafter " + (model.empty() ? kind : model));
        } else if (const std::string asked = kind_asked(point_); !asked.empty() && looks_up(asked) != looks_up(kind)) {
            // Whether anything was drafted by a model is no matter of names: what ran counts.
            point_["drafter"] = Json{{"kind", kind}};
            contradicted_.push_back(fmt::format(
                "The question says drafter {}, the run's files {}; what the run's files say of their own run counts.", asked,
                kind));
        } else if (!asked.empty() && asked != kind) {
            contradict("drafter", asked, kind);
        }
    }

    static bool looks_up(const std::string& kind) {
        return kind == "ngram" || kind == "suffix" || kind == "token-recycling" || kind == "lookup-first";
    }

    /// The kind that the question names; empty where it names a drafter in another way, or none.
    static std::string kind_asked(const Json& point) {
        const Json drafter = point.value("drafter", Json());
        const Json word = drafter.is_object() ? drafter.value("kind", drafter.value("published", Json())) : drafter;
        return word.is_string() ? kind_of_word(word.get<std::string>()) : std::string();
    }

    const runs::MeasuredRun& run_;
    const Catalogue& catalogue_;
    Json point_;
    std::vector<std::string> taken_, contradicted_;
};

}  // namespace

/// Methods as vLLM (vllm/config/speculative.py), SGLang (--speculative-algorithm) and llama.cpp (--spec-type) name them.
std::string drafter_kind_of_method(const std::string& method) {
    std::string word = method;
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return c == '_' ? '-' : std::tolower(c); });
    if (word == "draft-model" || word == "standalone" || word == "draft-simple") {
        return "model";
    }
    word = word.starts_with("draft-") ? word.substr(std::string_view("draft-").size()) : word;
    if (word == "nextn" || word.ends_with("-mtp")) {
        return "mtp";
    }
    if (word.starts_with("ngram")) {
        return "ngram";
    }
    return kind_of_word(word);
}

PointOfRun point_of_run(const runs::MeasuredRun& run, Json point, const Catalogue& catalogue) {
    return Filler(run, std::move(point), catalogue).filled();
}

}  // namespace treeline::requests
